"""Pictures of allocations: who holds how much, and where the policies land in the sharing polygon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import ArrayLike

from fairness.catalogue import colour
from fairness.display.lettering import label
from fairness.errors import ModelError
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.calling import call_policy
from fairness.protocol.policy import Policy, policy_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairness.policies.servers.distributed import Transient
    from fairness.results.allocation import Allocation
    from fairness.results.cluster_allocation import ClusterAllocation

__all__ = ["plot_allocation", "plot_constraints", "plot_placement", "plot_sharing", "plot_transient"]

_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


def plot_allocation(allocation: Allocation, ax: Axes | None = None) -> Axes:
    """Stacked bars: part of each resource that every class holds; see :meth:`Allocation.plot`."""
    problem = allocation.problem
    parts = allocation.tasks[:, None] * problem.task_shares
    return _stacked_bars(allocation, problem.job_classes, list(problem.resources), parts, ax)


def plot_placement(allocation: ClusterAllocation, ax: Axes | None = None) -> Axes:
    """Stacked bars: part of each resource of each server that every class holds."""
    cluster = allocation.cluster
    server, resource = np.nonzero(cluster.capacities)
    names = [f"{cluster.servers[i]}, {cluster.resources[r]}" for i, r in zip(server, resource, strict=True)]
    parts = allocation.placement[:, server] * cluster.task_shares[:, server, resource]
    return _stacked_bars(allocation, cluster.job_classes, names, parts, ax)


def _stacked_bars(
    allocation: Allocation | ClusterAllocation,
    classes: Sequence[str],
    names: list[str],
    parts: FloatArray,
    ax: Axes | None,
) -> Axes:
    """One bar per name, with the parts (n_classes, n_names) of the classes side by side."""
    ax = ax or plt.subplots()[1]
    left = np.zeros(len(names))
    places = [label(name) for name in names]
    for name, tasks, part in zip(classes, allocation.tasks, parts, strict=True):
        ax.barh(places, part, left=left, label=label(f"{name}: {tasks:.4g} tasks"))
        left += part
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.set(
        xlabel="share of the resource in use", title=label(f"{allocation.policy} allocation"), xlim=(0, 1.02)
    )
    ax.invert_yaxis()
    ax.legend(fontsize="small")
    return ax


def plot_transient(transient: Transient, ax: Axes | None = None) -> Axes:
    """Tasks of each class over time; see :meth:`Transient.plot`."""
    ax = ax or plt.subplots()[1]
    for n, name in enumerate(transient.cluster.job_classes):
        ax.plot(transient.times, transient.tasks[:, n], label=label(name))
    for time in transient.changes[1:]:
        ax.axvline(time, color="0.7", linewidth=0.8, zorder=0)
    ax.set(xlabel="time (lines: classes come or go)", ylabel="tasks", title="Servers that act on their own")
    ax.legend(fontsize="small")
    return ax


def plot_constraints(problem: Problem, ax: Axes | None = None, *, counts: ArrayLike | None = None) -> Axes:
    """Draw the set of feasible allocations of two classes, with one labelled line per resource and limit.

    Raises
    ------
    ModelError
        If there are not two classes, counts is not one vector, or a class can never run.
    """
    if problem.n_classes != 2:
        raise ModelError(f"the sharing polygon is drawn for 2 classes; the problem has {problem.n_classes}")
    jobs = problem.check_counts(counts)
    if jobs.shape != (2,):
        raise ModelError(f"counts must have shape (2,) to draw the sharing polygon; got {jobs.shape}")
    for i in np.flatnonzero(problem.blocked):
        raise ModelError(
            f"class {problem.job_classes[i]!r} demands a resource of capacity 0 and never runs: there is no "
            "sharing polygon to draw"
        )
    shares = problem.task_shares
    # A class that demands nothing has a limit, so every class has an end.
    limited = np.isfinite(problem.limits) & (jobs > 0)
    most = np.multiply(jobs, problem.limits, out=np.full(2, np.inf), where=limited)
    largest = shares.max(axis=1)
    reach = np.minimum(most, np.divide(1.0, largest, out=np.full(2, np.inf), where=largest > 0))
    if not np.isfinite(reach).all():
        raise ModelError("a class that demands nothing and has no job cannot be drawn; give it a job")
    ax = ax or plt.subplots()[1]
    top = 1.12 * reach.max() * np.ones(2) if reach.max() < 3 * reach.min() else 1.12 * reach
    x = np.linspace(0, reach[0], 400)
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.min([np.where(s[1] > 0, (1 - x * s[0]) / s[1], np.inf) for s in shares.T], axis=0)
    height = height.clip(0, reach[1])
    ax.fill_between(x, 0, height, color="0.9", zorder=0)
    for j, name in enumerate(problem.resources):
        first, second = shares[:, j]
        if second == 0 and first > 0:
            ax.axvline(1 / first, color=f"C{j}", linewidth=1.2, label=label(name))
        elif second > 0:
            line = np.array([0.0, 1 / first if first > 0 else top[0]])
            ax.plot(line, (1 - line * first) / second, color=f"C{j}", linewidth=1.2, label=label(name))
    a, b = map(label, problem.job_classes)
    if limited[0]:
        ax.axvline(most[0], color="0.4", linestyle=":", label=f"limit of {a}")
    if limited[1]:
        ax.axhline(most[1], color="0.4", linestyle=":", label=f"limit of {b}")
    ax.set(xlabel=f"tasks of {a}", ylabel=f"tasks of {b}", xlim=(0, top[0]), ylim=(0, top[1]))
    return ax


def plot_sharing(
    problem: Problem, policies: Sequence[Policy], ax: Axes | None = None, *, counts: ArrayLike | None = None
) -> Axes:
    """Sharing polygon of two classes with the allocations of several policies.

    Policies that agree are drawn as rings within rings.
    """
    ax = plot_constraints(problem, ax, counts=counts)
    x = problem.check_counts(counts)
    for k, policy in enumerate(policies):
        tasks = call_policy(problem, policy, x)
        name = policy_name(policy)
        inner = k == len(policies) - 1
        ax.plot(
            *tasks,
            marker=_MARKERS[k % len(_MARKERS)],
            markersize=max(5.0, 17.0 - 4.0 * k),
            markerfacecolor=colour(name) if inner else "none",
            markeredgecolor=colour(name),
            markeredgewidth=2.0,
            linestyle="none",
            label=label(name),
            zorder=5 + k,
        )
    ax.legend(fontsize="small", markerscale=0.6)
    return ax
