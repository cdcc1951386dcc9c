"""Where policies land in the sharing polygon: all that the resources let two classes run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.catalogue import coloured
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.errors import ModelError
from fairness.model.problem import Problem
from fairness.protocol.calling import call_policy
from fairness.protocol.policy import Policy, policy_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_constraints", "plot_sharing"]

_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


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
        raise ModelError.of("counts", f"must have shape (2,) to draw the sharing polygon; got {jobs.shape}")
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
    ax = given_axes(ax)
    top = 1.12 * reach.max() * np.ones(2) if reach.max() < 3 * reach.min() else 1.12 * reach
    x = np.linspace(0, reach[0], 400)
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.min([np.where(s[1] > 0, (1 - x * s[0]) / s[1], np.inf) for s in shares.T], axis=0)
    height = height.clip(0, reach[1])
    ax.fill_between(x, 0, height, color="0.9", zorder=0)
    for j, name in enumerate(problem.resources):
        first, second = shares[:, j]
        style: dict[str, Any] = {"linewidth": 1.2, "label": label(name)} | part_line(j)
        if np.isclose(shares[:, :j], shares[:, [j]], rtol=1e-9).all(axis=0).any():
            style["linestyle"] = (0, (6, 6))  # what lies below is seen between the dashes
        if second == 0 and first > 0:
            ax.axvline(1 / first, **style)
        elif second > 0:
            line = np.array([0.0, 1 / first if first > 0 else top[0]])
            ax.plot(line, (1 - line * first) / second, **style)
    a, b = map(label, problem.job_classes)
    if limited[0]:
        ax.axvline(most[0], color="0.4", linestyle=":", label=f"limit of {a}")
    if limited[1]:
        ax.axhline(most[1], color="0.4", linestyle=":", label=f"limit of {b}")
    ax.set(xlabel=f"tasks of {a}", ylabel=f"tasks of {b}", xlim=(0, top[0]), ylim=(0, top[1]))
    return ax


def plot_sharing(
    problem: Problem,
    policies: Sequence[Policy] | Mapping[str, Policy],
    ax: Axes | None = None,
    *,
    counts: ArrayLike | None = None,
) -> Axes:
    """Sharing polygon of two classes with the allocations of several policies, or of a dict of them by name.

    Policies that agree are drawn as rings within rings.
    """
    ax = plot_constraints(problem, ax, counts=counts)
    x = problem.check_counts(counts)
    if isinstance(policies, Mapping):
        named = list(policies.items())
    else:
        named = [(policy_name(policy), policy) for policy in policies]
    colours = coloured([name for name, _ in named])
    for k, (name, policy) in enumerate(named):
        tasks = call_policy(problem, policy, x)
        inner = k == len(policies) - 1
        ax.plot(
            *tasks,
            marker=_MARKERS[k % len(_MARKERS)],
            markersize=max(5.0, 17.0 - 4.0 * k),
            markerfacecolor=colours[name] if inner else "none",
            markeredgecolor=colours[name],
            markeredgewidth=2.0,
            linestyle="none",
            clip_on=False,
            label=label(name),
            zorder=5 + k,
        )
    legend_beside(ax, markerscale=0.6)
    return ax
