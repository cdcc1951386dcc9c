"""Whole bundles a second time: events by size, and outcomes that are compared with all others.

SequentialMinMax: agent i waits with the share that its next bundle would give it. Who does not fit once never
fits again, because what is free only shrinks; so all next bundles are taken in the order of these shares.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from proofs.definitions.exact import runs
from proofs.definitions.registry import define_again

__all__: list[str] = []

Units = Sequence[Sequence[int]]


@define_again
def sequential_minmax(
    demands: Units, capacities: Sequence[int], order: Sequence[int], ahead: int = 1
) -> list[int]:
    """Bundles by events; ties go to who is first in the order."""
    one = [1 / runs([Fraction(d) for d in row], [Fraction(c) for c in capacities]) for row in demands]
    waiting = [(ahead * one[i], rank, i) for rank, i in enumerate(order)]
    heapq.heapify(waiting)
    bundles, used = [0] * len(demands), [0] * len(capacities)
    while waiting:
        _, rank, i = heapq.heappop(waiting)
        then = [u + d for u, d in zip(used, demands[i], strict=True)]
        if any(u > c for u, c in zip(then, capacities, strict=True)):
            continue
        used, bundles[i] = then, bundles[i] + 1
        heapq.heappush(waiting, ((bundles[i] + ahead) * one[i], rank, i))
    return bundles


@define_again
def bundle_outcomes(pair: Sequence[int], capacity: int, efficient: bool, fair: str) -> list[tuple[int, ...]]:
    """All that fits, compared one with another, and what each agent needs."""
    one, other = pair
    fit = [x for x in product(range(capacity + 1), repeat=2) if x[0] * one + x[1] * other <= capacity]
    kept = []
    for x in fit:
        beaten = any(y != x and y[0] >= x[0] and y[1] >= x[1] for y in fit)
        holds = {
            "SI": x[0] >= capacity // (2 * one) and x[1] >= capacity // (2 * other),
            "own": x[1] * other // one <= x[0] + 1 and x[0] * one // other <= x[1] + 1,
            "other": (x[1] - 1) * other // one <= x[0] and (x[0] - 1) * one // other <= x[1],
            "": True,
        }[fair]
        if holds and not (efficient and beaten):
            kept.append(x)
    return kept
