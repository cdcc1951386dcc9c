r"""The rounds of tenants that no machine knows all the demands of, decided by one of them, to the same bits.

Level :math:`y_r` at which a resource would be full only rises while tenants stop. So of the K resources with
the smallest, and with B the smallest of all others, nothing but those K decides what happens below B: their
owners send their sums and the rates of their growing tenants on them, one machine runs the engine on this
*window*, and tells all who has stopped, in the order in which the engine took them, so that every owner adds
up its sums in the order of one machine. With DC-DRF a window is a round: the resources with at most epsilon
left at its level.

*Bits.* Rounding may lower a level by a last bit, where another one that is equal but for rounding has just
stopped its tenants. So a window begins nothing in the last part :data:`APART` below B, and what it found
counts up to the last gap of that part between two levels: levels that rounding may have told apart lie in
one window, and if all of it is one such cluster, K is doubled. Whoever lies above the gap is then above all
that has stopped, and rises: by :math:`g(y - z)/(\mu - g)` when a rate g stops at the level z, while rounding
takes some :math:`10^{-16}` of y and of :math:`gz/(\mu - g)`. (One machine keeps outdated levels as bounds,
which agree with these but for clusters.)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from fairness.arguments.validation import FloatArray
from fairness.cloud.engines.eviction import levels_of, misfit_of, orderly, run_below
from fairness.cloud.engines.sums import table
from fairness.cloud.model.demands import Flags, IndexArray, Offsets, SparseDemands
from fairness.cloud.model.pattern import Pattern
from fairness.machine.residents import Residents

__all__ = ["APART", "Filled", "fill"]

APART = 1e-9
"""Part of a level by which the next one must be higher to lie in another window."""

Stops = tuple[FloatArray, Offsets, IndexArray, IndexArray]
"""Levels of rounds, how many have stopped by the end of each, who, in this order, and each one's resource."""


@dataclass
class Filled:
    """How tenants stopped.

    Attributes
    ----------
    levels, stoppers : ndarray of shape (n_tenants,)
        As in :class:`fairness.cloud.Edrf`.
    left : ndarray of shape (n_resources,)
        Part of each resource that is left.
    rounds, events, windows : int
        Levels; resources that stopped somebody; windows that came to something.
    misfit : float
        As :meth:`fairness.cloud.engines.eviction.State.misfit`.
    """

    levels: FloatArray
    stoppers: IndexArray
    left: FloatArray
    rounds: int = 0
    events: int = 0
    windows: int = 0
    misfit: float = 0.0


def fill(machines: Residents, cuts: Offsets, n_tenants: int, size: int, epsilon: float) -> Filled:
    """Rounds until all tenants have stopped.

    Parameters
    ----------
    machines : Residents
        A :class:`fairness.cloud.spread.owner.Owner` each, with its demands.
    cuts : ndarray of int
        Resources ``cuts[k]`` to ``cuts[k + 1] - 1`` are those of machine k.
    n_tenants : int
    size : int
        K, of the exact filling.
    epsilon : float
        0, or the part of a resource that may be left when it counts as exhausted.
    """
    filled = Filled(np.zeros(n_tenants), np.full(n_tenants, -1, dtype=np.int32), np.empty(0))
    level, left, wanted = 0.0, n_tenants, size
    numbering = np.zeros(n_tenants, dtype=np.bool_), np.empty(n_tenants, dtype=np.int32)
    spent, stuck = np.zeros(cuts[-1], dtype=np.bool_), False
    near = machines.tell("nearest", wanted + 1)
    while left and not stuck:
        resources, heights = map(np.concatenate, zip(*near, strict=True))
        stuck = not len(heights)
        if stuck:
            break
        if epsilon:
            level = max(level, heights.min())
            stops = _round(machines, level, epsilon, orderly(n_tenants), spent)
        else:
            order = np.argsort(heights, kind="stable")
            bound = heights[order[wanted]] if len(order) > wanted else np.inf
            stops = _window(machines, cuts, np.sort(resources[order[:wanted]]), level, bound, numbering)
        reached, ends, tenants, by = stops
        if not len(reached):
            wanted *= 2
            near = machines.tell("nearest", wanted + 1)
            continue
        level, wanted, left = float(reached[-1]), size, left - len(tenants)
        filled.levels[tenants] = np.repeat(reached, np.diff(ends, prepend=0))
        filled.stoppers[tenants] = by
        spent[by] = True
        filled.rounds, filled.windows = filled.rounds + len(reached), filled.windows + 1
        near = machines.tell("stop", reached, ends, tenants, wanted + 1)
    filled.levels[filled.stoppers < 0] = level
    filled.events = len(np.unique(filled.stoppers[filled.stoppers >= 0]))
    filled.left = np.concatenate(machines.tell("left", level))
    filled.misfit = 1.0 if stuck else misfit_of(filled.left, spent, epsilon)
    return filled


def _window(
    machines: Residents,
    cuts: Offsets,
    chosen: IndexArray,
    since: float,
    bound: float,
    numbering: tuple[Flags, IndexArray],
) -> Stops:
    """Exact rounds below the bound that lies on all resources but the chosen ones.

    ``numbering`` is room to number some of all tenants: flags, all off, and numbers.
    """
    places = np.searchsorted(chosen, cuts)
    asked = [(chosen[first:last],) for first, last in pairwise(places)]
    parts, tenants, rates = map(np.concatenate, zip(*machines.ask("columns", asked), strict=True))
    sums = table(len(chosen), 8)
    sums[:, :5] = parts
    starts = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(sums[:, 4], out=starts[1:])
    grows, numbers = numbering
    grows[tenants] = True
    who = np.flatnonzero(grows).astype(np.int32)
    grows[who] = False
    numbers[who] = np.arange(len(who), dtype=np.int32)
    inverse = numbers[tenants]
    rows = sparse.csc_array((rates, inverse, starts), shape=(len(who), len(chosen))).tocsr()
    demands = SparseDemands.of_checked(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, len(chosen)
    )
    pattern = Pattern(np.ones(len(chosen), np.bool_), starts, inverse, demands.n_entries, len(who))
    state = run_below(demands, pattern, sums, since, bound * (1 - APART), orderly(len(grows)))
    rounds = state.progress[0]
    levels, ends = state.trail[1:rounds], state.ends[1:rounds]
    following = min(float(levels_of(sums).min()), bound)
    apart = np.append(levels[1:], following) >= levels * (1 + APART)
    kept = int(np.flatnonzero(apart)[-1]) + 1 if apart.any() else 0
    stopped = state.batch[: ends[kept - 1] if kept else 0]
    by = chosen[state.stoppers[state.events[stopped]]]
    return levels[:kept], ends[:kept], who[stopped], by


def _round(machines: Residents, level: float, epsilon: float, many: int, spent: IndexArray) -> Stops:
    """The tenants of all resources with at most epsilon left at this level."""
    due, sums, tenants, _ = map(np.concatenate, zip(*machines.tell("due", level, epsilon), strict=True))
    spent[due] = True
    _, first = np.unique(tenants, return_index=True)
    # One that several resources stop comes where the first of them has it; many come in order.
    first = first if len(first) > many else np.sort(first)
    by = np.repeat(due, sums[:, 4].astype(np.int64))[first]
    return np.array([level]), np.array([len(first)]), tenants[first], by
