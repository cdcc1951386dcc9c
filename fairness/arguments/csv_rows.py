"""Rows of CSV tables, read as they stand: whatever is wrong is told with file, line and column.

The first line is the head, unless the caller knows the columns. Each row has a cell for each column; an empty
cell says nothing, and rows without any cell that does are passed over. Of two columns with one name none is
taken: it would be a guess.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from fairness.arguments.plain import near
from fairness.arguments.quantities import number
from fairness.display.lettering import unprintable
from fairness.errors import ModelError
from fairness.files import text_of

__all__ = ["Row", "cells_of", "csv_rows", "distinct_rows", "fail", "headed", "places_of", "require_shown"]

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""What other programs write between columns."""


def fail(file: str | os.PathLike[str], line: int, column: str, said: str) -> NoReturn:
    """ModelError about a cell."""
    raise ModelError(f"{file}, line {line}, {' '.join(column.split())}: {said}", argument=column)


def cells_of(
    lines: Iterable[str], file: str | os.PathLike[str], line: int = 1, heads: Sequence[str] = ()
) -> Iterator[tuple[int, list[str]]]:
    """Line on which each row begins, counted from ``line``, and its cells without blanks around them.

    Raises
    ------
    ModelError
        With the line, if it is no CSV, or has not a cell for each of the ``heads``, if these are known.
    """
    rows = csv.reader(lines, strict=True, skipinitialspace=True)
    at = line
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if any(cells):
                if heads and len(cells) != len(heads):
                    told = f"{len(cells)} cells for {len(heads)} columns"
                    if len(cells) < len(heads):
                        fail(file, at, heads[len(cells)], f"is missing: {told}; complete the line")
                    raise ModelError(f"{file}, line {at}: {told}; quote cells that hold commas")
                yield at, cells
            at = line + rows.line_num
    except csv.Error as error:
        raise ModelError(f"{file}, line {at}: no CSV: {error}") from None


def require_shown(cell: str, file: str | os.PathLike[str], line: int, column: str) -> None:
    """ModelError about a text with a sign that cannot be shown, such as the end of a line."""
    if not cell.isprintable() and (signs := unprintable(cell)):
        fail(file, line, column, f"{cell!r:.60} has {signs[0]!r}, which cannot be shown; leave it out")


def headed(text: str, file: str | os.PathLike[str]) -> tuple[list[str], int, str]:
    """Names of the columns of a table, the number of the line below them, and the text from there on.

    Raises
    ------
    ModelError
        If the first line has another sign than commas between the columns, or is no CSV.
    """
    first = text.partition("\n")[0]
    for sign, said in SEPARATORS.items():
        if sign in first and "," not in first:
            raise ModelError(
                f"{file}, line 1: the columns are separated by {said}; save the file with commas between "
                "them, and points in the numbers"
            )
    lines = io.StringIO(text)
    _, heads = next(cells_of(lines, file), (1, []))
    end = lines.tell()
    return heads, 1 + text.count("\n", 0, end), text[end:]


def places_of(wanted: Iterable[str], heads: Sequence[str], file: str | os.PathLike[str]) -> dict[str, int]:
    """Places of the columns that are read.

    Raises
    ------
    ModelError
        If one is not there, or there twice.
    """
    for name in wanted:
        if name not in heads:
            known = ", ".join(heads)
            raise ModelError(
                f"{file}, line 1: there is no column {name!r} (columns: {' '.join(known.split())}); "
                f"{near(name, heads, 'add it')}",
                argument=name,
            )
        if heads.count(name) > 1:
            fail(file, 1, name, "there are two columns of this name; take one of them out")
    return {name: heads.index(name) for name in wanted}


@dataclass(frozen=True)
class Row:
    """Cells of a line by the heads of their columns; empty ones are left out."""

    file: str
    line: int
    cells: dict[str, str]

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}, line {self.line}"

    def fail(self, column: str, said: str) -> NoReturn:
        """ModelError about a cell."""
        fail(self.file, self.line, column, said)

    def text(self, column: str) -> str:
        """A cell that must be there."""
        if column not in self.cells:
            self.fail(column, "is missing; write a name")
        return self.cells[column]

    def number(self, column: str, positive: bool = False) -> Fraction:
        """A cell that must be a number >= 0, or > 0."""
        if column not in self.cells:
            self.fail(column, "is missing; write a number")
        try:
            found = number(self.cells[column])
        except ValueError as error:
            self.fail(column, str(error))
        if found < 0 or (positive and not found):
            self.fail(column, f"is {self.cells[column]}; it must be {'> 0' if positive else '>= 0'}")
        return found

    def optional(self, column: str) -> Fraction | None:
        """A number > 0, or None where the cell is empty."""
        return self.number(column, positive=True) if column in self.cells else None


def csv_rows(text: str, file: str, first: Collection[str]) -> tuple[list[str], Iterator[Row]]:
    """Heads of the columns of a CSV table, and its rows.

    Parameters
    ----------
    text : str
    file : str
        Its name, for messages.
    first : collection of str
        What the first column may be called.

    Raises
    ------
    ModelError
        At once if the head is wrong, with the line of the row where a row is.

    Examples
    --------
    >>> heads, rows = csv_rows("server,cpu\\na,4\\n", "servers.csv", ("server",))
    >>> heads, [row.number("cpu") for row in rows]
    (['server', 'cpu'], [Fraction(4, 1)])
    """
    heads, line, rest = headed(text, file)
    if not heads or heads[0] not in first:
        given = heads[0] if heads else ""
        raise ModelError(
            f"{file}, line 1: the first column is {given!r:.60}; it must be {' or '.join(first)}"
        )
    for k, name in enumerate(heads, 1):
        if not name:
            raise ModelError(f"{file}, line 1: column {k} has no name; write one")
        require_shown(name, file, 1, f"column {k}")
    places_of(heads, heads, file)
    return heads, _rows(cells_of(io.StringIO(rest), file, line, heads), heads, file)


def distinct_rows(path: str | os.PathLike[str], first: str, what: str) -> tuple[list[str], dict[str, Row]]:
    """Heads of the other columns of a file, and its rows by the name in the first one.

    Raises
    ------
    ModelError
        If the file is no such table, has no rows, or names something twice.
    """
    file = os.fspath(path)
    heads, rows = csv_rows(text_of(path, f"give {what}"), file, (first,))
    found: dict[str, Row] = {}
    for row in rows:
        name = row.text(first)
        if name in found:
            row.fail(first, f"{name!r} stands in {found[name].place} too; keep one of them")
        found[name] = row
    if not found:
        raise ModelError(f"{file}: there are no rows below the head; give {what}")
    return heads[1:], found


def _rows(rows: Iterator[tuple[int, list[str]]], heads: Sequence[str], file: str) -> Iterator[Row]:
    for line, cells in rows:
        found = {name: cell for name, cell in zip(heads, cells, strict=True) if cell}
        for name, cell in found.items():
            require_shown(cell, file, line, name)
        yield Row(file, line, found)
