"""Every policy of the catalogue on grids of 10^6 states, from 2 classes x 2 resources to 4 x 4."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_seconds
from fairness import CATALOGUE, Problem
from fairness.protocol.policy import policy_name
from queueing import tabulate

__all__ = ["rows"]

# Million states per second for two classes on two resources.
LEAST = {"DRF": 8.0, "PF": 3.0, "alpha=2": 3.0, "BMF": 0.5}


def rows() -> list[Row]:
    result = []
    for entry in CATALOGUE:
        name = policy_name(entry.policy)
        for n, size in ((2, 1000), (3, 100), (4, 32)):
            # Each class demands 10 of its own resource and 1 of the others, as in Bonald & Roberts.
            problem = Problem(1.0 + 9.0 * np.eye(n), np.ones(n))
            seconds = best_seconds(lambda p=problem, q=entry.policy, k=size: tabulate(p, q, k))
            speed = size**n / seconds / 1e6
            least = LEAST.get(name) if n == 2 else None
            result.append(
                Row(
                    f"tabulate {name}, {size}^{n} states, {n} resources",
                    f"{speed:.2f} M states/s",
                    "" if least is None else f">= {least:g} M states/s",
                    None if least is None else speed >= least,
                )
            )
    return result
