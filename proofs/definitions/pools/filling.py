"""One pool: usage, properties of an allocation, and the mechanisms, word for word.

Demands are rows of units per task, all entries Fractions; ``tasks`` lists the tasks of each user.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, dot, shares_of, small_demands, usage
from proofs.definitions.registry import Case, define, define_on_both, fractions

__all__ = [
    "are_optimal_prices",
    "beside_a_lie",
    "bottlenecks",
    "drf_tasks",
    "filled",
    "is_bottleneck_max",
    "is_feasible",
    "saturated",
    "tasks_with",
]


def is_feasible(demands: Matrix, capacities: Row, tasks: Row) -> bool:
    """Whether no tasks are negative and no resource holds more than its capacity."""
    return min(tasks) >= 0 and all(u <= c for u, c in zip(usage(demands, tasks), capacities, strict=True))


def saturated(demands: Matrix, capacities: Row, tasks: Row) -> list[int]:
    """Resources that are full."""
    return [j for j, (u, c) in enumerate(zip(usage(demands, tasks), capacities, strict=True)) if u == c]


def tasks_with(demand: Row, bundle: Row) -> Fraction:
    """Tasks that a bundle of resources runs: the smallest ratio over what is demanded."""
    return min(b / d for b, d in zip(bundle, demand, strict=True) if d)


def bottlenecks(demands: Matrix, capacities: Row, tasks: Row) -> list[list[int]]:
    """For each user the full resources on which nobody holds more; under BMF there is one for everybody."""
    full = saturated(demands, capacities, tasks)
    held = [[x * d for d in row] for x, row in zip(tasks, demands, strict=True)]
    return [
        [j for j in full if demands[i][j] and held[i][j] == max(row[j] for row in held)]
        for i in range(len(demands))
    ]


@define
def is_bottleneck_max(demands: Matrix, capacities: Row, tasks: Row) -> bool:
    """Whether the tasks fit and everybody holds the largest share of some full resource."""
    return is_feasible(demands, capacities, tasks) and all(bottlenecks(demands, capacities, tasks))


def are_optimal_prices(demands: Matrix, capacities: Row, tasks: Row, prices: Row) -> bool:
    """Whether prices prove the optimum of the sum of log x: tasks cost 1/x, only full resources cost."""
    spare = [c - u for c, u in zip(capacities, usage(demands, tasks), strict=True)]
    costs = [dot(prices, row) for row in demands]
    return (
        is_feasible(demands, capacities, tasks)
        and min(prices) >= 0
        and all(x * cost == 1 for x, cost in zip(tasks, costs, strict=True))
        and all(p * s == 0 for p, s in zip(prices, spare, strict=True))
    )


@define
def filled(demands: Matrix, capacities: Row, rates: Row) -> Row:
    """Progressive filling: all users grow at their rates until a resource is full, then its users stop."""
    tasks, growing = [ZERO] * len(demands), set(range(len(demands)))
    while growing:
        spare = [c - u for c, u in zip(capacities, usage(demands, tasks), strict=True)]
        speed = usage(demands, [r if i in growing else ZERO for i, r in enumerate(rates)])
        step = min(s / v for s, v in zip(spare, speed, strict=True) if v)
        tasks = [x + step * rates[i] if i in growing else x for i, x in enumerate(tasks)]
        full = {j for j, (s, v) in enumerate(zip(spare, speed, strict=True)) if v and s == step * v}
        growing = {i for i in growing if not any(demands[i][j] for j in full)}
    return tasks


@define_on_both
def drf_tasks(demands: Any, capacities: Any, weights: Any = None) -> Row:
    """Progressive filling of dominant shares: all grow alike until a resource is full; its users stop."""
    a, c = fractions(demands), fractions(capacities)
    w = fractions(weights) if weights is not None else [ONE] * len(a)
    return filled(a, c, [w_i / max(row) for w_i, row in zip(w, shares_of(a, c), strict=True)])


@define_on_both
def mmf_tasks(demands: Any, capacities: Any) -> Row:
    """Max-min fair tasks: all grow alike until a resource is full, then its users stop."""
    a = fractions(demands)
    return filled(a, fractions(capacities), [ONE] * len(a))


@define
def pf_tasks(demands: Any, capacities: Any, prices: Any) -> Row | None:
    """Proportionally fair tasks, one over the cost of a task, if these prices are optimal; None if not."""
    a, c, p = fractions(demands), fractions(capacities), fractions(prices)
    tasks = [1 / dot(p, row) for row in a]
    return tasks if are_optimal_prices(a, c, tasks, p) else None


@define
def used(demands: Any, tasks: Any) -> Row:
    """Units of each resource that the tasks use."""
    return usage(fractions(demands), fractions(tasks))


@define_on_both
def mmf_in_other_tasks(demands: Any, capacities: Any, factors: Any) -> dict[str, Any]:
    """Max-min fair tasks before and after the work of each user is cut into tasks so many times as large."""
    factors = fractions(factors)
    before = mmf_tasks(demands, capacities)
    recut = [[f * d for d in row] for f, row in zip(factors, fractions(demands), strict=True)]
    after = mmf_tasks(recut, capacities)
    same = all(y * f == x for x, y, f in zip(before, after, factors, strict=True))
    return {"before": before, "after": after, "holds": same}


@define_on_both
def pf_lie(
    demands: Any, capacities: Any, prices: Any, liar: int, lie: Any, lie_prices: Any
) -> dict[str, Any]:
    """What one user gains under PF by stating other demands; prices prove both allocations."""
    false = [lie if i == liar else row for i, row in enumerate(demands)]
    honest, given = pf_tasks(demands, capacities, prices), pf_tasks(false, capacities, lie_prices)
    if honest is None or given is None:
        return {"holds": True, "what": "the prices are not optimal"}
    return beside_a_lie(fractions(demands)[liar], fractions(lie), honest[liar], given[liar])


@define_on_both
def drf_lies(n: int, m: int, largest: int) -> Iterator[Case]:
    """Every lie of the first user in every pool with whole demands up to ``largest``: none is of use."""
    ones, rows = [ONE] * m, small_demands(m, largest)
    for demands in product(rows, repeat=n):
        honest = drf_tasks(demands, ones)[0]
        for lie in rows:
            given = drf_tasks((lie, *demands[1:]), ones)[0]
            compared = beside_a_lie(fractions(demands[0]), fractions(lie), honest, given)
            yield {"demands": demands, "lie": lie}, compared["holds"]


def beside_a_lie(demand: Row, lie: Row, honest: Fraction, given: Fraction) -> dict[str, Any]:
    """Tasks by the truth, and by what a lie is given; the property: the lie is of no use."""
    runs = tasks_with(demand, [given * d for d in lie])
    return {"honest": honest, "with the lie": runs, "holds": runs <= honest}


@define_on_both
def drf_bottlenecks(n: int, m: int, largest: int) -> Iterator[Case]:
    """In every pool with whole demands up to ``largest`` every DRF user demands a full resource on which
    nobody has a larger dominant share."""
    ones = [ONE] * m
    for demands in product(small_demands(m, largest), repeat=n):
        a, tasks = fractions(demands), drf_tasks(demands, ones)
        level = [x * max(row) for x, row in zip(tasks, a, strict=True)]
        full = saturated(a, ones, tasks)
        yield (
            {"demands": demands},
            is_feasible(a, ones, tasks)
            and all(
                any(a[i][j] and all(level[k] <= level[i] for k in range(n) if a[k][j]) for j in full)
                for i in range(n)
            ),
        )
