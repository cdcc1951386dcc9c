"""Tasks under progressive filling in exact fractions, event by event: the definition, without bounds.

The definition is that of :mod:`queueing.certificates.rates.filling`. Every float of a pool is a fraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.protocol.family import growth_rate
from queueing.certificates.pool import Pool
from queueing.certificates.rates.filling import GROWTH, resource_weights

__all__ = ["exact_growth", "exact_tasks"]


def exact_growth(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> list[Fraction]:
    """Growth rates r_i of a job of each class."""
    own = resource_weights(pool, policy, parameters)
    rates = []
    for i, row in enumerate(pool.demands):
        held = {j: Fraction(a) / Fraction(pool.capacities[j]) for j, a in enumerate(row) if a > 0}
        given = [Fraction(own[i, j]) for j in held]
        rates.append(growth_rate(GROWTH[policy], Fraction(pool.weights[i]), [*held.values()], given))
    return rates


def exact_tasks(
    pool: Pool, policy: str, parameters: Mapping[str, Any], counts: Sequence[int]
) -> list[Fraction]:
    """Tasks of each class in a state.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing import System
    >>> pool = Pool.of(System(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1]))
    >>> exact_tasks(pool, "Asset", {}, [1, 1])
    [Fraction(63, 25), Fraction(54, 25)]
    """
    growth = exact_growth(pool, policy, parameters)
    demands = [[Fraction(a) for a in row] for row in pool.demands]
    free = [Fraction(capacity) for capacity in pool.capacities]
    rising = {i: x * growth[i] for i, x in enumerate(counts) if x > 0}
    limits = {i: counts[i] * Fraction(pool.limits[i]) for i in rising if pool.limits[i] < np.inf}
    tasks = [Fraction(0)] * pool.n
    while rising:
        loads = [sum(demands[i][j] * rate for i, rate in rising.items()) for j in range(len(free))]
        steps = [left / load for left, load in zip(free, loads, strict=True) if load > 0]
        steps += [(limit - tasks[i]) / rising[i] for i, limit in limits.items() if i in rising]
        step = min(steps)
        for i, rate in rising.items():
            tasks[i] += rate * step
        free = [left - load * step for left, load in zip(free, loads, strict=True)]
        full = {j for j, left in enumerate(free) if left == 0}
        rising = {
            i: rate
            for i, rate in rising.items()
            if tasks[i] != limits.get(i) and not any(demands[i][j] for j in full)
        }
    return tasks
