"""Policies on servers in many states: tables and walks, against one state with evidence."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import CDRF, CDRFH, DRFH, PSDSF, TSF, Cluster, PerServerDRF
from fairness.arguments.validation import FloatArray
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.following import follow
from fairness.testing import random_cluster
from queueing import System, simulate, tabulate

__all__ = ["rows"]

SIDE = 6
"""Counts of each class in a table."""

WITH_EVIDENCE = 100
"""States that are solved with evidence, for comparison."""

TARGET = 20_000
"""States of a table per second."""

FLOORS = {
    "PS-DSF rdm": "; floor: 8 to 34 sweeps of the servers a state, each of ten fillings of .3 us",
    "PS-DSF tdm": "; floor: a market is solved in each state, and accepted by its certificate",
}
"""Why a target is out of reach."""

EVENTS = 5_000


def rows() -> list[Row]:
    out = []
    for constrained in (False, True):
        cluster = random_cluster(0, 6, 10, 3, weighted=True, constrained=constrained)
        free = () if constrained else (CDRF(), DRFH())
        for policy in (TSF(), TSF("dedicated"), CDRFH(), *free):
            out.append(_table(cluster, policy, constrained, SIDE, TARGET))
        for slow in (PerServerDRF(), PSDSF(), PSDSF("time")):
            out.append(_table(cluster, slow, constrained, 4, 50_000))
    for classes, servers in ((6, 10), (50, 10), (50, 30)):
        out += _walks(random_cluster(1, classes, servers, 3, weighted=True, constrained=True))
    return out


def _table(cluster: Cluster, policy: ClusterPolicy, constrained: bool, side: int, target: int | None) -> Row:
    rate = side**6 / best_seconds(lambda: tabulate(cluster, policy, side))
    some = np.random.default_rng(2).integers(0, side, (WITH_EVIDENCE, 6)).astype(float)
    alone = WITH_EVIDENCE / best_seconds(lambda: [policy.solve(cluster, x) for x in some], 1)
    return Row(
        f"table of {policy.name}, 6 classes, 10 servers{', constrained' if constrained else ''}",
        f"{rate:,.0f} states/s",
        "on record" if target is None else f">= {target:,} states/s",
        None if target is None else rate >= target,
        f"with evidence for each state {alone:,.0f} states/s{FLOORS.get(policy.name, '')}",
    )


def _walks(cluster: Cluster) -> list[Row]:
    shape = f"{cluster.n_classes} classes, {cluster.n_servers} servers"
    states = _states(cluster, 200)
    result = []
    for policy in (TSF(), PSDSF())[: 2 if cluster.n_classes == 6 else 1]:
        follower = follow(cluster, policy)

        def walk(follower: object = follower) -> None:
            for x in states:
                follower(x)  # type: ignore[operator]

        one = best_seconds(lambda p=policy: [p.solve(cluster, x) for x in states[:20]], 1) / 20
        each = best_seconds(walk, 1) / len(states)
        figure = f"{each * 1e6:,.0f} us per state"
        note = f"with evidence {one * 1e6:,.0f} us per state"
        result.append(Row(f"{policy.name} from state to state, {shape}", figure, "on record", None, note))
    system = System.with_load(cluster, np.ones(cluster.n_classes), 0.8)
    seconds = best_seconds(
        lambda: simulate(system, TSF(), events=EVENTS, replications=2, rng=0, progress=False), 1
    )
    figure = f"{2 * EVENTS / seconds:,.0f} job events/s"
    return [*result, Row(f"simulation under TSF, load 0.8, {shape}", figure, "on record", None)]


def _states(cluster: Cluster, length: int) -> list[FloatArray]:
    """A walk: one job comes or goes in each step."""
    rng = np.random.default_rng(3)
    counts, walk = rng.geometric(0.4, cluster.n_classes) - 1.0, []
    for _ in range(length):
        i = rng.integers(cluster.n_classes)
        counts[i] = max(0.0, counts[i] + rng.choice([-1, 1]))
        walk.append(counts.copy())
    return walk
