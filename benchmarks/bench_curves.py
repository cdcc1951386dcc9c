"""Curves of four classes, a chain whose bounds are out of reach, and what a second core brings to bounds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.harness import Row, best_seconds
from capacity import load_curves, solve
from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.errors import FairqueuesError
from queueing import System, enclose

__all__ = ["rows"]

LOADS = (0.3, 0.6, 0.9)
FOUR = System.with_load(
    Problem([[1, 0.1, 0.1], [0.1, 1, 0.1], [0.1, 0.1, 1], [0.5, 0.5, 0.5]], [1, 1, 1]), [1, 1, 1, 1], 0.5
)
POLICIES = [DRF(), MaxMin(), ProportionalFair(), BottleneckMax(), "balanced"]
LINE = System.with_load(Problem([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 1, 1]), [1, 1, 1, 1], 0.7)
THREE = System.with_load(Problem([[1, 0.1, 0.2], [0.1, 1, 0.3], [0.3, 0.2, 1]], [1, 1, 1]), [1, 1, 1], 0.8)
PATIENCE = 60.0
"""Seconds for the bounds of the line."""


def rows() -> list[Row]:
    return [_curves(), _solved(), _line(), _cores()]


def _curves() -> Row:
    begin = time.process_time()
    curves = load_curves(FOUR, POLICIES, LOADS, rng=0, n_jobs=1, progress=False)
    seconds = time.process_time() - begin
    told = "; ".join(str(curves).splitlines()[-len(POLICIES) :])
    return Row(
        "load_curves, four classes, three loads, five policies, to 5 %",
        f"{seconds:.0f} s of one core",
        "< 10 s",
        seconds < 10.0,
        "floor: at .3 and .6 chains of up to four million states are tabulated and solved, 2 s each, and at "
        f".9 millions of events are needed for 5 %; in ten seconds `solve` gives less. {told}",
    )


def _solved() -> Row:
    begin = time.perf_counter()
    found = solve(FOUR, POLICIES, LOADS, seconds=10.0, rng=0, progress=False)
    seconds = time.perf_counter() - begin
    table = found.to_dataframe()
    errors = (table["mean_jobs_error"] / table["mean_jobs"]).dropna()
    most = errors.quantile(0.9, interpolation="lower")  # some may be infinite
    return Row(
        "solve, the same, given ten seconds",
        f"{seconds:.1f} s",
        "< 13 s",
        seconds < 13.0,
        f"relative errors of the mean jobs: median {errors.median():.1e}, of nine in ten at most {most:.1e}",
    )


def _line() -> Row:
    begin = time.perf_counter()
    try:
        found = enclose(LINE, ProportionalFair(), width=1e-5, max_states=20_000_000, time_limit=PATIENCE)
        told, met = f"widths up to {found.reached:.0e}", found.reached <= 1e-5
    except FairqueuesError as error:
        told, met = (
            f"{error}; floor: a sweep of these states under PF takes seconds, and hundreds are needed",
            False,
        )
    seconds = time.perf_counter() - begin
    return Row(
        "enclose, PF, a line of three routes and one through all, load .7, to 1e-5",
        f"{seconds:.0f} s",
        f"<= {PATIENCE:.0f} s",
        met and seconds <= PATIENCE,
        told,
    )


def bounds() -> Any:
    return enclose(THREE, DRF(), width=1e-4)


ALONE = "from benchmarks.bench_curves import best_seconds, bounds; print(best_seconds(bounds, 1))"
"""For a process with one core, where no thread of this one runs."""


def _cores() -> Row:
    with _on_one_core():
        told = subprocess.run([sys.executable, "-c", ALONE], check=True, capture_output=True, text=True)
    one = float(told.stdout)
    two = best_seconds(bounds, 2)
    begin, spent = time.perf_counter(), time.process_time()
    bounds()
    busy = (time.process_time() - spent) / (time.perf_counter() - begin)
    return Row(
        "enclose, three classes at load .8, two cores",
        f"{one / two:.2f} times as fast as one",
        ">= 1.8",
        one / two >= 1.8,
        f"floor: {busy:.2f} cores are busy; half of one core's time is the search for a drift, each step of "
        "which needs the one before, and is not cut up",
    )


@contextmanager
def _on_one_core() -> Iterator[None]:
    """For Linux: of this thread, and of processes that it starts."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
