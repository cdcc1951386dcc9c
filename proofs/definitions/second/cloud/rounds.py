r"""EDRF and DC-DRF a second time, by levels: what is used at a level is a sum of least values.

With growth :math:`g_{ir} = D_{ir}\min_k w_{ik}/D_{ik}`, in which the scale of the demands cancels, the use of
resource r at the level y is :math:`\sum_i g_{ir}\min(y, z_i)`, where :math:`z_i` is the level at which tenant
i stops. The next round ends where this is 1 for a resource that somebody still wants. EDRF is also max-min
fairness of the levels, which :func:`exact.max_min` finds by assignments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, max_min, runs
from proofs.definitions.registry import define_again, fraction, fractions

__all__ = ["level_run"]


@dataclass(frozen=True)
class LevelRun:
    """Growth of each tenant, the levels of the rounds, and the level at which each tenant stops."""

    entitled: Matrix
    growth: Matrix
    rounds: Row
    stops: Row

    def used(self, y: Fraction) -> Row:
        """Use of each resource at a level."""
        return [
            sum((g * min(y, z) for g, z in zip(column, self.stops, strict=True) if g), ZERO)
            for column in zip(*self.growth, strict=True)
        ]

    def tasks(self, demands: Matrix) -> Row:
        """Stopping level times tasks per level."""
        return [z * runs(row, own) for z, row, own in zip(self.stops, demands, self.entitled, strict=True)]


def entitled(n: int, m: int, weights: Any) -> Matrix:
    """The part of each resource that each tenant is entitled to."""
    given = fractions(weights) if weights is not None else [ONE] * n
    table = [list(w) if isinstance(w, list) else [w] * m for w in given]
    whole = [sum(column, ZERO) for column in zip(*table, strict=True)]
    return [[w / all_of_it for w, all_of_it in zip(row, whole, strict=True)] for row in table]


def level_run(
    demands: Matrix, epsilon: Fraction = ZERO, weights: Any = None, frozen: bool = False
) -> LevelRun:
    """All rounds; demanders of what has at most epsilon left stop. ``frozen``: use goes on regardless."""
    n, m = len(demands), len(demands[0])
    own = entitled(n, m, weights)
    growth = [[d * runs(row, part) for d in row] for row, part in zip(demands, own, strict=True)]
    demanders = [[i for i in range(n) if demands[i][r]] for r in range(m)]
    stops: dict[int, Fraction] = {}
    rounds: Row = []
    while len(stops) < n:
        ends, speed = [], []
        for r, all_of_them in enumerate(demanders):
            moving = sum((growth[i][r] for i in all_of_them if frozen or i not in stops), ZERO)
            still = (
                ZERO if frozen else sum((growth[i][r] * stops[i] for i in all_of_them if i in stops), ZERO)
            )
            speed.append((moving, still))
            if any(i not in stops for i in all_of_them):
                ends.append((1 - still) / moving)
        y = min(ends)
        rounds.append(y)
        scarce = [r for r, (moving, still) in enumerate(speed) if 1 - still - moving * y <= epsilon]
        stops |= {i: y for r in scarce for i in demanders[r] if i not in stops}
    return LevelRun(own, growth, rounds, [stops[i] for i in range(n)])


def level_tasks(demands: Matrix, weights: Any = None) -> Row:
    """EDRF as max-min fair levels, by assignments."""
    own = entitled(len(demands), len(demands[0]), weights)
    rates = [runs(row, part) for row, part in zip(demands, own, strict=True)]
    return max_min(demands, [ONE] * len(demands[0]), rates)


def families(n: int, m: int, largest: int, weights: Sequence[Any], least: int = 0) -> int:
    """Number of multisets of n demands from least to largest, not all 0, times the weights."""
    kinds = (largest - least + 1) ** m - (least == 0)
    return comb(kinds + n - 1, n) * len(weights)


def _is_fair(demands: Matrix, weights: Any, epsilon: Fraction) -> bool:
    run = level_run(demands, epsilon, weights)
    tasks, left = run.tasks(demands), [1 - u for u in run.used(max(run.rounds))]
    for i, row in enumerate(demands):
        # Nobody stops below the level 1, at which it runs what its entitlements run.
        if run.stops[i] < 1 or not any(d and s <= epsilon for d, s in zip(row, left, strict=True)):
            return False
        for j, z in enumerate(run.stops):
            scaled = [
                own * z * g / other
                for own, g, other in zip(run.entitled[i], run.growth[j], run.entitled[j], strict=True)
            ]
            if runs(row, scaled) > tasks[i]:
                return False
    return min(left) >= 0


@define_again
def dcdrf_levels(demands: Any, epsilon: Any, weights: Any = None, frozen: bool = False) -> dict[str, Row]:
    """Levels at which rounds end, and the sums of the growth of each resource."""
    run = level_run(fractions(demands), fraction(epsilon), weights, frozen)
    return {"levels": run.rounds, "rates": [sum(column, ZERO) for column in zip(*run.growth, strict=True)]}


@define_again
def edrf_tasks(demands: Any, weights: Any = None) -> Row:
    """Max-min fair levels, by assignments."""
    given = fractions(demands)
    return level_tasks(given, weights) if weights is not None else _remembered(tuple(map(tuple, given)))


@lru_cache(maxsize=1024)
def _remembered(demands: tuple[tuple[Fraction, ...], ...]) -> Row:
    """Tasks of equal entitlements, which lies change one by one."""
    return level_tasks([list(row) for row in demands])


@define_again
def dcdrf_tasks(demands: Any, epsilon: Any, weights: Any = None) -> Row:
    """Stopping levels."""
    given = fractions(demands)
    return level_run(given, fraction(epsilon), weights).tasks(given)


@define_again(cases=families)
def edrf_fair(case: Mapping[str, Any], n: int, m: int, largest: int, weights: Sequence[Any]) -> bool:
    """Fair by levels, and the tasks are max-min fair levels."""
    demands, w = fractions(case["demands"]), case["weights"]
    return level_run(demands, ZERO, w).tasks(demands) == level_tasks(demands, w) and _is_fair(
        demands, w, ZERO
    )


@define_again(cases=lambda n, m, largest, epsilons, weights: families(n, m, largest, weights) * len(epsilons))
def dcdrf_fair(
    case: Mapping[str, Any], n: int, m: int, largest: int, epsilons: Sequence[Any], weights: Sequence[Any]
) -> bool:
    """Fair by levels."""
    return _is_fair(fractions(case["demands"]), case["weights"], fraction(case["epsilon"]))
