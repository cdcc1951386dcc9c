"""Pools by the library: filling in fractions, PF by prices, BMF by its own enumeration and its own path;
asset fairness, whole tasks, exchange and TDRF.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fairness import AssetFair, BottleneckMax, Problem, ProportionalFair, all_bottleneck_max, allocate
from fairness.filling.fractions import fill, growth_rates
from fairness.indivisible.pool import fill_tasks
from fairness.indivisible.rules import LowestShare
from fairness.properties.exact.enclosure import enclose
from fairness.properties.exact.rational import Unproved
from fairness.timed.exchange import exchange
from fairness.timed.tdrf import TDRF
from proofs.definitions import fraction, fractions
from proofs.definitions.exact import shares_of
from proofs.errors import ProofError
from proofs.prover.library.values import near, second_method

__all__: list[str] = []


def _pool(demands: Any, capacities: Any) -> Problem:
    return Problem(fractions(demands), fractions(capacities))


@second_method
def mmf_tasks(demands: Any, capacities: Any) -> list[Fraction]:
    """Progressive filling of the library, in fractions."""
    shares = shares_of(fractions(demands), fractions(capacities))
    return fill(shares, [Fraction(1)] * len(shares))


@second_method
def drf_tasks(demands: Any, capacities: Any, weights: Any = None) -> list[Fraction]:
    """Progressive filling of the library, in fractions."""
    shares = shares_of(fractions(demands), fractions(capacities))
    w = [Fraction(1)] * len(shares) if weights is None else fractions(weights)
    return fill(shares, growth_rates("dominant", shares, w))


@second_method
def pf_tasks(demands: Any, capacities: Any, prices: Any) -> list[Fraction]:
    """Proportional fairness of the library, which finds its own prices; the fractions next to its floats."""
    return near(allocate(_pool(demands, capacities), ProportionalFair()).tasks)


@second_method
def ceei_tasks(demands: Any, capacities: Any, prices: Any) -> list[Fraction]:
    """Equal incomes: proportional fairness of the library; the fractions next to its floats."""
    return pf_tasks(demands, capacities, prices)


@second_method
def bmf_vertices(demands: Any, capacities: Any) -> list[list[Fraction]]:
    """All BMF allocations by the library, in fractions."""
    found = all_bottleneck_max(_pool(demands, capacities))
    vertices = {tuple(Fraction(x) for x in v) for piece in found.pieces for v in piece.vertices}
    return [list(v) for v in sorted(vertices)]


@second_method
def bmf_path_end(demands: Any, capacities: Any) -> list[Fraction]:
    """BMF of the library, which follows a cap on dominant shares; the fractions next to its floats."""
    return near(allocate(_pool(demands, capacities), BottleneckMax()).tasks)


@second_method
def asset_tasks(demands: Any, capacities: Any) -> list[Fraction]:
    """The library's asset fairness, proved in fractions."""
    found = enclose(AssetFair(), _pool(demands, capacities))
    if isinstance(found, Unproved):
        raise ProofError(found.reason)
    return list(found.lower)


@second_method
def whole_task_order(
    demands: Any, capacities: Any, factors: Any = None, ties: Any = None, held: Any = None
) -> list[int]:
    """The library's task-by-task filling."""
    rule = LowestShare() if factors is None else LowestShare(factors=tuple(fractions(factors)))
    order = "first" if ties is None else [k - 1 for k in ties]
    holdings = None if held is None else fractions(held)
    filling = fill_tasks(_pool(demands, capacities), rule, holdings=holdings, ties=order)
    return [i + 1 for i in filling.order]


@second_method
def exchanged(contributions: Any, needs: Any, order: Any = None) -> list[list[Fraction]]:
    """The library's exchange."""
    sequence = None if order is None else [k - 1 for k in order]
    found = exchange(fractions(contributions), fractions(needs), order=sequence).holdings
    return [[Fraction(v) for v in row] for row in found]


@second_method
def tdrf_tasks(demands: Any, capacities: Any, joined: Any, start: Any = 0) -> list[Fraction]:
    """The library's TDRF, read as fractions."""
    policy = TDRF(fractions(joined), fraction(start))
    return near(policy(_pool(demands, capacities), np.ones(len(demands))))


@second_method
def dominant_resources(demands: Any, capacities: Any) -> list[int]:
    """The library's task shares."""
    return [int(j) + 1 for j in _pool(demands, capacities).task_shares.argmax(axis=1)]
