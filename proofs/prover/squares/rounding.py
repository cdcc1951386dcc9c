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

import numpy as np
from numpy.typing import NDArray

from proofs.prover.elimination import eliminated, follow
from proofs.prover.squares.programs import Program
from proofs.prover.squares.tables import Table, content, plus

__all__ = ["Identity", "Square", "rounded"]

DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 24, 60, 120, 360, 1000, 10**4, 10**5, 10**6, 10**8, 10**10)
Square = tuple[tuple[str, ...], Fraction, Table]
"""Names of premises, a coefficient > 0, and what is squared."""
Identity = tuple[list[Square], list[Fraction]]
"""Squares, and the coefficients in the cofactors of the equations, as the program counts them."""


def rounded(program: Program, values: NDArray[np.float64], deadline: float) -> Identity | None:
    """An identity of the program near a solution; None if no rounding leaves the matrices semidefinite."""
    columns = [c for block in program.blocks for c in block.columns] + program.multiples
    rows: dict[object, dict[int, Fraction]] = {"sum": dict.fromkeys(_positive(program), Fraction(1))}
    for j, column in enumerate(columns):
        for m, c in column.items():
            rows.setdefault(m, {})[j] = c
    pivots = eliminated(rows, {"sum": Fraction(1)}, deadline)
    if pivots is None:
        return None
    for denominator in DENOMINATORS:
        if time.monotonic() > deadline:
            return None
        exact = [Fraction(round(v * denominator), denominator) for v in values.tolist()]
        follow(pivots, exact)
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
                whole = content(square.values())
                primitive = {m: v / whole for m, v in square.items()}
                found.append((block.factors, c * whole**2, primitive))
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
