"""Guaranteed service: the loads at which every class keeps a given mean service rate."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from tqdm.auto import tqdm

from capacity import service_boundary, service_region, stability_region
from capacity.results import ServiceRegion
from examples.capacity_figures.models import MATRICES, fluid_example
from examples.gallery import Check, Page, Table
from fairness import DRF, Problem, ProportionalFair
from fairness.catalogue import colour

__all__ = ["service_regions"]

METHODS = {
    "bound": ("bound", "--"),
    "balanced fairness": ("balanced", "-"),
    "PF": (ProportionalFair(), "-"),
    "DRF": (DRF(), "-"),
}
"""What gives the service rates: a closed form, an exact recursion, or the Markov chain of a policy."""

TICKS = [0.25, 0.5, 0.75]

GUARANTEE = 0.25
"""Part of the rate of a job alone that every class keeps on the page."""

CYCLE = Problem(
    [[2, 1, 0], [0, 2, 1], [1, 0, 2]],
    [2, 2, 2],
    job_classes=["class 1", "class 2", "class 3"],
    resources=["CPU", "RAM", "network"],
)
"""Three classes, each busy on one resource and half as much on the next."""

# Mean durations over mean sizes of fluid_example() at load .9 of the busiest resource, equal loads, computed
# independently of this library from the talk's formulas.
AT_LOAD_9 = {"bound": 10.9000, "balanced fairness": 10.7588, "PF": 10.1536, "DRF": 29.8808}


def service_regions(*, full: bool) -> Page:
    """Service regions of the two examples by four methods, and one of three classes."""
    points, precision = (31, 1e-4) if full else (9, 1e-2)
    figure = plt.figure(figsize=(15, 5), layout="constrained")
    flat = [figure.add_subplot(1, 3, k + 1) for k in range(2)]
    numbers, rows = {}, []
    bar = tqdm(total=len(MATRICES) * len(METHODS) + 2, desc="regions", leave=False, disable=None)
    regions: dict[tuple[str, str], ServiceRegion] = {}
    for ax, (name, make) in zip(flat, MATRICES.items(), strict=True):
        problem = make()
        minimum = GUARANTEE / problem.task_shares.max(axis=1)
        outline = stability_region(problem).vertices
        _line(ax, outline, "--", "0.5", "stability region")
        for label, (method, style) in METHODS.items():
            region = service_region(problem, method, minimum, points=points, precision=precision)
            regions[name, label] = region
            _line(ax, region.loads, style, colour(label), "PF = BMF" if label == "PF" else label)
            rows.append(_row(name if label == "bound" else "", label, region))
            numbers[f"{name}, {label}"] = {"loads": region.loads, "share": region.share}
            bar.update()
        right, top = outline.max(axis=0)
        ax.set(
            title=f"{name}:\nevery class keeps {minimum[0]:g} tasks running per job",
            xlabel="load of class 1 (tasks)",
            ylabel="load of class 2 (tasks)",
            xlim=(0, 1.05 * right),
            ylim=(0, 1.05 * top),
        )
        ax.legend(fontsize="small", loc="lower left")
    for label, method in (("bound", "bound"), ("balanced fairness", "balanced")):
        solid = service_region(CYCLE, method, GUARANTEE, points=120 if full else 20, precision=precision)
        rows.append(_row("three classes" if label == "bound" else "", label, solid))
        numbers[f"three classes, {label}"] = {
            "loads": solid.loads,
            "faces": solid.faces,
            "share": solid.share,
        }
        bar.update()
    axes = figure.add_subplot(133, projection="3d")
    solid.plot(axes)
    axes.set_title(
        "(2,1,0; 0,2,1; 1,0,2) on 2, 2, 2: balanced fairness\n"
        f"keeps {GUARANTEE:g} tasks per job on {100 * solid.share:.0f} % of the loads that fit"
    )
    axes.set(xlabel="load of class 1", ylabel="load of class 2", zlabel="load of class 3")
    axes.view_init(elev=24, azim=38)
    # None at the ends, where numbers of two axes stand on each other.
    axes.set(xticks=TICKS, yticks=TICKS, zticks=[*TICKS, 1.0])
    axes.zaxis.labelpad = 8
    axes.set_box_aspect(None, zoom=0.92)
    bar.close()
    table = Table(
        f"Every class keeps at least {GUARANTEE:g} of the rate of a job alone; part of the area (volume) of the stability region, and relative loads of the boundary points",
        [
            "model",
            "service rates by",
            "part of the stability region",
            "relative load, least",
            "largest",
            "points",
        ],
        rows,
    )
    first, second = MATRICES
    gap = 1 - regions[first, "bound"].share / regions[first, "balanced fairness"].share
    return Page(
        "service_regions",
        "2. Loads with guaranteed service",
        'Mean service rate of a class: mean size over mean duration of its jobs (slides "Mean service rate", "A useful bound for BF").',
        "A stable system may serve a class very slowly. Inside the coloured lines each class keeps a quarter of the rate of a job that is alone. The bound needs no computation and is safe for balanced fairness: "
        f"it gives away {100 * gap:.1f} per cent of the area in the first example. PF allows a little more than balanced fairness. DRF loses most near the corner where both resources are busy, where it starves jobs; "
        f"on the axes, where a class is alone, balanced fairness and the policies agree on load 1 − 1/4 within the brackets of {100 * precision:g} per cent, whose inner ends are drawn.",
        figure,
        numbers,
        _checks(regions, first, second, precision, full=full),
        [table],
    )


def _line(ax: Axes, points: np.ndarray, style: str, color: str, label: str) -> None:
    points = points[points.any(axis=1)]
    order = np.argsort(np.arctan2(points[:, 1], points[:, 0]), kind="stable")
    ax.plot(*points[order].T, style, color=color, label=label, lw=1.6)


def _row(name: str, label: str, region: ServiceRegion) -> list[str]:
    loads = region.relative_loads
    share = f"{100 * region.share:.2f} %"
    return [name, label, share, f"{loads.min():.4f}", f"{loads.max():.4f}", str(len(region.points))]


def _checks(
    regions: dict[tuple[str, str], ServiceRegion], first: str, second: str, precision: float, *, full: bool
) -> list[Check]:
    checks = []
    # Equal loads with a = (1, .1; .1, 1): 1 + 1.1 u/(1 - u) = 4 at u = 30/41.
    exact = Fraction(30, 41)
    closed = service_boundary(fluid_example(), "bound", GUARANTEE, [1, 1], precision=1e-12).inner
    checks.append(
        Check(
            "(10,1; 1,10): relative load at equal loads, bound",
            str(exact),
            f"{closed:.12f}",
            abs(closed - exact) < 2e-12,
        )
    )
    for label, duration in AT_LOAD_9.items():
        if not full and label == "DRF":
            continue
        rate = 1 / duration
        ours = service_boundary(fluid_example(), METHODS[label][0], rate, [1, 1], precision=1e-5).inner
        # The duration is known to four decimals, so the load to about 1e-6 and the bracket.
        checks.append(
            Check.close(
                f"(10,1; 1,10): relative load at which equal loads keep 1/{duration:.4f}, {label}",
                0.9,
                ours,
                digits=4,
            )
        )
    for name in (first, second):
        # A class alone is an M/G/1 queue with processor sharing, of rate 1 - load; the bound adds up both resources.
        ends = [
            float(point.inner)
            for label in METHODS
            if label != "bound"
            for point in regions[name, label].points
            if np.count_nonzero(point.direction) == 1
        ]
        worst = max(abs(end - (1 - GUARANTEE)) for end in ends)
        checks.append(
            Check(
                f"{name}: relative load of a class alone, all methods but the bound (brackets of {precision:g})",
                f"{1 - GUARANTEE:g}",
                f"within {worst:.1e}",
                worst <= precision,
            )
        )
    inside = all(
        regions[name, "balanced fairness"].contains(regions[name, "bound"].loads).all()
        for name in (first, second)
    )
    checks.append(
        Check("boundary points of the bound lie in the region of balanced fairness", "all", "all" if inside else "not all", inside)
    )  # fmt: skip
    return checks
