"""What the results of this package share: one table per class, printed the same way."""

from __future__ import annotations

import pandas as pd
from numpy.typing import NDArray

from queueing.system import System

__all__ = ["class_lines", "class_table"]


def class_table(system: System, **columns: NDArray) -> pd.DataFrame:
    """One row per class: its load, then the given columns, each of shape (n_classes,)."""
    index = pd.Index(system.problem.job_classes, name="job_class")
    return pd.DataFrame({"load": system.loads, **columns}, index=index)


def class_lines(table: pd.DataFrame) -> list[str]:
    """Lines of a readable table with six significant digits."""
    width = max(12, *(len(str(name)) for name in table.columns)) + 2
    stem = max(5, *(len(str(name)) for name in table.index)) + 2
    lines = ["  " + "class".ljust(stem) + "".join(str(name).rjust(width) for name in table.columns)]
    for name, row in table.iterrows():
        lines.append("  " + str(name).ljust(stem) + "".join(f"{value:.6g}".rjust(width) for value in row))
    return lines
