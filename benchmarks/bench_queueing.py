"""Queues: balanced fairness, against a yardstick of the same run. Chains are in bench_chain."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import Problem
from queueing import System, balanced_fairness

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])


def rows() -> list[Row]:
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
