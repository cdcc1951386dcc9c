r"""The mechanisms of the DRF paper a second time: what is full first, idle parts, and merged tasks.

Whole tasks are started for whoever is poorest. The level of a user before its k-th task does not fall with k,
so the order is that of all pairs (level before the task, rank of the user), merged, up to the first that does
not fit.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Row, shares_of
from proofs.definitions.registry import define_again, fractions

__all__ = ["whole_task_order"]


@define_again
def dominant_resources(demands: Any, capacities: Any) -> list[int]:
    """The resource, from 1, that is full first when a user is alone."""
    found = []
    for row in fractions(demands):
        most = [(c / d, j) for j, (d, c) in enumerate(zip(row, fractions(capacities), strict=True), 1) if d]
        found.append(min(most)[1])
    return found


@define_again
def machine_deviation(demand: int, capacity: int, machines: int) -> dict[str, Any]:
    """What the machines leave idle, in tasks."""
    idle = Fraction(machines * (capacity % demand), demand)
    divisible = Fraction(machines * capacity, demand)
    return {"whole": divisible - idle, "divisible": divisible, "holds": idle <= 1}


def _waiting(
    i: int, rank: int, factor: Fraction, start: Row, one: Row, sign: int
) -> Iterator[tuple[Fraction, int, int]]:
    """Level of a user before each of its tasks, its rank among equals, and who it is."""
    held = start
    while True:
        yield sign * factor * max(held), rank, i
        held = [h + d for h, d in zip(held, one, strict=True)]


@define_again
def whole_task_order(
    demands: Any,
    capacities: Any,
    factors: Any = None,
    ties: Any = None,
    held: Any = None,
    poorest: bool = True,
) -> list[int]:
    """Merged levels, up to the first task that does not fit; the richest first is served to the end."""
    a, c = fractions(demands), fractions(capacities)
    one = shares_of(a, c)
    start = shares_of(fractions(held), c) if held is not None else [[ZERO] * len(c) for _ in a]
    f = fractions(factors) if factors is not None else [ONE] * len(a)
    rank = ties or list(range(1, len(a) + 1))
    lines = [_waiting(i, rank.index(i + 1), f[i], start[i], one[i], 1) for i in range(len(a))]
    if not poorest:
        firsts = [(-f[i] * max(start[i]), rank.index(i + 1), i) for i in range(len(a))]
        lines = [lines[min(firsts)[2]]]
    used, order = [sum(column) for column in zip(*start, strict=True)], list[int]()
    for _, _, i in heapq.merge(*lines):
        used = [u + d for u, d in zip(used, one[i], strict=True)]
        if max(used) > 1:
            return order
        order.append(i + 1)
    raise ArithmeticError("tasks never end")
