"""Fluid dynamics: the existence argument and the drift fields (figures 4 and 9)."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from examples.gallery import Check, Page
from examples.workshop_figures.performance import MIXES, talk_problem
from fairness import DRF, BottleneckMax, Problem, ProportionalFair
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from queueing import System, circulate, drift, trajectory

__all__ = ["drift_fields", "existence"]


def existence(*, full: bool) -> Page:
    """Figure 4: the queue dynamics of the existence slide."""
    examples = {
        "(1,3; 3,2)": [[1, 3], [3, 2]],
        "(1,3; 4,2)": [[1, 3], [4, 2]],
        "(4,1; 2,1; 1,4)": [[4, 1], [2, 1], [1, 4]],
    }
    starts = 8 if full else 4
    figure, axes = plt.subplots(2, 3, figsize=(14, 8.4), layout="constrained")
    numbers, checks = {}, []
    for (above, below), (name, demands) in zip(axes.T, examples.items(), strict=True):
        problem = Problem(demands, [1, 1], resources=["CPU", "RAM"])
        goal = BottleneckMax()(problem, np.ones(problem.n_classes))
        worst = 0.0
        end = highest = 0.0
        for k, generator in enumerate(np.random.default_rng(7).spawn(starts)):
            run = circulate(problem, rng=generator)
            shade = f"{0.6 * k / starts:.2f}"  # colours are those of jobs
            above.plot(run.queues[:, 0, 0], run.queues[:, -1, 0], lw=1.2, color=shade)
            above.plot(run.queues[0, 0, 0], run.queues[0, -1, 0], "o", ms=4, color=shade)
            above.plot(run.queues[-1, 0, 0], run.queues[-1, -1, 0], "*", ms=10, color=shade, zorder=4)
            rates = run.rates.min(axis=2)
            highest = max(highest, rates.max())
            for i in range(problem.n_classes):
                below.step(run.times, rates[:, i], where="post", lw=1, color=part_colour(i), alpha=0.7)
            worst = max(worst, float(np.abs(run.tasks / goal - 1).max()))
            end = max(end, run.times[-1])
            numbers[f"{name}, start {k + 1}"] = {"times": run.times, "queues": run.queues, "rates": run.rates}
        for i, value in enumerate(goal):
            below.axhline(value, color=part_colour(i), ls="--" if i % 2 == 0 else ":", lw=1.5)
        for value in np.unique(goal.round(12)):
            jobs = " = ".join(f"job {i + 1}" for i in np.flatnonzero(np.isclose(goal, value)))
            below.annotate(
                f"BMF, {jobs}:\n{value:.4g}",
                (1.0, value),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize="small",
                va="center",
                annotation_clip=False,
            )
        last = problem.n_classes
        above.set(
            xlabel="fluid of job 1 waiting for CPU",
            ylabel=f"fluid of job {last} waiting for CPU",
            title=f"demands {name}",
            xlim=(-0.04, 1.04),
            ylim=(-0.04, 1.04),
        )
        below.set(
            xlabel="time",
            ylabel="rate at the job's slower resource (tasks)",
            xlim=(0, 1.03 * end),
            ylim=(0, 1.1 * highest),
        )
        checks.append(
            Check(
                f"all {starts} starts of {name} end in the bottleneck-max allocation",
                "converges",
                f"largest relative distance {worst:.0e}",
                worst < 1e-9,
            )
        )
    most = max(map(len, examples.values()))
    handles = [Line2D([], [], color=part_colour(i), label=f"job {i + 1}") for i in range(most)]
    figure.legend(handles=handles, loc="outside lower center", ncols=most, title="lower panels")
    return Page(
        "fig04_existence",
        "4. Queues that find a bottleneck-max allocation",
        'Slide "Existence": dQ_i1/dt = R_i2 a_i1/a_i2 − R_i1, R_i1 max-min fair with rate limits when Q_i1 = 0.',
        "The fluid of each job circulates between the two resources, and each resource serves its queues max-min fairly; a job whose "
        "queue is empty can pass on no more than it receives. Above: where the fluid waits, from random starts (dots, a shade of grey each) to rest (the star, the same from all starts here). "
        "Below: each job is served at two rates, one at each resource; the smaller one is drawn, in the color of the job, one line a start. It settles at the bottleneck-max allocation (dashed or dotted). The dynamics is piecewise linear and followed exactly from event to event.",
        figure,
        numbers,
        checks,
    )


def drift_fields(*, full: bool) -> Page:
    """Figure 9: drift fields with sample trajectories."""
    problem = talk_problem()
    load, size = 0.9, 30.0
    axis = np.linspace(0, size, 16)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    grid = np.stack([x, y], axis=-1)
    starts = [(29, 4), (4, 29), (25, 25), (12, 2)]
    figure, axes = plt.subplots(2, 2, figsize=(11, 10), layout="constrained", sharex=True, sharey=True)
    numbers, emptied = {}, []
    for row, (name, mix) in enumerate(MIXES.items()):
        system = System.with_load(problem, mix, load)
        for column, policy in enumerate((ProportionalFair(), DRF())):
            ax = axes[row, column]
            field = drift(system, policy, grid)
            length = np.maximum(np.linalg.norm(field, axis=-1, keepdims=True), 1e-12)
            arrows = field / length * np.sqrt(length)
            ax.quiver(x, y, arrows[..., 0], arrows[..., 1], angles="xy", color="0.45", width=0.0028)
            label = "PF = BMF" if policy.name == "PF" else policy.name
            for k, start in enumerate(starts):
                path = trajectory(system, policy, start)
                ax.plot(*path.counts.T, color=colour(policy.name), lw=1.6)
                ax.plot(*start, "o", color=colour(policy.name), ms=5)
                numbers[f"{label}, {name}, start {start}"] = {
                    "times": path.times,
                    "counts": path.counts,
                    "emptying time": path.emptying_time,
                }
                if k == 0:
                    ax.plot(*start, "o", ms=11, mfc="none", color="black")
                    told = f"from ({start[0]:g}, {start[1]:g}), ringed, empty at t = {path.emptying_time:.0f}"
                    emptied.append(path.emptying_time)
            ax.set(title=f"{label}, {name}:\n{told}", xlim=(-0.7, size), ylim=(-0.7, size))
            numbers[f"{label}, {name}"] = field
    for ax in axes[1]:
        ax.set_xlabel("jobs of class 1")
    for ax in axes[:, 0]:
        ax.set_ylabel("jobs of class 2")
    # The paths are computed to some six digits.
    ringed = (
        "The ringed start needs the same time to empty in all four panels, because the busiest resource works at full capacity until the end; what differs is how many jobs wait meanwhile."
        if np.ptp(emptied) < 1e-5 * max(emptied)
        else f"The ringed start needs {min(emptied):.4g} to {max(emptied):.4g} units of time to empty."
    )
    balanced, unbalanced = (System.with_load(problem, mix, load) for mix in MIXES.values())
    checks = []
    for system, point, policy, expected in (
        (balanced, (10, 1), ProportionalFair(), (-0.0909, -0.0909)),
        (balanced, (10, 1), DRF(), (-0.1719, 0.7192)),
        (balanced, (30, 10), DRF(), (-0.1496, 0.4956)),
        (unbalanced, (30, 10), ProportionalFair(), (-0.0381, -0.6188)),
        (unbalanced, (30, 10), DRF(), (-0.0968, -0.0323)),
        (unbalanced, (1, 10), DRF(), (0.7720, -0.6998)),
    ):
        ours = drift(system, policy, point)
        kind = "balanced" if system is balanced else "unbalanced"
        checks += [
            Check.close(
                f"drift of class {i + 1} at {point}, {policy.name}, {kind}", expected[i], float(ours[i])
            )
            for i in range(2)
        ]
    return Page(
        "fig09_drift_fields",
        "9. Drift fields and fluid trajectories at load 0.9",
        'Slides "Drift for balanced load" and "Drift for unbalanced load".',
        "Arrows: mean drift of the numbers of jobs (length: square root of the speed). Curves: fluid trajectories until the system is empty. At balanced load PF drains both classes at "
        "once inside a wide cone, while DRF first makes the rarer class grow until the numbers are equal. At unbalanced load PF empties class 2 first and then stays near the axis. "
        + ringed,
        figure,
        numbers,
        checks,
    )
