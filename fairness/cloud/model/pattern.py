"""Who demands a resource: the rows of the demands, transposed, for the resources that are asked about.

Transposing 65 million entries takes longer than filling the resources. Only those that fill up are ever
asked who demands them, and most tenants are stopped by the few that fill up first. So the demanders of a part
of the resources are listed, and those of others later, for the tenants that are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairness.arguments.validation import FloatArray, frozen
from fairness.cloud.model.demands import Flags, IndexArray, Offsets, SparseDemands
from fairness.cloud.model.tiles import map_tiles, resource_tiles
from fairness.errors import ModelError
from fairness.machine.compiling import stored

__all__ = ["Lists", "Pattern"]

Lists = tuple[Flags, Offsets, IndexArray]
"""Of a pattern: listed, starts and tenants."""


@dataclass(frozen=True, eq=False, repr=False)
class Pattern:
    """Who demands each resource, or each of some: kept while only the sizes of demands change.

    Attributes
    ----------
    listed : ndarray of bool, shape (n_resources,)
        Resources whose tenants are listed.
    starts : ndarray of shape (n_resources + 1,)
    tenants : ndarray of shape (starts[-1],)
        The tenants of a listed resource r are ``tenants[starts[r]:starts[r + 1]]``, in rising order.
    n_entries, n_tenants : int
        Entries and tenants of the demands that this is the pattern of.
    """

    listed: Flags
    starts: Offsets
    tenants: IndexArray
    n_entries: int
    n_tenants: int

    @property
    def arrays(self) -> Lists:
        """What kernels read: read-only, also in a copy from another process."""
        return frozen(self.listed), frozen(self.starts), frozen(self.tenants)

    @classmethod
    def of(
        cls,
        demands: SparseDemands,
        listed: Flags | None = None,
        kept: Flags | None = None,
        *,
        counts: FloatArray | None = None,
        threads: int | None = None,
    ) -> Pattern:
        """Pattern of the demands.

        Parameters
        ----------
        demands : SparseDemands
        listed : ndarray of bool, shape (n_resources,), optional
            Resources to list the tenants of. Default: all.
        kept : ndarray of bool, shape (n_tenants,), optional
            Tenants to list. Default: all. (A part of the tenants serves one allocation, not the next.)
        counts : ndarray of shape (n_resources,), optional
            How many of these tenants demand each resource, if that is known.
        threads : int, optional
            Default: as many as there are cores. The pattern does not depend on it.

        Raises
        ------
        ModelError
            If ``listed`` or ``kept`` are not flags of that shape.
        """
        if listed is None:
            listed = np.ones(demands.n_resources, dtype=np.bool_)
        if kept is None:
            kept = np.ones(demands.n_tenants, dtype=np.bool_)
        for name, flags, size in (("listed", listed, demands.n_resources), ("kept", kept, demands.n_tenants)):
            if getattr(flags, "dtype", None) != np.bool_ or flags.shape != (size,):
                raise ModelError.of(
                    name,
                    f"must be an array of bool of shape ({size},); got {type(flags).__name__} of "
                    f"shape {np.shape(flags)}",
                )
        if counts is None:
            counts = np.zeros(demands.n_resources)
            _count(demands.starts, demands.columns, kept, counts)
        starts = np.zeros(demands.n_resources + 1, dtype=np.int64)
        np.cumsum(np.where(listed, counts, 0), out=starts[1:])
        tenants, places = np.empty(starts[-1], dtype=np.int32), starts[:-1].copy()
        rows = demands.starts, demands.columns, listed, kept, places, tenants
        map_tiles(
            lambda _, first, last: _scatter(first, last, *rows), resource_tiles(demands, threads), threads
        )
        return cls(frozen(listed), frozen(starts), frozen(tenants), demands.n_entries, demands.n_tenants)

    def check(self, demands: SparseDemands) -> None:
        """Raise a ModelError if the pattern has not the shape of the demands."""
        # Kernels rely on it: a tenant that is unknown here would be looked up outside of their arrays.
        ours = self.n_tenants, len(self.listed), self.n_entries
        if ours != (demands.n_tenants, demands.n_resources, demands.n_entries):
            raise ModelError(
                f"{self!r} does not belong to {demands!r}; make a new one with Pattern.of(demands)"
            )

    def __repr__(self) -> str:
        listed = int(self.listed.sum())
        return (
            f"Pattern({listed:,} of {len(self.listed):,} resources, {self.n_tenants:,} tenants, "
            f"{self.n_entries:,} entries)"
        )


@stored(nogil=True)
def _count(starts: Offsets, columns: IndexArray, kept: Flags, counts: FloatArray) -> None:
    """Count how many of the tenants that are kept demand each resource."""
    for i in range(len(kept)):
        if kept[i]:
            for e in range(starts[i], starts[i + 1]):
                counts[columns[e]] += 1.0


@stored(nogil=True)
def _scatter(
    low: int,
    high: int,
    starts: Offsets,
    columns: IndexArray,
    listed: Flags,
    kept: Flags,
    places: Offsets,
    tenants: IndexArray,
) -> None:
    """Write tenants to the places of the resources from ``low`` up to ``high`` that they demand."""
    for i in range(len(kept)):
        if kept[i]:
            # Rows are sorted: from the end down, the last resources have nothing to skip.
            for e in range(starts[i + 1] - 1, starts[i] - 1, -1):
                r = columns[e]
                if r < low:
                    break
                if r < high and listed[r]:
                    tenants[places[r]] = i
                    places[r] += 1
