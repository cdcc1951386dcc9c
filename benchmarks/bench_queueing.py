"""Queues: balanced fairness and the stationary law, against yardsticks of the same run."""

from __future__ import annotations

import resource
import time

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import DRF, Problem
from queueing import System, balanced_fairness, stationary, tabulate

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])


def rows() -> list[Row]:
    return [*_balanced(), *_stationary()]


def _balanced() -> list[Row]:
    """4000 x 4000 states against writing so many floats once, page faults included."""
    system = System.with_load(POOL, [1, 1], 0.9)
    shape = (4000, 4000)

    def write() -> None:
        np.empty(shape).fill(1.0)

    yardstick = best_seconds(write)
    result = []
    for keep, what in ((False, "means"), (True, "law")):
        seconds = best_seconds(lambda keep=keep: balanced_fairness(system, shape=shape, distribution=keep))
        ratio = seconds / yardstick
        result.append(
            Row(
                f"balanced fairness, 4000 x 4000 states, {what}",
                f"{ratio:.1f} x writing the array",
                "< 10 x",
                ratio < 10,
                f"{seconds * 1e3:.0f} ms; writing 4000 x 4000 floats once: {yardstick * 1e3:.0f} ms",
            )
        )
    return result


def _stationary() -> list[Row]:
    """10^6 states of two classes at load 0.9, multilevel against sparse LU (SuperLU) on the same box."""
    system = System.with_load(POOL, [1, 1], 0.9)
    table = tabulate(POOL, DRF(), 1000)
    laws, seconds, peak = {}, {}, {}
    for method in ("multilevel", "direct"):  # the peak of memory only rises: the lean one first
        stationary(system, DRF(), shape=40, table=table, method=method)
        start = time.perf_counter()
        laws[method] = stationary(system, DRF(), shape=1000, table=table, method=method)
        seconds[method] = time.perf_counter() - start
        peak[method] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    lean, reference = laws["multilevel"], laws["direct"]
    gap = float(np.max(np.abs(lean.mean_jobs / reference.mean_jobs - 1)))
    return [
        Row(
            "stationary law, 1000 x 1000 states, multilevel",
            f"{seconds['multilevel'] / seconds['direct']:.2f} x sparse LU",
            "< 1 x",
            seconds["multilevel"] < seconds["direct"],
            f"{seconds['multilevel']:.1f} s, {peak['multilevel']:.1f} GiB, residual {lean.residual:.0e}; LU: "
            f"{seconds['direct']:.1f} s, {peak['direct']:.1f} GiB, residual {reference.residual:.0e}; "
            f"means agree to {gap:.0e}",
        )
    ]
