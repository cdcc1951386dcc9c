r"""Linear programs over the rationals, small ones, solved exactly and proved.

.. math:: \max\ c^\top x \quad\text{subject to}\quad Ax \le b,\ x \ge 0.

With slack variables :math:`s = b - Ax` the program is a *dictionary* [1]_: some variables (the basis)
expressed through the others, which are zero. The simplex method exchanges a basic and another variable as
long as this raises the objective. It starts from s as basis if :math:`b \ge 0`. Otherwise a first phase
minimises :math:`x_0 \ge 0` in :math:`Ax - x_0 \mathbf 1 \le b`, which starts feasible after one exchange,
and ends at 0 exactly if there is a feasible point. Bland's rule (of all candidates, the variable with the
smallest index) excludes cycles, so that in rational arithmetic the method always ends.

The result carries its proof: multipliers :math:`y \ge 0` with :math:`A^\top y \ge c` bound the value of every
feasible point, :math:`c^\top x \le y^\top A x \le y^\top b` (weak duality), and
:math:`c^\top x = b^\top y` is checked with the original data before the result is returned.

References
----------
.. [1] V. Chvátal, "Linear Programming", Freeman 1983, chapters 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.arguments.validation import rationals
from fairness.errors import InfeasibleError, ModelError, NotConvergedError

__all__ = ["LinearOptimum", "maximise"]

Row = list[Fraction]


@dataclass(frozen=True)
class LinearOptimum:
    """Solution of a linear program with its proof.

    Attributes
    ----------
    value : Fraction
        Largest value of the objective.
    point : tuple of Fraction
        Where it is attained; not the only place in general.
    multipliers : tuple of Fraction
        Optimal solution of the dual program, one number per row.
    """

    value: Fraction
    point: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]


def maximise(
    objective: Sequence[Any], matrix: Sequence[Sequence[Any]], bounds: Sequence[Any]
) -> LinearOptimum:
    """Maximise c x over A x <= b, x >= 0, exactly.

    Parameters
    ----------
    objective : sequence of n ints or fractions
        The vector c.
    matrix : sequence of m rows of n ints or fractions
        The matrix A.
    bounds : sequence of m ints or fractions
        The vector b; entries may be negative.

    Returns
    -------
    LinearOptimum

    Raises
    ------
    ModelError
        If an entry is not rational, a length is wrong, or the objective is unbounded.
    InfeasibleError
        If no point meets all constraints.

    Examples
    --------
    >>> result = maximise([1, 1], [[1, 3], [4, 1]], [9, 18])
    >>> result.value, result.point, result.multipliers
    (Fraction(63, 11), (Fraction(45, 11), Fraction(18, 11)), (Fraction(3, 11), Fraction(2, 11)))
    """
    c, b = _row("objective", objective), _row("bounds", bounds)
    a = [_row("matrix", row) for row in _listed("matrix", matrix)]
    if len(a) != len(b) or any(len(row) != len(c) for row in a):
        raise ModelError(
            f"matrix must have {len(b)} rows (as bounds) of {len(c)} entries (as objective); "
            f"got {len(a)} rows of lengths {sorted({len(row) for row in a})}"
        )
    dictionary = _feasible_dictionary(a, b, len(c))
    dictionary.set_objective(c)
    dictionary.climb()
    point, multipliers = dictionary.solution(len(c))
    _prove(c, a, b, point, multipliers)
    return LinearOptimum(_dot(c, point), tuple(point), tuple(multipliers))


class _Dictionary:
    """basic[k] = constant[k] - sum_j rows[k][j] free[j]; objective = value + sum_j gains[j] free[j].

    Variables 0..n-1 are those of the program, n..n+m-1 its slacks; -1 is the variable of the first phase,
    which has the smallest index so that Bland's rule lets it leave as soon as it can.
    """

    def __init__(self, rows: list[Row], constant: Row, free: list[int]) -> None:
        self.rows = [list(row) for row in rows]
        self.constant = list(constant)
        self.free = free
        n = sum(variable >= 0 for variable in free)
        self.basic = [n + k for k in range(len(rows))]
        self.gains: Row = []
        self.value = Fraction(0)

    def set_objective(self, c: Row) -> None:
        """Write the objective through the free variables."""
        gains = {variable: c[variable] if variable < len(c) else Fraction(0) for variable in self.free}
        self.value = Fraction(0)
        for variable, row, constant in zip(self.basic, self.rows, self.constant, strict=True):
            if variable < len(c) and c[variable]:
                self.value += c[variable] * constant
                for other, entry in zip(self.free, row, strict=True):
                    gains[other] -= c[variable] * entry
        self.gains = [gains[variable] for variable in self.free]

    def climb(self) -> None:
        """Exchange variables by Bland's rule until no exchange raises the objective."""
        while True:
            rising = [
                (v, j) for j, (v, gain) in enumerate(zip(self.free, self.gains, strict=True)) if gain > 0
            ]
            if not rising:
                return
            enter = min(rising)[1]
            leaving = [
                (constant / row[enter], variable, k)
                for k, (row, constant, variable) in enumerate(
                    zip(self.rows, self.constant, self.basic, strict=True)
                )
                if row[enter] > 0
            ]
            if not leaving:
                raise ModelError("the objective is unbounded: add a constraint that bounds the variables")
            self.exchange(min(leaving)[2], enter)

    def exchange(self, leave: int, enter: int) -> None:
        """Make the free variable at ``enter`` basic in place of the one of row ``leave``."""
        pivot = self.rows[leave][enter]
        row = [entry / pivot for entry in self.rows[leave]]
        row[enter] = 1 / pivot
        constant = self.constant[leave] / pivot
        for k, other in enumerate(self.rows):
            if k != leave and other[enter]:
                factor, other[enter] = other[enter], Fraction(0)
                self.rows[k] = [u - factor * v for u, v in zip(other, row, strict=True)]
                self.constant[k] -= factor * constant
        self.rows[leave], self.constant[leave] = row, constant
        factor, self.gains[enter] = self.gains[enter], Fraction(0)
        self.gains = [u - factor * v for u, v in zip(self.gains, row, strict=True)]
        self.value += factor * constant
        self.basic[leave], self.free[enter] = self.free[enter], self.basic[leave]

    def solution(self, n: int) -> tuple[Row, Row]:
        """Values of the n variables and of the multipliers, which are the gains of the slacks, negated."""
        point, multipliers = [Fraction(0)] * n, [Fraction(0)] * len(self.rows)
        for variable, constant in zip(self.basic, self.constant, strict=True):
            if variable < n:
                point[variable] = constant
        for variable, gain in zip(self.free, self.gains, strict=True):
            if variable >= n:
                multipliers[variable - n] = -gain
        return point, multipliers


def _feasible_dictionary(a: list[Row], b: Row, n: int) -> _Dictionary:
    """First phase [1]_ chapter 3: a dictionary whose constants are all >= 0."""
    if all(v >= 0 for v in b):
        return _Dictionary(a, b, list(range(n)))
    start = _Dictionary([[*row, Fraction(-1)] for row in a], b, [*range(n), -1])
    start.gains = [Fraction(0)] * n + [Fraction(-1)]
    start.exchange(min(range(len(b)), key=lambda k: b[k]), n)
    start.climb()
    if start.value < 0:
        raise InfeasibleError("no point meets all constraints of the linear program")
    if -1 in start.basic:
        # It is 0; any exchange keeps all constants. Its row is not 0, or it could not have entered.
        row = start.basic.index(-1)
        start.exchange(row, next(j for j, entry in enumerate(start.rows[row]) if entry))
    helper = start.free.index(-1)
    del start.free[helper]
    for row_entries in start.rows:
        del row_entries[helper]
    return start


def _prove(c: Row, a: list[Row], b: Row, point: Row, multipliers: Row) -> None:
    """Weak duality, with the original data."""
    fits = all(v >= 0 for v in point) and all(_dot(row, point) <= v for row, v in zip(a, b, strict=True))
    prices = (
        (_dot(multipliers, column) for column in zip(*a, strict=True)) if a else iter([Fraction(0)] * len(c))
    )
    bounds = all(v >= 0 for v in multipliers) and all(p >= v for p, v in zip(prices, c, strict=True))
    gap = _dot(b, multipliers) - _dot(c, point)
    if not (fits and bounds and gap == 0):
        raise NotConvergedError("the proof of optimality failed", best=tuple(point), residual=float(abs(gap)))


def _dot(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(first, second, strict=True) if u and v), Fraction(0))


def _listed(name: str, values: Any) -> list[Any]:
    if not isinstance(values, Iterable):
        raise ModelError(f"{name} must be a sequence; got {values!r}")
    return list(values)


def _row(name: str, values: Sequence[Any]) -> Row:
    exact = rationals(np.array([*_listed(name, values), 0], dtype=object)[:-1])
    if exact is None:
        raise ModelError(f"{name} must consist of ints and fractions.Fraction; got {list(values)!r}")
    return [Fraction(v) for v in exact]
