"""Tables by their columns and in plain text, and bounds with the digits that are known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Columns", "aligned", "outward", "rounded_down", "rounded_up", "with_half_width"]


@dataclass(frozen=True)
class Columns:
    """A table by its columns: what is printed of it needs no data frame.

    Parameters
    ----------
    columns : mapping of str to sequence
    keys : int
        How many columns, the first ones, tell the rows apart: the index of the data frame.

    Examples
    --------
    >>> Columns.stacked({"DRF": Columns({"job_class": ["A", "B"], "tasks": [3.0, 2.0]})}, "policy")
    Columns(columns={'policy': ['DRF', 'DRF'], 'job_class': ['A', 'B'], 'tasks': [3.0, 2.0]}, keys=2)
    """

    columns: Mapping[str, Any]
    keys: int = 1

    @classmethod
    def stacked(cls, tables: Mapping[str, Columns], key: str) -> Columns:
        """Tables with the same columns below each other, by their names."""
        first = next(iter(tables.values()))
        names = [name for name, table in tables.items() for _ in next(iter(table.columns.values()))]
        parts = tables.values()
        below = {name: [v for one in parts for v in one.columns[name]] for name in first.columns}
        return cls({key: names, **below}, 1 + first.keys)

    def to_dataframe(self) -> pd.DataFrame:
        """The table for pandas."""
        import pandas as pd

        names = list(self.columns)
        return pd.DataFrame(dict(self.columns)).set_index(names[: self.keys])


def aligned(table: Sequence[Sequence[str]], words: int = 0) -> list[str]:
    """Lines of a table, indented by two: the first column and the last ``words`` to the left, others right.

    Examples
    --------
    >>> print(*aligned([["class", "tasks", "stopped by"], ["web", "12", "cpu"]], words=1), sep="|")
      class  tasks  stopped by|  web       12  cpu
    """
    columns = list(zip(*table, strict=True))
    right = range(1, len(columns) - words)
    for k, column in enumerate(columns):
        width = max(map(len, column))
        columns[k] = tuple(cell.rjust(width) if k in right else cell.ljust(width) for cell in column)
    return ["  " + "  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def outward(low: float, high: float) -> tuple[str, str]:
    """Both bounds in decimals, rounded outward where they begin to differ.

    Examples
    --------
    >>> outward(24.447887981, 24.447887993)
    ('24.44788798', '24.44788800')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{low:g}", f"{high:g}"
    size = high - low if high > low else abs(high) * 1e-16
    places = max(0, -Decimal(size).adjusted()) if size > 0 else 0
    unit = Decimal(1).scaleb(-places)
    return (
        str(Decimal(low).quantize(unit, rounding=ROUND_FLOOR)),
        str(Decimal(high).quantize(unit, rounding=ROUND_CEILING)),
    )


def rounded_up(error: float, digits: int) -> float:
    """A bound of an error, rounded up to so many significant digits.

    Examples
    --------
    >>> rounded_up(3.62e-11, 2), rounded_up(0.25, 2), rounded_up(math.inf, 2)
    (3.7e-11, 0.25, inf)
    """
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal_from_float(error))


def rounded_down(gain: float, digits: int) -> float:
    """A lower bound, rounded down to so many significant digits.

    Examples
    --------
    >>> rounded_down(1.2389, 3), rounded_down(-2.001, 2)
    (1.23, -2.1)
    """
    return -rounded_up(-gain, digits)


def with_half_width(value: float, half: float) -> tuple[str, str]:
    """Both in decimals: two digits of the half-width, rounded up, and none of the value beyond these.

    Examples
    --------
    >>> with_half_width(0.33253, 0.0581), with_half_width(1234.5, 67.1), with_half_width(2.0, math.inf)
    (('0.333', '0.059'), ('1234', '68'), ('2', 'inf'))
    """
    if not (math.isfinite(value) and math.isfinite(half)):
        return f"{value:.6g}", f"{half:.2g}"
    last = Decimal(half).adjusted() - 1 if half else Decimal(f"{value:.6g}").adjusted() - 5
    unit, places = Decimal(1).scaleb(last), max(0, -last)
    wide = (Decimal(half) / unit).to_integral_value(ROUND_CEILING) * unit
    return f"{round(value, -last):.{places}f}", f"{wide:.{places}f}"
