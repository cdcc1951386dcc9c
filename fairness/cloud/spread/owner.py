r"""What one machine holds and answers: the demands of all tenants on a range of the resources.

At first it reads the files of some tenants, as many files as the others, and checks them; then all exchange
parts of rows. So each entry is read once and sent once, and no machine ever holds more than its share of the
entries (for a moment some four times). Of each tenant it keeps growth, level, offset and state, 25 bytes. Its
sums :math:`F_r` and :math:`\mu_r` (:mod:`fairness.cloud.engines.eviction`) are added up in the order in
which one machine does it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray
from scipy import sparse

from fairness.arguments.validation import FloatArray
from fairness.cloud.certificates import unexplained_on
from fairness.cloud.engines import eviction as evicting
from fairness.cloud.engines import prefetch as prefetching
from fairness.cloud.engines import sums as summing
from fairness.cloud.engines.eviction import (
    GROWS,
    STOPPED,
    Places,
    evict,
    left_of,
    levels_of,
    place,
    places_between,
)
from fairness.cloud.engines.loads import FIRST_LISTED, loads_of, soonest
from fairness.cloud.engines.sums import table
from fairness.cloud.model.demands import IndexArray, Offsets, Rows, SparseDemands
from fairness.cloud.model.pattern import Lists, Pattern
from fairness.cloud.model.tiles import tile_marks, tiles_between
from fairness.errors import ModelError
from fairness.machine.compiling import stored

__all__ = ["Owner"]

Piece = tuple[Offsets, NDArray[np.int32], IndexArray, NDArray[Any], FloatArray]
"""Of some tenants on a range: its first resource and the one after its last; lengths of rows, columns and
values of their entries there; growth."""


class Owner:
    """A range of resources; made empty, on the machine where it stays."""

    def read(self, paths: list[str]) -> list[tuple[int, int, int]]:
        """Read blocks of tenants; how many tenants, resources and entries each has."""
        self.blocks = [_block(path) for path in paths]
        return [(block.n_tenants, block.n_resources, block.n_entries) for block in self.blocks]

    def count(self, n_resources: int, begin: int, n_entries: int) -> tuple[Offsets, Offsets]:
        """Entries of these blocks on each resource, and how many of their tenants each tile has to its end.

        Their first entry is the one of number ``begin`` of ``n_entries``.
        """
        marks = tile_marks(n_entries)
        counts, inner = np.zeros(n_resources, dtype=np.int64), np.zeros(len(marks), dtype=np.int64)
        for block in self.blocks:
            counts += np.bincount(block.columns, minlength=n_resources)
            inner += np.searchsorted(block.starts[:-1], marks - begin)
            begin += block.n_entries
        return counts, inner

    def cut(self, cuts: Offsets, weights: FloatArray) -> list[Piece]:
        """The piece of each machine, of the tenants of these blocks."""
        done, pieces = 0, [[_no_piece(*ends)] for ends in pairwise(cuts)]
        for block in self.blocks:
            ours = weights[done : done + block.n_tenants]
            done += block.n_tenants
            growth, places = block.check_weights(ours) / block.largest, places_between(block, cuts)
            for number, (first, last) in enumerate(pairwise(cuts)):
                lengths = (places[:, number + 1] - places[:, number]).astype(np.int32)
                columns = np.empty(lengths.sum(), dtype=np.int32)
                values = np.empty(len(columns), dtype=block.values.dtype)
                _copy(number, places, block.columns, block.values, first, columns, values)
                pieces[number].append((np.array([first, last]), lengths, columns, values, growth))
        self.blocks = []
        return [_joined(parts) for parts in pieces]

    def take(self, pieces: list[Piece], inner: Offsets, tenants: Offsets) -> int:
        """Hold the demands of all tenants on a range; entries there.

        ``tenants`` tells the first of each machine, as they were read, and the one after the last.
        """
        ends, lengths, columns, values, self.growth = _joined(pieces)
        starts = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        self.first = int(ends[0])
        n, m = len(lengths), int(ends[1]) - self.first
        self.demands, self.tenants = SparseDemands.of_checked(starts, columns, values, m), tenants
        self.standing, self.levels = np.full(n, GROWS, dtype=np.uint8), np.zeros(n)
        self.sums = table(m, 8)
        self.pattern: Pattern | None = None
        self.sums[:, 2:5] = loads_of(self.demands, self.growth, tiles=tiles_between(inner, n))[:, :3]
        return self.demands.n_entries

    def nearest(self, most: int) -> tuple[IndexArray, FloatArray]:
        """Those that would be full first, at most so many, and the levels at which they would be."""
        levels = levels_of(self.sums)
        live = np.flatnonzero(levels < np.inf)
        if len(live) > most:
            live = live[np.argpartition(levels[live], most - 1)[:most]]
        return (live + self.first).astype(np.int32), levels[live]

    def columns(self, resources: IndexArray) -> tuple[FloatArray, IndexArray, FloatArray]:
        """Sums of resources, and their growing tenants, in turn and rising, with their rates there."""
        ours = resources - self.first
        sums = self.sums[ours, :5]
        if not len(ours):
            return sums, np.empty(0, np.int32), np.empty(0)
        known = self.pattern
        if known is None or not known.listed[ours].all():
            wanted = soonest(self.sums, FIRST_LISTED if known is None else 1.0)
            wanted[ours] = True
            grows, counts = self.standing == GROWS, self.sums[:, 4]
            known = self.pattern = Pattern.of(self.demands, wanted, grows, counts=counts)
        tenants = np.empty(int(sums[:, 4].sum()), dtype=np.int32)
        rates = np.empty(len(tenants))
        _entries(self._rows, known.arrays, self.standing, ours, tenants, rates)
        return sums, tenants, rates

    def due(self, level: float, epsilon: float) -> tuple[IndexArray, FloatArray, IndexArray, FloatArray]:
        """Resources with at most epsilon left at this level; then as :meth:`columns`."""
        found = np.flatnonzero(levels_of(self.sums, epsilon) <= level).astype(np.int32) + self.first
        return found, *self.columns(found)

    def stop(self, heights: FloatArray, ends: Offsets, tenants: IndexArray, most: int) -> Any:
        """Tenants stop, in this order, up to each end at one level; :meth:`nearest` thereafter."""
        starts, *others = self._rows
        # The entries of row i are those from starts[i] up to starts[i + 1], without a copy of either.
        places = as_strided(starts, (len(starts) - 1, 2), starts.strides * 2)
        # What comes from elsewhere is read-only, for which kernels would be compiled once more.
        told = (np.require(one, requirements="W") for one in (heights, ends, tenants))
        _stop((places, *others), *told, self.sums, self.standing, self.levels)
        return self.nearest(most)

    def left(self, level: float) -> FloatArray:
        """Part of each resource that is left when growing tenants have reached a level."""
        self.levels[self.standing == GROWS] = level
        return left_of(self.sums, level)

    def explain(self, epsilon: float) -> list[tuple[float, FloatArray]]:
        """For each machine: how overfull a resource is here, and what the levels of its tenants lack here."""
        overfull, lacking = unexplained_on(self.demands, self.growth, self.levels, epsilon)
        return [(overfull, lacking[first:last]) for first, last in pairwise(self.tenants)]

    def judge(self, pieces: list[tuple[float, FloatArray]]) -> tuple[float, float]:
        """How overfull a resource is anywhere, and what the worst of some tenants lacks everywhere."""
        overfull, lacking = zip(*pieces, strict=True)
        return max(overfull), float(np.minimum.reduce(lacking).max(initial=0.0))

    def growths(self, first: int, last: int) -> FloatArray:
        """Tasks per unit of level of some tenants."""
        return self.growth[first:last]

    @property
    def _rows(self) -> Rows:
        return self.demands.starts, self.demands.columns, self.demands.values, self.growth


def _block(path: str) -> SparseDemands:
    """Demands of some tenants from a file, checked."""
    try:
        return SparseDemands(sparse.load_npz(path))
    except ModelError as error:
        raise ModelError.of("paths", f": in {path!r} {error}") from None
    except Exception as error:
        raise ModelError.of(
            "paths",
            f": {path!r} cannot be read ({type(error).__name__}: {error}); give files written by "
            "scipy.sparse.save_npz that each machine can open",
        ) from None


def _no_piece(first: int, last: int) -> Piece:
    nobody, nothing = np.empty(0, np.int32), np.empty(0, np.float32)
    return np.array([first, last]), nobody, nobody, nothing, np.empty(0)


def _joined(pieces: list[Piece]) -> Piece:
    """One piece of the tenants of several, in their order."""
    rest = zip(*(piece[1:] for piece in pieces), strict=True)
    lengths, columns, values, growth = (np.concatenate(parts) for parts in rest)
    return pieces[0][0], lengths, columns, values, growth


@stored(nogil=True)
def _copy(
    number: int,
    places: Places,
    columns: IndexArray,
    values: NDArray[Any],
    first: int,
    part_columns: IndexArray,
    part_values: NDArray[Any],
) -> None:
    """Copy the entries of one range; columns are counted from its first."""
    k = 0
    for i in range(len(places)):
        for e in range(places[i, number], places[i, number + 1]):
            part_columns[k], part_values[k] = columns[e] - first, values[e]
            k += 1


@stored(evicting, nogil=True)
def _entries(
    rows: Rows,
    lists: Lists,
    standing: NDArray[np.uint8],
    resources: IndexArray,
    tenants: IndexArray,
    rates: FloatArray,
) -> None:
    """List the growing tenants of some resources and their rates."""
    starts, columns, values, growth = rows
    _, pattern, listed = lists
    k = 0
    for r in resources:
        for p in range(pattern[r], pattern[r + 1]):
            i = listed[p]
            if standing[i] == GROWS:
                tenants[k] = i
                rates[k] = growth[i] * values[place(columns, starts[i], starts[i + 1], r)]
                k += 1


@stored(evicting, summing, prefetching, nogil=True)
def _stop(
    rows: Rows,
    heights: FloatArray,
    ends: Offsets,
    tenants: IndexArray,
    sums: FloatArray,
    standing: NDArray[np.uint8],
    levels: FloatArray,
) -> None:
    """Take tenants out of the sums, in their order."""
    first = 0
    for k in range(len(heights)):
        for p in range(first, ends[k]):
            standing[tenants[p]], levels[tenants[p]] = STOPPED, heights[k]
        evict(0, 1, first, ends[k], heights[k], rows, sums, tenants)
        first = ends[k]
