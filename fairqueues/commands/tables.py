"""Tables for people: drawn by rich on a terminal, aligned text everywhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cells", "print_table"]


def cells(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heads and rows as text, six significant digits, the index first."""
    named = any(name is not None for name in table.index.names)
    flat = table.reset_index() if named else table
    return [str(name).replace("_", " ") for name in flat.columns], [
        [_cell(value) for value in row] for row in flat.itertuples(index=False)
    ]


def _cell(value: Any) -> str:
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def print_table(table: pd.DataFrame, title: str) -> None:
    """Print to standard output."""
    heads, rows = cells(table)
    if not sys.stdout.isatty():
        from fairness.tables import aligned

        print(title)
        print("\n".join(line.rstrip() for line in aligned([heads, *rows])))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(title), title_justify="left", title_style="bold")
    numeric = [all(_is_number(row[k]) for row in rows) for k in range(len(heads))]
    for head, right in zip(heads, numeric, strict=True):
        drawn.add_column(Text(head), justify="right" if right else "left")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
