"""Fluid trajectories of a few to a hundred classes, from all routes busy until the last job leaves."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import DRF, BottleneckMax, ProportionalFair
from fairness.protocol.policy import Policy
from queueing import System, trajectory
from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic

__all__ = ["rows"]

LOAD = 0.8
ROUTES = (4, 8, 16, 32, 64, 110)


def rows() -> list[Row]:
    policies: dict[str, Policy] = {"DRF": DRF(), "PF": ProportionalFair(), "BMF": BottleneckMax()}
    return [_row(routes, name, policy) for routes in ROUTES for name, policy in policies.items()]


def _row(routes: int, name: str, policy: Policy) -> Row:
    traffic = gravity_traffic(abilene().to_directed(), pairs=routes)
    system = System.with_load(traffic.problem, traffic.loads, LOAD)
    start = np.random.default_rng(1).uniform(size=routes)
    path = trajectory(system, policy, start)
    seconds = best_seconds(lambda: trajectory(system, policy, start), 1)
    return Row(
        f"fluid trajectory, Abilene, {routes} routes, {name}",
        f"{seconds:.2f} s",
        "on record",
        None,
        f"{path.evaluations} evaluations, {len(path.events)} events",
    )
