"""Who demands a resource: the rows of the demands, transposed, for the resources that are asked about.

Transposing 65 million entries takes longer than filling the resources. Only those that fill up are ever
asked who demands them, and most tenants are stopped by the few that fill up first. So the demanders of a part
of the resources are listed, and those of others later, for the tenants that are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from fairness.cloud.demands import Flags, IndexArray, Offsets, SparseDemands
from fairness.cloud.tiles import map_tiles, tenant_tiles
from fairness.errors import ModelError
from fairness.validation import frozen

__all__ = ["Pattern"]


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
    n_entries : int
        Entries of the demands that this is the pattern of.
    """

    listed: Flags
    starts: Offsets
    tenants: IndexArray
    n_entries: int

    @property
    def arrays(self) -> tuple[Flags, Offsets, IndexArray]:
        """What kernels read."""
        return self.listed, self.starts, self.tenants

    @classmethod
    def of(cls, demands: SparseDemands, listed: Flags | None = None, kept: Flags | None = None) -> Pattern:
        """Pattern of the demands.

        Parameters
        ----------
        demands : SparseDemands
        listed : ndarray of bool, shape (n_resources,), optional
            Resources to list the tenants of. Default: all.
        kept : ndarray of bool, shape (n_tenants,), optional
            Tenants to list. Default: all. (A part of the tenants serves one allocation, not the next.)
        """
        if listed is None:
            listed = np.ones(demands.n_resources, dtype=np.bool_)
        if kept is None:
            kept = np.ones(demands.n_tenants, dtype=np.bool_)
        tiles = tenant_tiles(demands)
        counts = np.zeros((len(tiles), demands.n_resources), dtype=np.int32)
        rows = demands.starts, demands.columns, listed, kept
        map_tiles(lambda tile, first, last: _count(first, last, *rows, counts[tile]), tiles)
        starts = np.zeros(demands.n_resources + 1, dtype=np.int64)
        np.cumsum(counts.sum(axis=0, dtype=np.int64), out=starts[1:])
        # Each tile writes behind what the tiles before it write.
        places = starts[:-1] + np.cumsum(counts, axis=0, dtype=np.int64) - counts
        tenants = np.empty(starts[-1], dtype=np.int32)
        map_tiles(lambda tile, first, last: _scatter(first, last, *rows, places[tile], tenants), tiles)
        return cls(frozen(listed), frozen(starts), frozen(tenants), demands.n_entries)

    def check(self, demands: SparseDemands) -> None:
        """Raise a ModelError if the pattern has not the shape of the demands."""
        if len(self.listed) != demands.n_resources or self.n_entries != demands.n_entries:
            raise ModelError(
                f"{self!r} does not belong to {demands!r}; make a new one with Pattern.of(demands)"
            )

    def __repr__(self) -> str:
        listed = int(self.listed.sum())
        return f"Pattern({listed:,} of {len(self.listed):,} resources, {self.n_entries:,} entries)"


@numba.njit(cache=True, nogil=True)
def _count(
    first: int, last: int, starts: Offsets, columns: IndexArray, listed: Flags, kept: Flags, counts: Any
) -> None:
    """Add up the listed entries of each resource in a tile of tenants."""
    for i in range(first, last):
        if kept[i]:
            for e in range(starts[i], starts[i + 1]):
                counts[columns[e]] += listed[columns[e]]


@numba.njit(cache=True, nogil=True)
def _scatter(
    first: int,
    last: int,
    starts: Offsets,
    columns: IndexArray,
    listed: Flags,
    kept: Flags,
    places: Offsets,
    tenants: IndexArray,
) -> None:
    """Write the tenants of a tile to the places of their resources."""
    for i in range(first, last):
        if kept[i]:
            for e in range(starts[i], starts[i + 1]):
                r = columns[e]
                if listed[r]:
                    tenants[places[r]] = i
                    places[r] += 1
