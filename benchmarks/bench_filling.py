"""Progressive filling: one large instance with limits."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import DRF, Problem
from fairness.testing import random_problem

__all__ = ["rows"]


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    large = random_problem(rng, 100_000, 16)
    # Limits around the fair number of tasks: half of the classes are at their own, all different.
    limits = DRF()(large, np.ones(100_000)) * 10.0 ** rng.uniform(-2, 2, 100_000)
    limited = Problem(large.demands, large.capacities, limits=limits)
    seconds = best_seconds(lambda: DRF()(limited, np.ones(100_000)))
    certificate = DRF().solve(limited).certificate
    return [
        Row(
            "DRF, 100,000 classes x 16 resources, all with limits",
            f"{seconds * 1e3:.0f} ms, residual {certificate.residual:.0e}",
            "< 500 ms",
            bool(seconds < 0.5 and certificate.holds),
        )
    ]
