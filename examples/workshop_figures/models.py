"""The same constraints elsewhere: networks, a wireless cell, TCP acknowledgements (figure 2)."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import networkx as nx

from examples.gallery import Check, Page
from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair, allocate
from fairness.catalogue import colour
from fairness.display.drawing import legend_beside
from fairness.results.plotting import plot_constraints, plot_sharing
from queueing.networks.backbones import abilene
from queueing.networks.pictures import plot_network
from queueing.networks.topology import data_network, linear_network, tcp_acknowledgements, wireless_cell

__all__ = ["other_models"]


def other_models(*, full: bool) -> Page:
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
    for policy, size, marker in (
        (MaxMin(), 15, "o"),
        (BottleneckMax(), 8, "^"),
        (ProportionalFair(), 8, "D"),
    ):
        tasks = policy(line, [1, 1, 1])
        numbers[f"linear network, {policy.name}"] = tasks
        axes[0, 0].plot(
            *tasks[:2],
            marker,
            ms=size,
            mfc="none",
            mew=2,
            ls="none",
            color=colour(policy.name),
            label=policy.name,
        )
    legend_beside(axes[0, 0], markerscale=0.7)
    axes[0, 0].set(xlabel="rate of the long route", ylabel="rate of each short route")
    axes[0, 0].set_title("Data network: a long route over two links,\none short route on each")
    checks.append(
        Check.exact(
            "PF on the linear network of two links",
            [Fraction(1, 3), Fraction(2, 3), Fraction(2, 3)],
            numbers["linear network, PF"],
        )
    )
    checks.append(
        Check.exact(
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
        Check.exact(
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
    plot_network(graph, result.utilization, ax, title=f"Abilene backbone, {len(routes)} routes under PF")
    numbers["Abilene, PF, tasks per route"] = dict(zip(problem.job_classes, result.tasks, strict=True))
    numbers["Abilene, PF, link utilization"] = dict(zip(problem.resources, result.utilization, strict=True))
