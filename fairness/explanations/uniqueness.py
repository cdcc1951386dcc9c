"""What is known about other allocations that the same policy could have chosen."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fairness.errors import NotConvergedError
from fairness.explanations.queues import at_leaves
from fairness.policies.bottleneck_set import all_bottleneck_max
from fairness.protocol.family import ByFamily
from fairness.results.allocation import Allocation
from fairness.results.any_allocation import AnyAllocation
from fairness.results.cluster_allocation import ClusterAllocation

__all__ = ["choice_of"]

ENUMERABLE = 100
"""Assignments of bottlenecks to classes up to which all bottleneck-max fair allocations are listed."""

UNKNOWN_OTHERS = "BMF need not be unique from three resources on; other allocations were not looked for."
UNIQUE_TOTALS = "The tasks are the only ones; where they run, and who holds what, need not be."


def choice_of(policy: Any, allocation: AnyAllocation, i: int) -> str:
    """What class i could run in other allocations of the policy, in words; empty where there are none.

    Examples
    --------
    >>> from fairness import BottleneckMax, Problem, allocate
    >>> trade = Problem([[2, 2, 2], [4, 2, 3], [2, 4, 3]], [2, 2, 2])
    >>> choice_of(BottleneckMax(), allocate(trade, BottleneckMax()), 0)
    'BMF leaves a choice here: in its allocations class 1 runs between 0.3333 and 0.4 tasks.'
    """
    told: str = _choice(policy, allocation, i)
    return told


@ByFamily
def _choice(policy: Any, allocation: Any, i: int) -> str:
    return ""


@_choice.register("bottleneck-max")
def _(policy: Any, allocation: Allocation, i: int) -> str:
    problem, name = allocation.problem, allocation.problem.job_classes[i]
    present = allocation.counts > 0
    if np.count_nonzero(present) < 3 or problem.n_resources < 3:
        return ""
    options = np.count_nonzero(problem.demands[present] > 0, axis=1) + np.isfinite(problem.limits[present])
    if math.prod(options.tolist()) > ENUMERABLE:
        return UNKNOWN_OTHERS
    try:
        pieces = all_bottleneck_max(problem, allocation.counts).pieces
    except NotConvergedError:  # floats in which no list can be trusted
        return UNKNOWN_OTHERS
    tasks = [float(vertex[i]) for piece in pieces for vertex in piece.vertices]
    if max(tasks) - min(tasks) <= 1e-8 * max(tasks):
        return ""
    least, most = min(tasks), max(tasks)
    return (
        f"BMF leaves a choice here: in its allocations {name} runs between {least:.4g} and {most:.4g} tasks."
    )


@_choice.register("alpha-fair")
def _(policy: Any, allocation: Allocation, i: int) -> str:
    problem = allocation.problem
    if allocation.prices is None or not allocation.prices.any():
        return ""
    full = allocation.saturated & (problem.capacities > 0)
    paying = (allocation.counts > 0) & ~problem.blocked & ~allocation._at_limit
    shares = problem.task_shares[np.ix_(paying, full)]
    # Bills fix the prices only where the columns of those who pay no price for a limit are independent.
    if (
        full.sum() <= 1
        or np.linalg.matrix_rank(shares / np.maximum(shares.max(axis=0), 1e-300)) == full.sum()
    ):
        return ""
    return "The tasks are the only ones; the prices need not be."


@_choice.register("on a tree")
def _(policy: Any, allocation: AnyAllocation, i: int) -> str:
    if isinstance(allocation, Allocation) and not policy.fills:
        return choice_of(policy.policy, at_leaves(policy, allocation), i)
    return ""


@_choice.register("leximin")
def _(policy: Any, allocation: ClusterAllocation, i: int) -> str:
    return UNIQUE_TOTALS if allocation.cluster.n_servers > 1 else ""


@_choice.register("per-server dominant share")
def _(policy: Any, allocation: ClusterAllocation, i: int) -> str:
    cluster = allocation.cluster
    if cluster.n_servers == 1:
        return ""
    if policy.division == "time":
        return UNIQUE_TOTALS
    order = policy.server_order or tuple(range(cluster.n_servers))
    reverse = replace(policy, server_order=order[::-1])
    try:
        other = float(reverse.solve(cluster, allocation.counts).placement[i].sum())
    except NotConvergedError:
        return "PS-DSF need not be unique; with the servers swept in reverse no other allocation was found."
    if abs(other - allocation.tasks[i]) <= 1e-7 * max(other, allocation.tasks[i]):
        return ""
    name = cluster.job_classes[i]
    return f"PS-DSF leaves a choice here: with the servers swept in reverse, {name} runs {other:.4g} tasks."
