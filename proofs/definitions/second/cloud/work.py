"""Operations of DC-DRF a second time: counted from the levels at which tenants stop, not while it runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.definitions.exact import Matrix
from proofs.definitions.registry import define_again
from proofs.definitions.second.cloud.rounds import level_run

__all__: list[str] = []


@define_again
def dcdrf_operations(demands: Matrix, epsilon: Fraction, weights: Any = None) -> dict[str, int]:
    """Sizes and operations by line."""
    run = level_run(demands, epsilon, weights)
    needs = [[r for r, d in enumerate(row) if d] for row in demands]
    per_demand = present = 0
    for y in run.levels:
        left = [1 - u for u in run.used(y)]
        for z, own in zip(run.stops, needs, strict=True):
            if z < y:
                continue
            present += 1
            scarce = [k for k, r in enumerate(own, 1) if left[r] <= epsilon]
            per_demand += scarce[0] if scarce else len(own)
    n, m, total, rounds = len(demands), len(demands[0]), sum(map(len, needs)), len(run.levels)
    return {
        "N": n,
        "R": m,
        "B": max(map(len, needs)),
        "entries": total,
        "I": rounds,
        "line 8": total,
        "line 13": rounds * m,
        "line 15": rounds * m,
        "line 16": present,
        "line 16, per demand": per_demand,
        "line 17": total,
        "line 18": n,
        "line 23": total,
    }
