"""Redraw every figure of T. Bonald and J. Roberts' talk "Resource sharing in data centers" (Eindhoven, 2014).

The talk is the source of the balanced-fairness and bottleneck-max results used here; the papers behind it
are arXiv:1404.2266 (Performance Evaluation 79, 2014) and arXiv:1410.0782 (SIGMETRICS 2015).

    python -m examples.workshop --out out
    python -m examples.workshop --out out --full  # longer runs and finer curves
"""

from __future__ import annotations

import sys

from examples.reproduce import Source, command
from examples.workshop_figures import (
    allocations,
    conjectures,
    dynamics,
    letters,
    models,
    performance,
    saturation,
    tasks,
)
from fairqueues.kernels import bottlenecks, chains, prices, runs, whole_tasks

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
    letters.closed_forms,
    conjectures.conjectures,
)

INTRODUCTION = (
    "The figures of T. Bonald and J. Roberts' workshop talk, recomputed. The slides survive without their plots, "
    "so each page names the slide and redraws it from the model. The tables compare with what is expected: fractions and closed "
    "forms that follow from the talk's definitions, or values computed independently of this library."
)


SOURCE = Source(
    "workshop",
    "Resource sharing in data centers, redrawn",
    INTRODUCTION,
    FIGURES,
    (prices, bottlenecks, chains, runs, whole_tasks),
    slow=(tasks.results,),
    quick=FIGURES[:6] + FIGURES[7:8] + FIGURES[9:10],
)

if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.workshop"))
