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

__all__ = [
    "Row",
    "cells_of",
    "csv_rows",
    "distinct_rows",
    "fail",
    "places_of",
    "require_commas",
    "require_shown",
    "require_width",
]


SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""What other programs write between columns."""

COMMAS = "save the file with commas between them, and points in the numbers"


def fail(file: str | os.PathLike[str], line: int, column: str, said: str) -> NoReturn:
    """ModelError about a cell."""
    raise ModelError(f"{file}, line {line}, {column}: {said}", argument=column)


def cells_of(
    lines: Iterable[str], file: str | os.PathLike[str], line: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Line on which each row begins, counted from ``line``, and its cells without blanks around them.

    Raises
    ------
    ModelError
        With the line, if it is no CSV.
    """
    rows = csv.reader(lines, strict=True, skipinitialspace=True)
    at = line
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield at, cells
            at = line + rows.line_num
    except csv.Error as error:
        raise ModelError(f"{file}, line {at}: no CSV: {error}") from None


def require_width(
    cells: Sequence[str], heads: Sequence[str], file: str | os.PathLike[str], line: int
) -> None:
    """ModelError unless a row has a cell for each column."""
    told = f"{len(cells)} cells for {len(heads)} columns"
    if len(cells) < len(heads):
        fail(file, line, heads[len(cells)], f"is missing: {told}; complete the line")
    if len(cells) > len(heads):
        raise ModelError(f"{file}, line {line}: {told}; quote cells that hold commas")


def require_shown(cell: str, file: str | os.PathLike[str], line: int, column: str) -> None:
    """ModelError about a text with a sign that cannot be shown, such as the end of a line."""
    if not cell.isprintable() and (signs := unprintable(cell)):
        fail(file, line, column, f"{cell!r:.60} has {signs[0]!r}, which cannot be shown; leave it out")


def require_commas(line: str, file: str | os.PathLike[str]) -> None:
    """ModelError if the first line has another sign between the columns."""
    for sign, said in SEPARATORS.items():
        if sign in line and "," not in line:
            raise ModelError(f"{file}, line 1: the columns are separated by {said}; {COMMAS}")


def places_of(
    wanted: Iterable[str], heads: Sequence[str], file: str | os.PathLike[str], line: int = 1
) -> dict[str, int]:
    """Places of the columns that are read.

    Raises
    ------
    ModelError
        If one is not there, or there twice.
    """
    for name in wanted:
        if name not in heads:
            told, known = near(name, heads), ", ".join(heads)
            raise ModelError(
                f"{file}, line {line}: there is no column {name!r} (columns: {' '.join(known.split())}); "
                f"{told if told.startswith('did you mean') else 'add it'}",
                argument=name,
            )
        if heads.count(name) > 1:
            fail(file, line, name, "there are two columns of this name; take one of them out")
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
    require_commas(text.partition("\n")[0], file)
    rows = cells_of(io.StringIO(text), file)
    line, head = next(rows, (1, [""]))
    if head[0] not in first:
        raise ModelError(
            f"{file}, line {line}: the first column is {head[0]!r:.60}; it must be {' or '.join(first)}"
        )
    for k, name in enumerate(head, 1):
        require_shown(name, file, line, f"column {k}")
    if "" in head:
        raise ModelError(f"{file}, line {line}: column {head.index('') + 1} has no name; write one")
    places_of(head, head, file, line)
    return head, _rows(rows, head, file)


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
        require_width(cells, heads, file, line)
        for name, cell in zip(heads, cells, strict=True):
            require_shown(cell, file, line, name)
        yield Row(file, line, {name: cell for name, cell in zip(heads, cells, strict=True) if cell})
