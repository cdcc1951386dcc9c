"""Sums in twice the working precision, from which terms can be taken out again.

A sum is kept as a number and, in the next column of a table, what rounding has taken from it (Knuth's TwoSum,
which needs no comparison of magnitudes, collected as Neumaier does). Terms that were added and are subtracted
again leave what a sum of the remaining terms alone would give, to full precision even where the first value
was many decades larger.

References
----------
D. E. Knuth, "The Art of Computer Programming", vol. 2, section 4.2.2, theorem B.
A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974.
DOI 10.1002/zamm.19740540106.
"""

from __future__ import annotations

import numba
import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.cloud.engines.prefetch import LINE

__all__ = ["add", "table"]


def table(rows: int, width: int) -> FloatArray:
    """Zeros of shape (rows, width) that begin at a cache line: rows of 4 or 8 never lie across two."""
    spare = LINE // 8
    memory = np.zeros(rows * width + spare)
    first = -memory.ctypes.data % LINE // 8
    return memory[first : first + rows * width].reshape(rows, width)


@numba.njit(inline="always")
def add(table: FloatArray, r: int, column: int, value: float) -> None:
    """Add ``value`` to the sum in ``table[r, column]`` and ``table[r, column + 1]``."""
    old = table[r, column]
    new = old + value
    kept = new - old
    table[r, column] = new
    table[r, column + 1] += (old - (new - kept)) + (value - kept)
