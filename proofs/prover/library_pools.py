"""Pools by the library: filling in fractions, PF by prices, BMF by its own enumeration and its own path."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fairness import BottleneckMax, Problem, ProportionalFair, all_bottleneck_max, allocate
from fairness.properties.exact.pools import fill
from proofs.definitions import fractions
from proofs.prover.library import second_method

__all__ = ["bmf_path_end", "bmf_vertices", "drf_tasks", "mmf_tasks", "pf_tasks"]

LARGEST_DENOMINATOR = 10**4
"""Of the fraction next to a float; whether it is the value is for the definition to check."""


def _shares(demands: Any, capacities: Any) -> list[list[Fraction]]:
    c = fractions(capacities)
    return [[d / c_j for d, c_j in zip(row, c, strict=True)] for row in fractions(demands)]


def _near(values: Any) -> list[Fraction]:
    return [Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in values]


@second_method
def mmf_tasks(demands: Any, capacities: Any) -> list[Fraction]:
    """Progressive filling of the library, in fractions."""
    shares = _shares(demands, capacities)
    return fill(shares, [Fraction(1)] * len(shares))


@second_method
def drf_tasks(demands: Any, capacities: Any, weights: Any = None) -> list[Fraction]:
    """Progressive filling of the library, in fractions."""
    shares = _shares(demands, capacities)
    w = [Fraction(1)] * len(shares) if weights is None else fractions(weights)
    return fill(shares, [w_i / max(row) for w_i, row in zip(w, shares, strict=True)])


@second_method
def pf_tasks(demands: Any, capacities: Any, prices: Any) -> list[Fraction]:
    """Proportional fairness of the library, which finds its own prices; the fractions next to its floats."""
    problem = Problem(fractions(demands), fractions(capacities))
    return _near(allocate(problem, ProportionalFair()).tasks)


@second_method
def bmf_vertices(demands: Any, capacities: Any) -> list[list[Fraction]]:
    """All BMF allocations by the library, in fractions."""
    found = all_bottleneck_max(Problem(fractions(demands), fractions(capacities)))
    vertices = {tuple(Fraction(x) for x in v) for piece in found.pieces for v in piece.vertices}
    return [list(v) for v in sorted(vertices)]


@second_method
def bmf_path_end(demands: Any, capacities: Any) -> list[Fraction]:
    """BMF of the library, which follows a cap on dominant shares; the fractions next to its floats."""
    problem = Problem(fractions(demands), fractions(capacities))
    return _near(allocate(problem, BottleneckMax()).tasks)
