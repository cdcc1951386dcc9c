r"""EDRF and DC-DRF a second time, by levels: what is used at a level is a sum of least values.

With growth :math:`g_{ir} = D_{ir}\min_k w_{ik}/D_{ik}`, in which the scale of the demands cancels, the use of
resource r at the level y is :math:`\sum_i g_{ir}\min(y, z_i)`, where :math:`z_i` is the level at which tenant
i stops. The next round ends where this is 1 for a resource that somebody still wants. EDRF is also max-min
fairness of the levels, which :func:`exact.max_min` finds by assignments.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, max_min, runs
from proofs.definitions.registry import define_again, fractions

__all__ = ["level_run"]


@dataclass(frozen=True)
class LevelRun:
    """Growth of each tenant, the levels of the rounds, and the level at which each tenant stops."""

    entitled: Matrix
    rates: Matrix
    levels: Row
    stops: Row

    def used(self, y: Fraction) -> Row:
        """Use of each resource at a level."""
        levels = [min(y, z) for z in self.stops]
        return [
            sum((g * z for g, z in zip(column, levels, strict=True) if g), ZERO)
            for column in zip(*self.rates, strict=True)
        ]

    def tasks(self, demands: Matrix) -> Row:
        """Stopping level times tasks per level."""
        return [z * runs(row, own) for z, row, own in zip(self.stops, demands, self.entitled, strict=True)]

    @cached_property
    def held(self) -> Matrix:
        """Parts of resources per tenant."""
        return [[z * g for g in row] for z, row in zip(self.stops, self.rates, strict=True)]

    @cached_property
    def left(self) -> Row:
        """What remains of each resource."""
        return [1 - u for u in self.used(max(self.levels))]


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
    rates = [runs(row, part) for row, part in zip(demands, own, strict=True)]
    growth = [[d * rate for d in row] for row, rate in zip(demands, rates, strict=True)]
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


@define_again
def algorithm_1(demands: Matrix, weights: Any = None) -> LevelRun:
    """Rounds in which nothing is left."""
    return level_run(demands, ZERO, weights)


@define_again
def algorithm_2(demands: Matrix, epsilon: Fraction, weights: Any = None, frozen: bool = False) -> LevelRun:
    """Rounds in which at most epsilon is left."""
    return level_run(demands, epsilon, weights, frozen)


@define_again
def edrf_tasks(demands: Any, weights: Any = None) -> Row:
    """Max-min fair levels, by assignments."""
    given = fractions(demands)
    return level_tasks(given, weights) if weights is not None else _remembered(tuple(map(tuple, given)))


@lru_cache(maxsize=1024)
def _remembered(demands: tuple[tuple[Fraction, ...], ...]) -> Row:
    """Tasks of equal entitlements, which lies change one by one."""
    return level_tasks([list(row) for row in demands])
