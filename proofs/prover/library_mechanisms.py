"""Asset fairness, equal incomes, whole tasks, exchange and TDRF through the library."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fairness import AssetFair, Problem, ProportionalFair
from fairness.indivisible.pool import fill_tasks
from fairness.indivisible.rules import LowestShare
from fairness.properties.exact.enclosure import enclose
from fairness.properties.exact.rational import Unproved
from fairness.timed.exchange import exchange
from fairness.timed.tdrf import TDRF
from proofs.definitions import fraction, fractions
from proofs.errors import ProofError
from proofs.prover.library import second_method

__all__: list[str] = []

LARGEST = 10_000
"""Denominators that floats are read with; the checker confirms the fractions by the definition."""


def _pool(demands: Any, capacities: Any, weights: Any = None) -> Problem:
    return Problem(fractions(demands), fractions(capacities), weights=weights)


def _read(tasks: Any) -> list[Fraction]:
    return [Fraction(float(x)).limit_denominator(LARGEST) for x in tasks]


@second_method
def asset_tasks(demands: Any, capacities: Any) -> list[Fraction]:
    """The library's asset fairness, proved in fractions."""
    found = enclose(AssetFair(), _pool(demands, capacities))
    if isinstance(found, Unproved):
        raise ProofError(found.reason)
    return list(found.lower)


@second_method
def ceei_tasks(demands: Any, capacities: Any, prices: Any) -> list[Fraction]:
    """The library's proportional fairness, which is CEEI, read as fractions."""
    del prices
    return _read(ProportionalFair()(_pool(demands, capacities), np.ones(len(demands))))


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
    return _read(policy(_pool(demands, capacities), np.ones(len(demands))))


@second_method
def dominant_resources(demands: Any, capacities: Any) -> list[int]:
    """The library's task shares."""
    return [int(j) + 1 for j in _pool(demands, capacities).task_shares.argmax(axis=1)]
