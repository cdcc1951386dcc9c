"""Rows of CSV tables, read as they stand: whatever is wrong is told with file, line and column.

The first line is the head; the name of the first column says what a row is about. An empty cell says nothing,
and lines without any cell that does are passed over.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from fairness.arguments.quantities import number
from fairness.errors import ModelError

__all__ = ["Row", "csv_rows", "csv_text", "distinct_rows"]


SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""What other programs write between columns."""


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
        raise ModelError(f"{self.place}, {column}: {said}", argument=column)

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


def csv_text(path: str | os.PathLike[str], what: str) -> tuple[str, str]:
    """Text of a table, and its name for messages; ``what`` says what to give instead.

    Raises
    ------
    ModelError
        If the file cannot be read, or is no text in UTF-8.
    """
    file = Path(path)
    try:
        return file.read_bytes().decode("utf-8-sig"), str(file)
    except UnicodeDecodeError as error:
        raise ModelError(f"{file}: byte {error.start} is not UTF-8 text; save the file as UTF-8") from None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise ModelError(f"{file}: cannot be read: {told}; give {what}") from None


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
    _require_commas(text, file, first)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    with _told(rows, file):
        head = [name.strip() for name in next(rows, [])]
    if not head or head[0] not in first:
        given = head[0] if head else ""
        raise ModelError(
            f"{file}, line 1: the first column is {given!r:.60}; it must be {' or '.join(first)}"
        )
    for k, name in enumerate(head):
        if not name or name in head[:k]:
            what = "has no name" if not name else f"{name!r} is there twice"
            raise ModelError(f"{file}, line 1: column {k + 1} {what}")
    return head, _rows(rows, head, file)


def _require_commas(text: str, file: str, first: Collection[str]) -> None:
    """ModelError if the head is one of this table, but with another sign between the columns."""
    line = text.partition("\n")[0]
    for sign, said in SEPARATORS.items():
        if sign in line and line.partition(sign)[0].strip('" ') in first:
            raise ModelError(
                f"{file}, line 1: the columns are separated by {said}; save the file with commas between "
                "them, and points in the numbers"
            )


def distinct_rows(path: str | os.PathLike[str], first: str, what: str) -> tuple[list[str], dict[str, Row]]:
    """Heads of the other columns of a file, and its rows by the name in the first one.

    Raises
    ------
    ModelError
        If the file is no such table, has no rows, or names something twice.
    """
    text, file = csv_text(path, what)
    heads, rows = csv_rows(text, file, (first,))
    found: dict[str, Row] = {}
    for row in rows:
        name = row.text(first)
        if name in found:
            row.fail(first, f"{name!r} stands in {found[name].place} too; keep one of them")
        found[name] = row
    if not found:
        raise ModelError(f"{file}: there are no rows below the head; give {what}")
    return heads[1:], found


def _rows(rows: Iterator[list[str]], head: list[str], file: str) -> Iterator[Row]:
    with _told(rows, file):
        for cells in rows:
            if not any(cell.strip() for cell in cells):
                continue
            line = _line(rows)
            if len(cells) != len(head):
                raise ModelError(f"{file}, line {line}: {len(cells)} cells for {len(head)} columns")
            filled = {name: cell.strip() for name, cell in zip(head, cells, strict=True) if cell.strip()}
            yield Row(file, line, filled)


@contextmanager
def _told(rows: Iterator[list[str]], file: str) -> Iterator[None]:
    """Errors of the reader of CSV become ours, with the line."""
    try:
        yield
    except csv.Error as error:
        raise ModelError(f"{file}, line {_line(rows)}: no CSV: {error}") from None


def _line(rows: Iterator[list[str]]) -> int:
    """Lines that a reader of CSV has read."""
    return int(rows.line_num)  # type: ignore[attr-defined]
