r"""From matrices in floating point to sums of squares in fractions.

Elimination over the rationals expresses some unknowns by the others; these are rounded, and the first ones
follow exactly, so the identity holds whatever was rounded. What is left to ask is whether the matrices are
still positive semidefinite, and their :math:`LDL^\top` decomposition in fractions says so [1]_.

References
----------
.. [1] H. Peyrl and P. A. Parrilo, "Computing sum of squares decompositions with rational coefficients",
   Theoretical Computer Science 409(2), 2008.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from proofs.prover.squares.programs import Program
from proofs.prover.squares.tables import Table, plus

__all__ = ["Identity", "Square", "rounded"]

DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 24, 60, 120, 360, 1000, 10**4, 10**5, 10**6, 10**8, 10**10)
Square = tuple[tuple[str, ...], Fraction, Table]
"""Names of premises, a coefficient > 0, and what is squared."""
Identity = tuple[list[Square], list[Fraction]]
"""Squares, and the coefficients in the cofactors of the equations, as the program counts them."""
Pivot = tuple[int, dict[int, Fraction], Fraction]


def rounded(program: Program, values: NDArray[np.float64], deadline: float) -> Identity | None:
    """An identity of the program near a solution; None if no rounding leaves the matrices semidefinite."""
    columns = [c for block in program.blocks for c in block.columns] + program.multiples
    pivots = _eliminated(columns, _positive(program), deadline)
    if pivots is None:
        return None
    for denominator in DENOMINATORS:
        if time.monotonic() > deadline:
            return None
        exact = [Fraction(round(v * denominator), denominator) for v in values.tolist()]
        for place, row, right in reversed(pivots):
            exact[place] = right - sum((c * exact[j] for j, c in row.items()), Fraction(0))
        squares = _squares(program, exact)
        if squares is not None:
            return squares, exact[len(columns) - len(program.cofactors) :]
    return None


def _positive(program: Program) -> list[int]:
    """Places of the coefficients of positive terms."""
    found, place = [], 0
    for block in program.blocks:
        if block.positive:
            found.append(place)
        place += len(block.columns)
    return found


def _eliminated(columns: Sequence[Table], positive: Sequence[int], deadline: float) -> list[Pivot] | None:
    """Unknowns by later ones and those that no row begins with; None if the equations contradict each other.

    Each row gives one unknown: that which stands in the fewest rows, of the shortest row.
    """
    rows: dict[object, dict[int, Fraction]] = {"sum": {j: Fraction(1) for j in positive}}
    for j, column in enumerate(columns):
        for m, c in column.items():
            rows.setdefault(m, {})[j] = c
    right = {key: Fraction(key == "sum") for key in rows}
    where: dict[int, set[object]] = {}
    for key, row in rows.items():
        for j in row:
            where.setdefault(j, set()).add(key)
    pivots: list[Pivot] = []
    while rows:
        if time.monotonic() > deadline:
            return None
        key = min(rows, key=lambda key: len(rows[key]))
        row, value = rows.pop(key), right.pop(key)
        if not row:
            if value:
                return None
            continue
        place = min(row, key=lambda j: (len(where[j]), abs(row[j]) != 1, j))
        for j in row:
            where[j].discard(key)
        scale = row.pop(place)
        row = {j: c / scale for j, c in row.items()}
        value /= scale
        for other in list(where[place]):
            target = rows[other]
            factor = target.pop(place)
            for j, c in row.items():
                changed = target.get(j, Fraction(0)) - factor * c
                if changed:
                    target[j] = changed
                    where[j].add(other)
                else:
                    del target[j]
                    where[j].discard(other)
            right[other] -= factor * value
        del where[place]
        pivots.append((place, row, value))
    return pivots


def _squares(program: Program, exact: Sequence[Fraction]) -> list[Square] | None:
    """The squares of all matrices, or None if one of them is not positive semidefinite."""
    found: list[Square] = []
    place = 0
    for block in program.blocks:
        n = len(block.basis)
        matrix = [[Fraction(0)] * n for _ in range(n)]
        for p, q in block.pairs:
            matrix[p][q] = matrix[q][p] = exact[place]
            place += 1
        decomposed = _decomposed(matrix)
        if decomposed is None:
            return None
        for c, row in decomposed:
            square: Table = {}
            for entry, b in zip(row, block.basis, strict=True):
                if entry:
                    square = plus(square, b, entry)
            if square:
                content = _content(square)
                primitive = {m: v / content for m, v in square.items()}
                found.append((block.factors, c * content**2, primitive))
    return found


def _decomposed(matrix: list[list[Fraction]]) -> list[tuple[Fraction, list[Fraction]]] | None:
    """Coefficients > 0 and rows, the squares of which add up to the matrix, or None."""
    n = len(matrix)
    found = []
    for k in range(n):
        pivot = matrix[k][k]
        if pivot < 0:
            return None
        if pivot == 0:
            if any(matrix[k]):
                return None
            continue
        row = [v / pivot for v in matrix[k]]
        found.append((pivot, row))
        for i in range(k + 1, n):
            factor = matrix[i][k]
            if factor:
                matrix[i] = [a - factor * b for a, b in zip(matrix[i], row, strict=True)]
        for i in range(k + 1, n):
            matrix[i][k] = Fraction(0)
    return found


def _content(table: Table) -> Fraction:
    """What divides all coefficients and leaves coprime integers."""
    return Fraction(
        gcd(*(c.numerator for c in table.values())), lcm(*(c.denominator for c in table.values()))
    )
