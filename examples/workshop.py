"""Redraw every figure of T. Bonald and J. Roberts' talk "Resource sharing in data centers" (Eindhoven, 2014).

The talk is the source of the balanced-fairness and bottleneck-max results used here; the papers behind it
are arXiv:1404.2266 (Performance Evaluation 79, 2014) and arXiv:1410.0782 (SIGMETRICS 2015).

    python -m examples.workshop --out out
    python -m examples.workshop --out out --full  # longer runs and finer curves
"""

from __future__ import annotations

import sys

from examples.reproduce import Source, command
from examples.workshop_figures import allocations, dynamics, models, performance, saturation, tasks
from fairness import CATALOGUE, DRF, Problem
from queueing import DRFScheduler, Multilevel, System, balanced_fairness, simulate, simulate_tasks, stationary

FIGURES = (
    allocations.sharing_polygons,
    models.other_models,
    saturation.saturation_map,
    dynamics.existence,
    allocations.non_uniqueness,
    allocations.difference_with_pf,
    tasks.schedulers,
    performance.capacity_region,
    dynamics.drift_fields,
    performance.service_rates,
    performance.validation,
    tasks.results,
)

INTRODUCTION = (
    "The figures of T. Bonald and J. Roberts' workshop talk, recomputed. The slides survive without their plots, "
    "so each page names the slide and redraws it from the model. The tables compare with what is expected: fractions and closed "
    "forms that follow from the talk's definitions, or values computed independently of this library."
)


def compile_kernels() -> None:
    """Call everything that is compiled once, so that the seconds of a figure are its own."""
    system = System.with_load(Problem([[1, 2], [2, 1]], [2, 2]), (1, 1), 0.3)
    for entry in CATALOGUE:
        entry.policy(system.problem, [1, 1])
    balanced_fairness(system)
    stationary(system, DRF(), shape=8, solver=Multilevel())
    simulate(system, DRF(), events=1_000, replications=2, rng=0)
    simulate_tasks(system, DRFScheduler(), tasks_per_job=2, events=1_000, replications=2, rng=0)


SOURCE = Source(
    "workshop", "Resource sharing in data centers, redrawn", INTRODUCTION, FIGURES, compile_kernels
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.workshop"))
