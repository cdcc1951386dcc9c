"""Two resources: which of them saturate under PF and BMF (figure 3)."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from examples.gallery import Check, Page
from examples.workshop_figures.allocations import matrix
from fairness import BottleneckMax, Problem, ProportionalFair
from fairness.display.colours import part_colour
from queueing.states.box import grid_counts

__all__ = ["saturation_map"]

SATURATED = {1: part_colour(3), 2: part_colour(4), 3: part_colour(5)}
"""Colour by what is full: 1 = only the first resource, 2 = only the second, 3 = both."""
IMPOSSIBLE = "0.9"
"""Colour of where no job mix lies."""


def saturation_map(*, full: bool) -> Page:
    """Figure 3: which of two resources saturate under PF and BMF."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained", width_ratios=[1, 1, 1.1])
    numbers, checks = {}, []
    size = 31 if full else 15
    for ax, demands in zip(axes, ([[1, 3], [4, 2]], [[10, 1], [1, 10]]), strict=False):
        problem = Problem(demands, [1, 1])
        counts = grid_counts((size, size))
        wrong = 0
        for policy in (ProportionalFair(), BottleneckMax()):
            state = _saturated(problem, policy(problem, counts))
            expected = _saturation_rule(problem, counts)
            wrong += int((state != expected)[counts.sum(axis=-1) > 0].sum())
        ax.imshow(
            np.where(counts.sum(-1) > 0, state, np.nan).T,
            origin="lower",
            cmap=ListedColormap(list(SATURATED.values())),
            vmin=1,
            vmax=3,
        )
        ratio = problem.task_shares[:, 0] / problem.task_shares[:, 1]
        for r in (ratio, 1 / ratio):
            # The border x_1 (r_1 - 1) + x_2 (r_2 - 1) = 0 of the rule.
            ax.plot([0, size], [0, size * (r[0] - 1) / (1 - r[1])], color="black", lw=1)
        ax.set(
            xlabel="jobs of class 1",
            ylabel="jobs of class 2",
            title=f"demands {matrix(demands)}",
            xlim=(-0.5, size - 0.5),
            ylim=(-0.5, size - 0.5),
        )
        name = matrix(demands)
        numbers[name] = state
        checks.append(
            Check(
                f"states of {name} where PF or BMF saturates other resources than the talk's rule says",
                "0",
                str(wrong),
                wrong == 0,
            )
        )
    labels = ("only CPU full", "only RAM full", "both full")
    handles = [
        Patch(color=shade, label=label) for shade, label in zip(SATURATED.values(), labels, strict=True)
    ]
    handles.append(Line2D([], [], color="black", lw=1, label="Σ a_i1/a_i2 = n and Σ a_i2/a_i1 = n"))
    handles.append(Patch(color=IMPOSSIBLE, label="impossible: the two means have a product below 1"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    wrong = _random_mixes(axes[2], 800 if full else 150, numbers)
    checks.append(Check("random mixes of 2 to 12 jobs that violate the rule", "0", str(wrong), wrong == 0))
    return Page(
        "fig03_saturation_map",
        "3. Two resources: which of them are full under PF and BMF",
        'Slides "Proportional fairness" and "Bottleneck-max fairness": Σ a_i1/a_i2 ≥ n and Σ a_i2/a_i1 ≥ n.',
        "Left and middle: the resources that saturate for each number of jobs of two classes, the same for PF and BMF in all "
        "states; the borders are the straight lines of the talk's rule. Right: random job mixes, each placed by the two means that decide; "
        "only the quadrant above and right of the lines (both means at least 1) saturates both.",
        figure,
        numbers,
        checks,
    )


def _saturated(problem: Problem, tasks: np.ndarray) -> np.ndarray:
    """1 = only the first resource full, 2 = only the second, 3 = both."""
    full = tasks @ problem.task_shares >= 1 - 1e-9
    return full[..., 0] + 2 * full[..., 1]


def _saturation_rule(problem: Problem, counts: np.ndarray) -> np.ndarray:
    ratio = problem.task_shares[:, 0] / problem.task_shares[:, 1]
    jobs = counts.sum(axis=-1)
    # Equality is saturation too; the counts are small integers, so 1e-9 separates it from the rest.
    return (counts @ ratio >= jobs * (1 - 1e-9)) + 2 * (counts @ (1 / ratio) >= jobs * (1 - 1e-9))


def _random_mixes(ax: plt.Axes, number: int, numbers: dict) -> int:
    rng = np.random.default_rng(2014)
    points, states, wrong = [], [], 0
    for _ in range(number):
        n = int(rng.integers(2, 13))
        problem = Problem(10.0 ** rng.uniform(-0.45, 0.45, (n, 2)) * 10.0 ** rng.normal(0, 0.25, 2), [1, 1])
        ratio = problem.task_shares[:, 0] / problem.task_shares[:, 1]
        jobs = np.ones(n)
        found = {
            int(_saturated(problem, policy(problem, jobs)))
            for policy in (ProportionalFair(), BottleneckMax())
        }
        wrong += found != {int(_saturation_rule(problem, jobs))}
        points.append((ratio.mean(), (1 / ratio).mean()))
        states.append(min(found))
    xy, state = np.array(points), np.array(states)
    for value, shade in SATURATED.items():
        ax.plot(*xy[state == value].T, ".", color=shade)
    low = float(xy.min()) * 0.9
    curve = np.geomspace(low, 1 / low, 200)
    ax.fill_between(
        curve,
        low * 0.5,
        1 / curve,
        color=IMPOSSIBLE,
        zorder=0,
    )
    ax.axvline(1, color="black", lw=0.8)
    ax.axhline(1, color="black", lw=0.8)
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="mean of a_i1/a_i2",
        ylabel="mean of a_i2/a_i1",
        xlim=(low, xy[:, 0].max() * 1.1),
        ylim=(low, xy[:, 1].max() * 1.1),
        title=f"{number} random job mixes",
    )
    numbers["random mixes"] = {"means": xy, "saturated": state}
    return wrong
