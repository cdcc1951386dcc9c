"""Comparisons of tenants of a cloud written again: lies and losses in rounds, and whole bundles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from proofs.definitions.exact import ZERO, Row, runs
from proofs.definitions.registry import fraction, fractions
from proofs.definitions.second.cloud.bundles import sequential_minmax
from proofs.definitions.second.cloud.rounds import level_run, level_tasks
from proofs.definitions.second.cloud.work import dcdrf_operations
from tests.oracles.comparisons.judges import (
    _unit,
    edrf_with_lies,
    fair_part,
    light,
    ratio_of_loads,
    wants,
)


def edrf_group_lie(demands: Any, lies: Any) -> dict[str, Any]:
    """Tasks of the group by assignments."""
    given, size = fractions(demands), len(lies)
    honest, got = level_tasks(given)[:size], edrf_with_lies(given, dict(enumerate(fractions(lies))))[:size]
    changes = [g - t for g, t in zip(got, honest, strict=True)]
    return {"honest": honest, "with the lies": got, "holds": min(changes) < 0 or max(changes) == 0}


def dcdrf_gain_by_lie(demands: Any, epsilon: Any, lie: Any) -> dict[str, Any]:
    """Dominant share of tenant 1 by levels."""
    given, e, said = fractions(demands), fraction(epsilon), fractions(lie)
    honest = level_run(given, e).tasks(given)[0] * max(given[0])
    told = [said, *given[1:]]
    lied = runs(given[0], [level_run(told, e).tasks(told)[0] * d for d in said]) * max(given[0])
    return {
        "honest": honest,
        "with the lie": lied,
        "factor": lied / honest,
        "holds": lied <= honest / (1 - e),
    }


def dcdrf_loss(demands: Any, epsilon: Any) -> dict[str, Any]:
    """Tasks with max-min fair levels, and by levels with epsilon."""
    given, e = fractions(demands), fraction(epsilon)
    exact, rough = level_tasks(given), level_run(given, e).tasks(given)
    return {
        "EDRF": exact,
        "DC-DRF": rough,
        "holds": min(r / x for r, x in zip(rough, exact, strict=True)) >= 1 - e,
    }


def minmax_bundles(demands: Any, capacities: Any) -> list[int]:
    """Bundles by events."""
    return sequential_minmax(demands, capacities, range(len(demands)), 1)


def minmax_envy_of_other(demands: Any, capacities: Any) -> dict[str, Any]:
    """Bundles with ties to the first and to the last, and who envies after one is removed."""
    n = len(demands)
    found = [sequential_minmax(demands, capacities, order, 1) for order in (range(n), range(n)[::-1])]
    envy = [
        [(i, j) for i, j in product(range(n), repeat=2) if i != j and wants(demands, x, i, j, 1) > x[i]]
        for x in found
    ]
    return {"bundles": found, "envy": envy, "holds": [] in envy}


def lowest_share_incentive(demands: Any, capacities: Any) -> dict[str, Any]:
    """Bundles by events that wait with the share before the bundle."""
    n, part = len(demands), fair_part(demands, capacities)
    found = [sequential_minmax(demands, capacities, order, 0) for order in (range(n), range(n)[::-1])]
    short = [any(x < y for x, y in zip(bundles, part, strict=True)) for bundles in found]
    return {"bundles": found, "bundles in the n-th part": part, "holds": not all(short)}


def dcdrf_rounds_alone(weights: Sequence[Any], epsilon: Any, factor: int) -> dict[str, Any]:
    """Each resource is one tenant's, and ends at the level that is one over the tenant's part."""
    e, whole = fraction(epsilon), sum(fractions(list(weights)), ZERO)
    growth = sorted((fraction(w) / whole for w in weights), reverse=True)
    rounds = 0
    while growth:
        rounds += 1
        growth = [g for g in growth if 1 - g / growth[0] > e]
    power = (1 - e) ** -rounds
    return {"rounds": rounds, "(1 - epsilon)^-rounds": power, "holds": power < 3**factor}


def dcdrf_thawed(demands: Any, epsilon: Any, weights: Any = None) -> dict[str, Any]:
    """Rounds by levels, with rates updated and frozen."""
    given, e = fractions(demands), fraction(epsilon)
    run, ice = level_run(given, e, weights), level_run(given, e, weights, frozen=True)
    t, c = len(run.levels), ratio_of_loads(run)
    holds = t == 1 or c < (1 - e) ** (t - 1)
    return {"rounds": t, "rounds with rates frozen": len(ice.levels), "c": c, "holds": holds}


def dcdrf_work_per_demand(rounds: int, length: int, many: int, constant: int) -> dict[str, Any]:
    """Operations counted from the levels."""
    w = dcdrf_operations(*light(rounds, length, many))
    told = {name: w[name] for name in ("N", "R", "B", "I", "line 16, per demand")}
    return told | {"|N|B + I|N| + I|R|": _unit(w), "holds": w["line 16, per demand"] <= constant * _unit(w)}


def dcdrf_tasks(demands: Any, epsilon: Any, weights: Any = None) -> Row:
    """Stopping levels."""
    given = fractions(demands)
    return level_run(given, fraction(epsilon), weights).tasks(given)
