r"""Demands of very many tenants, each of a few resources out of very many.

Tenant i demands the part :math:`D_{ir} \in (0, 1]` of resource r per task; a :class:`SparseDemands` holds the
positive ones row by row (compressed sparse rows) in single or double precision. They are checked once, in one
pass over the entries, so that everything below may assume sorted, distinct indices and good numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fairness.errors import ModelError
from fairness.validation import FloatArray, frozen, require_memory

__all__ = ["Flags", "IndexArray", "Offsets", "SparseDemands"]

IndexArray = NDArray[np.int32]
Offsets = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FAULTS = {
    1: "column {column} is outside 0..{last}",
    2: "columns must rise within a row, each once; after column {before} comes {column}; "
    "call sum_duplicates() or sort_indices() on the matrix",
    3: "the demand of column {column} is {value}; demands are parts of a resource, > 0 and <= 1 "
    "(call eliminate_zeros() for stored zeros; divide units by capacities)",
    4: "it demands nothing; leave the tenant out",
}


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SparseDemands:
    """Demands of many tenants, as parts of a resource per task.

    Parameters
    ----------
    matrix : scipy sparse array or matrix of shape (n_tenants, n_resources), parts of a resource per task
        Entries in (0, 1]; float32 and float64 are kept as they are, anything else becomes float64. The
        entries of a CSR array are not copied.

    Raises
    ------
    ModelError
        If this is no sparse matrix, a row is empty, unsorted or has duplicates, an entry is not in (0, 1], or
        there are more than 2^31 - 1 resources or tenants.

    Examples
    --------
    >>> SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    SparseDemands(3 tenants x 2 resources, 4 entries, float64)
    """

    starts: Offsets
    columns: IndexArray
    values: NDArray[Any]
    n_resources: int

    def __init__(self, matrix: Any) -> None:
        if not sparse.issparse(matrix):
            raise ModelError(
                f"demands must be a scipy.sparse array of shape (n_tenants, n_resources); got "
                f"{type(matrix).__name__}; use SparseDemands.from_lists for lists"
            )
        if len(matrix.shape) != 2 or 0 in matrix.shape:
            raise ModelError(f"demands needs at least one tenant and one resource; got shape {matrix.shape}")
        limit = np.iinfo(np.int32).max
        if max(matrix.shape) > limit:
            raise ModelError(
                f"demands has shape {matrix.shape}; tenants and resources are numbered up to {limit}"
            )
        if matrix.format != "csr":
            require_memory(12.0 * matrix.nnz, "a compressed copy of demands", "give a csr_array")
        rows = matrix if matrix.format == "csr" else sparse.csr_array(matrix)
        values = (
            rows.data if rows.data.dtype in (np.float32, np.float64) else np.asarray(rows.data, dtype=float)
        )
        starts = rows.indptr.astype(np.int64)
        columns = rows.indices.astype(np.int32, copy=False)
        row, fault, place = _first_fault(starts, columns, values, matrix.shape[1])
        if fault:
            detail = _FAULTS[fault].format(
                column=columns[place] if fault < 4 else "",
                before=columns[place - 1] if fault == 2 else "",
                value=values[place] if fault == 3 else "",
                last=matrix.shape[1] - 1,
            )
            raise ModelError(f"demands of tenant {row}: {detail}")
        self._set(starts, columns, values, int(matrix.shape[1]))

    @classmethod
    def of_checked(
        cls, starts: Offsets, columns: IndexArray, values: NDArray[Any], n_resources: int
    ) -> SparseDemands:
        """Demands from arrays that are known to be well-formed; they are taken as they are."""
        made = object.__new__(cls)
        made._set(starts, columns, values, n_resources)
        return made

    def _set(self, starts: Offsets, columns: IndexArray, values: NDArray[Any], n_resources: int) -> None:
        for name, value in (
            ("starts", starts),
            ("columns", columns),
            ("values", values),
            ("n_resources", n_resources),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_lists(cls, tenants: Sequence[Sequence[tuple[int, float]]], n_resources: int) -> SparseDemands:
        """Demands from one list of (resource, demand) per tenant, in any order.

        Raises
        ------
        ModelError
            As the constructor.
        """
        sizes = [len(tenant) for tenant in tenants]
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        pairs = [pair for tenant in tenants for pair in sorted(tenant)]
        columns = np.array([column for column, _ in pairs], dtype=np.int64)
        if columns.size and not (columns.min() >= 0 and columns.max() < n_resources):
            raise ModelError(
                f"resources must be numbered 0..{n_resources - 1}; got {columns.min()}..{columns.max()}"
            )
        values = np.array([value for _, value in pairs], dtype=float)
        return cls(sparse.csr_array((values, columns, starts), shape=(len(sizes), n_resources)))

    @property
    def n_tenants(self) -> int:
        """Number of tenants."""
        return len(self.starts) - 1

    @property
    def n_entries(self) -> int:
        """Number of positive demands."""
        return len(self.columns)

    @cached_property
    def largest(self) -> FloatArray:
        """Largest demand of each tenant, shape (n_tenants,)."""
        return frozen(np.maximum.reduceat(self.values, self.starts[:-1]).astype(float))

    def matrix(self) -> sparse.csr_array:
        """The demands as a scipy CSR array that shares their memory."""
        shape = (self.n_tenants, self.n_resources)
        # scipy copies columns to the type of the starts, so these are made as narrow if they can be.
        starts = self.starts.astype(np.int32) if self.n_entries <= np.iinfo(np.int32).max else self.starts
        return sparse.csr_array((self.values, self.columns, starts), shape=shape)

    def check_weights(self, weights: ArrayLike | None) -> FloatArray:
        """Growth of each tenant per unit of level and of its largest demand, shape (n_tenants,).

        Parameters
        ----------
        weights : array_like of shape (n_tenants,) or sparse with the pattern of the demands, optional
            Entitlements of the tenants, or of a tenant to a resource; default 1/n_tenants each.

        Raises
        ------
        ModelError
            If the shape or the pattern differs, or a weight is not finite and > 0.
        """
        if weights is None:
            return np.full(self.n_tenants, 1.0 / self.n_tenants)
        if sparse.issparse(weights):
            given = sparse.csr_array(weights)
            same = given.shape == (self.n_tenants, self.n_resources) and np.array_equal(
                given.indptr, self.starts
            )
            if not same or not np.array_equal(given.indices, self.columns):
                raise ModelError(
                    "weights must have an entry exactly where demands have one, in the same order"
                )
            entries = np.asarray(given.data, dtype=float)
            _positive(entries)
            largest = np.repeat(self.largest, np.diff(self.starts))
            return np.asarray(np.minimum.reduceat(entries * largest / self.values, self.starts[:-1]))
        per_tenant = np.asarray(weights, dtype=float)
        if per_tenant.shape != (self.n_tenants,):
            raise ModelError(
                f"weights must have shape (n_tenants,) = ({self.n_tenants},) or be sparse with the pattern "
                f"of the demands; got shape {per_tenant.shape}"
            )
        _positive(per_tenant)
        return per_tenant

    def __repr__(self) -> str:
        return (
            f"SparseDemands({self.n_tenants:,} tenants x {self.n_resources:,} resources, "
            f"{self.n_entries:,} entries, {self.values.dtype})"
        )


def _positive(weights: FloatArray) -> None:
    good = np.isfinite(weights) & (weights > 0)
    if not good.all():
        place = int(np.argmin(good))
        raise ModelError(f"weights must be finite and > 0; got {weights[place]} at entry {place}")


@numba.njit(cache=True, nogil=True)
def _first_fault(
    starts: Offsets, columns: IndexArray, values: NDArray[Any], n_resources: int
) -> tuple[int, int, int]:
    """Row, kind (a key of _FAULTS; 0 for none) and entry of the first fault."""
    for row in range(len(starts) - 1):
        if starts[row] == starts[row + 1]:
            return row, 4, 0
        before = -1
        for e in range(starts[row], starts[row + 1]):
            if columns[e] < 0 or columns[e] >= n_resources:
                return row, 1, e
            if columns[e] <= before:
                return row, 2, e
            # Written so that NaN fails.
            if not (values[e] > 0.0 and values[e] <= 1.0):
                return row, 3, e
            before = columns[e]
    return 0, 0, 0
