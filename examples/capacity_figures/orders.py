"""Jobs that run whole and wait in order: how much can be carried, what is left free, how long one waits."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from capacity import is_stable, policy_stability_region, stability_region
from capacity.boundaries.policy import PolicyRegion
from examples.gallery import Check, Page, Table
from fairness import Problem
from fairness.display.colours import part_line
from queueing import FCFS, MaxWeight, Priorities, ServerFilling, System, simulate, stationary

__all__ = ["orders"]

PAIR = Problem([[1], [2]], [2], job_classes=["one server", "both servers"], resources=["servers"])
SEVEN = Problem([[2], [3]], [7], job_classes=["two servers", "three servers"], resources=["servers"])
WIDE_FIRST, NARROW_FIRST = Priorities("most"), Priorities("least")
ORDERS: tuple[Any, ...] = (
    FCFS(),
    FCFS(lookahead=1),
    FCFS(lookahead=3),
    NARROW_FIRST,
    WIDE_FIRST,
    MaxWeight(),
    ServerFilling(),
)
REACHING = (WIDE_FIRST, MaxWeight(), ServerFilling())
"""Orders that carry all that two servers have work for: they lie on one line, and are dashed by turns."""
DASH = 2
"""Length of a dash of theirs."""
WIDE = (2, 4, 8)
"""Servers, all of which a wide job needs; the others need one."""
PUBLISHED = ((Fraction(1, 2), 1.7006629), (Fraction(4, 5), 3.1533773), (Fraction(1), 7.5575001))
"""Arrival rates of the pair in equal parts, and mean durations that two other programs found."""


def orders(*, full: bool) -> Page:
    """Regions, what is held in saturation, and mean durations."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.4), layout="constrained")
    points = 60 if full else 24
    regions = {order.name: policy_stability_region(PAIR, order, points=points) for order in ORDERS}
    numbers = {
        "regions": _regions(axes[0, 0], regions),
        "held": _held(axes[0, 1], 40 if full else 16),
        "carried": _carried(axes[1, 0], 40 if full else 16),
        "durations": _durations(axes[1, 1], full),
    }
    half = System(PAIR, [1, 1])
    throughput, least_first = (is_stable(half, order).throughput for order in (FCFS(), NARROW_FIRST))
    checks = [
        Check(
            "throughput of two servers, needs 1 and 2", "8/7", str(throughput), throughput == Fraction(8, 7)
        ),
        Check.close("the same, narrow jobs first", math.sqrt(17) - 3, float(least_first), digits=9),
    ]
    for rate, known in PUBLISHED:
        law = stationary(System(PAIR, [rate / 2, rate / 2]), FCFS())
        mean = float(law.mean_jobs.sum() / float(rate))
        name = f"mean duration at {float(rate):g} jobs per unit of time"
        checks.append(Check(name, f"{known:.7f}", f"{mean:.7f}", abs(mean - known) < 1e-7))
    return Page(
        "orders",
        "7. Jobs that wait in order",
        "Multiserver jobs: A. Rumyantsev and E. Morozov (2017), I. Grosof, M. Harchol-Balter and A. Scheller-Wolf (2022)",
        "A job holds all its servers while it runs, and who does not fit waits. Top left: where two servers, jobs of one "
        "and of both, are stable. First come, first served, the head of the queue holds up all behind it while servers "
        "are free; looking past it at one job more, or three, wins back some of that. Narrow jobs first leave both "
        "servers to a wide one too seldom; wide jobs first, MaxWeight and ServerFilling reach the line. Top right: the "
        "part of the servers that is held in order of arrival when the queue never ends; few wide jobs among many narrow "
        "ones cost most, and the more servers they need the more. Bottom left: seven servers, jobs of two and of three, "
        "where even the best order, MaxWeight, leaves one free in most mixes. Bottom right: mean durations on two servers, jobs of one "
        "and of both in equal parts, by the laws; first fit, which looks at everybody, is simulated.",
        figure,
        numbers,
        checks,
        [_throughputs(half), _losses(regions, points)],
    )  # fmt: skip


def _throughputs(half: System) -> Table:
    rows = []
    for order in ORDERS:
        found = is_stable(half, order)
        exact = isinstance(found.throughput, Fraction)
        constant = found.heavy_traffic
        rows.append(
            [
                order.name,
                str(found.throughput) if exact else f"{found.throughput:.6g}",
                f"{found.utilization[0]:.3f}",
                "" if constant is None else f"{float(constant):.4f}",
            ]
        )
    header = ["order", "jobs per unit of time", "servers held", "(1 - load) mean jobs, load to 1"]
    return Table(
        "What two servers can carry of jobs of one server and of both, in equal parts, 4/3 being what they have work for",
        header,
        rows,
    )


def _losses(regions: dict[str, PolicyRegion], points: int) -> Table:
    rows = []
    for order in ORDERS:
        lost = [regions[order.name].lost_share]
        if not isinstance(order, ServerFilling):
            lost.append(policy_stability_region(SEVEN, order, points=points).lost_share)
        rows.append([order.name, *(f"{100 * part:.1f} %" for part in lost), *["needs do not divide"][: 2 - len(lost)]])  # fmt: skip
    return Table(
        f"Part of all loads of divisible work that an order loses, from {points} points of its boundary",
        ["order", "two servers, jobs of 1 and 2", "seven servers, jobs of 2 and 3"],
        rows,
    )


def _regions(ax: plt.Axes, regions: dict[str, PolicyRegion]) -> dict[str, list[list[float]]]:
    found = {}
    top = stability_region(PAIR).vertices.max(axis=0)
    ax.plot([top[0], 0], [0, top[1]], color="black", linewidth=0.8, label="what the servers have work for")
    reaching = [order.name for order in REACHING]
    for k, (name, region) in enumerate(regions.items()):
        ends = np.array([p.inner * p.direction for p in region.points])
        ends = ends[np.argsort(np.arctan2(ends[:, 1], ends[:, 0]))]
        line = part_line(k)
        if name in reaching:
            line |= {
                "linestyle": (DASH * reaching.index(name), (DASH, DASH * (len(reaching) - 1))),
                "linewidth": 2.5,
            }
        ax.plot(*ends.T, **line, label=name)
        found[name] = ends.tolist()
    ax.set(xlabel="load of jobs of one server", ylabel="load of jobs of both", title="stable below the line")
    ax.set(xlim=(0, None), ylim=(0, None))
    ax.legend(fontsize="small")
    return found


def _held(ax: plt.Axes, points: int) -> dict[str, list[float]]:
    parts = [Fraction(k, points) for k in range(1, points)]
    found = {"wide": [float(p) for p in parts]}
    for k, servers in enumerate(WIDE):
        pool = Problem([[1], [servers]], [servers])
        held = [float(is_stable(System(pool, [1 - p, p]), FCFS()).utilization[0]) for p in parts]
        # Not the colours of the orders.
        ax.plot(
            found["wide"],
            held,
            color=f"{0.25 * k}",
            linestyle=("-", "--", "-.")[k],
            label=f"{servers} servers",
        )
        found[f"{servers} servers"] = held
    ax.set(xlabel="part of the jobs that need all servers", ylabel="part of the servers that is held")
    ax.set(xlim=(0, 1), ylim=(0, 1), title="FCFS in saturation")
    ax.legend(fontsize="small", loc="lower right")
    return found


def _carried(ax: plt.Axes, points: int) -> dict[str, list[float]]:
    parts = [Fraction(k, points) for k in range(1, points)]
    found = {"wide": [float(p) for p in parts]}
    for k, order in enumerate(ORDERS[:6]):
        held = [float(is_stable(System(SEVEN, [1 - p, p]), order).utilization[0]) for p in parts]
        ax.plot(found["wide"], held, **part_line(k), label=order.name)
        found[order.name] = held
    ax.set(xlabel="part of the jobs that need three servers", ylabel="part of the servers that is held")
    ax.set(xlim=(0, 1), ylim=(0.7, 1), title="seven servers, jobs of two and of three")
    ax.legend(fontsize="small", loc="lower right")
    return found


def _durations(ax: plt.Axes, full: bool) -> dict[str, list[float]]:
    rates = np.linspace(0.1, 1.1, 41 if full else 16)
    found = {"rates": rates.tolist()}
    for k, order in enumerate(ORDERS):
        laws = [stationary(System(PAIR, [rate / 2, rate / 2]), order) for rate in rates]
        means = [float(law.mean_jobs.sum() / rate) for law, rate in zip(laws, rates, strict=True)]
        ax.plot(rates, means, **part_line(k), label=order.name)
        found[order.name] = means
    seen = [0.4, 0.8, 1.1]
    runs = [
        simulate(
            System(PAIR, [rate / 2] * 2), FCFS(lookahead=math.inf), events=400_000 if full else 40_000, rng=1
        )
        for rate in seen
    ]
    means = [float(run.mean_jobs.sum() / rate) for run, rate in zip(runs, seen, strict=True)]
    errors = [float(run.half_widths["mean_jobs"].sum() / rate) for run, rate in zip(runs, seen, strict=True)]
    ax.errorbar(seen, means, errors, fmt="o", color="black", markersize=4, label="first fit, simulated")
    ax.set(
        xlabel="jobs per unit of time",
        ylabel="mean duration",
        title="two servers: jobs of one and of both, in equal parts",
    )
    ax.set(xlim=(0, 1.2), ylim=(0, 10))
    ax.legend(fontsize="small", loc="upper left")
    return found | {"first fit": means, "first fit, 95 %": errors}
