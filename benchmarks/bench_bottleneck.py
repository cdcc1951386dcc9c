"""Bottleneck max fairness: random instances in a batch, and one large instance."""

from __future__ import annotations

import numpy as np

from benchmarks.bench_filling import five_demands_each
from benchmarks.harness import Row, best_seconds
from fairness import Problem, allocate
from fairness.evidence.pools import Certificate, bottleneck_certificate
from fairness.policies.bottleneck import BottleneckMax, bottleneck_batch


def rows() -> list[Row]:
    return [_instances(), _large(), *(_sparse(*case) for case in ((20_000, 0), (20_000, 6), (100_000, 0)))]


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


def _sparse(n: int, decades: float) -> Row:
    """Pool, allocation and certificate of classes that demand five resources each."""
    rng = np.random.default_rng(0)
    demands = five_demands_each(rng, n, 1_000)
    weights = 10.0 ** rng.uniform(-decades / 2, decades / 2, n)

    def certificate() -> Certificate:
        return allocate(Problem(demands, np.ones(1_000), weights=weights), BottleneckMax()).certificate

    found = certificate()
    return Row(
        f"BMF, {n:,} x 1,000, five demands each, weights over {decades:g} decades",
        f"{best_seconds(certificate, repeat=2):.2f} s, residual {found.residual:.0e}",
        "certified",
        found.holds,
    )
