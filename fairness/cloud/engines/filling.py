r"""Filling of very many resources, one event at a time.

With :math:`F_r = \sum_{\text{stopped}} g_{ir} z_i` and :math:`\mu_r = \sum_{\text{growing}} g_{ir}`, where
:math:`g_{ir}` is the rate at which tenant i fills resource r, the resource would be full at the level
:math:`y_r = (1 - F_r)/\mu_r` if nobody stopped before. A tenant that stops at :math:`z \le y_r` moves its
part from :math:`\mu` to F, and

.. math:: \frac{1 - F_r - g z}{\mu_r - g} \ge \frac{1 - F_r}{\mu_r},

so these levels only *rise*. Hence a heap may hold outdated levels: take the smallest; if the level is now
higher, put it back; else the resource is full, and the tenants that demand it and still grow stop.

Nothing drifts. F only grows, by parts of at most 1 in all. :math:`\mu` is reduced by exactly the products
that were summed into it, in twice the working precision, and a resource without growing tenants is known by
their count, not by what is left of :math:`\mu`: that is right to full precision even where its first value
was ten decades larger.

*Memory.* Tenants stop in an order that has nothing to do with where their rows lie, and waiting for them took
two thirds of the time. Those that a resource stops are listed first, and rows are fetched some places ahead
(:mod:`fairness.cloud.engines.prefetch`). What is known of a resource lies in one cache line, fetched one row
ahead. Who demands a resource is listed for those that will fill up first; when another one is next, for all
of them and the tenants that still grow (:mod:`fairness.cloud.model.pattern`). Whether a tenant grows is a
bit, so that a million of these stay in the cache.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray, frozen
from fairness.cloud.engines import prefetch as prefetching
from fairness.cloud.engines import sums as summing
from fairness.cloud.engines.prefetch import LINE, prefetch, prefetch_row
from fairness.cloud.engines.sums import add, table
from fairness.cloud.model.demands import Flags, IndexArray, Offsets, Rows, SparseDemands
from fairness.cloud.model.pattern import Lists, Pattern
from fairness.cloud.model.tiles import map_tiles, tenant_tiles
from fairness.errors import ModelError
from fairness.filling import floats
from fairness.filling.floats import sink
from fairness.machine.compiling import stored
from fairness.machine.memory import require_memory

__all__ = ["Filling", "fill", "loads_of", "shift_loads", "soonest"]

AHEAD = 4
"""Rows that are fetched ahead of the one at work; twice as many have their places looked up."""

FIRST_LISTED = 1 / 8
"""Part of the resources whose tenants are listed at first; then, for tenants that still grow, all."""

WHILE = 50_000_000
"""Entries after which the kernel lets Python look for an interrupt: about half a second."""


class Filling(NamedTuple):
    """Where a filling stands; the kernel changes it."""

    sums: FloatArray  # (n_resources, 8): F and its compensation, mu and its, number of growing tenants
    growing: NDArray[np.uint8]  # a bit for each tenant
    order: IndexArray  # tenants in the order in which they stop, and a place behind the last
    ends: Offsets  # (n_resources,): tenants that have stopped after each event
    heights: FloatArray  # (n_resources,): level of each event
    stoppers: IndexArray  # (n_resources,): resource of each event
    keys: FloatArray  # heap: a lower bound of the level at which a resource fills up
    heap: IndexArray  # and the resource
    progress: NDArray[np.int64]  # size of the heap, events, resource of which the pattern is wrong or -1

    @classmethod
    def start(cls, loads: FloatArray, n_tenants: int) -> Filling:
        """Empty resources, nobody has stopped."""
        sums = table(len(loads), 8)
        sums[:, 2:5] = loads[:, :3]
        heap = np.flatnonzero(loads[:, 2] > 0).astype(np.int32)
        # Rates that are lost or too large for a float: see Filling.misfit.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            keys = 1.0 / (loads[heap, 0] + loads[heap, 1])
        _heapify(keys, heap)
        return cls(
            sums,
            np.packbits(np.ones(n_tenants, dtype=np.bool_), bitorder="little"),
            np.empty(n_tenants + 1, dtype=np.int32),
            np.empty(len(heap), dtype=np.int64),
            np.empty(len(heap)),
            np.empty(len(heap), dtype=np.int32),
            keys,
            heap,
            np.array([len(heap), 0, -1]),
        )

    def stops(self) -> tuple[FloatArray, IndexArray]:
        """Level at which each tenant has stopped, and the resource that stopped it; shape (n_tenants,)."""
        events, order = self.progress[1], self.order[:-1]
        sizes = np.diff(self.ends[:events], prepend=0)
        levels, stoppers = np.empty(len(order)), np.empty(len(order), dtype=np.int32)
        levels[order] = np.repeat(self.heights[:events], sizes)
        stoppers[order] = np.repeat(self.stoppers[:events], sizes)
        return frozen(levels), frozen(stoppers)

    @property
    def used(self) -> FloatArray:
        """Part of each resource that stopped tenants hold, shape (n_resources,)."""
        return self.sums[:, 0] + self.sums[:, 1]

    @property
    def misfit(self) -> float:
        """How far resources that stopped tenants are from full, or any is overfull; O(n_resources).

        Zero but for rounding, whatever the order of events, unless rates have been lost: those of tenants
        that are some 20 decades lighter than others, or beyond what a float holds. It is no number if one of
        the levels is none.
        """
        used = self.used
        at_events = used[self.stoppers[: self.progress[1]]]
        return float(np.maximum(np.abs(1.0 - at_events).max(), (used - 1.0).max()))

    def growing_flags(self) -> Flags:
        """Whether each tenant still grows, shape (n_tenants,)."""
        flags = np.unpackbits(self.growing, bitorder="little", count=len(self.order) - 1)
        return flags.view(np.bool_)


def soonest(sums: FloatArray, part: float) -> Flags:
    """A part of the demanded resources: those that would fill up first at the present loads.

    Parameters
    ----------
    sums : ndarray of shape (n_resources, 8)
        As in :class:`Filling`.
    part : float

    Returns
    -------
    ndarray of bool, shape (n_resources,)
    """
    live = np.flatnonzero(sums[:, 4] > 0)
    rates = sums[live, 2] + sums[live, 3]
    room = 1.0 - (sums[live, 0] + sums[live, 1])
    with np.errstate(over="ignore"):
        levels = np.divide(room, rates, out=np.full(len(live), np.inf), where=rates > 0)
    last = min(int(part * len(live)), len(live) - 1)
    flags = np.zeros(len(sums), dtype=np.bool_)
    flags[live[levels <= np.partition(levels, last)[last]]] = True
    return flags


def fill(
    demands: SparseDemands, growth: FloatArray, loads: FloatArray, pattern: Pattern | None
) -> tuple[Filling, Pattern, dict[str, float]]:
    """Fill the resources until all tenants have stopped.

    Parameters
    ----------
    demands : SparseDemands
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level.
    loads : ndarray of shape (n_resources, 4)
        From :func:`loads_of`.
    pattern : Pattern or None
        Known already.

    Returns
    -------
    Filling, pattern that serves the next one, seconds of each phase

    Raises
    ------
    ModelError
        If the pattern does not fit the demands.
    """
    seconds = {"list": 0.0, "fill": 0.0}
    state = Filling.start(loads, demands.n_tenants)
    known, part = pattern, FIRST_LISTED if pattern is None else 1.0
    rows = demands.starts, demands.columns, demands.values, growth
    unlisted = False
    while state.progress[0] > 0:
        clock = time.perf_counter()
        if known is None or unlisted:
            wanted = soonest(state.sums, part)
            # Whatever rounding says: the one that is waited for.
            wanted[state.heap[0]] = True
            known = Pattern.of(demands, wanted, state.growing_flags(), counts=state.sums[:, 4])
            pattern, part = pattern or known, 1.0
        seconds["list"] += time.perf_counter() - clock
        clock = time.perf_counter()
        unlisted = _fill(rows, known.arrays, state)
        seconds["fill"] += time.perf_counter() - clock
        if state.progress[2] >= 0:
            raise ModelError.of(
                "pattern",
                f"names other tenants of resource {state.progress[2]} than demand it: it was made of "
                "demands with other non-zero entries; leave it out",
            )
    assert pattern is not None
    return state, pattern, seconds


def loads_of(demands: SparseDemands, growth: FloatArray, threads: int | None = None) -> FloatArray:
    """Rate at which each resource fills up at first, its compensation, and the number of its tenants.

    The result does not depend on the number of threads; by default these are as many as there are cores.

    Returns
    -------
    ndarray of shape (n_resources, 4), the last column unused
    """
    tiles = tenant_tiles(demands)
    # Tables of the tiles, sums and heap per resource; five arrays per tenant; lists of all entries, which is
    # nearly what those that fill up first have where few resources are popular.
    n_bytes = demands.n_resources * (32 * len(tiles) + 150) + 40 * demands.n_tenants + 4 * demands.n_entries
    require_memory(n_bytes, f"EDRF of {demands!r}", "take fewer tenants")
    tables = [table(demands.n_resources, 4) for _ in tiles]
    rows = demands.starts, demands.columns, demands.values, growth
    map_tiles(lambda tile, first, last: _load(first, last, rows, 1.0, tables[tile]), tiles, threads)
    for more in tables[1:]:
        _merge(tables[0], more)
    return tables[0]


def shift_loads(loads: FloatArray, demands: SparseDemands, growth: FloatArray, sign: float) -> None:
    """Add the rates of more tenants to the loads in place (``sign`` 1), or take them out (-1)."""
    rows = demands.starts, demands.columns, demands.values, growth
    _load(0, demands.n_tenants, rows, sign, loads)


@numba.njit(inline="always")
def _level(sums: FloatArray, r: int) -> float:
    """Level at which the resource fills up if nobody stops before."""
    return ((1.0 - sums[r, 0]) - sums[r, 1]) / (sums[r, 2] + sums[r, 3])


@stored(floats, nogil=True)
def _heapify(keys: FloatArray, heap: IndexArray) -> None:
    for k in range(len(keys) // 2 - 1, -1, -1):
        sink(keys, heap, k, len(keys))


@stored(summing, prefetching, nogil=True)
def _load(first: int, last: int, rows: Rows, sign: float, loads: FloatArray) -> None:
    """Add the rates of a tile of tenants to the loads, or take them out (``sign`` -1)."""
    starts, columns, values, growth = rows
    for i in range(first, last):
        if i + 1 < last:
            for e in range(starts[i + 1], starts[i + 2]):
                prefetch_row(loads, columns[e])
        rate = sign * growth[i]
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            add(loads, r, 0, rate * values[e])
            loads[r, 2] += sign


@stored(summing, prefetching, nogil=True)
def _merge(loads: FloatArray, more: FloatArray) -> None:
    for r in range(len(loads)):
        add(loads, r, 0, more[r, 0])
        add(loads, r, 0, more[r, 1])
        loads[r, 2] += more[r, 2]


@stored(floats, summing, prefetching, nogil=True, error_model="numpy")
def _fill(rows: Rows, lists: Lists, state: Filling) -> bool:
    """Fill until all have stopped, or a resource is next that is not listed (true), or for a while."""
    starts, columns, values, growth = rows
    listed, pattern, tenants = lists
    sums, growing, order, ends, heights, stoppers, keys, heap, progress = state
    step = LINE // columns.itemsize
    size, events = progress[0], progress[1]
    end = ends[events - 1] if events else 0
    touched, unlisted = 0, False
    while size > 0 and touched < WHILE:
        r = heap[0]
        if size > 2:
            prefetch_row(sums, heap[1])
            prefetch_row(sums, heap[2])
        demanding = sums[r, 4]
        if demanding > 0:
            now = _level(sums, r)
            if now > keys[0]:
                keys[0] = now
                sink(keys, heap, 0, size)
                if heap[0] != r:
                    continue
            if not listed[r]:
                unlisted = True
                break
            first = end
            for k in range(pattern[r], pattern[r + 1]):
                i = tenants[k]
                order[end] = i
                bit = np.uint8(1 << (i & 7))
                end += (growing[i >> 3] & bit) != 0
                growing[i >> 3] &= ~bit
            # Rounding may put the level now a hair below one that was reached before.
            height = keys[0]
            ends[events], heights[events], stoppers[events] = end, height, r
            events += 1
            for k in range(first, min(first + 2 * AHEAD, end)):
                prefetch(starts, order[k])
                prefetch(growth, order[k])
            for k in range(first - AHEAD, end):
                if k + 2 * AHEAD < end:
                    prefetch(starts, order[k + 2 * AHEAD])
                    prefetch(growth, order[k + 2 * AHEAD])
                if k + AHEAD < end:
                    later = order[k + AHEAD]
                    for e in range(starts[later], starts[later + 1], step):
                        prefetch(columns, e)
                        prefetch(values, e)
                if k < first:
                    continue
                if k + 1 < end:
                    later = order[k + 1]
                    for e in range(starts[later], starts[later + 1]):
                        prefetch_row(sums, columns[e])
                i = order[k]
                for e in range(starts[i], starts[i + 1]):
                    q = columns[e]
                    rate = growth[i] * values[e]
                    add(sums, q, 0, rate * height)
                    add(sums, q, 2, -rate)
                    sums[q, 4] -= 1.0
                touched += starts[i + 1] - starts[i]
            # Neither too many nor too few were listed: as many as demand it, and none of these is left.
            if end - first != demanding or sums[r, 4] != 0:
                progress[2] = r
                return False
            if end == len(order) - 1:
                size = 0
                break
        size -= 1
        keys[0], heap[0] = keys[size], heap[size]
        sink(keys, heap, 0, size)
    progress[0], progress[1] = size, events
    return unlisted
