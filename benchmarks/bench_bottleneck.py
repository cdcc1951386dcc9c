"""Bottleneck max fairness: random instances in a batch, and one large instance."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import Problem
from fairness.evidence.pools import bottleneck_certificate
from fairness.policies.bottleneck import BottleneckMax, bottleneck_batch


def rows() -> list[Row]:
    return [_instances(), _large()]


def _instances() -> Row:
    rng = np.random.default_rng(0)
    shares = 10.0 ** rng.uniform(-1, 1, (30_000, 10, 5))
    weights = np.ones((30_000, 10))
    seconds = best_seconds(lambda: bottleneck_batch(shares, weights))
    rate = len(shares) / seconds
    return Row(
        "BMF, random dense 10 x 5 instances in a batch",
        f"{rate:,.0f} instances/s",
        ">= 30,000 instances/s, all certified",
        rate >= 30_000,
        "every allocation is certified, or the call raises",
    )


def _large() -> Row:
    rng = np.random.default_rng(0)
    problem = Problem(10.0 ** rng.uniform(-1, 1, (1000, 20)), np.ones(20))
    ones = np.ones(1000)
    seconds = best_seconds(lambda: BottleneckMax()(problem, ones))
    residual = bottleneck_certificate(problem, ones, BottleneckMax()(problem, ones)).residual
    return Row(
        "BMF, random dense 1000 x 20", f"{seconds:.3f} s", "< 1 s", seconds < 1.0, f"residual {residual:.1e}"
    )
