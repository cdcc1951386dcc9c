"""Long tables as readers want them: a class is a column, a policy a row, and each quantity has its own table.

Rows that repeat themselves, method by method and class by class, are what machines read; on a page one
compares the methods for one class. What is the same under all methods, such as the load, is told once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairness.display.tables import with_half_width
from fairqueues.report.tables import cells

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Grid", "pivoted"]

CLASS = "job_class"
BESIDE = ("policy", "method", "scheduler")
"""Keys whose values stand beside each other, above the classes, where a third key is left for the rows."""

WIDEST = 8
"""Columns of numbers up to which they do."""

MOST = 12
"""Classes that can be columns."""

_HALF = "_half_width"


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Parameters
    ----------
    caption : str
    heads : list of list of (str, int)
        Rows of heads, each with the number of columns that it spans; the last row has a head per column.
    rows : list of list of str
    """

    caption: str
    heads: list[list[tuple[str, int]]]
    rows: list[list[str]]


def pivoted(table: pd.DataFrame) -> list[Grid]:
    """A table per quantity; none where the table does not repeat itself.

    Examples
    --------
    >>> import pandas as pd
    >>> keys = pd.MultiIndex.from_product([["drf", "pf"], ["A", "B"]], names=["policy", "job_class"])
    >>> [grid] = pivoted(pd.DataFrame({"mean_jobs": [1.0, 2.0, 3.0, 4.0]}, index=keys))
    >>> grid.caption, grid.heads, grid.rows
    ('mean jobs', [[('policy', 1), ('A', 1), ('B', 1)]], [['drf', '1', '2'], ['pf', '3', '4']])
    """
    keys: list[Any] = list(table.index.names)
    if CLASS not in keys or len(keys) < 2 or None in keys:
        return []
    if not (table.index.is_unique and table.columns.is_unique):
        return []
    classes = list(dict.fromkeys(table.index.get_level_values(CLASS)))
    others = [key for key in keys if key != CLASS]
    # The keys of a row, and those of the group of columns that it is in.
    beside = [key for key in others if key in BESIDE and len(others) > 1][:1]
    if beside and len(set(table.index.get_level_values(beside[0]))) * len(classes) > WIDEST:
        beside = []
    down = [key for key in others if key not in beside]
    levels = (table.index.get_level_values(key) for key in (*down, *beside, CLASS))
    places = list(zip(*levels, strict=True))
    rows = list(dict.fromkeys(place[: len(down)] for place in places))
    groups = list(dict.fromkeys(place[len(down) : -1] for place in places))
    whole = len(rows) * len(groups) * len(classes) == len(table)
    if not whole or len(rows) * len(groups) < 2 or not 2 <= len(classes) <= MOST:
        return []
    heads = [[*((_name(key), 1) for key in down), *((str(one), 1) for _ in groups for one in classes)]]
    if beside:
        heads.insert(0, [("", len(down)), *((str(group[0]), len(classes)) for group in groups)])
    same, grids = [], []
    for name, entries in _quantities(table):
        found = dict(zip(places, entries, strict=True))
        by_class = {tuple(found[row + group + (one,)] for one in classes) for row in rows for group in groups}
        if len(by_class) == 1:
            same.append([name, *by_class.pop()])
            continue
        body = [
            [*map(_text, row), *(found[row + group + (one,)] for group in groups for one in classes)]
            for row in rows
        ]
        grids.append(Grid(name, heads, body))
    told = Grid("", [[("", 1), *((str(one), 1) for one in classes)]], same)
    return [told, *grids] if same else grids


def _quantities(table: pd.DataFrame) -> Iterator[tuple[str, Sequence[str]]]:
    """Name and texts of each quantity: bounds as intervals, half-widths behind what they belong to."""
    _, texts = cells(table)
    columns = dict(
        zip(map(str, table.columns), list(zip(*texts, strict=True))[-table.shape[1] :], strict=True)
    )
    for name, entries in columns.items():
        low, high = f"{name.removesuffix('_upper')}_lower", f"{name.removesuffix('_lower')}_upper"
        if (name.endswith(_HALF) and name.removesuffix(_HALF) in columns) or not any(entries):
            continue
        if name.endswith("_upper") and low in columns:
            continue
        if name.endswith("_lower") and high in columns:
            both = zip(entries, columns[high], strict=True)
            yield _name(name.removesuffix("_lower")), [f"[{one}, {other}]" for one, other in both]
        elif name + _HALF in columns:
            both = zip(table[name], table[name + _HALF], strict=True)
            yield _name(name), [_with_half_width(float(m), float(h)) for m, h in both]
        else:
            yield _name(name), ["–" if entry == "nan" else entry for entry in entries]


def _with_half_width(value: float, half: float) -> str:
    """The value alone where no half-width is known, and a dash where it is not known itself."""
    if math.isnan(value):
        return "–"
    if math.isinf(half):
        return f"{value:.6g}, no interval"
    return f"{value:.6g}" if math.isnan(half) else " ± ".join(with_half_width(value, half))


def _text(key: Any) -> str:
    """A key as the flat table has it: a load of 0.1 + 0.2 is 0.3."""
    return f"{key:.6g}" if isinstance(key, float) else str(key)


def _name(key: Any) -> str:
    return str(key).replace("_", " ")
