r"""What a policy means by "stopped": where a class is held back, and by what measure.

A full resource that a class needs keeps it from growing alone. Whether it stops the class *under a policy* is
a matter of its definition:

* *filling* (max-min, DRF, asset fairness, TDRF; on servers TSF, CDRF, DRFH, C-DRFH, DRF per server): where
  nobody who needs the resource stands at a higher level; on servers, where the dual prices of its level
  say so (:mod:`fairness.policies.servers.engines.level_evidence`);
* *prices* (PF and other alpha-fairness; PS-DSF of divided time, a market): where it pays, with the part of
  its bill that goes there;
* *BMF*: where nobody has a larger share per job and weight;
* *PS-DSF of divided resources*: where nobody who holds some has a higher virtual dominant share;
* *a tree of queues*: where a bound of a queue is met, and where the resource is full; with a policy of prices
  or bottlenecks at the leaves, by the notion of that policy;
* *any other policy*: where the resource is full; how it chose is not known.

The notion of a new family is registered: a function of the policy, the allocation and its holdings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray
from fairness.evidence.pools import job_shares
from fairness.explanations.queues import at_leaves, queue_stops, tree_of
from fairness.explanations.records import Stop
from fairness.explanations.resource_use import Holdings
from fairness.protocol.family import ByFamily
from fairness.results.allocation import Allocation
from fairness.results.any_allocation import AnyAllocation
from fairness.results.cluster_allocation import ClusterAllocation

__all__ = ["Notion", "notion", "stops"]

EQUAL = 1e-8
"""Levels count as equal within this part: certificates of policies are at 1e-9."""


@dataclass(frozen=True, eq=False)
class Notion:
    """Where classes are stopped, and by what measure.

    Attributes
    ----------
    stopped : ndarray of bool, shape (n_classes, n_servers, n_resources)
        Of places that are full and needed; the others are left out anyway.
    values : ndarray that can be broadcast to that shape
        What the policy compares or charges; NaN where it does neither.
    measure : str
        What the values are.
    """

    stopped: NDArray[np.bool_]
    values: FloatArray | float = np.nan
    measure: str = ""


@ByFamily
def notion(policy: Any, allocation: Any, held: Holdings) -> Notion:
    """The notion of a policy; of one that is not known, that a resource is full."""
    return Notion(held.demanded)


def stops(policy: Any, allocation: AnyAllocation, held: Holdings, i: int) -> tuple[Stop, ...]:
    """What keeps class i from more tasks, by the policy's own notion.

    Examples
    --------
    >>> from fairness import DRF, Problem, allocate
    >>> from fairness.explanations.resource_use import holdings
    >>> result = allocate(Problem([[1, 4], [3, 1]], [9, 18]), DRF())
    >>> (stop,) = stops(DRF(), result, holdings(result), 0)
    >>> stop.resource, round(stop.value, 4), stop.together
    ('resource 1', 0.6667, ('class 2',))
    """
    if allocation.counts[i] == 0:
        return (Stop("no job"),)
    absent = np.argwhere(held.demanded[i] & (held.capacities == 0))
    if absent.size:
        return tuple(Stop("no capacity", resource=held.resources[j]) for _, j in absent)
    found = []
    if allocation._at_limit[i]:
        most = float(allocation.model.most_tasks(allocation.counts)[i])
        found.append(Stop("limit", value=most, measure="most tasks of its jobs"))
    if (tree := tree_of(policy)) is not None:
        found.extend(queue_stops(tree, allocation.model, held.totals, i))
    meant: Notion = notion(policy, allocation, held)
    candidates = held.demanded & held.full & (held.capacities > 0)
    stopped = meant.stopped & candidates
    if not stopped[i].any() and not found:
        # Not stopped by the notion: what is full still keeps it from growing by itself.
        meant, stopped = notion.otherwise(policy, allocation, held), candidates
    values = np.broadcast_to(meant.values, stopped.shape)
    for s, r in np.argwhere(stopped[i]):
        others = np.flatnonzero(stopped[:, s, r] & (np.arange(len(stopped)) != i))
        found.append(
            Stop(
                "resource",
                held.servers[s],
                held.resources[r],
                float(values[i, s, r]),
                meant.measure,
                tuple(held.job_classes[p] for p in others if allocation.counts[p] > 0),
            )
        )
    return tuple(found) or (Stop("policy"),)


def _highest(
    allocation: AnyAllocation,
    held: Holdings,
    ranks: FloatArray,
    measure: str,
    among: NDArray[np.bool_] | None = None,
) -> Notion:
    """Where a class that is present stands as high as any, within :data:`EQUAL`; NaN counts nowhere.

    As any that is present and needs the resource, or as any ``among`` those. Ranks have the shape
    (n_classes,), or that with servers, or with resources too.
    """
    ranks = ranks.reshape(*ranks.shape, *[1] * (3 - ranks.ndim))
    needed = held.demanded & (allocation.counts > 0)[:, None, None]
    counted = (needed if among is None else among) & ~np.isnan(ranks)
    top = np.max(np.where(counted, ranks, -np.inf), axis=0)
    stopped = ranks >= top - EQUAL * np.abs(np.where(np.isfinite(top), top, 0.0))
    return Notion(needed & stopped, ranks, measure)


_MEASURES = {
    "tasks": "numbers of tasks per job and weight",
    "dominant": "dominant shares per job and weight",
    "assets": "sums of shares per job and weight",
    "own": "levels per job and weight",
}


@notion.register("filling")
def _(policy: Any, allocation: Allocation, held: Holdings) -> Notion:
    told = policy.family.parameters
    measure = _MEASURES[told["growth"]]
    if "resource_weights" in told:
        measure = "dominant shares per job, weight and weight of the resource"
    assert allocation.levels is not None  # filling gives them
    return _highest(allocation, held, allocation.levels, measure)


@notion.register("timed filling")
def _(policy: Any, allocation: Allocation, held: Holdings) -> Notion:
    assert allocation.levels is not None
    measure = "dominant shares times time weights, per job and weight"
    return _highest(allocation, held, allocation.levels, measure)


@notion.register("alpha-fair")
def _(policy: Any, allocation: Allocation, held: Holdings) -> Notion:
    if allocation.prices is None:  # of a policy that does not tell them
        return notion.otherwise(policy, allocation, held)
    paid = (allocation.problem.demands * allocation.prices)[:, None, :]
    alpha = policy.family.parameters["alpha"]
    if alpha == 0:
        return Notion(paid > 0)
    # The bill of a class is what its tasks are worth to it at the margin, limits included.
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = (allocation.counts * allocation.problem.weights / allocation.tasks) ** alpha
        parts = paid / worth[:, None, None]
    return Notion(parts > EQUAL, parts, "part of its bill")


@notion.register("bottleneck-max")
def _(policy: Any, allocation: Allocation, held: Holdings) -> Notion:
    shares = job_shares(allocation.problem, allocation.counts, allocation.tasks)[:, None, :]
    return _highest(allocation, held, shares, "share per job and weight")


@notion.register("on a tree")
def _(policy: Any, allocation: Allocation | ClusterAllocation, held: Holdings) -> Notion:
    # Who is blocked first in a filling depends on all queues.
    if isinstance(allocation, ClusterAllocation) or policy.fills:
        return notion.otherwise(policy, allocation, held)
    inner: Notion = notion(policy.policy, at_leaves(policy, allocation), held)
    return inner


_YARDSTICKS = {
    "alone": "tasks over those alone{}, per job and weight",
    "dedicated": "tasks over those of a pool of its own",
    "pooled": "dominant shares of the pooled capacities, per job and weight",
    "own": "levels",
}


@notion.register("leximin")
def _(policy: Any, allocation: ClusterAllocation, held: Holdings) -> Notion:
    assert allocation.levels is not None
    priced = np.zeros(held.parts.shape, dtype=bool)
    for record in allocation.details["rounds"]:
        # A level is proved by the prices of its round: nobody of the round gains without paying there.
        priced[list(record.classes)] = record.prices > EQUAL * record.prices.max(initial=0.0)
    told = policy.family.parameters
    without = " without placement constraints" if told["constraints"] else ""
    measure = _YARDSTICKS[told["yardstick"]].format(without)
    return Notion(priced, allocation.levels[:, None, None], measure)


@notion.register("per-server dominant share")
def _(policy: Any, allocation: ClusterAllocation, held: Holdings) -> Notion:
    weights = np.where(allocation.counts > 0, allocation.counts * allocation.cluster.weights, 1.0)
    if allocation.prices is not None:
        parts = held.parts * allocation.prices[None, :, None] / weights[:, None, None]
        return Notion(parts > EQUAL, parts, "part of its weight")
    levels, measure = allocation.virtual_dominant_shares, "virtual dominant shares per job and weight"
    return _highest(allocation, held, levels / weights[:, None], measure, among=held.parts > EQUAL)


@notion.register("filling per server")
def _(policy: Any, allocation: ClusterAllocation, held: Holdings) -> Notion:
    measure = "dominant shares of each server, per job and weight"
    return _highest(allocation, held, allocation.details["levels"], measure)
