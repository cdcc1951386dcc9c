"""What compiled kernels and interpreted ones must compute alike, and how they list a matrix of demands."""

from __future__ import annotations

import math

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import COUNTED, compiled_as, helper
from fairness.model.nonzeros import Columns, Nonzeros, Rows

__all__ = ["exp", "list_nonzeros", "log", "room_for_nonzeros"]


@helper(**COUNTED)
def room_for_nonzeros(n_classes: int, n_resources: int) -> Nonzeros:
    """Room for all of a matrix, to be filled by :func:`list_nonzeros`."""
    most = n_classes * n_resources
    return Nonzeros(*_room(n_classes, most), Columns(*_room(n_resources, most)))


@helper(**COUNTED)
def _room(n_rows: int, most: int) -> Rows:
    return np.empty(n_rows + 1, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most)


@helper(nogil=True, error_model="numpy")
def list_nonzeros(matrix: FloatArray, listed: Nonzeros) -> None:
    """List what is not 0 in a matrix (n_classes, n_resources), where numpy's way costs too much."""
    columns = listed.columns
    _list(matrix, listed.start, listed.resource, listed.share)
    _list(matrix.T, columns.start, columns.job_class, columns.share)


@helper(nogil=True, error_model="numpy")
def _list(matrix: FloatArray, start: IntArray, place: IntArray, share: FloatArray) -> None:
    entries = 0
    for i in range(matrix.shape[0]):
        start[i] = entries
        for j in range(matrix.shape[1]):
            if matrix[i, j] != 0.0:
                place[entries], share[entries] = j, matrix[i, j]
                entries += 1
    start[matrix.shape[0]] = entries


# The C library's, to the last bit, whether compiled or not; numpy has its own.


@compiled_as(lambda x: lambda x: np.log(x))
def log(x: float) -> float:
    """Natural logarithm; -inf of 0."""
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


@compiled_as(lambda x: lambda x: np.exp(x))
def exp(x: float) -> float:
    """Exponential function; inf where it is larger than any float."""
    return math.exp(x) if x <= _LARGEST_POWER else x + math.inf


_LARGEST_POWER = 709.782712893384
"""Logarithm of the largest float."""
