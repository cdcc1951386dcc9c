"""Simulations of dozens of classes, which ask the policy about the states they visit."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.protocol.following import follow
from fairness.protocol.policy import Policy
from queueing import System, simulate
from queueing.networks.backbones import abilene, geant, nobel_germany
from queueing.networks.gravity import gravity_traffic

__all__ = ["rows"]

LOAD = 0.8
EVENTS = 40_000
REPLICATIONS = 2
TARGETS = {
    ("Abilene", 30): {"PF": 1e5},
    ("Abilene", 110): {"PF": 2e4, "MMF": 5e4, "DRF": 5e4, "BMF": 1e4},
}
"""Job events per second on one core, where one is asked for."""

BACKBONES = {"Abilene": abilene, "Nobel-Germany": nobel_germany, "GEANT": geant}


def rows() -> list[Row]:
    out = [_warm()]
    for name, pairs in (("Abilene", 30), ("Abilene", 110), ("Nobel-Germany", 272), ("GEANT", 702)):
        traffic = gravity_traffic(BACKBONES[name]().to_directed(), pairs=pairs)
        system = System.with_load(traffic.problem, traffic.loads, LOAD)
        for policy in (ProportionalFair(), MaxMin(), DRF(), BottleneckMax()):
            out.append(_row(f"{name}, {pairs} routes", system, policy, TARGETS.get((name, pairs), {})))
    rng = np.random.default_rng(0)
    demands = np.where(rng.random((1000, 200)) < 0.02, rng.uniform(0.5, 1.5, (1000, 200)), 0.0)
    demands[:, 0] += ~demands.any(axis=1)
    large = System.with_load(Problem(demands, np.ones(200)), np.ones(1000), LOAD)
    out.append(_row("1,000 classes, 200 links", large, ProportionalFair(), {}))
    return out


def _row(name: str, system: System, policy: Policy, targets: dict[str, float]) -> Row:
    def run() -> None:
        simulate(system, policy, events=EVENTS, replications=REPLICATIONS, rng=0, progress=False)

    rate = EVENTS * REPLICATIONS / best_seconds(run, 1)
    called = policy.name if hasattr(policy, "name") else type(policy).__name__
    target = targets.get(called)
    return Row(
        f"{name}, load {LOAD}, {called}, one core",
        f"{rate:,.0f} job events/s",
        "on record" if target is None else f">= {target:,.0f} job events/s",
        None if target is None else rate >= target,
    )


def _warm() -> Row:
    """PF from the prices of the state before, against PF from nothing, along one walk."""
    traffic = gravity_traffic(abilene().to_directed(), weights="population")
    problem, policy = traffic.problem, ProportionalFair()
    rng, counts, walk = np.random.default_rng(1), np.zeros(problem.n_classes), []
    for _ in range(2000):
        i = rng.integers(problem.n_classes)
        counts[i] = max(0.0, counts[i] + rng.choice([-1, 1]))
        walk.append(counts.copy())

    def warm() -> None:
        follower = follow(problem, policy)
        for state in walk:
            follower(state)

    def cold() -> None:
        for state in walk[::10]:
            follow(problem, policy)(state)

    ratio = 10 * best_seconds(cold, 2) / best_seconds(warm, 2)
    return Row("PF, 110 routes: warm against cold", f"{ratio:.1f} times as fast", ">= 5", ratio >= 5)
