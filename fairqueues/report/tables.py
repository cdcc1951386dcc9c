"""Tables for people: drawn by rich on a terminal, aligned text everywhere else.

A table that is too wide for its terminal is cut between columns, into blocks below each other that all begin
with the keys; no digit and no word is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from fairness.display.lettering import printed
from fairness.display.tables import Columns, aligned, outward

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

__all__ = ["cells", "is_number", "lines", "print_line", "print_table"]

_WIDEST = 10_000
"""Columns of a terminal without an end, to measure with."""

_LONGEST = 24
"""Signs of a word that is not cut."""


def cells(table: pd.DataFrame | Columns, digits: int = 6) -> tuple[list[str], list[list[str]]]:
    """Heads and rows as text, with so many significant digits, the index first.

    Of columns called ``x_lower`` and ``x_upper``, proved bounds, as many are shown as tell them apart,
    rounded outward.
    """
    names, columns = _named(table)
    rows = [[_cell(value, digits) for value in row] for row in zip(*columns, strict=True)]
    for k, name in enumerate(names):
        other = f"{name.removesuffix('_lower')}_upper"
        if name.endswith("_lower") and other in names:
            m = names.index(other)
            for row, low, high in zip(rows, columns[k], columns[m], strict=True):
                row[k], row[m] = outward(float(low), float(high))
    return [printed(name).replace("_", " ") for name in names], rows


def _named(table: pd.DataFrame | Columns) -> tuple[list[str], list[Sequence[Any]]]:
    """Names of the columns, those of a named index first, and the columns."""
    if isinstance(table, Columns):
        return list(table.columns), list(table.columns.values())
    flat = table.reset_index() if _keys(table) else table
    return [str(name) for name in flat.columns], [flat.iloc[:, k].tolist() for k in range(flat.shape[1])]


def _keys(table: pd.DataFrame | Columns) -> int:
    """How many columns tell the rows apart, 0 if nobody says so."""
    if isinstance(table, Columns):
        return table.keys
    return table.index.nlevels if any(name is not None for name in table.index.names) else 0


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "yes" if value else "no"
    return f"{value:.{digits}g}" if isinstance(value, float) else printed(value)


def lines(table: pd.DataFrame | Columns) -> list[str]:
    """Lines of aligned text, the heads first."""
    heads, rows = cells(table)
    return aligned([heads, *rows])


def print_table(table: pd.DataFrame | Columns, title: str) -> None:
    """Print to standard output, as wide as the terminal; of a table without columns the title alone."""
    title = printed(title)
    if not len(table.columns):
        print(title)
        return
    heads, rows = cells(table)
    if sys.stdout is None or not sys.stdout.isatty():
        print(title)
        print("\n".join(lines(table)))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text(title, style="bold"))
    drawn = _drawn(heads, rows)
    if console.measure(drawn, options=console.options.update(width=_WIDEST)).minimum <= console.width:
        console.print(drawn)
        return
    heads, rows = cells(table, digits=4)
    # Without keys the first column tells the rows apart.
    for columns, widths in _blocks(heads, rows, _keys(table) or 1, console.width):
        block = _drawn([heads[k] for k in columns], [[row[k] for k in columns] for row in rows], widths)
        # What is too wide all the same, a number on a very narrow terminal, runs over.
        Console(width=max(_total(widths), console.width)).print(block)


def _blocks(
    heads: list[str], rows: list[list[str]], keys: int, room: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Columns with their widths, as many as there is room for, all behind the keys."""
    least, natural = [], []
    for head, entries in zip(heads, zip(*rows, strict=True) if rows else [()] * len(heads), strict=True):
        number = all(map(is_number, entries))
        longest = max((len(word) for entry in entries for word in entry.split()), default=0)
        least.append(max(longest if number else min(longest, _LONGEST), *map(len, [*head.split(), ""])))
        natural.append(max(map(len, [head, *entries])))
    keys = min(keys, len(heads) - 1)
    waiting = list(range(keys, len(heads)))
    while waiting:
        block = [*range(keys), waiting.pop(0)]
        while waiting and _total([least[k] for k in [*block, waiting[0]]]) <= room:
            block.append(waiting.pop(0))
        widths = {k: least[k] for k in block}
        # What is left goes first to the columns that need little more.
        for k in sorted(block, key=lambda k: natural[k] - least[k]):
            widths[k] += max(0, min(natural[k] - least[k], room - _total(list(widths.values()))))
        yield block, [widths[k] for k in block]


def _total(widths: list[int]) -> int:
    """Width of a narrow table: a sign before, behind and between its columns."""
    return sum(widths) + len(widths) + 1


def print_line(text: str) -> None:
    """Print a line below a table; on a terminal it is broken between words, and goes on further in."""
    text = printed(text, kept="\n")
    if sys.stdout is None or not sys.stdout.isatty():
        print(text)
        return
    width = get_terminal_size().columns
    further = " " * min(len(text) - len(text.lstrip()) + 2, width // 2)
    print(
        "\n".join(
            wrap(
                text, width, subsequent_indent=further, replace_whitespace=False, break_long_words=False,
                break_on_hyphens=False,
            )
        )
    )  # fmt: skip


def _drawn(heads: list[str], rows: list[list[str]], widths: list[int] | None = None) -> Table:
    """Table in a frame; with widths a narrow one, whose heads and words are folded."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    style: dict[str, Any] = {"box": box.SIMPLE_HEAD, "padding": 0, "pad_edge": False} if widths else {}
    drawn = Table(**style)
    for k, head in enumerate(heads):
        number = all(is_number(row[k]) for row in rows)
        longest = max(map(len, [head, *(row[k] for row in rows)]))
        drawn.add_column(
            Text(head),
            justify="right" if number else "left",
            overflow="fold",
            width=widths[k] if widths else None,
            min_width=None if widths else longest,
        )
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn


def is_number(text: str) -> bool:
    """Whether a text is that of a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
