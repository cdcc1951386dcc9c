"""The demands that are there, listed class by class and resource by resource.

Kernels walk over the resources that a class demands, and over the classes that demand a resource::

    for e in range(shares.start[i], shares.start[i + 1]):
        j, a = shares.resource[e], shares.share[e]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray

__all__ = ["Columns", "Nonzeros", "nonzeros", "reduced"]


class Columns(NamedTuple):
    """Task shares resource by resource, those that are 0 left out."""

    start: IntArray  # (n_resources + 1,): resource j has the entries start[j] to start[j + 1] - 1
    job_class: IntArray  # (entries,): ascending within a resource
    share: FloatArray  # (entries,)


class Nonzeros(NamedTuple):
    """Task shares row by row, those that are 0 left out."""

    start: IntArray  # (n_classes + 1,): class i has the entries start[i] to start[i + 1] - 1
    resource: IntArray  # (entries,): ascending within a class
    share: FloatArray  # (entries,)
    columns: Columns

    def divided(self, size: FloatArray) -> Nonzeros:
        """The same for tasks of which each holds so many times less; shape (n_classes,)."""
        columns = self.columns._replace(share=self.columns.share / size[self.columns.job_class])
        return self._replace(share=self.share / np.repeat(size, np.diff(self.start)), columns=columns)

    def bills(self, prices: FloatArray) -> FloatArray:
        """What a task of each class pays, (n_classes,), at prices of whole resources, (n_resources,)."""
        return reduced(np.add, self.share * prices[self.resource], self.start, 0.0)


def reduced(ufunc: np.ufunc, values: FloatArray, start: IntArray, empty: float) -> FloatArray:
    """Reduce the entries of each class, or of each resource; ``empty`` where it has none.

    Examples
    --------
    >>> reduced(np.maximum, np.array([1.0, 3.0, 2.0]), np.array([0, 2, 2, 3]), 0.0)
    array([3., 0., 2.])
    """
    result = np.full(start.size - 1, empty)
    there = np.flatnonzero(np.diff(start))
    if there.size:
        result[there] = ufunc.reduceat(values, start[there])
    return result


def nonzeros(task_shares: FloatArray) -> Nonzeros:
    """List the nonzeros of a matrix (n_classes, n_resources)."""
    rows = _listed(task_shares != 0.0, task_shares)
    return Nonzeros(*rows, Columns(*_listed((task_shares != 0.0).T, task_shares.T)))


def _listed(there: NDArray[np.bool_], values: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    # In one piece each, which is several times faster than with two coordinates at once.
    places = np.flatnonzero(there)
    rows, columns = np.divmod(places, there.shape[1])
    start = np.searchsorted(rows, np.arange(len(there) + 1))
    return start, columns, values[rows, columns]
