"""Tasks of the policies that fill a pool, written again: by assignments, each with rates of its own."""

from __future__ import annotations

from typing import Any

from proofs.definitions.exact import ONE, ZERO, Row, max_min, runs, shares_of
from proofs.definitions.registry import fraction, fractions


def drf_tasks(demands: Any, capacities: Any, weights: Any = None) -> Row:
    """Max-min fair dominant shares over weights, by assignments."""
    a, c = fractions(demands), fractions(capacities)
    w = [ONE] * len(a) if weights is None else fractions(weights)
    # The tasks that a user runs alone are one over its dominant share.
    return max_min(a, c, [v * runs(row, c) for v, row in zip(w, a, strict=True)])


def mmf_tasks(demands: Any, capacities: Any) -> Row:
    """Max-min fair tasks, by assignments."""
    return max_min(fractions(demands), fractions(capacities), [ONE] * len(demands))


def asset_tasks(demands: Any, capacities: Any) -> Row:
    """Max-min fair sums of shares, by assignments."""
    a, c = fractions(demands), fractions(capacities)
    return max_min(a, c, [1 / sum(row, ZERO) for row in shares_of(a, c)])


def tdrf_tasks(demands: Any, capacities: Any, joined: Any, start: Any = 0) -> Row:
    """Dominant shares times waiting times are max-min fair; who joins at the start is alone in the limit."""
    a, c = fractions(demands), fractions(capacities)
    waited = [fraction(t) - fraction(start) for t in joined]
    if ZERO in waited:
        [first] = [i for i, w in enumerate(waited) if w == 0]
        return [runs(row, c) if i == first else ZERO for i, row in enumerate(a)]
    return max_min(a, c, [runs(row, c) / w for row, w in zip(a, waited, strict=True)])
