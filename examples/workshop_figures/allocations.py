"""Static sharing: polygons, other models, saturation, non-uniqueness, PF against BMF (figures 1, 2, 3, 5, 6)."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from examples.gallery import Check, Page
from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair, all_bottleneck_max, allocate
from fairness.catalogue import colour
from fairness.plots import plot_constraints, plot_sharing
from queueing.grid import grid_counts
from queueing.topology import abilene, data_network, linear_network, tcp_acknowledgements, wireless_cell

__all__ = ["difference_with_pf", "non_uniqueness", "other_models", "saturation_map", "sharing_polygons"]

POLICIES = (MaxMin(), DRF(), ProportionalFair(), BottleneckMax())
RESOURCES = ("CPU", "RAM")
SATURATED = {1: "#E69F00", 2: "#56B4E9", 3: "#009E73"}
"""Colour by what is full: 1 = only the first resource, 2 = only the second, 3 = both."""
EXACT = 1e-12


def _matrix(demands: list[list[int]]) -> str:
    return "(" + "; ".join(",".join(str(v) for v in row) for row in demands) + ")"


def _fractions(values: np.ndarray) -> str:
    parts = [Fraction(float(v)).limit_denominator(1000) for v in values]
    return "(" + ", ".join(str(f) for f in parts) + ")"


def _exactly(statement: str, source: list[Fraction], ours: np.ndarray) -> Check:
    expected = np.array([float(f) for f in source])
    text = "(" + ", ".join(str(f) for f in source) + ")"
    return Check(statement, text, _fractions(ours), bool(np.abs(ours / expected - 1).max() < EXACT))


def sharing_polygons(*, quick: bool) -> Page:
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
            checks.append(_exactly(f"{policy.name} on {name}", exact, result.tasks))
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


def other_models(*, quick: bool) -> Page:
    """Figure 2: the same constraint form for networks, a wireless cell and TCP acknowledgements."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 9), layout="constrained")
    numbers, checks = {}, []

    line = linear_network(2)
    both = Problem(
        [line.demands[0], line.demands[1:].sum(axis=0)],
        line.capacities,
        job_classes=["long route", "each short route"],
        resources=line.resources,
    )
    plot_constraints(both, axes[0, 0])
    for policy, size in ((MaxMin(), 15), (BottleneckMax(), 8), (ProportionalFair(), 8)):
        tasks = policy(line, [1, 1, 1])
        numbers[f"linear network, {policy.name}"] = tasks
        axes[0, 0].plot(
            *tasks[:2],
            "o",
            ms=size,
            mfc="none",
            mew=2,
            ls="none",
            color=colour(policy.name),
            label=policy.name,
        )
    axes[0, 0].legend(fontsize="small", markerscale=0.7)
    axes[0, 0].set(xlabel="rate of the long route", ylabel="rate of each short route")
    axes[0, 0].set_title("Data network: a long route over two links,\none short route on each")
    checks.append(
        _exactly(
            "PF on the linear network of two links",
            [Fraction(1, 3), Fraction(2, 3), Fraction(2, 3)],
            numbers["linear network, PF"],
        )
    )
    checks.append(
        _exactly(
            "MMF on the linear network of two links", [Fraction(1, 2)] * 3, numbers["linear network, MMF"]
        )
    )

    _abilene(axes[0, 1], numbers)

    cell = wireless_cell({"near user": 54, "far user": 11})
    plot_sharing(cell, (MaxMin(), DRF(), ProportionalFair()), axes[1, 0])
    axes[1, 0].set(xlabel="rate of the near user, Mb/s", ylabel="rate of the far user, Mb/s")
    axes[1, 0].set_title("Wireless cell: rates 54 and 11 Mb/s,\nhalf of the time each under DRF = PF")
    numbers["wireless cell, PF"] = ProportionalFair()(cell, [1, 1])
    checks.append(
        _exactly(
            "PF in the cell: half of one's own rate",
            [Fraction(27), Fraction(11, 2)],
            numbers["wireless cell, PF"],
        )
    )

    links = nx.DiGraph()
    links.add_edge("A", "B", capacity=10.0)
    links.add_edge("B", "A", capacity=2.0)
    tcp = tcp_acknowledgements(links, {"download": ["A", "B"], "upload": ["B", "A"]}, ack_ratio=0.05)
    plot_sharing(tcp, (MaxMin(), DRF(), ProportionalFair(), BottleneckMax()), axes[1, 1])
    axes[1, 1].set(xlabel="rate of the download, Mb/s", ylabel="rate of the upload, Mb/s")
    axes[1, 1].set_title(
        "TCP on an asymmetric line (A-B 10, B-A 2 Mb/s):\nacknowledgements, 5 % of the data, go the other way"
    )
    numbers["TCP acknowledgements, PF"] = ProportionalFair()(tcp, [1, 1])
    return Page(
        "fig02_other_models",
        "2. The same constraints elsewhere: networks, a wireless cell, TCP acknowledgements",
        'Slides "Data networks", "Wireless access", "TCP Acks": the constraint form φA ≤ C.',
        "A flow that crosses several links, a radio that shares its time, a data stream whose acknowledgements load the way back: "
        "all are classes that hold several resources at once, so every policy here applies unchanged. In the backbone "
        "(Abilene, eleven cities) line width and colour show how full each link is under proportional fairness with one "
        "flow per route.",
        figure,
        numbers,
        checks,
    )


def _abilene(ax: plt.Axes, numbers: dict) -> None:
    graph = abilene()
    routes = {
        f"{a} to {b}": (a, b)
        for a, b in (
            ("Seattle", "New York"),
            ("Los Angeles", "Washington"),
            ("Sunnyvale", "Chicago"),
            ("Houston", "New York"),
            ("Denver", "Atlanta"),
            ("Seattle", "Houston"),
            ("Los Angeles", "Chicago"),
            ("Kansas City", "Washington"),
        )
    }
    problem = data_network(graph, routes)
    result = allocate(problem, ProportionalFair())
    load = dict(zip(problem.resources, result.utilization, strict=True))
    position = {node: (data["longitude"], data["latitude"]) for node, data in graph.nodes(data=True)}
    edges = list(graph.edges)
    used = [max(load.get(f"{u}-{v}", 0.0), load.get(f"{v}-{u}", 0.0)) for u, v in edges]
    drawn = nx.draw_networkx_edges(
        graph,
        position,
        ax=ax,
        edgelist=edges,
        edge_color=used,
        edge_cmap=plt.cm.viridis,
        edge_vmin=0,
        edge_vmax=1,
        width=[1 + 4 * u for u in used],
    )
    nx.draw_networkx_nodes(graph, position, ax=ax, node_size=18, node_color="black")
    for node, (x, y) in position.items():
        ax.annotate(node, (x, y), xytext=(3, 4), textcoords="offset points", fontsize=7)
    ax.figure.colorbar(drawn, ax=ax, label="link utilization", shrink=0.8)
    ax.set_title(f"Abilene backbone, {len(routes)} routes under PF")
    ax.margins(0.08)
    ax.axis("off")
    numbers["Abilene, PF, tasks per route"] = dict(zip(problem.job_classes, result.tasks, strict=True))
    numbers["Abilene, PF, link utilization"] = load


def saturation_map(*, quick: bool) -> Page:
    """Figure 3: which of two resources saturate under PF and BMF."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained", width_ratios=[1, 1, 1.1])
    numbers, checks = {}, []
    size = 15 if quick else 31
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
            title=f"demands {_matrix(demands)}",
            xlim=(-0.5, size - 0.5),
            ylim=(-0.5, size - 0.5),
        )
        name = _matrix(demands)
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
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    wrong = _random_mixes(axes[2], 150 if quick else 800, numbers)
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
        color="0.92",
        zorder=0,
        label="impossible: mean of r times mean of 1/r < 1",
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
    ax.legend(fontsize="small", loc="lower left")
    numbers["random mixes"] = {"means": xy, "saturated": state}
    return wrong


def non_uniqueness(*, quick: bool) -> Page:
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
                grid, held[:, i], "--" if i == 2 else "-", color=f"C{i}", lw=3 if largest else 1.2, label=job
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
        _exactly("one end of the segment (= DRF)", [f(2, 5), f(1, 5), f(1, 5)], ends[0]),
        _exactly("other end of the segment (= PF)", [f(1, 3), f(2, 9), f(2, 9)], ends[1]),
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


def difference_with_pf(*, quick: bool) -> Page:
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
            title=f"demands {_matrix(demands)}",
        )
        ax.legend(fontsize="small", loc="upper left")
        numbers[_matrix(demands)] = {name: result.tasks for name, result in results.items()}
        checks.append(_exactly(f"BMF of {_matrix(demands)}", bmf_exact, results["BMF"].tasks))
        if pf_exact is not None:
            error = float(np.abs(results["PF"].tasks / pf_exact - 1).max())
            checks.append(
                Check(
                    f"PF of {_matrix(demands)}: (−1/10+√39/30, 9/14−√39/14, 4/35+√39/105)",
                    "closed form",
                    f"relative error {error:.0e}",
                    error < EXACT,
                )
            )
    rng = np.random.default_rng(39)
    repeats = 60 if quick else 400
    sizes = (2, 3, 4, 6, 10, 20)
    gaps = {}
    for n in sizes:
        jobs = np.ones(n)
        problems = [Problem(10.0 ** rng.uniform(-1, 1, (n, 2)), [1, 1]) for _ in range(repeats)]
        gaps[n] = np.array(
            [np.abs(BottleneckMax()(p, jobs) / ProportionalFair()(p, jobs) - 1).max() for p in problems]
        )
    axes[2].boxplot(
        [100 * gaps[n] for n in sizes], tick_labels=[str(n) for n in sizes], whis=(5, 95), showfliers=False
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
