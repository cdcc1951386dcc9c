"""Whole bundles a second time: events by size, and mechanisms as tables that are looked through for a lie.

SequentialMinMax: agent i waits with the share that its next bundle would give it. Who does not fit once never
fits again, because what is free only shrinks; so all next bundles are taken in the order of these shares.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

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


def _outcomes(pair: Sequence[int], capacity: int, efficient: bool, fair: str) -> list[tuple[int, ...]]:
    """What a mechanism may give two agents of one resource."""
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


def _tables(choices: Sequence[int], capacity: int, efficient: bool, fair: str) -> int:
    return prod(len(_outcomes(pair, capacity, efficient, fair)) for pair in product(choices, repeat=2))


@define_again(cases=_tables)
def all_bundle_mechanisms(
    case: Mapping[str, Any], choices: Sequence[int], capacity: int, efficient: bool, fair: str
) -> bool:
    """The table gives what it may, and a pair of its rows shows that a lie pays."""
    table = case["demands and bundles"]
    allowed = all((x, y) in _outcomes((d, e), capacity, efficient, fair) for d, e, x, y in table)
    pays = False
    for (d, e, x, y), (p, q, u, v) in product(table, repeat=2):
        first = e == q and u * p // d > x  # agent 1 needs d and claims p
        second = d == p and v * q // e > y
        pays = pays or first or second
    return (
        allowed and pays and sorted(row[:2] for row in table) == sorted(map(list, product(choices, repeat=2)))
    )
