r"""A round: its level, the resources that are exhausted there, and the tenants to be evicted.

With :math:`F_r = \sum_{\text{evicted}} g_{ir} z_i` and :math:`\mu_r = \sum_{\text{growing}} g_{ir}`, where
:math:`g_{ir}` is the rate at which tenant i fills resource r, the resource would be full at the level
:math:`y_r = (1 - F_r)/\mu_r` if nobody stopped before. A tenant that stops at :math:`z \le y_r` moves its
part from :math:`\mu` to F, and

.. math:: \frac{1 - F_r - g z}{\mu_r - g} \ge \frac{1 - F_r}{\mu_r},

so these levels only *rise*. The lowest is the level of a round, and a resource counts as exhausted from the
level :math:`(1 - \varepsilon - F_r)/\mu_r` on; with :math:`\varepsilon = 0` it is full, and rounds are the
events of exact filling. Outdated levels are lower bounds, and one bound serves a block of resources until it
is reached. Rounding may lower a level by a last bit, and then the bound of its block with it: the resource
that decides a round must be found exhausted.

Nothing drifts. F only grows, by parts of at most 1 in all. :math:`\mu` is reduced by exactly the products
that were summed into it, in twice the working precision, and a resource without growing tenants is known by
their count, not by what is left of :math:`\mu`: that is right to full precision even where its first value
was ten decades larger.

*Memory.* Tenants stop in an order that has nothing to do with where their rows lie, and waiting for them took
two thirds of the time. Those that a resource stops are listed first, and rows are fetched some places ahead
(:mod:`fairness.cloud.engines.prefetch`). What is known of a resource lies in one cache line, fetched one row
ahead. Who demands a resource is listed for those that will be exhausted first; when another one is next, for
all of them and the tenants that still grow (:mod:`fairness.cloud.model.pattern`). Whether a tenant grows is a
byte, so that a million of these stay near.

Evictions of many entries are shared by threads, each of which owns a range of resources (the paper's resource
tiles). Demands are sorted by resource, so the part of a row that is a thread's own is found by bisection, and
every sum is added up in the order in which one thread would do it: the result is the same to the last bit.
Smaller evictions are not worth sharing, nor are searches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, frozen
from fairness.cloud.engines import prefetch as prefetching
from fairness.cloud.engines import sums as summing
from fairness.cloud.engines.loads import FIRST_LISTED, soonest
from fairness.cloud.engines.prefetch import LINE, prefetch, prefetch_row
from fairness.cloud.engines.sums import add, table
from fairness.cloud.engines.threads import PARALLEL, workers
from fairness.cloud.model.demands import Flags, IndexArray, Offsets, Rows, SparseDemands
from fairness.cloud.model.pattern import Lists, Pattern
from fairness.cloud.model.tiles import map_tiles, resource_tiles, tenant_tiles
from fairness.errors import ModelError
from fairness.machine.compiling import stored

__all__ = [
    "GROWS",
    "SHARED_EVICTION",
    "STOPPED",
    "State",
    "evict",
    "left_of",
    "levels_of",
    "misfit_of",
    "orderly",
    "place",
    "places_between",
    "run",
    "run_below",
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

Limits = tuple[int, float, int]
"""Most rounds, the level that none may reach, and the tenants up to which a round evicts them in the order in
which it found them; more of them in the order of their rows."""

DONE, PAUSED, UNLISTED, MISFIT, STUCK, BARRED = range(6)
"""Why the kernel returned."""

STOPPED, GROWS, LEAVES = range(3)
"""How a tenant stands; who leaves does so in the round at work."""


class State(NamedTuple):
    """Where the rounds stand; the kernel changes it."""

    sums: FloatArray  # (n_resources, 8): F and its compensation, mu and its, number of growing tenants
    full: FloatArray  # level at which a resource decides a round, or a lower bound; infinite without tenants
    reached: FloatArray  # level from which on it counts as exhausted, or a lower bound
    standing: NDArray[np.uint8]  # (n_tenants,): GROWS, LEAVES or STOPPED
    events: IndexArray  # (n_tenants,): number of the resource, among those that stopped somebody; -1 of none
    heights: FloatArray  # (n_resources,): level of each event
    stoppers: IndexArray  # (n_resources,): resource of each event
    trail: FloatArray  # y_t after each round
    batch: IndexArray  # in the order in which they stop; one place more, for writing without a branch
    full_floors: FloatArray  # lower bounds of these, one for each block
    reached_floors: FloatArray
    due: IndexArray  # resources exhausted in this round
    spent: Flags  # whether a resource has been exhausted
    progress: NDArray[np.int64]  # rounds, growing tenants, events, tenants evicted by the end of this round,
    # those of them worked through, entries of those evicted in this round, resources exhausted in it
    ends: NDArray[np.int64]  # tenants evicted by the end of each round

    @classmethod
    def start(cls, loads: FloatArray, n_tenants: int, epsilon: float) -> State:
        """Nobody has been evicted; loads are those of :func:`fairness.cloud.engines.loads.loads_of`."""
        sums = table(len(loads), 8)
        sums[:, 2:5] = loads[:, :3]
        return cls.of(sums, n_tenants, epsilon)

    @classmethod
    def of(cls, sums: FloatArray, n_tenants: int, epsilon: float) -> State:
        """Rounds begin with these sums."""
        m, full = len(sums), levels_of(sums)
        return cls(
            sums=sums,
            full=full,
            reached=levels_of(sums, epsilon) if epsilon else full,
            standing=np.full(n_tenants, GROWS, dtype=np.uint8),
            events=np.full(n_tenants, -1, dtype=np.int32),
            heights=np.empty(m),
            stoppers=np.empty(m, dtype=np.int32),
            trail=np.empty(m + 1),
            batch=np.empty(n_tenants + 1, dtype=np.int32),
            full_floors=np.zeros(-(-m // BLOCK)),
            reached_floors=np.zeros(-(-m // BLOCK)),
            due=np.empty(m, dtype=np.int32),
            spent=np.zeros(m, dtype=np.bool_),
            progress=np.array([0, n_tenants, 0, 0, 0, 0, 0]),
            ends=np.empty(m + 1, dtype=np.int64),
        )

    @property
    def level(self) -> float:
        """Level of growing tenants."""
        rounds = self.progress[0]
        return float(self.trail[rounds - 1]) if rounds else 0.0

    def stops(self) -> tuple[FloatArray, IndexArray]:
        """Level that each tenant has reached, and the resource that stopped it, or -1; shape (n_tenants,)."""
        grows = self.events < 0
        levels = np.where(grows, self.level, self.heights[self.events])
        return frozen(levels), frozen(np.where(grows, np.int32(-1), self.stoppers[self.events]))

    @property
    def left(self) -> FloatArray:
        """Part of each resource that is left, negative if it is overfull; shape (n_resources,)."""
        return left_of(self.sums, self.level)

    def misfit(self, epsilon: float) -> float:
        """How much more than epsilon is left of an exhausted resource, or how overfull one is.

        Zero but for rounding, whatever the order of events, unless rates have been lost: those of tenants
        that are some 20 decades lighter than others, or beyond what a float holds. It is no number if one of
        the levels is none.
        """
        return misfit_of(self.left, self.spent, epsilon)


def levels_of(sums: FloatArray, epsilon: float = 0.0) -> FloatArray:
    """Level at which each resource is exhausted, by sums of a :class:`State`; infinite without tenants."""
    rates = sums[:, 2] + sums[:, 3]
    room = (1.0 - sums[:, 0]) - sums[:, 1]
    with np.errstate(over="ignore"):
        live = (sums[:, 4] > 0) & (rates > 0)
        return np.divide(room - epsilon, rates, out=np.full(len(sums), np.inf), where=live)


def left_of(sums: FloatArray, level: float) -> FloatArray:
    """Part of each resource that is left at the level of growing tenants, negative if it is overfull."""
    rates = np.where(sums[:, 4] > 0, sums[:, 2] + sums[:, 3], 0.0)
    return (1.0 - sums[:, 0]) - sums[:, 1] - level * rates


def misfit_of(left: FloatArray, spent: Flags | IndexArray, epsilon: float) -> float:
    """As :meth:`State.misfit`, of resources that are exhausted when so much is left of each."""
    return float(np.maximum(0.0, np.maximum((left[spent] - epsilon).max(initial=0.0), (-left).max())))


def orderly(n_tenants: int) -> int:
    """Tenants evicted in a round that are worth sorting: above it one in 32 rows is read."""
    return n_tenants // 32


def shared_rows(demands: SparseDemands, threads: int) -> Places:
    """The part of each thread in each row: ranges of resources with about as many entries each.

    Returns
    -------
    ndarray of shape (n_tenants, threads + 1), or less if there are fewer resources than threads
    """
    tiles = resource_tiles(demands, threads)
    return places_between(demands, np.array([0, *(last for _, last in tiles)]), threads)


def places_between(demands: SparseDemands, cuts: Offsets, threads: int | None = None) -> Places:
    """The entries of each row on the ranges of resources that begin and end with these, 0 and all."""
    places = np.empty((demands.n_tenants, len(cuts)), dtype=np.int64)
    rows = demands.starts, demands.columns, cuts, places
    map_tiles(lambda tile, first, last: _split(first, last, *rows), tenant_tiles(demands), threads)
    return places


@numba.njit(inline="always")
def place(columns: IndexArray, first: int, last: int, r: int) -> int:
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
            places[i, k] = place(columns, places[i, k - 1], starts[i + 1], cuts[k])


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
def evict(
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


def _advance(rows: Rows, lists: Lists, epsilon: float, limits: Limits, state: State) -> int:
    """Rounds within the limits, or until a resource is exhausted that is not listed, or for a while."""
    places, (listed, pattern, tenants) = rows[0], lists
    sums, full, reached, standing, numbers, heights, stoppers, trail, batch = state[:9]
    full_floors, reached_floors, due, spent, progress, ends = state[9:]
    most, ceiling, many = limits
    bounds = sums, full, reached, full_floors, reached_floors
    n, m, tiles = len(standing), len(sums), places.shape[1] - 1
    rounds, left, events, found, done, entries, n_due = progress
    ended, touched, why = 0, 0, PAUSED
    while ended < most and touched < WHILE:
        if done == found:
            low = _lowest(bounds, epsilon)
            if low == np.inf:
                why = STUCK
                break
            # Rounding may put a level a hair below one that was reached before.
            level = max(low, trail[rounds - 1]) if rounds > 0 else low
            if level >= ceiling:
                why = BARRED
                break
            n_due = _exhausted(bounds, epsilon, level, due)
            if not listed[due[:n_due]].all():
                why = UNLISTED
                break
            trail[rounds] = level
            rounds += 1
            base = n - left
            found, done, entries = base, base, 0
            for k in range(n_due):
                r, before, demanding = due[k], found, 0
                for p in range(pattern[r], pattern[r + 1]):
                    i = tenants[p]
                    stands = standing[i]
                    demanding += stands != STOPPED
                    batch[found] = i
                    found += stands == GROWS
                for p in range(before, found):
                    standing[batch[p]] = LEAVES
                    numbers[batch[p]] = events
                if demanding != sums[r, 4]:
                    return MISFIT
                heights[events], stoppers[events] = level, r
                events += found > before
            if found - base > many:
                # Rows in the order in which they lie in memory.
                found = base
                for i in range(n):
                    batch[found] = i
                    found += standing[i] == LEAVES
            for p in range(base, found):
                standing[batch[p]] = STOPPED
                entries += places[batch[p], tiles] - places[batch[p], 0]
            left -= found - base
            ends[rounds - 1] = found
            touched += m // 16
        else:
            level = trail[rounds - 1]
            last = min(found, done + CHUNK)
            if tiles > 1 and entries >= SHARED_EVICTION:
                for k in numba.prange(tiles):
                    evict(k, k + 1, done, last, level, rows, sums, batch)
            else:
                evict(0, tiles, done, last, level, rows, sums, batch)
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
    progress[0], progress[1], progress[2], progress[3] = rounds, left, events, found
    progress[4], progress[5], progress[6] = done, entries, n_due
    return why


_options = {"nogil": True, "error_model": "numpy"}
_advance_alone = stored(summing, prefetching, **_options)(_advance)
_advance_shared = stored(summing, prefetching, **_options, parallel=PARALLEL)(_advance)


def run(
    demands: SparseDemands,
    growth: FloatArray,
    loads: FloatArray,
    epsilon: float = 0.0,
    pattern: Pattern | None = None,
    *,
    threads: int | None = None,
    passed: Callable[[], bool] | None = None,
) -> tuple[State, Pattern, float, dict[str, float]]:
    """Rounds until all tenants have stopped, or the time has passed.

    Parameters
    ----------
    demands : SparseDemands
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level.
    loads : ndarray of shape (n_resources, 4)
        From :func:`fairness.cloud.engines.loads.loads_of`.
    epsilon : float
        Part of a resource that may be left when it counts as exhausted.
    pattern : Pattern or None
        Known already.
    threads : int, optional
        That list tenants, and share an eviction of many entries. Default: all cores list, and one evicts.
    passed : callable, optional
        Asked after each round whether the time is over.

    Returns
    -------
    State, pattern that serves the next one, misfit (1 if there was no level), seconds of each phase

    Raises
    ------
    ModelError
        If the pattern does not fit the demands.
    """
    begin, m = time.perf_counter(), demands.n_resources
    parts = threads or 1 if demands.n_entries >= SHARED_EVICTION else 1
    advance = _advance_alone if parts == 1 else _advance_shared
    rows = shared_rows(demands, parts), demands.columns, demands.values, growth
    state = State.start(loads, demands.n_tenants, epsilon)
    listed, starts, nobody = np.zeros(m, np.bool_), np.zeros(m + 1, np.int64), np.empty(0, np.int32)
    known = pattern or Pattern(listed, starts, nobody, demands.n_entries, demands.n_tenants)
    seconds, part = {"list": 0.0, "fill": time.perf_counter() - begin}, FIRST_LISTED
    why, late, limits = PAUSED, False, (1 if passed else m, np.inf, orderly(demands.n_tenants))
    while why in (PAUSED, UNLISTED) and not late:
        begin = time.perf_counter()
        if why == UNLISTED:
            wanted = soonest(state.sums, part if pattern is None else 1.0)
            wanted[state.due[: state.progress[6]]] = True
            grows, counts = state.standing == GROWS, state.sums[:, 4]
            known = Pattern.of(demands, wanted, grows, counts=counts, threads=threads)
            pattern = pattern or known
            seconds["list"] += time.perf_counter() - begin
            begin = time.perf_counter()
        with workers(parts):
            why = advance(rows, known.arrays, epsilon, limits, state)
        seconds["fill"] += time.perf_counter() - begin
        # Neither at a resource that is not listed nor within a round.
        if why in (PAUSED, DONE) and state.progress[4] == state.progress[3]:
            late = passed is not None and passed()
    if why == MISFIT:
        raise ModelError.of(
            "pattern",
            "names other tenants than demand a resource: it was made of demands with other non-zero "
            "entries; leave it out",
        )
    return state, pattern or known, 1.0 if why == STUCK else state.misfit(epsilon), seconds


def run_below(
    rates: SparseDemands, pattern: Pattern, sums: FloatArray, since: float, ceiling: float, many: int
) -> State:
    """Exact rounds of some resources alone, none of which reaches the ceiling.

    Parameters
    ----------
    rates : SparseDemands
        At which the growing tenants of these resources fill them up, in rising order of tenants.
    pattern : Pattern
        Of all these resources.
    sums : ndarray of shape (n_resources, 8)
        As in :class:`State`; changed in place.
    since, ceiling : float
        Level that was reached before; the first that is not begun.
    many : int
        From :func:`orderly`, for all tenants that there are.

    Returns
    -------
    State
        Its first round stands for those before.
    """
    state = State.of(sums, rates.n_tenants, 0.0)
    state.trail[0], state.ends[0], state.progress[0] = since, 0, 1
    rows = shared_rows(rates, 1), rates.columns, rates.values, np.ones(rates.n_tenants)
    why = PAUSED
    while why == PAUSED:
        why = _advance_alone(rows, pattern.arrays, 0.0, (len(sums), ceiling, many), state)
    if why == MISFIT:
        raise ModelError.of(
            "pattern", "names other tenants than demand a resource; make it of the same demands"
        )
    return state
