r"""Linear programs over the rationals, small ones, solved exactly and proved.

.. math:: \max\ c^\top x \quad\text{subject to}\quad Ax \le b,\ x \ge 0.

With slack variables :math:`s = b - Ax` the program is a tableau (:mod:`fairness.exact.pivoting`): some
variables (the basis) expressed through the others, which are zero. The simplex method [1]_ exchanges a basic
and another variable as long as this raises the objective. It starts from s as basis if :math:`b \ge 0`.
Otherwise a first phase minimises :math:`x_0 \ge 0` in :math:`Ax - x_0 \mathbf 1 \le b`, which starts feasible
after one exchange, and ends at 0 exactly if there is a feasible point. Bland's rule (of all candidates, the
variable with the smallest index, :math:`x_0` first) excludes cycles, so that in rational arithmetic the
method always ends.

The result carries its proof: multipliers :math:`y \ge 0` with :math:`A^\top y \ge c` bound the value of every
feasible point, :math:`c^\top x \le y^\top A x \le y^\top b` (weak duality), and
:math:`c^\top x = b^\top y` is checked with the original data before the result is returned.

References
----------
.. [1] V. Chvátal, "Linear Programming", Freeman 1983, chapters 2, 3 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.arguments.validation import rationals
from fairness.errors import InfeasibleError, ModelError, NotConvergedError
from fairness.exact.linear_algebra import dot
from fairness.exact.pivoting import Tableau, bland

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
        raise ModelError.of(
            "matrix",
            f"must have {len(b)} rows (as bounds) of {len(c)} entries (as objective); "
            f"got {len(a)} rows of lengths {sorted({len(row) for row in a})}",
        )
    point, multipliers = _optimum(c, a, b)
    _prove(c, a, b, point, multipliers)
    return LinearOptimum(dot(c, point), tuple(point), tuple(multipliers))


def _optimum(c: Row, a: list[Row], b: Row) -> tuple[Row, Row]:
    """Optimal point and multipliers, from a feasible basis by Bland's rule."""
    n = len(c)
    scales = [math.lcm(*(v.denominator for v in (*row, v))) for row, v in zip(a, b, strict=True)]
    rows = [[int(v * k) for v in (*row, v)] for row, v, k in zip(a, b, scales, strict=True)]
    gain = math.lcm(*(v.denominator for v in c))
    start = Tableau.of(rows, n) if all(v >= 0 for v in b) else _feasible(rows, b, scales, n)
    best = start.aimed_at([int(v * gain) for v in c]).climbed(bland)
    if best is None:
        raise ModelError("the objective is unbounded: add a constraint that bounds the variables")
    values = dict(zip(best.basis, best.constants, strict=True))
    point = [Fraction(values.get(j, 0), best.det) for j in range(n)]
    prices = best.table[-1, n:-1].tolist()
    return point, [Fraction(y * k, best.det * gain) for y, k in zip(prices, scales, strict=True)]


def _feasible(rows: list[list[int]], b: Row, scales: list[int], n: int) -> Tableau:
    """First phase [1]_ chapter 3: a basis whose constants are all >= 0. Column 0 is the helper variable."""
    helped = [[-scale, *row] for scale, row in zip(scales, rows, strict=True)]
    start = Tableau.of(helped, n + 1).aimed_at([-1] + [0] * n)
    found = start.exchanged(min(range(len(b)), key=lambda k: b[k]), 0).climbed(bland)
    assert found is not None, "the objective of the first phase is at most 0"
    if found.table[-1, -1] < 0:
        raise InfeasibleError("no point meets all constraints of the linear program")
    if 0 in found.basis:
        # It is 0; any exchange keeps all constants. Its row is not 0, or it could not have entered.
        row = found.basis.index(0)
        outside = (s for s in range(1, found.table.shape[1] - 1) if s not in found.basis)
        found = found.exchanged(row, next(s for s in outside if found.table[row, s]))
    return Tableau(found.table[:, 1:], found.det, tuple(k - 1 for k in found.basis))


def _prove(c: Row, a: list[Row], b: Row, point: Row, multipliers: Row) -> None:
    """Weak duality, with the original data."""
    fits = all(v >= 0 for v in point) and all(dot(row, point) <= v for row, v in zip(a, b, strict=True))
    prices = (
        (dot(multipliers, column) for column in zip(*a, strict=True)) if a else iter([Fraction(0)] * len(c))
    )
    bounds = all(v >= 0 for v in multipliers) and all(p >= v for p, v in zip(prices, c, strict=True))
    gap = dot(b, multipliers) - dot(c, point)
    if not (fits and bounds and gap == 0):
        raise NotConvergedError("the proof of optimality failed", best=tuple(point), residual=float(abs(gap)))


def _listed(name: str, values: Any) -> list[Any]:
    if not isinstance(values, Iterable):
        raise ModelError.of(name, f"must be a sequence; got {values!r}")
    return list(values)


def _row(name: str, values: Sequence[Any]) -> Row:
    exact = rationals(np.array([*_listed(name, values), 0], dtype=object)[:-1])
    if exact is None:
        raise ModelError.of(name, f"must consist of ints and fractions.Fraction; got {list(values)!r}")
    return [Fraction(v) for v in exact]
