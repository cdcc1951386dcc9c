r"""A round of DC-DRF: its level, the resources that are exhausted there, and the tenants to be evicted.

With :math:`F_r = \sum_{\text{evicted}} g_{ir} z_i` and :math:`\mu_r` the rate of growing tenants, resource r
decides the round whose level is :math:`(1 - F_r)/\mu_r` and counts as exhausted from the level
:math:`(1 - \varepsilon - F_r)/\mu_r` on. Both only rise (:mod:`fairness.cloud.engines.filling`). So outdated
ones are lower bounds, and one bound serves a block of resources until it is reached. Rounding may lower a
level by a last bit, and then the bound of its block with it: the resource that decides a round must be found
exhausted.

Evictions of many entries are shared by threads, each of which owns a range of resources (the paper's resource
tiles). Demands are sorted by resource, so the part of a row that is a thread's own is found by bisection, and
every sum is added up in the order in which one thread would do it: the result is the same to the last bit.
Smaller evictions are not worth sharing, nor are searches.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray
from fairness.cloud.engines import prefetch as prefetching
from fairness.cloud.engines import sums as summing
from fairness.cloud.engines.prefetch import LINE, prefetch, prefetch_row
from fairness.cloud.engines.sums import add, table
from fairness.cloud.engines.threads import PARALLEL
from fairness.cloud.model.demands import Flags, IndexArray, Offsets, Rows, SparseDemands
from fairness.cloud.model.pattern import Lists
from fairness.cloud.model.tiles import map_tiles, resource_tiles, tenant_tiles
from fairness.machine.compiling import stored

__all__ = [
    "DONE",
    "MISFIT",
    "PAUSED",
    "SHARED_EVICTION",
    "STUCK",
    "UNLISTED",
    "State",
    "advance_alone",
    "advance_shared",
    "shared_rows",
]

AHEAD = 4
"""Rows that are fetched ahead of the one at work; twice as many have their places looked up."""

WHILE = 20_000_000
"""Entries after which the kernel lets Python look for an interrupt: about a third of a second."""

CHUNK = 100_000
"""Evicted tenants whose rows are worked through without looking how many entries that were."""

SHARED_EVICTION = 300_000
"""Entries of the tenants evicted in a round that are worth sharing: two milliseconds of work."""

BLOCK = 64
"""Resources of which one lower bound is kept."""

Places = NDArray[np.int64]
"""(n_tenants, threads + 1): entries ``places[i, k]`` to ``places[i, k + 1] - 1`` of row i are thread k's.
They stand for the starts in the :data:`~fairness.cloud.model.demands.Rows` of these kernels."""

Bounds = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""Of a :class:`State`: sums, full, reached, full_floors and reached_floors."""

DONE, PAUSED, UNLISTED, MISFIT, STUCK = range(5)
"""Why the kernel returned."""


class State(NamedTuple):
    """Where the rounds stand; the kernel changes it."""

    sums: FloatArray  # (n_resources, 8): F and its compensation, mu and its, number of growing tenants
    full: FloatArray  # level at which a resource decides a round, or a lower bound; infinite without tenants
    reached: FloatArray  # level from which on it counts as exhausted, or a lower bound
    levels: FloatArray  # z; -1 of growing tenants
    growing: Flags
    trail: FloatArray  # y_t after each round
    batch: IndexArray  # evicted in this round; one place more than tenants, for writing without a branch
    full_floors: FloatArray  # lower bounds of these, one for each block
    reached_floors: FloatArray
    due: IndexArray  # resources exhausted in this round
    spent: Flags  # whether a resource has been exhausted
    progress: NDArray[np.int64]  # rounds, growing tenants
    # and of this round: evicted tenants, those of them worked through, their entries, exhausted resources

    @classmethod
    def start(cls, loads: FloatArray, n_tenants: int, epsilon: float) -> State:
        """Nobody has been evicted; loads are those of :func:`fairness.cloud.engines.filling.loads_of`."""
        m = len(loads)
        sums = table(m, 8)
        sums[:, 2:5] = loads[:, :3]
        rates = loads[:, 0] + loads[:, 1]
        live = rates > 0
        with np.errstate(over="ignore"):
            full = np.divide(1.0, rates, out=np.full(m, np.inf), where=live)
            reached = np.divide(1.0 - epsilon, rates, out=np.full(m, np.inf), where=live)
        return cls(
            sums=sums,
            full=full,
            reached=reached if epsilon else full,
            levels=np.full(n_tenants, -1.0),
            growing=np.ones(n_tenants, dtype=np.bool_),
            trail=np.empty(m),
            batch=np.empty(n_tenants + 1, dtype=np.int32),
            full_floors=np.zeros(-(-m // BLOCK)),
            reached_floors=np.zeros(-(-m // BLOCK)),
            due=np.empty(m, dtype=np.int32),
            spent=np.zeros(m, dtype=np.bool_),
            progress=np.array([0, n_tenants, 0, 0, 0, 0]),
        )

    @property
    def level(self) -> float:
        """Level of growing tenants."""
        rounds = self.progress[0]
        return float(self.trail[rounds - 1]) if rounds else 0.0

    @property
    def left(self) -> FloatArray:
        """Part of each resource that is left, negative if it is overfull; shape (n_resources,)."""
        sums = self.sums
        rates = np.where(sums[:, 4] > 0, sums[:, 2] + sums[:, 3], 0.0)
        return (1.0 - sums[:, 0]) - sums[:, 1] - self.level * rates

    def misfit(self, epsilon: float) -> float:
        """How much more than epsilon is left of an exhausted resource, or how overfull one is.

        Zero but for rounding, unless rates have been lost
        (:attr:`fairness.cloud.engines.filling.Filling.misfit`).
        """
        left = self.left
        return float(
            np.maximum(0.0, np.maximum((left[self.spent] - epsilon).max(initial=0.0), (-left).max()))
        )


def shared_rows(demands: SparseDemands, threads: int) -> Places:
    """The part of each thread in each row: ranges of resources with about as many entries each.

    Returns
    -------
    ndarray of shape (n_tenants, threads + 1), or less if there are fewer resources than threads
    """
    tiles = resource_tiles(demands, threads)
    cuts = np.array([0, *(last for _, last in tiles)])
    places = np.empty((demands.n_tenants, len(cuts)), dtype=np.int64)
    rows = demands.starts, demands.columns, cuts, places
    map_tiles(lambda tile, first, last: _split(first, last, *rows), tenant_tiles(demands), threads)
    return places


@numba.njit(inline="always")
def _place(columns: IndexArray, first: int, last: int, r: int) -> int:
    """First entry of a row from resource r on."""
    while first < last:
        middle = (first + last) // 2
        if columns[middle] < r:
            first = middle + 1
        else:
            last = middle
    return first


@stored(nogil=True)
def _split(
    first: int, last: int, starts: Offsets, columns: IndexArray, cuts: Offsets, places: Places
) -> None:
    """Find the part of each thread in some rows."""
    tiles = len(cuts) - 1
    for i in range(first, last):
        places[i, 0], places[i, tiles] = starts[i], starts[i + 1]
        for k in range(1, tiles):
            places[i, k] = _place(columns, places[i, k - 1], starts[i + 1], cuts[k])


@numba.njit(inline="always")
def _refresh(bounds: Bounds, epsilon: float, r: int) -> None:
    """The levels at which resource r decides a round and from which on it counts as exhausted.

    The bounds of its block stay below them.
    """
    sums, full, reached, full_floors, reached_floors = bounds
    rate = sums[r, 2] + sums[r, 3]
    if sums[r, 4] > 0 and rate > 0:
        room = (1.0 - sums[r, 0]) - sums[r, 1]
        # epsilon >= 0 and division is monotone: who decides a round is exhausted, however it rounds.
        reached[r] = (room - epsilon) / rate
        full[r] = room / rate
    else:
        reached[r] = full[r] = np.inf
    block = r // BLOCK
    full_floors[block] = min(full_floors[block], full[r])
    reached_floors[block] = min(reached_floors[block], reached[r])


@numba.njit(nogil=True, error_model="numpy")
def _lowest(bounds: Bounds, epsilon: float) -> float:
    """Lowest level at which a resource decides the round."""
    _, full, _, full_floors, _ = bounds
    lowest, m = np.inf, len(full)
    for block in range(len(full_floors)):
        if full_floors[block] < lowest:
            full_floors[block] = np.inf
            for r in range(block * BLOCK, min((block + 1) * BLOCK, m)):
                if full[r] < lowest:
                    _refresh(bounds, epsilon, r)
                    lowest = min(lowest, full[r])
                full_floors[block] = min(full_floors[block], full[r])
    return lowest


@numba.njit(nogil=True, error_model="numpy")
def _exhausted(bounds: Bounds, epsilon: float, level: float, due: IndexArray) -> int:
    """List resources that count as exhausted at this level; how many they are."""
    _, _, reached, _, reached_floors = bounds
    found, m = 0, len(reached)
    for block in range(len(reached_floors)):
        if reached_floors[block] <= level:
            reached_floors[block] = np.inf
            for r in range(block * BLOCK, min((block + 1) * BLOCK, m)):
                if reached[r] <= level:
                    _refresh(bounds, epsilon, r)
                    due[found] = r
                    found += 1 if reached[r] <= level else 0
                reached_floors[block] = min(reached_floors[block], reached[r])
    return found


@numba.njit(nogil=True)
def _evict(
    own: int, end: int, first: int, last: int, level: float, rows: Rows, sums: FloatArray, batch: IndexArray
) -> None:
    """Take evicted tenants out of mu ([1] line 17) and into F; entries of threads ``own`` to ``end`` - 1."""
    places, columns, values, growth = rows
    step = LINE // columns.itemsize
    for k in range(first, last):
        if k + 2 * AHEAD < last:
            prefetch_row(places, batch[k + 2 * AHEAD])
            prefetch(growth, batch[k + 2 * AHEAD])
        if k + AHEAD < last:
            later = batch[k + AHEAD]
            for e in range(places[later, own], places[later, end], step):
                prefetch(columns, e)
                prefetch(values, e)
        if k + 1 < last:
            later = batch[k + 1]
            for e in range(places[later, own], places[later, end]):
                prefetch_row(sums, columns[e])
        i = batch[k]
        for e in range(places[i, own], places[i, end]):
            q = columns[e]
            rate = growth[i] * values[e]
            add(sums, q, 0, rate * level)
            add(sums, q, 2, -rate)
            sums[q, 4] -= 1.0


def _advance(rows: Rows, lists: Lists, epsilon: float, most: int, state: State) -> int:
    """At most so many rounds, or until a resource is exhausted that is not listed, or for a while."""
    places, (listed, pattern, tenants) = rows[0], lists
    sums, full, reached, levels, growing, trail, batch = state[:7]
    full_floors, reached_floors, due, spent, progress = state[7:]
    bounds = sums, full, reached, full_floors, reached_floors
    n, m, tiles = len(growing), len(sums), places.shape[1] - 1
    rounds, left, found, done, entries, n_due = progress
    ended, touched, why = 0, 0, PAUSED
    while ended < most and touched < WHILE:
        if done == found:
            low = _lowest(bounds, epsilon)
            if low == np.inf:
                why = STUCK
                break
            # Rounding may put a level a hair below one that was reached before.
            level = max(low, trail[rounds - 1]) if rounds > 0 else low
            n_due = _exhausted(bounds, epsilon, level, due)
            missing = False
            for k in range(n_due):
                missing = missing or not listed[due[k]]
            if missing:
                why = UNLISTED
                break
            trail[rounds] = level
            rounds += 1
            found, done, entries = 0, 0, 0
            for k in range(n_due):
                r, before, demanding = due[k], found, 0
                for p in range(pattern[r], pattern[r + 1]):
                    i = tenants[p]
                    demanding += growing[i]
                    batch[found] = i
                    found += growing[i] and levels[i] < 0
                for p in range(before, found):
                    levels[batch[p]] = level
                if demanding != sums[r, 4]:
                    return MISFIT
            if found > n // 32:
                # Rows in the order in which they lie in memory.
                found = 0
                for i in range(n):
                    batch[found] = i
                    found += growing[i] and levels[i] == level
            for p in range(found):
                growing[batch[p]] = False
                entries += places[batch[p], tiles] - places[batch[p], 0]
            left -= found
            touched += m // 16
        else:
            level = trail[rounds - 1]
            last = min(found, done + CHUNK)
            if tiles > 1 and entries >= SHARED_EVICTION:
                for k in numba.prange(tiles):
                    _evict(k, k + 1, done, last, level, rows, sums, batch)
            else:
                _evict(0, tiles, done, last, level, rows, sums, batch)
            done = last
            touched += entries
            if done == found:
                # Neither too many nor too few were listed: as many as demand it, and none is left.
                for k in range(n_due):
                    if sums[due[k], 4] != 0:
                        return MISFIT
                    spent[due[k]] = True
                ended += 1
                if left == 0:
                    why = DONE
                    break
    progress[0], progress[1], progress[2] = rounds, left, found
    progress[3], progress[4], progress[5] = done, entries, n_due
    return why


_options = {"nogil": True, "error_model": "numpy"}
advance_alone = stored(summing, prefetching, **_options)(_advance)
advance_shared = stored(summing, prefetching, **_options, parallel=PARALLEL)(_advance)
