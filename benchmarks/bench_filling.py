"""Progressive filling on grids of job counts."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import DRF, MaxMin, Problem
from queueing.grid import grid_counts

__all__ = ["rows"]


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    result = []
    for policy in (DRF(), MaxMin()):
        for n, size in ((2, 1000), (3, 100), (4, 32)):
            demands = 10.0 ** rng.uniform(-1, 1, (n, n))
            problem = Problem(demands, np.ones(n))
            counts = grid_counts((size,) * n)
            seconds = best_seconds(lambda p=policy, q=problem, x=counts: p(q, x))
            rate = size**n / seconds
            goal = policy.name == "DRF" and n == 2
            result.append(
                Row(
                    f"{policy.name} on {size}^{n} states, {n} resources",
                    f"{rate / 1e6:.1f} M states/s",
                    ">= 2 M states/s" if goal else "",
                    rate >= 2e6 if goal else None,
                )
            )
    return result
