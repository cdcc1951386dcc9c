"""An allocation of one pool, with everything a reader wants to know about it and its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from fairness.display.drawing import stacked_bars
from fairness.display.tables import Columns, aligned
from fairness.display.wording import in_use, share_head
from fairness.errors import ModelError
from fairness.evidence.clusters import placement_certificate
from fairness.evidence.pools import (
    Certificate,
    feasibility_certificate,
    job_shares,
    relative_usage,
    tasks_per_weight,
)
from fairness.evidence.queue_bounds import queue_shares, queue_stops
from fairness.model.cluster import Cluster
from fairness.model.nonzeros import reduced
from fairness.model.problem import FloatArray, Problem
from fairness.model.tree import Tree
from fairness.protocol.calling import call_policy, check_answer
from fairness.protocol.cluster_policy import AnyPolicy, ClusterPolicy, ClusterSolution
from fairness.protocol.policy import CertifyingPolicy, Policy, Solution, offers, policy_name
from fairness.results.any_allocation import AnyAllocation
from fairness.results.cluster_allocation import ClusterAllocation
from fairness.results.placements import tasks_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["Allocation", "allocate"]

QUEUES, CLASSES = 40, 200
"""Queues, and classes or resources, that a summary lists."""


@dataclass(frozen=True, eq=False, repr=False)
class Allocation(AnyAllocation):
    """What a policy gives to the classes of a problem; made by :func:`allocate`.

    Attributes
    ----------
    problem : Problem
    policy : callable or None
        The policy itself; None in an allocation read from a file, if it was a function of your own.
    name : str
        What tables call the policy.
    counts : ndarray of shape (n_classes,), jobs
    tasks : ndarray of shape (n_classes,), tasks
        Tasks running per class.
    certificate : Certificate
        The claim that defines the policy, and how far the tasks are from it.
    prices : ndarray of shape (n_resources,) or None
        Dual prices per resource unit (price-based policies).
    levels : ndarray of shape (n_classes,) or None
        Level at which each class was frozen (filling policies).
    tree : Tree or None
        Queues among which the policy has divided.
    """

    problem: Problem
    policy: Policy | None
    name: str
    counts: FloatArray
    tasks: FloatArray
    certificate: Certificate
    prices: FloatArray | None = None
    levels: FloatArray | None = None
    tree: Tree | None = None

    @property
    def model(self) -> Problem:
        """The problem."""
        return self.problem

    @property
    def placed(self) -> FloatArray:
        """The tasks, as on one server."""
        return self.tasks[:, None]

    @cached_property
    def usage(self) -> FloatArray:
        """Units of each resource in use, shape (n_resources,)."""
        return self.problem.used(self.tasks)

    @cached_property
    def utilization(self) -> FloatArray:
        """Usage over capacity, shape (n_resources,); 1 where the capacity is 0."""
        return relative_usage(self.problem, self.tasks)

    @cached_property
    def shares(self) -> FloatArray:
        """Share of each resource that one job holds, over its weight; shape (n_classes, n_resources)."""
        return job_shares(self.problem, self.counts, self.tasks)

    @cached_property
    def dominant_shares(self) -> FloatArray:
        """Largest weighted share of one job, shape (n_classes,)."""
        shares = self.problem.nonzeros
        largest = reduced(np.maximum, shares.share, shares.start, 0.0)
        return largest * tasks_per_weight(self.problem, self.counts, self.tasks)

    @cached_property
    def bottlenecks(self) -> tuple[tuple[str, ...], ...]:
        """Per class, the saturated resources that it demands: they stop it from growing."""
        names, stops = self.problem.resources, self.problem.units.scaled(self.saturated.astype(float))
        return tuple(tuple(names[j] for j in stops.resource[a:b]) for a, b in pairwise(stops.start))

    @property
    def duality_gap(self) -> float | None:
        """Relative duality gap, for policies that solve an optimisation problem."""
        return self.certificate.duality_gap

    def to_columns(self) -> Columns:
        """One row per class: jobs, tasks, dominant share, usage of each resource, bottlenecks."""
        problem = self.problem
        usage = {
            f"usage of {resource}": self.tasks * problem.demands[:, j]
            for j, resource in enumerate(problem.resources)
        }
        return Columns(
            {
                "job_class": problem.job_classes,
                "jobs": self.counts,
                "tasks": self.tasks,
                "dominant_share": self.dominant_shares,
                **usage,
                "bottlenecks": [
                    ", ".join(names) if x > 0 else ""
                    for names, x in zip(self.bottlenecks, self.counts, strict=True)
                ],
            }
        )

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: jobs, tasks, dominant share, usage of each resource, bottlenecks."""
        return self.to_columns().to_dataframe()

    def to_dataset(self) -> xr.Dataset:
        """Everything with labels: dims job_class and resource; the policy is a coordinate without dim.

        So ``xr.concat([a.to_dataset(), b.to_dataset()], "policy")`` puts policies side by side.
        """
        problem = self.problem
        data: dict[str, tuple[tuple[str, ...], Any]] = {
            "counts": (("job_class",), self.counts),
            "tasks": (("job_class",), self.tasks),
            "dominant_shares": (("job_class",), self.dominant_shares),
            "shares": (("job_class", "resource"), self.shares),
            "demands": (("job_class", "resource"), problem.demands),
            "capacities": (("resource",), problem.capacities),
            "usage": (("resource",), self.usage),
            "utilization": (("resource",), self.utilization),
            "saturated": (("resource",), self.saturated),
        }
        return self._dataset(data)

    def summary(self) -> str:
        """What a person wants to read: tasks, shares and bottlenecks, utilization, certificate."""
        problem = self.problem
        table = [["class", "jobs", "tasks", share_head(self.counts, problem.weights), "stopped by"]]
        for i, name in enumerate(problem.job_classes[:CLASSES]):
            stop = ", ".join(self.bottlenecks[i]) or ("limit" if self._at_limit[i] else "nothing")
            if self.counts[i] == 0:
                stop = "no job"
            numbers = self.counts[i], self.tasks[i], self.dominant_shares[i]
            table.append([name, *(f"{number:.6g}" for number in numbers), stop])
        lines = [f"{self.name} allocation", *aligned(table, words=1)]
        if problem.n_classes > CLASSES:
            lines.append(f"  ... {problem.n_classes - CLASSES:,} more classes: see tasks")
        columns = problem.resources, self.usage, problem.capacities, self.saturated
        used = [in_use(name, u, c, full) for name, u, c, full in islice(zip(*columns, strict=True), CLASSES)]
        if problem.n_resources > CLASSES:
            used.append(f"... {problem.n_resources - CLASSES:,} more resources: see utilization")
        lines.append("  in use: " + ", ".join(used))
        if self.tree is not None:
            lines += self._told_queues(self.tree)
        lines.append(f"  {self.certificate}")
        return "\n".join(lines)

    def queues(self) -> pd.DataFrame:
        """One row per queue of the tree: weight, share, usage of each resource, what stops it.

        The share is the largest of a resource that all below the queue hold together, over its weight.

        Raises
        ------
        ModelError
            If the policy has divided among no queues.

        Examples
        --------
        >>> from fairness import Hierarchical, Problem, Tree, allocate
        >>> tree = Tree(["all", "lab"], [-1, 0], job_classes=["a", "b", "c"], class_nodes=[0, 1, 1])
        >>> pool = Problem([[1], [1], [1]], [12], job_classes=["a", "b", "c"], resources=["CPU"])
        >>> allocate(pool, Hierarchical(tree)).queues()[["share", "usage of CPU", "stopped by"]]
                  share  usage of CPU stopped by
        queue
        all         1.0          12.0        CPU
        all/lab     0.5           6.0        CPU
        """
        import pandas as pd

        if self.tree is None:
            raise ModelError(
                f"{self.name} divides among classes, not among queues; take Hierarchical(tree, policy)"
            )
        tree, problem = self.tree, self.problem
        stops = queue_stops(problem, tree, self.counts, self.tasks)
        frame = pd.DataFrame(
            {"weight": tree.weights, "share": queue_shares(problem, tree, self.tasks)},
            index=pd.Index([tree.path(v) for v in range(tree.n_nodes)], name="queue"),
        )
        usage = tree.totals(problem, self.tasks[:, None] * problem.demands)
        for j, resource in enumerate(problem.resources):
            frame[f"usage of {resource}"] = usage[:, j]
        frame["stopped by"] = [", ".join(words) or "nothing" for words in stops]
        return frame.iloc[list(tree.in_depth_order)]

    def _told_queues(self, tree: Tree) -> list[str]:
        names = ["  " * int(tree.depths[v]) + tree.names[v] for v in tree.in_depth_order]
        frame = self.queues()
        rows = zip(names[:QUEUES], frame["weight"], frame["share"], frame["stopped by"], strict=False)
        told = ([name, f"{weight:g}", f"{share:.6g}", stop] for name, weight, share, stop in rows)
        lines = aligned([["queue", "weight", "share", "stopped by"], *told], words=1)
        if len(names) > QUEUES:
            lines.append(f"  ... {len(names) - QUEUES} more queues: see queues()")
        return lines

    @property
    def _tabulated(self) -> int:
        return 1 + min(self.problem.n_classes, CLASSES)

    def _table(self) -> pd.DataFrame | None:
        return None if self.problem.is_listed else self.to_dataframe()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Stacked bars: how much of each resource every class holds."""
        parts = self.tasks[:, None] * self.problem.task_shares
        labels = tasks_of(self.problem.job_classes, self.tasks)
        return stacked_bars(ax, self.problem.resources, parts, labels, title=f"{self.name} allocation")


@overload
def allocate(problem: Problem, policy: Policy, counts: ArrayLike | None = None) -> Allocation: ...
@overload
def allocate(
    problem: Cluster, policy: ClusterPolicy, counts: ArrayLike | None = None
) -> ClusterAllocation: ...
def allocate(
    problem: Problem | Cluster, policy: AnyPolicy, counts: ArrayLike | None = None
) -> Allocation | ClusterAllocation:
    """Share a pool or a cluster among its classes by a policy, and certify the result.

    Parameters
    ----------
    problem : Problem or Cluster
    policy : callable
        For a pool ``policy(problem, counts) -> tasks``, see :mod:`fairness.protocol.policy`; for a
        cluster a policy that places tasks, see :mod:`fairness.protocol.cluster_policy`.
    counts : array_like of shape (n_classes,), jobs, optional
        Jobs present per class. Default: one of each.

    Returns
    -------
    Allocation or ClusterAllocation

    Raises
    ------
    ModelError
        If the policy is for the other kind of model,
        counts is not one vector of non-negative numbers, or the policy returns another shape or a number that
        is none of tasks.
    NotConvergedError
        If the policy's solver stops short of its tolerance.

    Examples
    --------
    >>> from fairness import DRF, Problem, allocate
    >>> pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])
    >>> result = allocate(pool, DRF())
    >>> result.tasks
    array([3., 2.])
    >>> result
    DRF allocation
      class  jobs  tasks  dom. share  stopped by
      A         1      3    0.666667  cpu
      B         1      2    0.666667  cpu
      in use: cpu 9/9 (full), ram 14/18
      every class has a saturated resource on which its level is the largest, or is at its limit: holds ...
    """
    if isinstance(problem, Cluster):
        return _place(problem, policy, counts)
    if not isinstance(problem, Problem):
        raise ModelError(f"allocate needs a Problem or a Cluster; got {type(problem).__name__}")
    name = policy_name(policy)
    if isinstance(policy, ClusterPolicy):
        raise ModelError(
            f"{name} places tasks on a Cluster; the model is a Problem (one pool), which as one server is "
            "Cluster(demands, [capacities])"
        )
    x = problem.check_state(counts)
    if offers(policy, "solve"):
        solution = cast(CertifyingPolicy, policy).solve(problem, x)
        check_answer(problem, policy, x, solution.tasks)
    else:
        tasks = call_policy(problem, policy, x)
        solution = Solution(tasks, feasibility_certificate(problem, x, tasks))
    return Allocation(
        problem,
        policy,
        name,
        x,
        solution.tasks,
        solution.certificate,
        prices=solution.prices,
        levels=solution.levels,
        tree=solution.tree,
    )


def _place(cluster: Cluster, policy: AnyPolicy, counts: ArrayLike | None) -> ClusterAllocation:
    name, division = policy_name(policy), getattr(policy, "division", "resource")
    x = cluster.check_state(counts)
    if isinstance(policy, ClusterPolicy) and offers(policy, "solve"):
        solution = policy.solve(cluster, x)
        if np.shape(solution.placement) != cluster.gamma.shape:
            raise ModelError(
                f"policy {name} returned a placement of shape {np.shape(solution.placement)}; it must list "
                f"the tasks of {cluster.n_classes} classes on {cluster.n_servers} servers"
            )
        check_answer(cluster, policy, x, solution.placement)
    else:
        placement = call_policy(cluster, policy, x)
        solution = ClusterSolution(placement, placement_certificate(cluster, x, placement, division))
    return ClusterAllocation(
        cluster,
        policy,
        name,
        division,
        x,
        solution.placement,
        solution.certificate,
        levels=solution.levels,
        prices=solution.prices,
        details=solution.details,
    )
