r"""Exact walks over polytopes: integer pivoting without division.

For a polytope :math:`\{x\ge0: Ax\le b\}` with integer data the constraints with their slacks form a
tableau :math:`[A\;I\;b]`. With :math:`d = \det B` of the current basis all entries of
:math:`d B^{-1}[A\;I\;b]` are integers [1]_, so every division below is exact. The origin is a vertex, and
the graph of a polytope is connected, so all vertices are found by walking along the edges. Ties are broken
lexicographically, as if :math:`b_j` were :math:`b_j+\varepsilon^j`; the walk then visits a simple polytope,
and ends.

The last row of the tableau carries an objective.

References
----------
.. [1] J. Edmonds and J.-F. Maurras, "Note sur les Q-matrices d'Edmonds", RAIRO 31, 1997; the integer pivoting
   of D. Avis, "A revised implementation of the reverse search vertex enumeration algorithm", 2000.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError

__all__ = ["Tableau", "bland", "maximum", "walk"]

IntArray = NDArray[np.object_]
"""Python integers of any size."""


@dataclass(frozen=True)
class Tableau:
    """Constraints with their slacks, solved for a basis; without denominators.

    Attributes
    ----------
    table : ndarray of ints, shape (m + 1, columns + 1)
        ``det`` times the constraints solved for the basis, with the constants in the last column, above the
        row of the objective, with the reduced costs negated (the column of an entry < 0 raises it).
    det : int
        Determinant of the basis, > 0.
    basis : tuple of int
        The column of each row.
    """

    table: IntArray
    det: int
    basis: tuple[int, ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], n: int) -> Tableau:
        """Rows (n coefficients, bound) with one slack each, which are the basis; objective 0."""
        m = len(rows)
        table = np.zeros((m + 1, n + m + 1), dtype=object)
        for r, row in enumerate(rows):
            table[r, :n] = row[:-1]
            table[r, n + r] = 1
            table[r, -1] = row[-1]
        return cls(table, 1, tuple(range(n, n + m)))

    @property
    def constants(self) -> list[int]:
        """``det`` times the values of the basic variables."""
        return cast("list[int]", self.table[:-1, -1].tolist())

    def aimed_at(self, objective: Sequence[int]) -> Tableau:
        """The same with this objective; entries for the first columns, the others have none."""
        table = self.table.copy()
        gains = np.zeros(table.shape[1], dtype=object)
        gains[: len(objective)] = objective
        table[-1] = -self.det * gains
        for r, column in enumerate(self.basis):
            if gains[column]:
                table[-1] += gains[column] * table[r]
        return Tableau(table, self.det, self.basis)

    def exchanged(self, r: int, s: int) -> Tableau:
        """The same after column s enters the basis in row r."""
        table, pivot = self.table, self.table[r, s]
        # [1]: the division leaves no remainder, because all entries are minors of the first tableau.
        new = (table * pivot - np.outer(table[:, s], table[r])) // self.det
        new[r] = table[r]
        basis = (*self.basis[:r], s, *self.basis[r + 1 :])
        return Tableau(new, pivot, basis) if pivot > 0 else Tableau(-new, -pivot, basis)

    def climbed(self, rule: Rule) -> Tableau | None:
        """The best basis for the objective, exchanged by the rule; None if it is unbounded."""
        here = self
        while True:
            entering = [s for s in range(here.table.shape[1] - 1) if here.table[-1, s] < 0]
            if not entering:
                return here
            r, s = rule(here, entering)
            if r is None:
                return None
            here = here.exchanged(r, s)


Rule = Callable[[Tableau, "list[int]"], "tuple[int | None, int]"]
"""Which row leaves (None if none bounds the step) and which column enters, of those that may."""


def bland(here: Tableau, entering: list[int]) -> tuple[int | None, int]:
    """Of all candidates the first column: excludes cycles from any basis."""
    s = entering[0]
    ratios = [
        (Fraction(value, entry), column, r)
        for r, (value, entry, column) in enumerate(
            zip(here.constants, here.table[:-1, s].tolist(), here.basis, strict=True)
        )
        if entry > 0
    ]
    return (min(ratios)[2] if ratios else None), s


def steepest(here: Tableau, entering: list[int]) -> tuple[int | None, int]:
    """The column of the largest gain; from a basis of slacks, whatever column enters, it cannot cycle."""
    s = min(entering, key=lambda k: here.table[-1, k])
    return _leaving(here, s), s


def _leaving(here: Tableau, s: int) -> int | None:
    """Row that leaves when column s enters, None if none: smallest ratio, ties by the slack columns."""
    table = here.table
    m, columns = len(table) - 1, table.shape[1] - 1
    rows = [r for r in range(m) if table[r, s] > 0]
    for column in (-1, *range(columns - m, columns)):
        if len(rows) < 2:
            break
        ratios = [Fraction(table[r, column], table[r, s]) for r in rows]
        least = min(ratios)
        rows = [r for r, ratio in zip(rows, ratios, strict=True) if ratio == least]
    return rows[0] if rows else None


def maximum(rows: Sequence[Sequence[int]], objective: Sequence[int]) -> Fraction | None:
    """Largest value of objective * x over x >= 0 within the rows (coefficients, bound >= 0).

    None if it is unbounded. Without the proof of :func:`fairness.exact.linear_program.maximise`, and faster.

    Examples
    --------
    >>> maximum([[1, 3, 9], [4, 1, 18]], [1, 1])
    Fraction(63, 11)
    """
    best = Tableau.of(rows, len(objective)).aimed_at(objective).climbed(steepest)
    return None if best is None else Fraction(best.table[-1, -1], best.det)


def walk(
    rows: Sequence[Sequence[int]], n: int, most: float = math.inf, look: Callable[[], None] | None = None
) -> NDArray[np.int64]:
    """The constraints that are tight at each lexicographic basis of x >= 0 within the rows, (n_bases, n).

    Rows are (n coefficients, bound >= 0); constraint k < n is x_k >= 0, then come the rows. ``look`` is
    called after each basis.

    Raises
    ------
    ModelError
        If there are more bases than ``most``.
    """
    here = Tableau.of(rows, n)
    columns = here.table.shape[1] - 1
    seen = {frozenset(here.basis)}
    stack: list[tuple[Tableau, int, int]] = []
    bases = []
    while True:
        outside = [k for k in range(columns) if k not in here.basis]
        bases.append(outside)
        for s in outside:
            r = _leaving(here, s)
            assert r is not None, "the region is bounded"
            neighbour = frozenset(here.basis) - {here.basis[r]} | {s}
            if neighbour not in seen:
                seen.add(neighbour)
                stack.append((here, r, s))
        if look is not None:
            look()
        if len(seen) > most:
            raise ModelError(f"there are more than {most:,} vertices")
        if not stack:
            return np.array(bases, dtype=np.int64).reshape(len(bases), n)
        parent, r, s = stack.pop()
        here = parent.exchanged(r, s)
