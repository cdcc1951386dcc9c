"""Progressive filling: grids of job counts, and one large instance with limits."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import DRF, MaxMin, Problem
from fairness.testing import random_problem
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
                    ">= 8 M states/s" if goal else "",
                    rate >= 8e6 if goal else None,
                )
            )
    large = random_problem(rng, 100_000, 16)
    # Limits around the fair number of tasks: half of the classes are at their own, all different.
    limits = DRF()(large, np.ones(100_000)) * 10.0 ** rng.uniform(-2, 2, 100_000)
    limited = Problem(large.demands, large.capacities, limits=limits)
    seconds = best_seconds(lambda: DRF()(limited, np.ones(100_000)))
    certificate = DRF().solve(limited).certificate
    result.append(
        Row(
            "DRF, 100,000 classes x 16 resources, all with limits",
            f"{seconds * 1e3:.0f} ms, residual {certificate.residual:.0e}",
            "< 500 ms",
            bool(seconds < 0.5 and certificate.holds),
        )
    )
    return result
