"""Whole bundles of one pool (Parkes, Procaccia, Shah): SequentialMinMax, and all mechanisms of a tiny world.

A bundle of agent i is its demand D_i, parts of a pool whose resources all have capacity 1; here units of
integer capacities, which is the same. A utility is a number of whole bundles.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from proofs.definitions.exact import small_demands
from proofs.definitions.registry import Case, define, define_on_both

__all__ = ["sequential_minmax"]

Units = Sequence[Sequence[int]]


def bundles_in(demand: Sequence[int], units: Sequence[int]) -> int:
    """Whole bundles in so many units of each resource."""
    return min(u // d for u, d in zip(units, demand, strict=True) if d)


@define
def sequential_minmax(
    demands: Units, capacities: Sequence[int], order: Sequence[int], ahead: int = 1
) -> list[int]:
    """Bundles one by one: among agents whose next one fits, to the one with the smallest share after it.

    With ``ahead`` 0 to the one with the smallest share before it. Ties go to who is first in ``order``.
    """
    bundles, free = [0] * len(demands), list(capacities)
    # Shares with the common denominator C_1 C_2 ..., so that they are integers.
    whole = prod(capacities)
    largest = [max(d * whole // c for d, c in zip(row, capacities, strict=True)) for row in demands]
    while True:
        fits = [i for i in order if all(d <= f for d, f in zip(demands[i], free, strict=True))]
        if not fits:
            return bundles
        i = min(fits, key=lambda k: (bundles[k] + ahead) * largest[k])
        bundles[i] += 1
        free = [f - d for f, d in zip(free, demands[i], strict=True)]


def pareto(demands: Units, capacities: Sequence[int], bundles: Sequence[int]) -> bool:
    """No feasible allocation gives one agent more bundles and none less.

    If one does, then one that gives a single bundle more does, because demands are not negative.
    """
    used = [sum(x * row[r] for x, row in zip(bundles, demands, strict=True)) for r in range(len(capacities))]
    return not any(all(u + d <= c for u, d, c in zip(used, row, capacities, strict=True)) for row in demands)


def shares(demands: Units, capacities: Sequence[int], bundles: Sequence[int]) -> bool:
    """Sharing incentive: everybody has the whole bundles in the n-th part of all resources."""
    n = len(demands)
    return all(
        x >= bundles_in([n * d for d in row], capacities) for x, row in zip(bundles, demands, strict=True)
    )


def envy(demands: Units, bundles: Sequence[int], spared: int, removed: int) -> list[tuple[int, int]]:
    """Who envies whom, by more than ``spared`` own bundles, when the other gives ``removed`` bundles away."""
    return [
        (i, j)
        for i, j in product(range(len(demands)), repeat=2)
        if i != j
        and bundles_in(demands[i], [max(bundles[j] - removed, 0) * d for d in demands[j]])
        > bundles[i] + spared
    ]


def _judged(demands: Units, capacities: Sequence[int], x: Sequence[int]) -> Case:
    """Bundles, and whether they have the three properties."""
    good = pareto(demands, capacities, x) and shares(demands, capacities, x) and not envy(demands, x, 1, 0)
    return {"demands": demands, "capacities": list(capacities), "bundles": x}, good


@define_on_both
def minmax_bundles(demands: Any, capacities: Any) -> list[int]:
    """Bundles of SequentialMinMax, ties to the first agent."""
    return sequential_minmax(demands, capacities, range(len(demands)))


@define_on_both
def minmax_fair(n: int, m: int, largest: int, capacities: Sequence[int], ahead: int = 1) -> Iterator[Case]:
    """SequentialMinMax is Pareto optimal, has the sharing incentive, and envy of at most one own bundle."""
    rows = [list(row) for row in small_demands(m, largest)]
    for demands in product(rows, repeat=n):
        yield _judged(demands, capacities, sequential_minmax(demands, capacities, range(n), ahead))


@define_on_both
def minmax_fair_random(rng: random.Random, ahead: int = 1) -> Case:
    """The same of random demands of up to four agents and three resources, with random ties."""
    n, m = rng.randint(2, 4), rng.randint(1, 3)
    capacities = [rng.randint(6, 20) for _ in range(m)]
    demands = [[rng.choice([0, rng.randint(1, 6)]) for _ in range(m)] for _ in range(n)]
    for row in demands:
        row[rng.randrange(m)] = rng.randint(1, 6)
    found = sequential_minmax(demands, capacities, rng.sample(range(n), n), ahead)
    return _judged(demands, capacities, found)


@define_on_both
def minmax_envy_of_other(demands: Any, capacities: Any) -> dict[str, Any]:
    """Claimed: nobody envies another who gives one of its bundles away, for some way to break ties."""
    orders = [range(len(demands)), range(len(demands) - 1, -1, -1)]
    found = [sequential_minmax(demands, capacities, order) for order in orders]
    after = [envy(demands, x, 0, 1) for x in found]
    return {"bundles": found, "envy": after, "holds": not all(after)}


@define_on_both
def lowest_share_incentive(demands: Any, capacities: Any) -> dict[str, Any]:
    """Claimed: serving the lowest present share has the sharing incentive, for some way to break ties."""
    orders = [range(len(demands)), range(len(demands) - 1, -1, -1)]
    found = [sequential_minmax(demands, capacities, order, ahead=0) for order in orders]
    part = [bundles_in([len(demands) * d for d in row], capacities) for row in demands]
    return {
        "bundles": found,
        "bundles in the n-th part": part,
        "holds": any(shares(demands, capacities, x) for x in found),
    }


@define_on_both
def all_bundle_mechanisms(
    choices: Sequence[int], capacity: int, efficient: bool, fair: str
) -> Iterator[Case]:
    """Every mechanism for two agents on one resource, demands among ``choices``: for some pair a lie pays.

    All mechanisms whose outcomes are feasible, Pareto optimal if ``efficient``, and fair: "SI", "own" (envy
    of at most one own bundle), "other" (none after the other gives a bundle away) or "" (any).
    """
    pairs = list(product(choices, repeat=2))
    for chosen in product(*(bundle_outcomes(pair, capacity, efficient, fair) for pair in pairs)):
        mechanism = dict(zip(pairs, chosen, strict=True))
        lie = next(_paying_lies(mechanism, choices), None)
        table = [[*pair, *x] for pair, x in mechanism.items()]
        yield {"demands and bundles": table, "lie": lie}, lie is not None


@define
def bundle_outcomes(pair: Sequence[int], capacity: int, efficient: bool, fair: str) -> list[tuple[int, ...]]:
    """What a mechanism may give two agents of one resource."""
    demands = [[d] for d in pair]

    def allowed(x: tuple[int, ...]) -> bool:
        if sum(k * d for k, d in zip(x, pair, strict=True)) > capacity:
            return False
        if efficient and not pareto(demands, [capacity], x):
            return False
        if fair == "SI":
            return shares(demands, [capacity], x)
        spared, removed = {"own": (1, 0), "other": (0, 1)}.get(fair, (capacity, 0))
        return not envy(demands, x, spared, removed)

    return list(filter(allowed, product(range(capacity + 1), repeat=2)))


def _paying_lies(
    mechanism: dict[tuple[int, ...], tuple[int, ...]], choices: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Who gains by claiming another demand, in bundles of its true one."""
    for pair, x in mechanism.items():
        for i in (0, 1):
            for claim in choices:
                told = (claim, pair[1]) if i == 0 else (pair[0], claim)
                if mechanism[told][i] * claim // pair[i] > x[i]:
                    yield {"demands": list(pair), "agent": i + 1, "claims": claim}
