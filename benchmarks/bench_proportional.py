"""Proportional and alpha-fairness: grids of job counts, and one large instance."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness.policies.proportional import AlphaFair, ProportionalFair
from fairness.problem import Problem
from fairness.testing import random_problem
from queueing.grid import grid_counts

__all__ = ["rows"]


def rows() -> list[Row]:
    result = []
    for policy in (ProportionalFair(), AlphaFair(2)):
        for n, size in ((2, 1000), (3, 100), (4, 32)):
            # Each class demands 10 of its own resource and 1 of the others, as in Bonald & Roberts.
            problem = Problem(1.0 + 9.0 * np.eye(n), np.ones(n))
            counts = grid_counts((size,) * n)
            rate = size**n / best_seconds(lambda p=policy, q=problem, x=counts: p(q, x))
            goal = policy.name == "PF" and n == 2
            result.append(
                Row(
                    f"{policy.name} on {size}^{n} states, {n} resources",
                    f"{rate / 1e6:.2f} M states/s",
                    ">= 0.5 M states/s" if goal else "",
                    rate >= 0.5e6 if goal else None,
                )
            )
    large = random_problem(np.random.default_rng(0), 100_000, 16)
    policy = ProportionalFair()
    solution = policy.solve(large)
    seconds = best_seconds(lambda: policy.solve(large))
    product = best_seconds(lambda: large.task_shares.T @ large.task_shares, repeat=10)
    gap = solution.certificate.duality_gap
    result.append(
        Row(
            "PF, 100,000 classes x 16 resources, certified",
            f"{seconds:.2f} s, gap {gap:.0e}",
            "< 2 s, gap <= 1e-9",
            bool(seconds < 2 and solution.certificate.holds and gap is not None and gap <= 1e-9),
            f"{seconds / product:.0f} times one product of the demands with themselves",
        )
    )
    return result
