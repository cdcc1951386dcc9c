"""Redraw every figure of T. Bonald and J. Roberts' talk "Resource sharing in data centers" (Eindhoven, 2014).

The talk is the source of the balanced-fairness and bottleneck-max results used here; the journal versions
are arXiv:1404.2266 (Performance Evaluation 79, 2014) and arXiv:1410.0782 (SIGMETRICS 2015).

    python -m examples.workshop --out out          # everything, a few minutes on two cores
    python -m examples.workshop --out out --quick  # shorter runs and coarser curves
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import matplotlib

from examples.gallery import write_gallery
from examples.workshop_figures import allocations, dynamics, performance, tasks

FIGURES = (
    allocations.sharing_polygons,
    allocations.other_models,
    allocations.saturation_map,
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
    "so each page names the slide, redraws it from the model, and compares numbers where the talk or "
    "its theory determines them."
)


def main(arguments: list[str] | None = None) -> int:
    """Draw all figures and write the gallery; exit code 1 if a number differs from the source."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to (default: out)")
    parser.add_argument("--quick", action="store_true", help="shorter simulations and coarser curves")
    options = parser.parse_args(arguments)
    matplotlib.use("Agg")
    pages, seconds = [], {}
    for number, draw in enumerate(FIGURES, start=1):
        start = time.perf_counter()
        page = draw(quick=options.quick)
        seconds[page.key] = time.perf_counter() - start
        print(
            f"{number:2d}/{len(FIGURES)}  {seconds[page.key]:6.1f} s  {page.title}",
            file=sys.stderr,
            flush=True,
        )
        pages.append(page)
    command = "python -m examples.workshop" + (" --quick" if options.quick else "")
    index = write_gallery(
        options.out,
        "Resource sharing in data centers, redrawn",
        INTRODUCTION,
        pages,
        seconds,
        stem="workshop",
        command=command,
    )
    differing = [f"{page.title}: {c.statement}" for page in pages for c in page.checks if c.agrees is False]
    for line in differing:
        print(f"differs from the source: {line}", file=sys.stderr)
    print(f"{index} ({sum(seconds.values()):.0f} s)")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
