"""Tables for people: drawn by rich on a terminal, aligned text everywhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fairness.display.tables import outward

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

__all__ = ["cells", "is_number", "lines", "print_table"]

_WIDEST = 10_000
"""Columns of a terminal without an end, to measure with."""


def cells(table: pd.DataFrame, digits: int = 6) -> tuple[list[str], list[list[str]]]:
    """Heads and rows as text, with so many significant digits, the index first.

    Of columns called ``x_lower`` and ``x_upper``, proved bounds, as many are shown as tell them apart,
    rounded outward.
    """
    named = any(name is not None for name in table.index.names)
    flat = table.reset_index() if named else table
    names = [str(name) for name in flat.columns]
    rows = [[_cell(value, digits) for value in row] for row in flat.itertuples(index=False)]
    for k, name in enumerate(names):
        other = f"{name.removesuffix('_lower')}_upper"
        if name.endswith("_lower") and other in names:
            m = names.index(other)
            for row, low, high in zip(rows, flat[name], flat[other], strict=True):
                row[k], row[m] = outward(float(low), float(high))
    return [name.replace("_", " ") for name in names], rows


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "yes" if value else "no"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def lines(table: pd.DataFrame) -> list[str]:
    """Lines of aligned text, the heads first."""
    from fairness.display.tables import aligned

    heads, rows = cells(table)
    return [line.rstrip() for line in aligned([heads, *rows])]


def print_table(table: pd.DataFrame, title: str) -> None:
    """Print to standard output; of a table without columns the title alone."""
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
    drawn = _drawn(heads, rows, narrow=False)
    least = console.measure(drawn, options=console.options.update(width=_WIDEST)).minimum
    if least > console.width:
        heads, rows = cells(table, digits=4)
        drawn = _drawn(heads, rows, narrow=True)
        least = console.measure(drawn, options=console.options.update(width=_WIDEST)).minimum
    console.print(Text(title, style="bold"))
    # No digit is ever cut off: what is still too wide runs over, and the terminal breaks the lines.
    console.print(drawn, width=max(least, console.width), crop=False, no_wrap=True)


def _drawn(heads: list[str], rows: list[list[str]], narrow: bool) -> Table:
    """Table whose numbers stay whole, while heads and words may be folded."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    style: dict[str, Any] = {"box": box.SIMPLE_HEAD, "padding": 0, "pad_edge": False} if narrow else {}
    drawn = Table(**style)
    for k, head in enumerate(heads):
        entries = [row[k] for row in rows]
        number = all(map(is_number, entries))
        drawn.add_column(
            Text(head), justify="right" if number else "left", overflow="fold",
            min_width=max(map(len, [*head.split(), *(entries if number else ())])),
        )  # fmt: skip
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
