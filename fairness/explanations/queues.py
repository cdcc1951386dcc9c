"""What queues have to do with it: where a class stands in a tree, and which bound of a queue stops it.

What counts as the use of a queue, and when it stops the classes below it, is said in
:mod:`fairness.evidence.queue_bounds`. On a cluster bounds are compared with what all servers together give.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.evidence.pools import SATURATION
from fairness.evidence.queue_bounds import QueueBounds
from fairness.evidence.tree_placements import pooled
from fairness.explanations.records import Stop
from fairness.explanations.what_if import Alteration, Model
from fairness.model.tree import Tree
from fairness.policies.hierarchy.hierarchical import Hierarchical
from fairness.policies.hierarchy.leaves import leaf_factors
from fairness.results.allocation import Allocation

__all__ = ["Rung", "at_leaves", "queue_alterations", "queue_stops", "tree_of", "way"]


@dataclass(frozen=True)
class Rung:
    """A step on the way from the root to a class: a queue, or at the end the class.

    Attributes
    ----------
    name : str
        Path of the queue, or name of the class.
    parent : str
        Path of the queue above.
    part : float
        Its weight over that of all its siblings that are present.
    resource : str
        Of which it holds the largest part.
    share : float
        That part of the capacity.
    guaranteed : tuple of (resource, minimum, used, why)
        What is guaranteed to it, resource units, and why it does not use all of it ("" if it does).
    """

    name: str
    parent: str
    part: float
    resource: str
    share: float
    guaranteed: tuple[tuple[str, float, float, str], ...] = ()


def tree_of(policy: Any) -> Tree | None:
    """The tree of a policy that has one."""
    tree = getattr(policy, "tree", None)
    return tree if isinstance(tree, Tree) else None


def way(tree: Tree, model: Model, counts: FloatArray, units: FloatArray, i: int) -> tuple[Rung, ...]:
    """Steps from the root to class i.

    Parameters
    ----------
    units : ndarray of shape (n_classes, n_resources), resource units
        What each class holds, on all servers together.

    Examples
    --------
    >>> from fairness import Problem
    >>> tree = Tree(["all", "a"], [-1, 0], weights=[1, 3], job_classes=["x", "y"], class_nodes=[1, 0])
    >>> pool = Problem([[1], [1]], [8], job_classes=["x", "y"], resources=["cpu"])
    >>> for rung in way(tree, pool, np.ones(2), np.array([[6.0], [2.0]]), 0):
    ...     print(rung.name, rung.part, rung.share)
    all/a 0.75 0.75
    x 1.0 0.75
    """
    nodes, capacities = tree.require_classes(model), model.total_capacities
    used, present = tree.totals(model, units), tree.totals(model, counts) > 0
    low, jobs = tree.bounds(model)[0], counts * model.weights

    def rung(name: str, above: int, weight: float, held: FloatArray, *guaranteed: Any) -> Rung:
        """What weighs so much among all that share a node: its classes, and its child queues with jobs."""
        below = tree.children(above)
        mass = float(jobs[nodes == above].sum() + tree.weights[below[present[below]]].sum())
        parts = np.divide(held, capacities, out=np.zeros_like(held), where=capacities > 0)
        most = int(np.argmax(parts))
        largest = model.resources[most], float(parts[most])
        return Rung(name, tree.path(above), float(weight / mass), *largest, guaranteed)

    rungs = []
    for v in tree.way(nodes[i])[-2::-1]:
        bounds = [
            (name, float(low[v, r]), float(used[v, r]), _why_less(tree, model, counts, units, v, r))
            for r, name in enumerate(model.resources)
            if low[v, r] > 0
        ]
        rungs.append(rung(tree.path(v), int(tree.parents[v]), tree.weights[v], used[v], *bounds))
    return (*rungs, rung(model.job_classes[i], int(nodes[i]), jobs[i], units[i]))


def _why_less(tree: Tree, model: Model, counts: FloatArray, units: FloatArray, v: int, r: int) -> str:
    """What keeps classes below queue v from what is guaranteed to it of resource r; "" if nothing."""
    pool = pooled(model)
    bounds = QueueBounds(pool, tree, counts > 0)
    used = tree.totals(pool, units[:, r])[v]
    if used >= bounds.minimum[v, r] * (1.0 - SATURATION):
        return ""
    asking = [i for i in np.flatnonzero(bounds.wanted[:, r]) if v in tree.way(bounds.home[i])]
    closed = bounds.closed(bounds.counted_of(units))[bounds.home] & bounds.wanted
    others = closed[asking]
    others[:, r] = False
    if others.any():
        return (
            f"its classes lack {' and '.join(pool.resources[j] for j in np.flatnonzero(others.any(axis=0)))}"
        )
    if closed[asking, r].any():
        return "more is guaranteed than fits together"
    return "its classes are at their limits" if asking else "none of its classes needs more"


def at_leaves(policy: Hierarchical, allocation: Allocation) -> Allocation:
    """The allocation as that of the policy at the leaves, with the weights that the tree makes."""
    problem = allocation.problem
    factors = leaf_factors(policy.tree, problem, allocation.counts[None])[0]
    return replace(allocation, problem=problem.replaced(weights=problem.weights * factors))


def queue_stops(tree: Tree, model: Model, units: FloatArray, i: int) -> Iterator[Stop]:
    """Bounds of queues that stop class i: a maximum above it, or what is kept for others.

    A queue that has not used up its reserve is not stopped by what is full above it
    (:mod:`fairness.evidence.queue_bounds`).
    """
    pool = pooled(model)
    bounds = QueueBounds(pool, tree, np.ones(pool.n_classes, dtype=np.bool_))
    counted = bounds.counted_of(units)
    full, used_up = bounds.full(counted), counted >= bounds.reserve * (1.0 - SATURATION)
    for r in np.flatnonzero(pool.demands[i]):
        resource, used = pool.resources[r], units[:, r].sum()
        for v in tree.way(bounds.home[i]):
            if full[v, r] and (v > 0 or not bounds.pool_bound[r]):
                most = float(bounds.ceilings[v, r])
                yield Stop("maximum", resource=resource, queue=tree.path(v), value=most)
            elif full[v, r] and used < pool.capacities[r] * (1.0 - SATURATION):
                keeper = int(np.argmax(bounds.reserve[:, r] - tree.totals(pool, units[:, r])))
                kept = float(counted[v, r] - used)
                yield Stop("reserve", resource=resource, queue=tree.path(keeper), value=kept)
            if not used_up[v, r]:
                break


def queue_alterations(model: Model, counts: FloatArray, i: int, policy: Any) -> Iterator[Alteration]:
    """Cases in which a queue above class i has another weight or no bound, or there are no queues."""
    tree = tree_of(policy)
    if tree is None or counts[i] == 0:
        return
    low, high, _ = tree.bounds(model)
    nodes = tree.require_classes(model)
    for v in tree.way(nodes[i]):
        name, here = tree.path(v), np.arange(tree.n_nodes) == v
        if v > 0:
            heavier = np.where(here, 2.0, 1.0) * tree.weights
            yield _case(policy, model, counts, f"with twice the weight of {name}", weights=heavier)
        if np.isfinite(high[v]).any():
            free = np.where(here[:, None], np.inf, tree.maximum)
            yield _case(policy, model, counts, f"without the maximum of {name}", maximum=free)
        if low[v].any():
            none = np.where(here[:, None], 0.0, tree.minimum)
            yield _case(policy, model, counts, f"without the guarantee of {name}", minimum=none)
    if hasattr(policy, "policy"):
        yield Alteration("queue", "without queues", lambda: (model, counts, policy.policy))


def _case(policy: Any, model: Model, counts: FloatArray, words: str, **changes: Any) -> Alteration:
    return Alteration(
        "queue", words, lambda: (model, counts, replace(policy, tree=_changed(policy.tree, **changes)))
    )


def _changed(tree: Tree, **changes: Any) -> Tree:
    kept = {name: getattr(tree, name) for name in ("weights", "resources", "minimum", "maximum", "lends")}
    return Tree(
        tree.names,
        tree.parents,
        job_classes=tree.job_classes,
        class_nodes=tree.class_nodes,
        **(kept | changes),
    )
