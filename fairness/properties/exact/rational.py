r"""Models over the rationals, enclosures of an allocation, and the step from a float hint to a fraction.

A float allocation :math:`\hat z` of a rational model is nearly always a rational point seen through rounding.
The point is recovered from the *structure* of the hint, the linear equations that it nearly satisfies (full
resources, equal levels, empty places): they are solved over the rationals, and what they leave free is set to
the simplest fractions near the hint. The result is a guess; whoever uses it must prove what it claims.

A pool is treated as a cluster of one server. One task of class n holds the share :math:`b_{nir}` of resource
r while it runs on server i, so that a placement fits when :math:`\sum_n x_{ni} b_{nir} \le 1`; with
effective capacities a task that runs faster by a factor holds its nominal share for less time. Under time
division a server has one good only, its time.

Nothing here, nor in the modules that build on it, uses a solver of :mod:`fairness.policies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from highspy import HighsModelStatus
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.exact.linear_algebra import reduced
from fairness.machine.linear_programs import linear_program
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = [
    "NEAR",
    "Enclosure",
    "RationalModel",
    "Row",
    "Rows",
    "Unproved",
    "near",
    "rational",
    "solve",
    "vertex",
]

Row = list[Fraction]
Rows = list[list[Fraction]]

NEAR = 1e-7
"""Numbers of a hint that differ relatively by less may be equal; what follows from it is then proved."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Rational bounds on what a mechanism gives, proved.

    Attributes
    ----------
    lower, upper : object ndarray of Fraction, tasks
        Shape (n_classes,) for a pool, (n_classes, n_servers) for a cluster; equal where exact.
    how : str
        What was proved and how, in words.
    chosen : bool
        Whether the mechanism leaves the placement open, so that this is the one next to the hint.
    """

    lower: NDArray[Any]
    upper: NDArray[Any]
    how: str
    chosen: bool = False

    @classmethod
    def at(cls, values: Row | Rows, how: str, chosen: bool = False) -> Enclosure:
        """An allocation that is known exactly, as lists of fractions."""
        exact = np.array(values, dtype=object)
        return cls(exact, exact, how, chosen)

    @property
    def is_exact(self) -> bool:
        """Whether both bounds agree."""
        return bool((self.lower == self.upper).all())

    @property
    def radius(self) -> Fraction:
        """Half of the largest difference of the bounds."""
        return max(((self.upper - self.lower) / 2).flat, default=Fraction(0))


@dataclass(frozen=True)
class Unproved:
    """No enclosure, and why."""

    reason: str


@dataclass(frozen=True, eq=False)
class RationalModel:
    """The numbers of a model as fractions; a pool has one server.

    A server shares out *goods*: its resources, or under time division its time, of which one task holds the
    part 1/gamma.

    Attributes
    ----------
    demands, capacities : nested lists, (n_classes, n_resources) and (n_servers, n_resources)
    gamma : nested list, (n_classes, n_servers)
        Tasks of a class alone on a server, 0 where it cannot run.
    unconstrained : nested list, (n_classes, n_servers)
        The same if placement constraints were lifted.
    weights : list, (n_classes,)
    division : {"resource", "time"}
    """

    demands: Rows
    capacities: Rows
    gamma: Rows
    unconstrained: Rows
    weights: Row
    division: str

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of classes, of servers, and of goods that a server shares out."""
        return len(self.shares), len(self.shares[0]), len(self.shares[0][0])

    @cached_property
    def shares(self) -> list[Rows]:
        """b_nir: the share of good r of server i that one task of class n holds, 0 where it cannot run."""
        return [[self._held(k, i) for i in range(len(self.capacities))] for k in range(len(self.demands))]

    def _held(self, k: int, i: int) -> Row:
        demands, capacities, alone = self.demands[k], self.capacities[i], self.gamma[k][i]
        if self.division == "time":
            return [1 / alone if alone > 0 else Fraction(0)]
        if alone == 0:
            return [Fraction(0) for _ in demands]
        slow = _alone(demands, capacities) / alone
        return [d / c * slow if d > 0 else Fraction(0) for d, c in zip(demands, capacities, strict=True)]

    def usage(self, placement: Rows) -> Rows:
        """Part of each good in use, (n_servers, n_goods)."""
        n, s, m = self.sizes
        return [
            [sum((placement[k][i] * self.shares[k][i][r] for k in range(n)), Fraction(0)) for r in range(m)]
            for i in range(s)
        ]

    def misfit(self, placement: Rows) -> str | None:
        """What is wrong with a placement, or None if it is feasible."""
        for k, row in enumerate(placement):
            for i, value in enumerate(row):
                if value < 0 or (value > 0 and self.gamma[k][i] == 0):
                    return f"class {k + 1} runs {value} tasks on server {i + 1}"
        for i, parts in enumerate(self.usage(placement)):
            if max(parts) > 1:
                return f"{max(parts)} > 1 of a resource of server {i + 1} is in use"
        return None


def rational(model: Problem | Cluster, division: str = "resource") -> RationalModel:
    """The numbers of a model as fractions.

    Raises
    ------
    ModelError
        If an entry was given as a float (weights are taken as the binary numbers that they are), or a
        class of a pool has a limit.

    Examples
    --------
    >>> rational(Problem([[1, 4], [3, 1]], [9, 18])).gamma
    [[Fraction(9, 2)], [Fraction(3, 1)]]
    """
    weights = [Fraction(float(w)) for w in model.weights]
    if isinstance(model, Cluster):
        demands, capacities, gamma = model.as_fractions()
        # Where gamma is given it is 0 for pairs that cannot run; else it is what demands and capacities say.
        unconstrained = [
            [
                value
                if value > 0 or model.unconstrained_gamma[k, i] == 0
                else _alone(demands[k], capacities[i])
                for i, value in enumerate(row)
            ]
            for k, row in enumerate(gamma)
        ]
        return RationalModel(demands, capacities, gamma, unconstrained, weights, division)
    if np.isfinite(model.limits).any():
        raise ModelError("limits play no role in properties of policies; remove them for exact allocations")
    demands, row = model.as_fractions()
    gamma = [[_alone(d, row)] for d in demands]
    return RationalModel(demands, [row], gamma, gamma, weights, division)


def near(value: float, tolerance: float) -> Fraction:
    """The first of the best fractions with denominators up to 10, 100, ... that is this close to a float."""
    exact = Fraction(float(value))
    for digits in range(1, 16):
        guess = exact.limit_denominator(10**digits)
        if abs(guess - exact) <= tolerance:
            return guess
    return exact


def solve(equations: Sequence[tuple[Row, Fraction]], hint: Sequence[float]) -> Row | None:
    """A rational solution of linear equations near a hint; None if there is none.

    Parameters
    ----------
    equations : list of (coefficients, right-hand side)
    hint : sequence of floats
        Variables that the equations leave free are set to simple fractions near it.

    Examples
    --------
    >>> solve([([Fraction(3), Fraction(6)], Fraction(1))], [0.1666666667, 0.0833333333])
    [Fraction(1, 6), Fraction(1, 12)]
    """
    width = len(hint)
    rows, pivots = reduced([[*coefficients, value] for coefficients, value in equations], width)
    if any(row[-1] != 0 for row in rows[len(pivots) :]):
        return None
    scale = max((abs(v) for v in hint), default=0.0)
    result = [near(v, 1e-9 * scale) if k not in pivots else Fraction(0) for k, v in enumerate(hint)]
    free = [k for k in range(width) if k not in pivots and result[k] != 0]
    for row, column in zip(rows, pivots, strict=False):
        result[column] = row[-1] - sum((row[k] * result[k] for k in free), Fraction(0))
    far = any(abs(float(v) - h) > 100 * NEAR * scale for v, h in zip(result, hint, strict=True))
    return None if far else result


def vertex(objective: Row, constraints: Sequence[tuple[Row, Fraction]]) -> Row | None:
    """A rational vertex of {z >= 0, row z <= value} where the objective seems largest; None if none is found.

    A float solver says which constraints are tight; these are solved over the rationals. That the point is
    feasible, and what it is worth, is left to the caller to prove.

    Examples
    --------
    >>> vertex([Fraction(1), Fraction(1)], [([Fraction(3), Fraction(1)], Fraction(1))])
    [Fraction(0, 1), Fraction(1, 1)]
    """
    matrix = np.array([[float(v) for v in row] for row, _ in constraints])
    right = np.array([float(v) for _, v in constraints])
    cost = np.array([-float(v) for v in objective])
    program = linear_program(cost, matrix, np.full(len(right), -np.inf), right, solver="simplex")
    program.run()
    if program.getModelStatus() != HighsModelStatus.kOptimal:
        return None
    point = np.array(program.getSolution().col_value)
    scale = np.abs(point).max(initial=0.0)
    size = np.abs(matrix) @ np.abs(point) + np.abs(right)
    tight = np.flatnonzero(right - matrix @ point <= NEAR * size)
    empty = np.flatnonzero(point <= NEAR * scale)
    kept = [k for k in range(len(objective)) if k not in set(empty.tolist())]
    equations = [([constraints[k][0][c] for c in kept], constraints[k][1]) for k in tight.tolist()]
    found = solve(equations, [float(point[c]) for c in kept])
    if found is None:
        return None
    result = [Fraction(0) for _ in objective]
    for c, value in zip(kept, found, strict=True):
        result[c] = value
    return result


def _alone(demands: Row, capacities: Row) -> Fraction:
    return min(c / d for c, d in zip(capacities, demands, strict=True) if d > 0)
