"""Static sharing of one pool: polygons, non-uniqueness, PF against BMF (figures 1, 5, 6)."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import EXACT, Check, Page
from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair, all_bottleneck_max, allocate
from fairness.catalogue import colour
from fairness.display.colours import part_colour
from fairness.results.plotting import plot_sharing

__all__ = ["difference_with_pf", "matrix", "non_uniqueness", "sharing_polygons"]

POLICIES = (MaxMin(), DRF(), ProportionalFair(), BottleneckMax())
RESOURCES = ("CPU", "RAM")


def matrix(demands: list[list[int]]) -> str:
    """Demands as the talk writes them: (1,3; 3,2)."""
    return "(" + "; ".join(",".join(str(v) for v in row) for row in demands) + ")"


def sharing_polygons(*, full: bool) -> Page:
    """Figure 1: the two sharing polygons of the talk with the allocations of four policies."""
    f = Fraction
    examples = {
        "(1,3; 3,2)": (
            [[1, 3], [3, 2]],
            [[f(1, 5)] * 2, [f(1, 5)] * 2, [f(1, 6), f(1, 4)], [f(1, 6), f(1, 4)]],
        ),
        "(1,3; 4,2)": ([[1, 3], [4, 2]], [[f(1, 5)] * 2, [f(2, 9), f(1, 6)], [f(1, 5)] * 2, [f(1, 5)] * 2]),
    }
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    numbers, checks = {}, []
    for ax, (name, (demands, expected)) in zip(axes, examples.items(), strict=True):
        problem = Problem(demands, [1, 1], job_classes=["job 1", "job 2"], resources=RESOURCES)
        plot_sharing(problem, POLICIES, ax)
        lines = []
        for policy, exact in zip(POLICIES, expected, strict=True):
            result = allocate(problem, policy)
            full = [r for r, s in zip(RESOURCES, result.saturated, strict=True) if s]
            lines.append(f"{policy.name}: {' and '.join(full)} full")
            checks.append(Check.exact(f"{policy.name} on {name}", exact, result.tasks))
            numbers[f"{policy.name} {name}"] = {"tasks": result.tasks, "utilization": result.utilization}
        ax.set_title(f"demands {name}, unit capacities")
        ax.text(0.03, 0.03, "\n".join(lines), transform=ax.transAxes, fontsize="small")
        ax.set(xlim=(0, 0.46), ylim=(0, 0.46), aspect="equal")
    return Page(
        "fig01_sharing_polygons",
        "1. What four notions of fairness give to two jobs",
        'Slides "Example" under dominant resource, proportional and bottleneck-max fairness.',
        "Each line is a full resource; the grey set is feasible. Max-min fairness (MMF) and DRF stop at the first "
        "resource that fills, and in both examples only RAM is full under DRF. PF and BMF coincide for two jobs; on the "
        "left RAM alone limits everybody, so they give equal shares of RAM; on the right they use both resources fully.",
        figure,
        numbers,
        checks,
    )


def non_uniqueness(*, full: bool) -> Page:
    """Figure 5: the segment of bottleneck-max allocations of the 3 x 3 example."""
    half = Fraction(3, 2)
    problem = Problem(
        [[1, 1, 1], [2, 1, half], [1, 2, half]], [1, 1, 1], job_classes=["job 1", "job 2", "job 3"]
    )
    fair = all_bottleneck_max(problem)
    figure, (plane, *panels) = plt.subplots(
        1, 4, figsize=(14, 4.6), layout="constrained", width_ratios=[1.5, 1, 1, 1]
    )
    ends = np.array([[float(v) for v in vertex] for vertex in fair.segments[0]])
    ends = ends[np.argsort(ends[:, 1])]
    u = np.linspace(0, 0.36, 200)
    plane.fill_between(u, 0, np.clip(1 - 3 * u, 0, None), color="0.92", label="feasible with φ₂ = φ₃")
    plane.plot(
        ends[:, 1], ends[:, 0], color=colour("BMF"), lw=5, solid_capstyle="round", label="all BMF allocations"
    )
    for policy, marker in ((DRF(), "s"), (ProportionalFair(), "D"), (MaxMin(), "o")):
        tasks = policy(problem, [1, 1, 1])
        plane.plot(
            tasks[1],
            tasks[0],
            marker,
            ms=9,
            color=colour(policy.name),
            mec="white",
            ls="none",
            label=policy.name,
            zorder=5,
        )
    plane.set(
        xlabel="tasks of job 2 = tasks of job 3",
        ylabel="tasks of job 1",
        xlim=(0, 0.36),
        ylim=(0, 1.02),
        title="The plane φ₂ = φ₃ of the allocations",
    )
    plane.legend(fontsize="small")
    grid = np.linspace(ends[0, 1], ends[1, 1], 101)
    tasks = np.stack([1 - 3 * grid, grid, grid], axis=1)
    for j, panel in enumerate(panels):
        held = tasks * problem.task_shares[:, j]
        for i, job in enumerate(problem.job_classes):
            largest = held[50, i] >= held[50].max() - EXACT
            panel.plot(
                grid,
                held[:, i],
                "--" if i == 2 else "-",
                color=part_colour(i),
                lw=3 if largest else 1.2,
                label=job,
            )
        panel.set(
            xlabel="u = tasks of jobs 2 and 3",
            title=f"resource {j + 1} (full)",
            ylim=(0.18, 0.46),
            xticks=[0.2, 0.21, 0.22],
        )
        panel.sharey(panels[0])
    panels[0].set_ylabel("share of the resource (thick: the largest)")
    panels[0].legend(fontsize="small", loc="center right", bbox_to_anchor=(1.0, 0.35))
    f = Fraction
    checks = [
        Check.exact("one end of the segment (= DRF)", [f(2, 5), f(1, 5), f(1, 5)], ends[0]),
        Check.exact("other end of the segment (= PF)", [f(1, 3), f(2, 9), f(2, 9)], ends[1]),
        Check(
            "other bottleneck-max allocations (exact enumeration)",
            "none",
            str(len(fair.points) + len(fair.segments) - 1),
            len(fair.points) == 0 and len(fair.segments) == 1,
        ),
    ]
    return Page(
        "fig05_non_uniqueness",
        "5. Bottleneck-max fairness is not unique",
        'Slide "Non-uniqueness": demands (1,1,1; 2,1,3/2; 1,2,3/2).',
        "The third resource is the mean of the first two. Every point of the green segment is bottleneck-max fair: job 1 has the largest share of "
        "resource 3, job 2 of resource 1, job 3 of resource 2 (right). The ends are the DRF and the PF allocations. Exact enumeration over "
        "all 27 assignments of jobs to bottlenecks finds nothing else.",
        figure,
        {"segment": ends, "u": grid, "tasks": tasks},
        checks,
    )


def difference_with_pf(*, full: bool) -> Page:
    """Figure 6: PF against BMF with three and more jobs."""
    s = np.sqrt(39)
    f = Fraction
    examples = [
        (
            [[4, 1], [2, 1], [1, 4]],
            [-1 / 10 + s / 30, 9 / 14 - s / 14, 4 / 35 + s / 105],
            [f(3, 29), f(6, 29), f(5, 29)],
        ),
        ([[3, 1], [2, 1], [1, 3]], None, [f(4, 31), f(6, 31), f(7, 31)]),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    numbers, checks = {}, []
    for ax, (demands, pf_exact, bmf_exact) in zip(axes, examples, strict=False):
        problem = Problem(demands, [1, 1])
        results = {
            policy.name: allocate(problem, policy) for policy in (ProportionalFair(), BottleneckMax(), DRF())
        }
        for k, (name, result) in enumerate(results.items()):
            ax.bar(np.arange(3) + 0.27 * (k - 1), result.tasks, width=0.25, color=colour(name), label=name)
        ax.set(
            xticks=range(3),
            xticklabels=["job 1", "job 2", "job 3"],
            ylabel="tasks",
            title=f"demands {matrix(demands)}",
        )
        ax.legend(fontsize="small", loc="upper left")
        numbers[matrix(demands)] = {name: result.tasks for name, result in results.items()}
        checks.append(Check.exact(f"BMF of {matrix(demands)}", bmf_exact, results["BMF"].tasks))
        if pf_exact is not None:
            error = float(np.abs(results["PF"].tasks / pf_exact - 1).max())
            checks.append(
                Check(
                    f"PF of {matrix(demands)}: (−1/10+√39/30, 9/14−√39/14, 4/35+√39/105)",
                    "closed form",
                    f"relative error {error:.0e}",
                    error < EXACT,
                )
            )
    rng = np.random.default_rng(39)
    repeats = 400 if full else 60
    sizes = (2, 3, 4, 6, 10, 20)
    gaps = {}
    for n in sizes:
        jobs = np.ones(n)
        problems = [Problem(10.0 ** rng.uniform(-1, 1, (n, 2)), [1, 1]) for _ in range(repeats)]
        gaps[n] = np.array(
            [np.abs(BottleneckMax()(p, jobs) / ProportionalFair()(p, jobs) - 1).max() for p in problems]
        )
    axes[2].boxplot(
        [100 * gaps[n] for n in sizes],
        tick_labels=[str(n) for n in sizes],
        whis=(5, 95),
        showfliers=False,
        medianprops={"color": "black", "linewidth": 2},
    )
    axes[2].set(
        xlabel="jobs",
        ylabel="largest difference of a job's tasks, %",
        title=f"BMF against PF, {repeats} random mixes\n(whiskers: 5 % to 95 %)",
    )
    numbers["random mixes, largest relative difference"] = gaps
    two = float(gaps[2].max())
    checks.append(
        Check("two jobs on two resources: PF = BMF", "equal", f"largest difference {two:.0e}", two < 1e-9)
    )
    return Page(
        "fig06_difference_with_pf",
        "6. Where PF and BMF differ: three jobs or more",
        'Slide "Difference with PF" (its plot is lost; the examples are ours).',
        "With two jobs on two resources PF and BMF are equal. With three, a job that sits between two extremes gets more under BMF, "
        "because only the largest of its two shares counts and not their priced sum. Right: how much a single job's "
        "allocation can differ in random mixes.",
        figure,
        numbers,
        checks,
    )
