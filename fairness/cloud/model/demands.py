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

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from fairness.arguments.validation import FloatArray, float_array, frozen, require
from fairness.errors import ModelError
from fairness.machine.compiling import stored
from fairness.machine.memory import require_memory

__all__ = ["Flags", "IndexArray", "Offsets", "Rows", "SparseDemands"]

IndexArray = NDArray[np.int32]
Offsets = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rows = tuple[Offsets, IndexArray, NDArray[Any], FloatArray]
"""What kernels read of tenants: starts, columns and values of their demands, and their growth."""

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
        Entries in (0, 1]; float32 and float64 are kept as they are, other real numbers become float64. The
        entries of a CSR array are not copied: do not change them afterwards, they are not checked again.

    Raises
    ------
    ModelError
        If this is no sparse matrix, a row is empty, unsorted or has duplicates, an entry is not in (0, 1],
        there are more than 2^31 - 1 resources or tenants, or a copy does not fit in memory.

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
            raise ModelError.of(
                "demands",
                f"must be a scipy.sparse array of shape (n_tenants, n_resources); got "
                f"{type(matrix).__name__}; use scipy.sparse.csr_array(demands) for a matrix, "
                "SparseDemands.from_lists for lists",
            )
        if len(matrix.shape) != 2 or 0 in matrix.shape:
            raise ModelError.of(
                "demands", f"needs at least one tenant and one resource; got shape {matrix.shape}"
            )
        limit = np.iinfo(np.int32).max
        if max(matrix.shape) > limit:
            raise ModelError.of(
                "demands", f"has shape {matrix.shape}; tenants and resources are numbered up to {limit}"
            )
        if matrix.format != "csr":
            require_memory(12.0 * matrix.nnz, "a compressed copy of demands", "give a csr_array")
        rows = matrix if matrix.format == "csr" else sparse.csr_array(matrix)
        if rows.data.dtype.kind not in "biuf":
            raise ModelError.of("demands", f"must be real numbers; got entries of type {rows.data.dtype}")
        starts = rows.indptr.astype(np.int64)
        room = min(len(rows.indices), len(rows.data))
        if starts[0] != 0 or starts[-1] > room or (np.diff(starts) < 0).any():
            raise ModelError(
                f"indptr of demands must rise from 0 to at most {room}, the number of entries; it runs from "
                f"{starts[0]} to {starts[-1]}; make the matrix anew"
            )
        # Behind the last row there may be room for more entries.
        columns, values = rows.indices[: starts[-1]], rows.data[: starts[-1]]
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(float)
        row, fault, place = _first_fault(starts, columns, values, matrix.shape[1])
        if fault:
            detail = _FAULTS[fault].format(
                column=columns[place] if fault < 4 else "",
                before=columns[place - 1] if fault == 2 else "",
                value=values[place] if fault == 3 else "",
                last=matrix.shape[1] - 1,
            )
            raise ModelError.of("demands", f"of tenant {row}: {detail}")
        # Only now: a column beyond int32 would come out as another one.
        columns = columns.astype(np.int32, copy=False)
        vars(self).update(starts=starts, columns=columns, values=values, n_resources=int(matrix.shape[1]))

    @classmethod
    def of_checked(
        cls, starts: Offsets, columns: IndexArray, values: NDArray[Any], n_resources: int
    ) -> SparseDemands:
        """Demands from arrays that are known to be well-formed; they are taken as they are."""
        made = object.__new__(cls)
        vars(made).update(starts=starts, columns=columns, values=values, n_resources=n_resources)
        return made

    @classmethod
    def from_lists(cls, tenants: Sequence[Sequence[tuple[int, float]]], n_resources: int) -> SparseDemands:
        """Demands from one list of (resource, demand) per tenant, in any order.

        Raises
        ------
        ModelError
            As the constructor; also if resources are not numbered from 0 to n_resources - 1.
        """
        try:
            sizes = [len(tenant) for tenant in tenants]
            pairs = [(column, value) for tenant in tenants for column, value in sorted(tenant)]
        except (TypeError, ValueError) as error:
            raise ModelError.of(
                "tenants", f"must be lists of pairs (resource number, demand), one list per tenant: {error}"
            ) from None
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        columns = np.array([column for column, _ in pairs] or np.empty(0, dtype=np.int64))
        if columns.dtype.kind not in "iu" or columns.ndim != 1:
            raise ModelError.of("resources", f"must be whole numbers; got entries of type {columns.dtype}")
        if columns.size and not (columns.min() >= 0 and columns.max() < n_resources):
            raise ModelError.of(
                "resources",
                f"must be numbered below n_resources = {n_resources}; got {columns.min()}..{columns.max()}",
            )
        values = float_array("demands", [value for _, value in pairs], 1)
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
        """Growth rho of each tenant's dominant share per unit of level, shape (n_tenants,).

        Parameters
        ----------
        weights : array_like of shape (n_tenants,) or sparse with the pattern of the demands, optional
            Entitlements of the tenants, or of a tenant to a resource; default 1/n_tenants each.

        Raises
        ------
        ModelError
            If the shape or the pattern differs, or a weight is not finite and > 0 or leaves the range of
            floats when it is divided by demands.
        """
        if weights is None:
            return np.full(self.n_tenants, 1.0 / self.n_tenants)
        if sparse.issparse(weights):
            given = sparse.csr_array(weights)
            same = given.shape == (self.n_tenants, self.n_resources) and np.array_equal(
                given.indptr, self.starts
            )
            if not same or not np.array_equal(given.indices, self.columns):
                raise ModelError.of(
                    "weights", "must have an entry exactly where demands have one, in the same order"
                )
            entries = given.data
            if entries.dtype not in (np.float32, np.float64):
                entries = float_array("weights", entries)
            per_tenant = np.empty(self.n_tenants)
            bad = _least(self.starts, self.values, entries, self.largest, per_tenant)
            if bad >= 0:
                raise ModelError.of("weights", f"must be finite and > 0; got {entries[bad]} at entry {bad}")
        else:
            per_tenant = float_array("weights", weights)
            if per_tenant.shape != (self.n_tenants,):
                raise ModelError.of(
                    "weights",
                    f"must have shape (n_tenants,) = ({self.n_tenants},) or be sparse with the "
                    f"pattern of the demands; got shape {per_tenant.shape}",
                )
            require("weights", per_tenant, np.isfinite(per_tenant) & (per_tenant > 0), "finite and > 0")
        with np.errstate(over="ignore"):
            growth = per_tenant / self.largest
        good = np.isfinite(growth) & (growth > 0)
        if not good.all():
            place = int(np.argmin(good))
            raise ModelError.of(
                "weights",
                f"are too large or too small for the demands of tenant {place}: it would run "
                f"{growth[place]} tasks per unit of level; only ratios of weights matter, so scale them",
            )
        return per_tenant

    def __repr__(self) -> str:
        return (
            f"SparseDemands({self.n_tenants:,} tenants x {self.n_resources:,} resources, "
            f"{self.n_entries:,} entries, {self.values.dtype})"
        )


@stored(nogil=True, error_model="numpy")
def _least(
    starts: Offsets, values: NDArray[Any], weights: NDArray[Any], largest: FloatArray, least: FloatArray
) -> int:
    """Set the least w_ir / d_ir of each tenant, where d_ir = D_ir / largest_i; the first bad weight or -1."""
    for i in range(len(least)):
        least[i] = np.inf
        for e in range(starts[i], starts[i + 1]):
            # Written so that NaN fails.
            if not 0.0 < weights[e] < np.inf:
                return e
            least[i] = min(least[i], weights[e] * largest[i] / values[e])
    return -1


@stored(nogil=True)
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
