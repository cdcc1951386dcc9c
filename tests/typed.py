"""Verbs as users call them, for a type checker: each takes policies of pools and of clusters, and orders."""

from __future__ import annotations

from capacity import load_curves, policy_stability_boundary, policy_stability_region, solve
from fairness import DRF, PSDSF, TSF, Cluster, Problem, allocate, explain
from queueing import (
    FCFS,
    System,
    TargetScheduler,
    Tasks,
    enclose,
    fluid_verdict,
    sensitivities,
    simulate,
    stationary,
    trajectory,
    transient,
    tune,
)


def ask(problem: Problem | Cluster, policy: DRF | PSDSF) -> None:
    """Nothing here is run."""
    system = System.with_load(problem, [1, 1], 0.3)
    stationary(system, policy)
    stationary(system, FCFS())
    enclose(system, policy)
    simulate(system, policy)
    simulate(system, TargetScheduler(policy), tasks=Tasks(per_job=2))
    solve(system, [policy, TSF()])
    load_curves(system, [policy], [0.1])
    fluid_verdict(system, policy)
    trajectory(system, policy, [1, 1])
    transient(system, policy, [1.0], shape=3)
    sensitivities(system, policy)
    tune(system, policy)
    policy_stability_boundary(problem, policy, [1, 1])
    policy_stability_region(problem, policy)


def share(pool: Problem, cluster: Cluster) -> None:
    """Nor is this."""
    allocate(pool, DRF())
    explain(allocate(cluster, PSDSF()), 0)
