"""The demands that are there, listed class by class and resource by resource.

Kernels walk over the resources that a class demands, and over the classes that demand a resource::

    for e in range(shares.start[i], shares.start[i + 1]):
        j, a = shares.resource[e], shares.share[e]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, IntArray
from fairness.errors import ModelError

__all__ = ["Columns", "Nonzeros", "Rows", "nonzeros", "reduced", "sparse_nonzeros"]


SPARSE = 20
"""Of how many entries of a table one at most is there, where those that are there are sorted."""

Rows = tuple[IntArray, IntArray, FloatArray]
"""Where each row starts, and the columns and values of its entries."""


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

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """What belongs to each class, (..., n_classes), at each of its entries, (..., entries)."""
        return np.repeat(values, np.diff(self.start), axis=-1)

    def divided(self, size: FloatArray) -> Nonzeros:
        """The same for tasks of which each holds so many times less; shape (n_classes,)."""
        columns = self.columns._replace(share=self.columns.share / size[self.columns.job_class])
        return self._replace(share=self.share / self.spread(size), columns=columns)

    def scaled(self, scale: FloatArray) -> Nonzeros:
        """The same with each resource, (n_resources,), in another unit; those of scale 0 are left out."""
        start, job_class, share = self.columns
        columns = _scaled(start, job_class, share, np.repeat(scale, np.diff(start)))
        return Nonzeros(
            *_scaled(self.start, self.resource, self.share, scale[self.resource]), Columns(*columns)
        )

    def bills(self, prices: FloatArray) -> FloatArray:
        """What a task of each class pays, (n_classes,), at prices of whole resources, (n_resources,)."""
        return reduced(np.add, self.share * prices[self.resource], self.start, 0.0)


def _scaled(start: IntArray, place: IntArray, share: FloatArray, scale: FloatArray) -> Rows:
    kept = scale != 0.0
    if kept.all():
        return start, place, share * scale
    start = np.concatenate(([0], np.cumsum(kept)))[start]
    return start, place[kept], share[kept] * scale[kept]


def reduced(ufunc: np.ufunc, values: FloatArray, start: IntArray, empty: float) -> FloatArray:
    """Reduce the entries of each class, or of each resource; ``empty`` where it has none.

    Examples
    --------
    >>> reduced(np.maximum, np.array([1.0, 3.0, 2.0]), np.array([0, 2, 2, 3]), 0.0)
    array([3., 0., 2.])
    """
    there = start[1:] > start[:-1]
    if there.all() and there.size:
        every: FloatArray = ufunc.reduceat(values, start[:-1])
        return every
    result = np.full(there.size, empty)
    if there.any():
        result[there] = ufunc.reduceat(values, start[:-1][there])
    return result


def nonzeros(task_shares: FloatArray) -> Nonzeros:
    """List the nonzeros of a matrix (n_classes, n_resources)."""
    there = task_shares != 0.0
    rows = _listed(there, task_shares)
    _, resource, share = rows
    if SPARSE * share.size > there.size:
        return Nonzeros(*rows, Columns(*_listed(there.T, task_shares.T)))
    # Few entries are sorted sooner than a large table is read across.
    order = np.argsort(resource, kind="stable")
    job_class = np.repeat(np.arange(len(there)), np.diff(rows[0]))[order]
    start = np.searchsorted(resource[order], np.arange(there.shape[1] + 1))
    return Nonzeros(*rows, Columns(start, job_class, share[order]))


def sparse_nonzeros(name: str, matrix: Any) -> Nonzeros:
    """List the entries of a sparse array of scipy, (n_classes, n_resources); doubled ones are added up.

    Raises
    ------
    ModelError
        If it has not two dimensions, or an entry is no real number.
    """
    if len(matrix.shape) != 2:
        raise ModelError.of(name, f"must have 2 dimensions; got shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise ModelError.of(name, f"must be an array of numbers; got entries of type {matrix.dtype}")
    rows = matrix.tocsr().astype(np.float64)  # a copy
    rows.sum_duplicates()
    rows.eliminate_zeros()
    columns = rows.tocsc()
    return Nonzeros(*_parts(rows), Columns(*_parts(columns)))


def _parts(compressed: Any) -> Rows:
    return compressed.indptr.astype(np.int64), compressed.indices.astype(np.int64), compressed.data


def _listed(there: NDArray[np.bool_], values: FloatArray) -> Rows:
    # In one piece each, which is several times faster than with two coordinates at once.
    places = np.flatnonzero(there)
    rows, columns = np.divmod(places, there.shape[1])
    start = np.searchsorted(rows, np.arange(len(there) + 1))
    return start, columns, values[rows, columns]
