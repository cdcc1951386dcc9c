"""Which loads fit: stability regions of the talk's two examples and of a cluster, divisible and whole tasks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from capacity import packing_region, stability_region
from capacity.results import PackingRegion
from examples.capacity_figures.models import MATRICES, SERVERS, fluid_example, task_example
from examples.gallery import EXACT, Check, Page, Table
from fairness import Cluster, Problem
from fairness.display.colours import part_colour

__all__ = ["stability_regions"]

DIVISIBLE, WHOLE = part_colour(4), part_colour(5)


def stability_regions(*, full: bool) -> Page:
    """Two pools and a cluster: facets, vertices, and what whole tasks lose."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.9), layout="constrained")
    models: dict[str, Problem | Cluster] = {name: make() for name, make in MATRICES.items()}
    models["three servers"] = SERVERS
    numbers, rows = {}, []
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        region, whole = stability_region(model), packing_region(model)
        _draw(ax, region.vertices, DIVISIBLE, "divisible tasks", label=region.exact_vertices)
        _draw(ax, whole.vertices, WHOLE, "whole tasks", label=None)
        right, top = region.vertices.max(axis=0)
        ax.set(
            title=f"{name}:\nwhole tasks lose {100 * whole.loss:.3g} % of the area",
            xlabel="load of class 1 (tasks)",
            ylabel="load of class 2 (tasks)",
            xlim=(0, 1.22 * right),
            ylim=(0, 1.18 * top),
        )
        ax.legend(fontsize="small", loc="upper right")
        for kind, each in (("divisible", region), ("whole", whole)):
            rows.append(
                [
                    name if kind == "divisible" else "",
                    kind,
                    "\n".join(_inequalities(*each.facets)),
                    " ".join(f"({','.join(map(str, v))})" for v in sorted(each.exact_vertices or ())),
                    str(each.exact_volume),
                    f"{100 * whole.loss:.4g} %" if kind == "whole" else "",
                ]
            )
            numbers[f"{name}, {kind}"] = {"vertices": each.vertices, "area": each.volume}
    table = Table(
        "Loads are mean numbers of running tasks, ρ₁ and ρ₂; all numbers are exact",
        ["model", "tasks", "facets", "vertices", "area", "lost"],
        rows,
    )
    return Page(
        "stability_regions",
        "1. The loads that fit",
        "The stability region of a pool {ρ ≥ 0: ρA < C} (Bonald and Roberts), of a cluster (the loads that some placement carries), and of whole tasks (the hull of the task counts that fit).",
        "No policy is stable outside a region, and some are stable everywhere inside. In the first example only one task fits at all, so without splitting the classes can only take turns: almost half of the area is lost. "
        "In the second, mixtures lose 1/16. The cluster has servers with 8 CPUs, 8 GB and 8 units of bandwidth, with 12, 6 and 8 for class 1 only, and with 9, 14 and 3; tasks need one unit of bandwidth besides. Its region is the sum of those of its servers and has an edge of each of their directions; whole tasks lose more there, because every server wastes what is left on it.",
        figure,
        numbers,
        _checks(packing_region(task_example()), full=full),
        [table],
    )


def _draw(ax: Axes, vertices: np.ndarray, color: str, name: str, label: object) -> None:
    order = np.argsort(np.arctan2(vertices[:, 1], vertices[:, 0]), kind="stable")
    outline = np.vstack([[0.0, 0.0], vertices[order][vertices[order].any(axis=1)]])
    ax.fill(*outline.T, color=color, alpha=0.15, linewidth=0)
    ax.plot(*outline[1:].T, "o-", ms=4, color=color, label=name)
    if label is not None:
        for vertex in label:
            if any(vertex):
                ax.annotate(
                    f"({', '.join(map(str, vertex))})",
                    (float(vertex[0]), float(vertex[1])),
                    xytext=(5, 5),
                    textcoords="offset points",
                    fontsize="small",
                )


def _inequalities(normals: np.ndarray, offsets: np.ndarray) -> list[str]:
    lines = []
    for normal, offset in zip(normals, offsets, strict=True):
        terms = [
            f"{'' if weight == 1 else f'{weight:g} '}ρ{'₁₂'[i]}" for i, weight in enumerate(normal) if weight
        ]
        lines.append(f"{' + '.join(terms)} < {offset:g}")
    return lines


def _checks(whole: PackingRegion, *, full: bool) -> list[Check]:
    checks = []
    for name, make, corner, area in (
        ("(10,1; 1,10)", fluid_example, Fraction(10, 11), Fraction(10, 11)),
        ("(4,1; 1,4)", task_example, Fraction(16, 5), Fraction(64, 5)),
    ):
        region = stability_region(make())
        found = {tuple(vertex) for vertex in region.exact_vertices or ()}
        checks.append(
            Check(f"{name}: the corner where both resources are full", f"({corner}, {corner})", "a vertex" if (corner, corner) in found else "no vertex", (corner, corner) in found)
        )  # fmt: skip
        checks.append(
            Check(f"{name}: area", str(area), str(region.exact_volume), region.exact_volume == area)
        )
    lost = whole.exact_loss
    checks.append(Check("(4,1; 1,4): area that whole tasks lose: hull of (4,0), (3,3), (0,4)", "1/16", str(lost), lost == Fraction(1, 16)))  # fmt: skip
    for mix, part in (((1, 1), 0.9375), ((3, 1), 0.975)):
        ours = float(whole.max_scale(mix) / stability_region(task_example()).max_scale(mix))
        checks.append(Check.close(f"(4,1; 1,4): whole tasks carry this part of the load ρ₁ : ρ₂ = {mix[0]} : {mix[1]}", part, ours))  # fmt: skip
    fluid_lost = packing_region(fluid_example()).exact_loss
    checks.append(Check("(10,1; 1,10): area that whole tasks lose: the triangle under (1,0), (0,1) stays", "9/20", str(fluid_lost), fluid_lost == Fraction(9, 20)))  # fmt: skip
    checks.append(_sum_of_servers(500 if full else 50))
    checks.append(_counted())
    return checks


def _sum_of_servers(directions: int) -> Check:
    """The support of the cluster is the sum of the supports of its servers, each a pool with known vertices."""
    region = stability_region(SERVERS)
    pools = []
    for capacities, eligible in zip(SERVERS.capacities, SERVERS.eligible.T, strict=True):
        vertices = stability_region(Problem(SERVERS.demands, capacities)).vertices
        pools.append(vertices[(vertices[:, ~eligible] == 0).all(axis=1)])
    worst = 0.0
    for angle in np.linspace(0, np.pi / 2, directions):
        direction = np.array([np.cos(angle), np.sin(angle)])
        expected = sum(float((vertices @ direction).max()) for vertices in pools)
        worst = max(worst, abs(float((region.vertices @ direction).max()) / expected - 1))
    return Check(
        f"three servers: the region is the sum of those of the servers (support in {directions} directions), relative error",
        f"< {EXACT:g}",
        f"{worst:.1e}",
        worst < EXACT,
    )


def _counted() -> Check:
    """Whole tasks on three servers by counting: all sums of counts that fit, one server at a time."""
    sums = {(0, 0)}
    for capacities, eligible in zip(SERVERS.capacities, SERVERS.eligible.T, strict=True):
        fits = [
            mix
            for mix in product(range(5), repeat=2)
            if (np.array(mix) @ SERVERS.demands <= capacities).all() and not np.any(mix * ~eligible)
        ]
        sums = {(a + c, b + d) for (a, b), (c, d) in product(sums, fits)}
    points = np.array(sorted(sums), dtype=float)
    whole = packing_region(SERVERS)
    inside = bool((points @ whole.facets.normals.T <= whole.facets.offsets * (1 + EXACT)).all())
    corners = {tuple(int(c) for c in vertex) for vertex in whole.exact_vertices or ()} <= sums
    return Check(
        f"three servers, whole tasks: all {len(sums)} totals that fit by counting are inside, every vertex is one of them",
        "yes",
        "yes" if inside and corners else "no",
        inside and corners,
    )
