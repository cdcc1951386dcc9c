r"""Exact walks over polytopes: integer pivoting without division.

For a polytope :math:`\{x\ge0: Ax\le b\}` with integer data the constraints with their slacks form a
tableau :math:`[A\;I\;b]`. With :math:`d = \det B` of the current basis all entries of
:math:`d B^{-1}[A\;I\;b]` are integers [1]_, so every division below is exact. The origin is a vertex, and
the graph of a polytope is connected, so all vertices are found by walking along the edges. Ties are broken
lexicographically, as if :math:`b_j` were :math:`b_j+\varepsilon^j`; the walk then visits a simple polytope,
and ends.

The last row of the tableau carries an objective. For a generic one the walk yields the numbers of Lawrence's
formula for the volume [2]_.

References
----------
.. [1] J. Edmonds and J.-F. Maurras, "Note sur les Q-matrices d'Edmonds", RAIRO 31, 1997; the integer pivoting
   of D. Avis, "A revised implementation of the reverse search vertex enumeration algorithm", 2000.
.. [2] J. Lawrence, "Polytope volume computation", Mathematics of Computation 57, 1991.
   DOI 10.1090/S0025-5718-1991-1079024-2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.model.problem import Problem

__all__ = ["Corner", "integer_rows", "maximum", "walk"]

IntArray = NDArray[np.object_]
"""Python integers of any size."""

Corner = tuple[tuple[Fraction, ...], int, int, tuple[int, ...]]
"""A basis: its vertex and the numbers d, z, gamma of its term z^n / (n! d prod(gamma)) of the volume."""


def integer_rows(problem: Problem, classes: list[int], resources: Any) -> list[list[int]]:
    """Rows (demands of the classes, capacity), one per resource, scaled to integers without common factor."""
    if problem.is_rational:
        demands, capacities = problem.as_fractions()
    else:
        demands = [[Fraction(v) for v in row] for row in problem.demands.tolist()]
        capacities = [Fraction(v) for v in problem.capacities.tolist()]
    rows = []
    for j in resources:
        row = [*(demands[i][j] for i in classes), capacities[j]]
        common = math.lcm(*(v.denominator for v in row))
        whole = [int(v * common) for v in row]
        divisor = math.gcd(*whole)
        rows.append([v // divisor for v in whole])
    return rows


def _tableau(rows: list[list[int]], objective: list[int]) -> IntArray:
    """Tableau [A I b] of the constraints above the row [-c 0 0] of the objective."""
    m, n = len(rows), len(objective)
    table = np.zeros((m + 1, n + m + 1), dtype=object)
    for r, row in enumerate(rows):
        table[r, :n] = row[:-1]
        table[r, n + r] = 1
        table[r, -1] = row[-1]
    table[m, :n] = [-c for c in objective]
    return table


def _leaving(table: IntArray, n: int, s: int) -> int | None:
    """Row that leaves when column s enters, None if none: smallest ratio, ties by the slack columns."""
    rows = [r for r in range(len(table) - 1) if table[r, s] > 0]
    for column in (-1, *range(n, table.shape[1] - 1)):
        if len(rows) < 2:
            break
        ratios = [Fraction(table[r, column], table[r, s]) for r in rows]
        least = min(ratios)
        rows = [r for r, ratio in zip(rows, ratios, strict=True) if ratio == least]
    return rows[0] if rows else None


def _pivot(table: IntArray, det: int, r: int, s: int) -> IntArray:
    """Tableau after column s enters in row r; the new determinant is table[r, s]."""
    # [1]: the division leaves no remainder, because all entries are minors of the first tableau.
    new: IntArray = (table * table[r, s] - np.outer(table[:, s], table[r])) // det
    new[r] = table[r]
    return new


def maximum(rows: list[list[int]], objective: list[int]) -> Fraction | None:
    """Largest value of objective * x over x >= 0 within the rows; None if unbounded."""
    n = len(objective)
    table, det = _tableau(rows, objective), 1
    while True:
        entering = [s for s in range(table.shape[1] - 1) if table[-1, s] < 0]
        if not entering:
            return Fraction(table[-1, -1], det)
        s = min(entering, key=lambda k: table[-1, k])
        # The lexicographic choice of the row excludes cycles whatever column enters.
        r = _leaving(table, n, s)
        if r is None:
            return None
        table, det = _pivot(table, det, r, s), table[r, s]


def walk(rows: list[list[int]], max_vertices: int) -> list[Corner]:
    """Visit every lexicographic basis: its vertex and the numbers of Lawrence's formula.

    Returns (vertex, d, z, gamma) per basis, with the term z^n / (n! d prod(gamma)) of the volume.
    """
    n = len(rows[0]) - 1 if rows else 0
    # A generic objective makes no reduced cost vanish; the next seed is tried when one does.
    for seed in range(100):
        draw = np.random.default_rng(seed).integers(1, 2**31, n)
        corners = _walk_with(rows, [int(c) for c in draw], max_vertices)
        if all(all(gamma) for _, _, _, gamma in corners):
            return corners
    raise AssertionError("no generic objective in 100 draws of 31-bit integers")


def _walk_with(rows: list[list[int]], objective: list[int], max_vertices: int) -> list[Corner]:
    m, n = len(rows), len(objective)
    start = tuple(range(n, n + m))
    seen = {frozenset(start)}
    stack: list[tuple[IntArray, int, tuple[int, ...], int, int]] = []
    table, det, basis = _tableau(rows, objective), 1, start
    corners = []
    while True:
        outside = [k for k in range(n + m) if k not in basis]
        value = dict(zip(basis, table[:-1, -1], strict=True))
        vertex = tuple(Fraction(value.get(i, 0), det) for i in range(n))
        corners.append((vertex, det, table[-1, -1], tuple(table[-1, k] for k in outside)))
        for s in outside:
            r = _leaving(table, n, s)
            assert r is not None, "the region is bounded"
            neighbour = frozenset(basis) - {basis[r]} | {s}
            if neighbour not in seen:
                seen.add(neighbour)
                stack.append((table, det, basis, r, s))
        if len(seen) > max_vertices:
            raise ModelError(
                f"the stability region has more than {max_vertices} vertices (one where more facets meet "
                "than there are classes counts as several); merge classes, or raise max_vertices of "
                "stability_region (facets, contains, slack and max_scale work without vertices)"
            )
        if not stack:
            return corners
        parent, parent_det, parent_basis, r, s = stack.pop()
        table, det = _pivot(parent, parent_det, r, s), parent[r, s]
        basis = (*parent_basis[:r], s, *parent_basis[r + 1 :])
