"""What resource division costs: allocations that are not Pareto efficient, not unique, and reward a lie."""

from __future__ import annotations

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from examples.gallery import Check, Page, Table
from fairness import DRFH, PSDSF, Cluster, NotConvergedError, allocate
from fairness.display.colours import part_colour
from fairness.properties import property_named
from fairness.results import ClusterAllocation
from fairness.testing import random_cluster

__all__ = ["resource_division"]

F = Fraction

WASTE = Cluster([[1, 3], [3, 1]], [[4, 2], [2, 4]])
TWO_POINTS = Cluster([[2, 6, 3], [2, 2, 5]], [[6, 6, 5], [11, 8, 2], [1, 7, 8]], weights=[2, 1])
LIE = Cluster([[3, 1], [1, 3]], [[2, 1], [4, 3]])
TIMED_LIE = Cluster([[2, 1], [1, 1]], [[1, 1], [2, 1]], weights=[2, 1])


def resource_division(*, full: bool) -> Page:
    """Three exact counterexamples, and how often each defect occurs at random."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    checks, numbers = [], {}

    result = allocate(WASTE, PSDSF())
    better = allocate(WASTE, DRFH())
    checks.append(Check.exact("c = (4,2), (2,4); d = (1,3), (3,1): PS-DSF", (F(4, 3), F(4, 3)), result.tasks))
    checks.append(
        Check.exact("the same, DRFH: feasible, and better for both", (F(3, 2), F(3, 2)), better.tasks)
    )
    _pairs(axes[0], {"PS-DSF": result.tasks, "feasible": better.tasks}, "Not Pareto efficient")
    numbers["not Pareto efficient"] = {"PS-DSF": result.placement, "better": better.placement}

    first = allocate(TWO_POINTS, PSDSF(server_order=(1, 2, 0)))
    second = allocate(TWO_POINTS, PSDSF(server_order=(0, 2, 1)))
    checks.append(
        Check.exact("three servers, swept in the order 2, 3, 1", (F(103, 63), F(103, 126)), first.tasks)
    )
    checks.append(Check.exact("the same, swept in the order 1, 3, 2", (F(53, 33), F(53, 66)), second.tasks))
    checks.append(
        Check(
            "both satisfy theorem 1",
            "yes",
            f"residuals {first.certificate.residual:.0e}, {second.certificate.residual:.0e}",
            first.certificate.holds and second.certificate.holds,
        )
    )
    _pairs(
        axes[1],
        {"order 2, 3, 1": first.tasks, "order 1, 3, 2": second.tasks},
        "Not unique: the order of the sweep decides",
    )
    numbers["not unique"] = {"order 2, 3, 1": first.placement, "order 1, 3, 2": second.placement}

    honest = allocate(LIE, PSDSF())
    lying = allocate(LIE.replaced(eligible=[[False, True], [True, True]]), PSDSF())
    checks.append(
        Check.exact("c = (2,1), (4,3); d = (3,1), (1,3): honest", (F(44, 39), F(11, 13)), honest.tasks)
    )
    checks.append(
        Check.exact(
            "user 1 conceals that it may use server 1: both gain", (F(52, 45), F(13, 15)), lying.tasks
        )
    )
    _pairs(axes[2], {"honest": honest.tasks, "user 1 lies": lying.tasks}, "Not strategy-proof")
    numbers["not strategy-proof"] = {"honest": honest.placement, "lying": lying.placement}

    timed = PSDSF(division="time")
    shares = allocate(TIMED_LIE.replaced(demands=[[1, 1], [1, 1]]), timed)
    time = shares.placement[0] / shares.cluster.gamma[0]
    by_time = float(time @ TIMED_LIE.gamma[0])
    by_resources = float(shares.tasks[0] / 2)
    before = float(allocate(TIMED_LIE, timed).tasks[0])
    checks += [
        Check.close(
            "time division, c = (1,1), (2,1), d = (2,1), (1,1), weights 2, 1: tasks of user 1", 1, before
        ),
        Check.close(
            "user 1 claims (1,1): tasks by the resources of the claimed tasks (eq. 1)", 2 / 3, by_resources
        ),
        Check(
            "time division, the same lie, if user 1 can use the whole server in its time",
            "not treated in the paper",
            f"{by_time:.4f} tasks instead of {before:.4f}: then the lie pays, as lies about rates do in linear Fisher markets",
            None if by_time > before > by_resources and abs(by_time - 7 / 6) < 1e-9 else False,
        ),
    ]
    numbers["time division"] = {
        "honest": before,
        "lying, by time": by_time,
        "lying, by resources": by_resources,
    }

    instances, large = (2000, 200) if full else (300, 40)
    rates, apart = _rates(instances), _larger(large)
    numbers["rates"] = {
        "clusters": instances,
        **rates,
        "25 users: order decides": apart,
        "25 users: clusters": large,
    }
    rows = [
        [what, f"{count} of {instances}", f"{100 * count / instances:.2f} %"] for what, count in rates.items()
    ]
    rows.append(
        [
            "25 users, 6 servers: the opposite sweep order ends in other totals",
            f"{apart} of {large}",
            f"{100 * apart / large:.1f} %",
        ]
    )
    checks.append(
        Check(
            "random clusters on which no sweep found a certified allocation",
            "0",
            str(rates["not solved"]),
            rates["not solved"] == 0,
        )
    )
    return Page(
        "psdsf07_limits",
        "7. The price of resource division",
        "Theorem 3 and lemma 1: Pareto efficiency and strategy-proofness are claimed for time division only.",
        "With resource division an allocation that satisfies the definition may waste resources, may not be the only one, and may reward a lie (the liar's gain is nobody's loss, as "
        "lemma 1 says for positive demands). The table counts on random clusters with up to four users, three servers and three resources, half of them with placement constraints; the last row has more of everything.",
        figure,
        numbers,
        checks,
        [Table("How often, at random (PS-DSF, resource division)", ["what", "clusters", "rate"], rows)],
    )


def _rates(instances: int) -> dict[str, int]:
    """Counts over random small clusters."""
    rng = np.random.default_rng(2017)
    efficiency = property_named("Pareto efficiency")
    count = {
        "not Pareto efficient": 0,
        "the opposite sweep order ends in other totals": 0,
        "Algorithm I ends in other totals than water-filling": 0,
        "Algorithm I does not end": 0,
        "not solved": 0,
    }
    for k in range(instances):
        sizes = (int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        cluster = random_cluster(rng, *sizes, kind="integer", weighted=True, constrained=k % 2 == 1)
        try:
            one, two = _both_ways(cluster)
        except NotConvergedError:
            count["not solved"] += 1
            continue
        count["not Pareto efficient"] += not efficiency.check(cluster, one.placement).holds
        count["the opposite sweep order ends in other totals"] += _apart(one, two)
        try:
            printed = allocate(cluster, PSDSF(method="algorithm-1", max_sweeps=2000))
        except NotConvergedError:
            count["Algorithm I does not end"] += 1
            continue
        count["Algorithm I ends in other totals than water-filling"] += _apart(one, printed)
    return count


def _larger(instances: int) -> int:
    """Random clusters of 25 users and 6 servers on which the sweep order decides about the totals."""
    rng = np.random.default_rng(2018)
    return sum(_apart(*_both_ways(random_cluster(rng, 25, 6, 3, constrained=True))) for _ in range(instances))


def _both_ways(cluster: Cluster) -> tuple[ClusterAllocation, ClusterAllocation]:
    back = tuple(range(cluster.n_servers))[::-1]
    return allocate(cluster, PSDSF()), allocate(cluster, PSDSF(server_order=back))


def _apart(one: ClusterAllocation, other: ClusterAllocation) -> bool:
    return not np.allclose(one.tasks, other.tasks, rtol=1e-6)


def _pairs(ax: plt.Axes, tasks: dict[str, np.ndarray], title: str) -> None:
    """Tasks of two users in two situations."""
    place = np.arange(len(tasks))
    for n in range(2):
        values = [v[n] for v in tasks.values()]
        bars = ax.bar(place + 0.4 * n - 0.2, values, 0.38, color=part_colour(n), label=f"user {n + 1}")
        ax.bar_label(bars, [f"{v:.4f}" for v in values], fontsize="small", padding=2)
    ax.set(xticks=place, xticklabels=list(tasks), ylabel="tasks", title=title)
    ax.margins(y=0.25)
    ax.legend(fontsize="small", ncols=2, loc="upper center")
