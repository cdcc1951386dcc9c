"""Jobs that run whole and wait in order: how much can be carried, what is left free, how long one waits."""

from __future__ import annotations

import math
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from capacity import is_stable, policy_stability_region, stability_region
from examples.gallery import Check, Page, Table
from fairness import Problem
from fairness.display.colours import part_colour
from queueing import FCFS, System, simulate, stationary

__all__ = ["orders"]

PAIR = Problem([[1], [2]], [2], job_classes=["one server", "both servers"], resources=["servers"])
ORDERS = (FCFS(), FCFS(lookahead=1), FCFS(lookahead=3))
WIDE = (2, 4, 8)
"""Servers, all of which a wide job needs; the others need one."""
PUBLISHED = ((Fraction(1, 2), 1.7006629), (Fraction(4, 5), 3.1533773), (Fraction(1), 7.5575001))
"""Arrival rates of the pair in equal parts, and mean durations that two other programs found."""


def orders(*, full: bool) -> Page:
    """Regions, what is held in saturation, and mean durations."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    numbers = {
        "regions": _regions(left, 60 if full else 24),
        "held": _held(middle, 40 if full else 16),
        "durations": _durations(right, full),
    }
    half = System(PAIR, [1, 1])
    throughput = is_stable(half, FCFS()).throughput
    checks = [
        Check(
            "throughput of two servers, needs 1 and 2", "8/7", str(throughput), throughput == Fraction(8, 7)
        )
    ]
    for rate, known in PUBLISHED:
        law = stationary(System(PAIR, [rate / 2, rate / 2]), FCFS())
        mean = float(law.mean_jobs.sum() / float(rate))
        name = f"mean duration at {float(rate):g} jobs per unit of time"
        checks.append(Check(name, f"{known:.7f}", f"{mean:.7f}", abs(mean - known) < 1e-7))
    table = Table(
        "What can be carried of the pair in equal parts, 4/3 being what the servers have work for",
        ["order", "jobs per unit of time", "servers held"],
        [
            [order.name, str(found.throughput), f"{found.utilization[0]:.3f}"]
            for order in ORDERS
            for found in [is_stable(half, order)]
        ],
    )
    return Page(
        "orders",
        "Jobs that wait in order",
        "Multiserver jobs: A. Rumyantsev and E. Morozov (2017) and the literature since",
        "A job holds all its servers from its start to its end, and who does not fit waits. First come, first served, "
        "the head of the queue holds up all behind it while servers are free. Left: where two servers, jobs of one "
        "and of both, are stable; looking past the head at one job more, or three, wins back some of what order costs. "
        "Middle: the part of the servers that is held when the queue never ends, by how many of the jobs are wide; few wide "
        "jobs among many narrow ones cost most, and the more servers they need the more. Right: mean durations of the pair in equal parts, by the matrix-geometric "
        "law; first fit, which looks at everybody, is simulated.",
        figure,
        numbers,
        checks,
        [table],
    )  # fmt: skip


def _regions(ax: plt.Axes, points: int) -> dict[str, list[list[float]]]:
    found = {}
    corners = stability_region(PAIR).vertices
    top = corners.max(axis=0)
    ax.plot([top[0], 0], [0, top[1]], color="black", linewidth=0.8, label="what the servers have work for")
    for k, order in enumerate(ORDERS):
        region = policy_stability_region(PAIR, order, points=points)
        ends = np.array([p.inner * p.direction for p in region.points])
        ends = ends[np.argsort(np.arctan2(ends[:, 1], ends[:, 0]))]
        ax.plot(*ends.T, color=part_colour(k), label=order.name)
        found[order.name] = ends.tolist()
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
        ax.plot(found["wide"], held, color=part_colour(k), label=f"{servers} servers")
        found[f"{servers} servers"] = held
    ax.set(xlabel="part of the jobs that need all servers", ylabel="part of the servers that is held")
    ax.set(xlim=(0, 1), ylim=(0, 1), title="FCFS in saturation")
    ax.legend(fontsize="small", loc="lower right")
    return found


def _durations(ax: plt.Axes, full: bool) -> dict[str, list[float]]:
    rates = np.linspace(0.1, 1.1, 41 if full else 16)
    found = {"rates": rates.tolist()}
    for k, order in enumerate(ORDERS):
        laws = [stationary(System(PAIR, [rate / 2, rate / 2]), order) for rate in rates]
        means = [float(law.mean_jobs.sum() / rate) for law, rate in zip(laws, rates, strict=True)]
        ax.plot(rates, means, color=part_colour(k), label=order.name)
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
    ax.set(xlabel="jobs per unit of time", ylabel="mean duration", title="the pair in equal parts")
    ax.set(xlim=(0, 1.2), ylim=(0, 10))
    ax.legend(fontsize="small", loc="upper left")
    return found | {"first fit": means, "first fit, 95 %": errors}
