r"""Filling in rounds: EDRF (Algorithm 1) and DC-DRF (Algorithm 2) of Kash et al., line by line in fractions.

Tenant i demands the part D_ir of resource r per task and is entitled to the part w_ir of it. With
d_ir = D_ir / max_k D_ik and rho_i = min over demanded r of w_ir / d_ir, it grows at the rate rho_i d_ir.

Without weights everybody is entitled to 1/n of each resource. Weights are one positive number per tenant (for
all resources) or a row of positive numbers per tenant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

from proofs.definitions.exact import ONE, Matrix, Row, shares_of, small_demands, usage
from proofs.definitions.pools.filling import tasks_with
from proofs.definitions.registry import define, define_on_both, fraction, fractions

__all__ = [
    "Filling",
    "algorithm_1",
    "algorithm_2",
    "instances",
    "sharing_incentive",
    "weighted_envy_freeness",
]


def entitlements(n: int, m: int, weights: Any = None) -> Matrix:
    """The part w_ir of each resource that each tenant is entitled to: per resource they add up to 1."""
    given = fractions(weights) if weights is not None else [ONE] * n
    rows = [w if isinstance(w, list) else [w] * m for w in given]
    return shares_of(rows, usage(rows, [ONE] * n))


def growth_rates(demands: Matrix, entitled: Matrix) -> Matrix:
    """rho_i d_ir."""
    rates = []
    for row, own in zip(demands, entitled, strict=True):
        largest = max(row)
        d = [v / largest for v in row]
        rho = min(w / v for w, v in zip(own, d, strict=True) if v)
        rates.append([rho * v for v in d])
    return rates


@dataclass
class Filling:
    """What a filling in rounds gives.

    ``entitled`` and ``held`` are parts of resources per tenant, ``left`` what remains, ``levels`` the level
    of those who grow after each round, ``operations`` the work of Algorithm 2 by the number of its line.
    """

    entitled: Matrix
    held: Matrix
    left: Row
    levels: Row
    rates: Matrix
    operations: dict[str, int] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.levels)

    def tasks(self, demands: Matrix) -> Row:
        """Tasks of each tenant."""
        return [tasks_with(row, own) for row, own in zip(demands, self.held, strict=True)]


@define
def algorithm_1(demands: Matrix, weights: Any = None) -> Filling:
    """EDRF: all who grow do so until a resource is exhausted, and its demanders leave; round after round."""
    n, m = len(demands), len(demands[0])
    entitled = entitlements(n, m, weights)
    rates = growth_rates(demands, entitled)
    held, left = [[Fraction(0)] * m for _ in range(n)], [Fraction(1)] * m
    growing, levels = set(range(n)), list[Fraction]()
    while growing:
        load = [sum((rates[i][r] for i in growing), Fraction(0)) for r in range(m)]
        x = min(left[r] / load[r] for r in range(m) if load[r])
        for i in growing:
            held[i] = [a + x * g for a, g in zip(held[i], rates[i], strict=True)]
        left = [s - x * v for s, v in zip(left, load, strict=True)]
        levels.append(x + (levels[-1] if levels else 0))
        growing = {i for i in growing if all(left[r] > 0 for r in range(m) if demands[i][r])}
    return Filling(entitled, held, left, levels, rates)


@define
def algorithm_2(demands: Matrix, epsilon: Fraction, weights: Any = None, frozen: bool = False) -> Filling:
    """DC-DRF, the inner loop: demanders of a resource with at most epsilon left leave.

    ``frozen`` leaves mu at its first value, as Lemma 3.1 assumes. Operations are counted per line: 8, 17 and
    23 touch a demand, 13 and 15 a resource, 18 a tenant, 16 (decided per tenant, as Lemma 3.2 counts) one who
    grows; "16, per demand" are the comparisons if demands of a tenant are looked at until one is exhausted.
    """
    n, m = len(demands), len(demands[0])
    entitled = entitlements(n, m, weights)
    rates = growth_rates(demands, entitled)
    needs = [[r for r in range(m) if row[r]] for row in demands]
    count = dict.fromkeys(("8", "13", "15", "16", "16, per demand", "17", "18", "23"), 0)
    mu, left, y, z = [Fraction(0)] * m, [Fraction(1)] * m, Fraction(0), [Fraction(0)] * n
    for i in range(n):
        for r in needs[i]:
            count["8"] += 1
            mu[r] += rates[i][r]
    growing, levels = list(range(n)), list[Fraction]()
    while growing:
        wanted = {r for i in growing for r in needs[i]}
        x = min(left[r] / mu[r] for r in wanted)
        y += x
        left = [s - x * v for s, v in zip(left, mu, strict=True)]
        count["13"] += m
        count["15"] += m
        levels.append(y)
        staying = []
        for i in growing:
            count["16"] += 1
            for r in needs[i]:
                count["16, per demand"] += 1
                if left[r] <= epsilon:
                    break
            else:
                staying.append(i)
                continue
            z[i] = y
            count["18"] += 1
            for r in needs[i]:
                count["17"] += 1
                if not frozen:
                    mu[r] -= rates[i][r]
        growing = staying
    held = [[Fraction(0)] * m for _ in range(n)]
    for i in range(n):
        for r in needs[i]:
            count["23"] += 1
            held[i][r] = z[i] * rates[i][r]
    return Filling(entitled, held, left, levels, rates, count)


def instances(n: int, m: int, largest: int, least: int = 0) -> Iterator[Matrix]:
    """All integer demands from ``least`` to ``largest``, over ``largest``, but for the order of tenants."""
    for chosen in combinations_with_replacement(small_demands(m, largest, least), n):
        yield [[Fraction(v, largest) for v in row] for row in chosen]


def sharing_incentive(demands: Matrix, entitled: Matrix, tasks: Row) -> bool:
    """Whether everybody runs at least the tasks that its entitlements run."""
    return all(x >= tasks_with(row, own) for row, own, x in zip(demands, entitled, tasks, strict=True))


def weighted_envy_freeness(demands: Matrix, entitled: Matrix, held: Matrix, tasks: Row) -> bool:
    """Whether nobody prefers what another holds, scaled on each resource by the ratio of entitlements."""
    pairs = product(range(len(demands)), repeat=2)
    scaled = [[h / v for h, v in zip(*rows, strict=True)] for rows in zip(held, entitled, strict=True)]
    return all(
        any(a * h <= tasks[i] * d for a, h, d in zip(entitled[i], scaled[j], demands[i], strict=True) if d)
        for i, j in pairs
    )


@define
def edrf_tasks(demands: Any, weights: Any = None) -> Row:
    """Tasks by Algorithm 1."""
    given = fractions(demands)
    if weights is None:
        return list(_remembered(tuple(map(tuple, given))))
    return algorithm_1(given, weights).tasks(given)


@lru_cache(maxsize=1024)
def _remembered(demands: tuple[tuple[Fraction, ...], ...]) -> Row:
    """Tasks of equal entitlements, which lies change one by one."""
    given = [list(row) for row in demands]
    return algorithm_1(given).tasks(given)


@define_on_both
def dcdrf_tasks(demands: Any, epsilon: Any, weights: Any = None) -> Row:
    """Tasks by Algorithm 2."""
    given = fractions(demands)
    return algorithm_2(given, fraction(epsilon), weights).tasks(given)
