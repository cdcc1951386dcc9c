"""Queues: balanced fairness, on boxes against a yardstick of the same run, and of many classes on one core.

Chains are in bench_chain.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import Problem
from queueing import System, balanced_fairness, balanced_plan

PRUNED = [
    (5, 4, 0.8, 1e-12, None),
    (6, 3, 0.8, 1e-12, 30.0),
    (6, 6, 0.8, 1e-12, 30.0),
    (7, 4, 0.8, 1e-7, None),
    (8, 4, 0.8, 1e-4, None),
    (8, 4, 0.5, 1e-9, None),
    (12, 6, 0.3, 1e-6, None),
]
"""Classes, resources, load, tail, and seconds of one core where they are asked for."""

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
    return result + [_pruned(*case) for case in PRUNED]


def _pruned(n: int, m: int, load: float, tail: float, target: float | None) -> Row:
    """Classes with random demands for all resources, which nothing merges."""
    demands = np.random.default_rng([n, m]).uniform(0.1, 1, (n, m))
    system = System.with_load(Problem(demands, np.ones(m)), np.ones(n), load)
    plan = balanced_plan(system, tail=tail)
    begin = process_time()
    law = balanced_fairness(system, tail=tail)
    seconds = process_time() - begin
    return Row(
        f"balanced fairness, {n} classes on {m} resources, load {load}, tail {tail:g}",
        f"{seconds:.1f} s of one core",
        "on record" if target is None else f"< {target:g} s",
        None if target is None else seconds < target,
        f"{law.methods[0]}; expected {plan.states:.2g} states, {plan.n_bytes / 2**20:.0f} MiB, "
        f"{plan.seconds:.0f} s; errors of the means <= {law.mean_jobs_error.max():.0e}",
    )
