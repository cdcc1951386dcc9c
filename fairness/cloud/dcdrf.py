r"""DC-DRF: extended DRF with resources that count as exhausted when a part epsilon of them is left.

Algorithm 2 of Kash et al. [1]_, the inner loop. Tenant i grows at the rate :math:`g_{ir}` on resource r (see
:mod:`fairness.cloud.rounds`). With :math:`\mu_{tr} = \sum_{i \in S_t} g_{ir}` of the growing tenants, round t
raises the level y of all of them and uses up what is free,

.. math:: x_t = \min_r s_{rt}/\mu_{tr}, \qquad y_t = y_{t-1} + x_t, \qquad
   s_{r,t+1} = s_{rt} - x_t \mu_{tr},

and evicts everybody who demands a resource with :math:`s_{r,t+1} \le \varepsilon`, at the level
:math:`z_i = y_t`. With :math:`\varepsilon = 0` this is EDRF. Three ideas of the paper make it faster than
Algorithm 1: epsilon, with which a round evicts more; :math:`\mu`, from which the rates of a tenant are
subtracted once, when it is evicted; and y and z, which stand for a sum per demand.

*What is done otherwise*, with the same result:

* Tenants to evict are found by asking the exhausted resources who demands them
  (:class:`~fairness.cloud.pattern.Pattern`), not by asking all tenants. So the cost is O(entries + rounds *
  resources), without the term O(rounds * tenants) of Lemma 3.2; and of all resources a round looks at one in
  64, as follows.
* With :math:`F_r = \sum_{\text{evicted}} g_{ir} z_i` what is free is
  :math:`s_{r,t+1} = 1 - F_r - y_t \mu_{tr}`, and nothing needs to be subtracted in every round: resource r
  decides the round whose level is :math:`(1 - F_r)/\mu_r` and counts as exhausted from the level
  :math:`(1 - \varepsilon - F_r)/\mu_r` on. Both change only when somebody who demands r is evicted. A
  round is a search for the smallest of the former and for those of the latter that are reached. And both
  only rise (:mod:`fairness.cloud.filling`). So outdated ones are lower bounds, and one bound serves 64
  resources until it is reached.

Nothing drifts, for the same reasons as in :mod:`fairness.cloud.filling`.

*Threads* own ranges of resources (the paper's resource tiles). Demands are sorted by resource, so the part of
a row that is a thread's own is found by bisection. Every sum is added up in the order in which one thread
would do it, so the result is the same to the last bit. Evictions of fewer than 300,000 entries are not
worth sharing, nor are searches. (Who demands a resource is listed by all cores, whatever the number of
threads; keep a pattern to leave that out.)

References
----------
.. [1] I. A. Kash, G. O'Shea and S. Volos, "DC-DRF: adaptive multi-resource sharing at public cloud scale",
   SoCC 2018. DOI 10.1145/3267809.3267848.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.cloud import prefetch as prefetching
from fairness.cloud import sums as summing
from fairness.cloud.demands import Flags, IndexArray, Offsets, SparseDemands
from fairness.cloud.pattern import Pattern
from fairness.cloud.prefetch import LINE, prefetch, prefetch_row
from fairness.cloud.rounds import Deadline, Rounds
from fairness.cloud.sums import add, table
from fairness.cloud.threads import PARALLEL, check_threads, workers
from fairness.errors import ModelError, NotConvergedError
from fairness.kernels import fingerprint
from fairness.validation import FloatArray, frozen, require_memory

__all__ = ["dcdrf"]

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

FIRST_LISTED = 1 / 8
"""Part of the entries that is listed by resource at first."""

Places = NDArray[np.int64]
"""(n_tenants, threads + 1): entries ``places[i, k]`` to ``places[i, k + 1] - 1`` of row i are thread k's."""

DONE, PAUSED, UNLISTED, MISFIT, STUCK = range(5)
"""Why the kernel returned."""


class _State(NamedTuple):
    """Where the rounds stand; the kernel changes it."""

    sums: FloatArray  # (n_resources, 8): F and its compensation, mu and its, number of growing tenants
    full: (
        FloatArray  # level at which the resource decides a round, or a lower bound; infinite without tenants
    )
    reached: FloatArray  # level from which on it counts as exhausted, or a lower bound
    levels: FloatArray  # z; -1 of growing tenants
    growing: Flags
    trail: FloatArray  # y_t after each round
    batch: IndexArray  # evicted in this round; one place more than tenants, for writing without a branch
    full_floors: FloatArray  # lower bounds of these, one for each block
    reached_floors: FloatArray
    due: IndexArray  # resources exhausted in this round
    progress: NDArray[np.int64]  # rounds, growing tenants
    # and of this round: evicted tenants, those of them worked through, their entries, exhausted resources

    @classmethod
    def start(cls, n_tenants: int, n_resources: int, epsilon: float) -> _State:
        """Nobody has been evicted."""
        full = np.full(n_resources, np.inf)
        return cls(
            table(n_resources, 8),
            full,
            full.copy() if epsilon else full,
            np.full(n_tenants, -1.0),
            np.ones(n_tenants, dtype=np.bool_),
            np.empty(n_resources),
            np.empty(n_tenants + 1, dtype=np.int32),
            np.zeros(-(-n_resources // BLOCK)),
            np.zeros(-(-n_resources // BLOCK)),
            np.empty(n_resources, dtype=np.int32),
            np.array([0, n_tenants, 0, 0, 0, 0]),
        )

    @property
    def level(self) -> float:
        """Level of growing tenants."""
        rounds = self.progress[0]
        return float(self.trail[rounds - 1]) if rounds else 0.0

    @property
    def free(self) -> FloatArray:
        """Part of each resource that is left, shape (n_resources,)."""
        sums = self.sums
        rates = np.where(sums[:, 4] > 0, sums[:, 2] + sums[:, 3], 0.0)
        return np.maximum(0.0, (1.0 - sums[:, 0]) - sums[:, 1] - self.level * rates)

    def soonest(self, part: float) -> Flags:
        """Resources that are exhausted now, and others soon, with this part of the growing entries."""
        sums = self.sums
        live = np.flatnonzero(sums[:, 4] > 0)
        rates = sums[live, 2] + sums[live, 3]
        levels = np.divide(1.0 - sums[live, 0], rates, out=np.full(len(live), np.inf), where=rates > 0)
        order = live[np.argsort(levels, kind="stable")]
        entries = np.cumsum(sums[order, 4])
        soonest = np.zeros(len(sums), dtype=np.bool_)
        soonest[order[entries <= part * entries[-1]]] = True
        soonest[self.due[: self.progress[5]]] = True
        return soonest


def dcdrf(
    demands: SparseDemands | Any,
    epsilon: float,
    weights: ArrayLike | None = None,
    *,
    pattern: Pattern | None = None,
    deadline: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
    threads: int | None = None,
) -> Rounds:
    """Extended DRF that takes a resource for exhausted when a part epsilon of it is left.

    Parameters
    ----------
    demands : SparseDemands or scipy sparse array of shape (n_tenants, n_resources)
        Parts of a resource per task, in (0, 1].
    epsilon : float
        In [0, 1); 0 gives the exact allocation.
    weights : array_like of shape (n_tenants,) or sparse with the pattern of the demands, optional
        Entitlements. Default: 1/n_tenants each. Only their ratios matter for the allocation.
    pattern : Pattern, optional
        From an earlier call with the same non-zero entries; saves the time to transpose them.
    deadline : float, optional
        Stop after the first round that ends more than so many seconds after the call; tenants that still
        grow keep what they have.
    clock : callable
        What tells the time, in seconds; called at the start and after each round, and only if there is a
        deadline.
    threads : int, optional
        Default: as many as there are cores; 1 is the paper's sDC-DRF. The allocation does not depend on it.
        (1 in a process that was forked from one that had used more, because GNU OpenMP does not survive a
        fork.)

    Returns
    -------
    Rounds

    Raises
    ------
    ModelError
        If demands or weights are not well-formed, the pattern has another shape, epsilon is not in [0, 1),
        or deadline or threads is not positive.
    NotConvergedError
        If weights differ by so many decades that rates of light tenants are lost beside those of heavy ones.

    References
    ----------
    See :mod:`fairness.cloud.dcdrf`.

    Examples
    --------
    >>> demands = SparseDemands.from_lists([[(0, 1.0)], [(0, 0.5), (1, 1.0)], [(1, 1.0)]], n_resources=2)
    >>> dcdrf(demands, epsilon=0).allocation().toarray()
    array([[0.75, 0.  ],
           [0.25, 0.5 ],
           [0.  , 0.5 ]])

    A quarter of the first resource is left when the second is full. That may be called exhausted:

    >>> result = dcdrf(demands, epsilon=0.25)
    >>> result.allocation().toarray()
    array([[0.5 , 0.  ],
           [0.25, 0.5 ],
           [0.  , 0.5 ]])
    >>> result.rounds
    1
    """
    given = demands if isinstance(demands, SparseDemands) else SparseDemands(demands)
    # Written so that NaN fails.
    if not (isinstance(epsilon, Real) and 0 <= epsilon < 1):
        raise ModelError(f"epsilon must be a number in [0, 1); got {epsilon!r}")
    number = check_threads(threads, given.n_entries)
    if pattern is not None:
        pattern.check(given)
    limit = Deadline(deadline, clock)
    growth = given.check_weights(weights) / given.largest
    n_bytes = 130 * given.n_resources + (40 + 8 * number) * given.n_tenants + given.n_entries / 2
    require_memory(n_bytes, f"DC-DRF of {given!r}", "take fewer tenants")
    state, why, late, seconds = _run(given, growth, float(epsilon), pattern, limit, number)
    rounds, left = int(state.progress[0]), int(state.progress[1])
    state.levels[state.growing] = state.level
    result = Rounds(
        given,
        frozen(state.levels),
        frozen(growth),
        frozen(state.free),
        seconds,
        "DC-DRF",
        float(epsilon),
        rounds,
        late,
        left,
        frozen(state.trail[:rounds].copy()),
    )
    if why == STUCK:
        raise NotConvergedError(
            f"{left} tenants are so light beside others on the same resources that their rates are lost; "
            "weights must not differ by that many decades",
            best=result,
            residual=1.0,
        )
    return result


def _run(
    demands: SparseDemands,
    growth: FloatArray,
    epsilon: float,
    pattern: Pattern | None,
    limit: Deadline,
    threads: int,
) -> tuple[_State, int, bool, dict[str, float]]:
    """Where the rounds end, why, whether after the deadline, and the seconds of each phase."""
    kernels = _serial if threads == 1 else _parallel
    rows = demands.starts, demands.columns, demands.values, growth
    cuts = _cuts(demands, threads)
    state = _State.start(demands.n_tenants, demands.n_resources, epsilon)
    seconds = {"load": 0.0, "list": 0.0, "fill": 0.0}
    begin = time.perf_counter()
    places = np.empty((demands.n_tenants, len(cuts)), dtype=np.int64)
    with workers(threads):
        kernels.load(*rows, epsilon, cuts, places, state.sums, state.full, state.reached)
    seconds["load"] = time.perf_counter() - begin
    part, known = (FIRST_LISTED, _nothing(demands)) if pattern is None else (1.0, pattern)
    most = demands.n_resources if limit.seconds is None else 1
    why, late = PAUSED, False
    while why in (PAUSED, UNLISTED) and not late:
        if why == UNLISTED:
            begin = time.perf_counter()
            known, part = Pattern.of(demands, state.soonest(part), state.growing), 1.0
            seconds["list"] += time.perf_counter() - begin
        begin = time.perf_counter()
        with workers(threads):
            why = kernels.advance(places, *rows[1:], *known.arrays, epsilon, most, *state)
        seconds["fill"] += time.perf_counter() - begin
        # Neither at a resource that is not listed nor within a round.
        if why in (PAUSED, DONE) and state.progress[3] == state.progress[2]:
            late = limit.passed()
    if why == MISFIT:
        raise ModelError(
            "pattern names other tenants than demand a resource: it was made of demands with other non-zero "
            "entries; leave it out"
        )
    return state, why, late, seconds


def _nothing(demands: SparseDemands) -> Pattern:
    """Pattern in which no resource is listed."""
    m = demands.n_resources
    listed, tenants = np.zeros(m, dtype=np.bool_), np.empty(0, dtype=np.int32)
    starts = np.zeros(m + 1, dtype=np.int64)
    return Pattern(frozen(listed), frozen(starts), frozen(tenants), demands.n_entries)


def _cuts(demands: SparseDemands, threads: int) -> Offsets:
    """First resource of each thread, and the one after the last; each has about as many entries."""
    some = np.sort(demands.columns[:: 1 + demands.n_entries // 50_000])
    inner = some[np.arange(1, threads) * len(some) // threads]
    return np.unique(np.array([0, *inner, demands.n_resources], dtype=np.int64))


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


@numba.njit(nogil=True)
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
def _refresh(sums: FloatArray, full: FloatArray, reached: FloatArray, epsilon: float, r: int) -> None:
    """The levels at which resource r decides a round and from which on it counts as exhausted."""
    rate = sums[r, 2] + sums[r, 3]
    if sums[r, 4] > 0 and rate > 0:
        room = (1.0 - sums[r, 0]) - sums[r, 1]
        # epsilon >= 0 and division is monotone: who decides a round is exhausted, however it rounds.
        reached[r] = (room - epsilon) / rate
        full[r] = room / rate
    else:
        reached[r] = full[r] = np.inf


@numba.njit(nogil=True)
def _load(
    tile: int, places: Places, columns: IndexArray, values: NDArray[Any], growth: FloatArray, sums: FloatArray
) -> None:
    """Sum mu of the resources of a thread ([1] line 8)."""
    n = len(growth)
    for i in range(n):
        if i + 1 < n:
            for e in range(places[i + 1, tile], places[i + 1, tile + 1]):
                prefetch_row(sums, columns[e])
        for e in range(places[i, tile], places[i, tile + 1]):
            add(sums, columns[e], 2, growth[i] * values[e])
            sums[columns[e], 4] += 1.0


@numba.njit(nogil=True, error_model="numpy")
def _lowest(
    epsilon: float, sums: FloatArray, full: FloatArray, reached: FloatArray, floors: FloatArray
) -> float:
    """Lowest level at which a resource decides the round."""
    lowest, m = np.inf, len(full)
    for block in range(len(floors)):
        if floors[block] < lowest:
            floors[block] = np.inf
            for r in range(block * BLOCK, min((block + 1) * BLOCK, m)):
                if full[r] < lowest:
                    _refresh(sums, full, reached, epsilon, r)
                    lowest = min(lowest, full[r])
                floors[block] = min(floors[block], full[r])
    return lowest


@numba.njit(nogil=True, error_model="numpy")
def _exhausted(
    level: float,
    epsilon: float,
    sums: FloatArray,
    full: FloatArray,
    reached: FloatArray,
    floors: FloatArray,
    due: IndexArray,
) -> int:
    """List resources that count as exhausted at this level; how many they are."""
    found, m = 0, len(full)
    for block in range(len(floors)):
        if floors[block] <= level:
            floors[block] = np.inf
            for r in range(block * BLOCK, min((block + 1) * BLOCK, m)):
                if reached[r] <= level:
                    _refresh(sums, full, reached, epsilon, r)
                    due[found] = r
                    found += 1 if reached[r] <= level else 0
                floors[block] = min(floors[block], reached[r])
    return found


@numba.njit(nogil=True)
def _evict(
    own: int,
    end: int,
    first: int,
    last: int,
    level: float,
    places: Places,
    columns: IndexArray,
    values: NDArray[Any],
    growth: FloatArray,
    sums: FloatArray,
    batch: IndexArray,
) -> None:
    """Take evicted tenants out of mu ([1] line 17) and into F; entries of threads ``own`` to ``end`` - 1."""
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


class _Kernels(NamedTuple):
    load: Callable[..., None]
    advance: Callable[..., int]


def _kernels(key: str, parallel: bool) -> _Kernels:
    """Kernels with or without threads, compiled anew when the key has changed, which tells them apart too."""
    compiled = numba.njit(
        cache=True, nogil=True, error_model="numpy", parallel=PARALLEL if parallel else False
    )

    @compiled
    def load(
        starts: Offsets,
        columns: IndexArray,
        values: NDArray[Any],
        growth: FloatArray,
        epsilon: float,
        cuts: Offsets,
        places: Places,
        sums: FloatArray,
        full: FloatArray,
        reached: FloatArray,
    ) -> None:
        """Find the part of each thread in each row, sum mu and find the first levels."""
        assert key
        n, tiles = len(growth), len(cuts) - 1
        for k in numba.prange(tiles):
            _split(n * k // tiles, n * (k + 1) // tiles, starts, columns, cuts, places)
        for k in numba.prange(tiles):
            _load(k, places, columns, values, growth, sums)
        for r in range(len(sums)):
            _refresh(sums, full, reached, epsilon, r)

    @compiled
    def advance(
        places: Places,
        columns: IndexArray,
        values: NDArray[Any],
        growth: FloatArray,
        listed: Flags,
        pattern: Offsets,
        tenants: IndexArray,
        epsilon: float,
        most: int,
        sums: FloatArray,
        full: FloatArray,
        reached: FloatArray,
        levels: FloatArray,
        growing: Flags,
        trail: FloatArray,
        batch: IndexArray,
        full_floors: FloatArray,
        reached_floors: FloatArray,
        due: IndexArray,
        progress: NDArray[np.int64],
    ) -> int:
        """At most so many rounds, or until a resource is exhausted that is not listed, or for a while."""
        assert key
        n, m, tiles = len(growing), len(sums), places.shape[1] - 1
        rows = places, columns, values, growth
        rounds, left, found, done, entries, n_due = progress
        ended, touched, why = 0, 0, PAUSED
        while ended < most and touched < WHILE:
            if done == found:
                low = _lowest(epsilon, sums, full, reached, full_floors)
                if low == np.inf:
                    why = STUCK
                    break
                # Rounding may put a level a hair below one that was reached before.
                level = max(low, trail[rounds - 1]) if rounds > 0 else low
                n_due = _exhausted(level, epsilon, sums, full, reached, reached_floors, due)
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
                        _evict(k, k + 1, done, last, level, *rows, sums, batch)
                else:
                    _evict(0, tiles, done, last, level, *rows, sums, batch)
                done = last
                touched += entries
                if done == found:
                    # Neither too many nor too few were listed: as many as demand it, and none is left.
                    for k in range(n_due):
                        if sums[due[k], 4] != 0:
                            return MISFIT
                    ended += 1
                    if left == 0:
                        why = DONE
                        break
        progress[0], progress[1], progress[2] = rounds, left, found
        progress[3], progress[4], progress[5] = done, entries, n_due
        return why

    return _Kernels(load, advance)


_SOURCES = fingerprint(summing, prefetching)
_serial = _kernels(f"one thread {_SOURCES}", parallel=False)
_parallel = _kernels(f"threads {_SOURCES}", parallel=True)
