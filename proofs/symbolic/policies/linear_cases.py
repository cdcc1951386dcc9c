"""Linear equations whose coefficients have letters, by cases.

Gauss and Jordan's elimination needs to know which coefficients are 0. Where the assumptions do not settle the
sign of a pivot, the cases positive, negative and zero are followed one by one; what cannot occur is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import equals_zero

__all__ = ["Case", "linear_cases"]


@dataclass(frozen=True)
class Case:
    """Solutions of the equations where the conditions hold.

    Attributes
    ----------
    conditions : tuple of relationals
        Signs of pivots that the assumptions leave open, and what must be 0 for a solution to exist.
    values : tuple of expressions
        One per unknown, in the letters and the free unknowns.
    free : tuple of int
        Unknowns that may be chosen; their values are themselves.
    """

    conditions: tuple[Any, ...]
    values: tuple[Any, ...]
    free: tuple[int, ...]


def linear_cases(
    rows: Sequence[Sequence[Any]], unknowns: Sequence[Any], ground: Ground, given: Sequence[Any] = ()
) -> Iterator[Case]:
    """Cases of linear equations, each with all its solutions.

    Parameters
    ----------
    rows : sequence of equations
        Coefficients of the unknowns, then the right side; rational expressions of the letters.
    unknowns : sequence of symbols
    ground : Ground
    given : sequence of relationals
        What else holds; the conditions of the cases do not repeat it.

    Examples
    --------
    >>> from proofs.symbolic.model.reading import letter
    >>> a, x = letter("a"), letter("x")
    >>> for case in linear_cases([[a, 1]], [x], Ground((a,), (a >= 0,))):
    ...     print(case.conditions, case.values)
    (a > 0,) (1/a,)
    """
    return _Elimination(tuple(unknowns), ground, tuple(given)).cases([list(row) for row in rows], [], ())


@dataclass(frozen=True)
class _Elimination:
    """The unknowns and what is known; cases are followed from the pivots and conditions that are met."""

    unknowns: tuple[Any, ...]
    ground: Ground
    given: tuple[Any, ...]

    def cases(self, rows: list[list[Any]], pivots: list[int], conditions: tuple[Any, ...]) -> Iterator[Case]:
        """The cases from here on; ``pivots`` are the columns that are done."""
        held, unsettled = (*self.given, *conditions), []
        rows = [list(row) for row in rows]
        for c in (c for c in range(len(self.unknowns)) if c not in pivots):
            for r in range(len(pivots), len(rows)):
                sign = self.ground.sign(rows[r][c], held)
                if sign:
                    yield from self.cases(_cleared(rows, len(pivots), r, c), [*pivots, c], conditions)
                    return
                if sign is None:
                    unsettled.append((sympy.count_ops(rows[r][c]), r, c))
                else:
                    rows[r][c] = sympy.Integer(0)
        if not unsettled:
            yield from self.solved(rows, pivots, conditions)
            return
        _, r, c = min(unsettled)
        for kind in (sympy.Gt, sympy.Lt, sympy.Eq):
            case = self.ground.tidy(kind(rows[r][c], 0, evaluate=False), self.given)
            if not self.ground.excludes((*held, case)):
                yield from self.cases(rows, pivots, (*conditions, case))

    def solved(self, rows: list[list[Any]], pivots: list[int], conditions: tuple[Any, ...]) -> Iterator[Case]:
        """The solutions, where what is left of the equations reads 0 = 0."""
        for row in rows[len(pivots) :]:
            rest = self.ground.tidy(equals_zero(row[-1]), (*self.given, *conditions))
            if rest == sympy.false:
                return
            if rest != sympy.true:
                conditions = (*conditions, rest)
        if self.ground.excludes((*self.given, *conditions)):
            return
        free = tuple(c for c in range(len(self.unknowns)) if c not in pivots)
        values = list(self.unknowns)
        for row, c in zip(rows, pivots, strict=False):
            values[c] = row[-1] - sum(row[k] * self.unknowns[k] for k in free)
        yield Case(conditions, tuple(values), free)


def _cleared(rows: list[list[Any]], depth: int, r: int, c: int) -> list[list[Any]]:
    """The rows with row r as pivot at this depth, and nothing else left in column c."""
    rows[depth], rows[r] = rows[r], rows[depth]
    pivot = [sympy.cancel(v / rows[depth][c]) for v in rows[depth]]
    rows[depth] = pivot
    return [
        row
        if k == depth or row[c] == 0
        else [sympy.cancel(v - row[c] * p) for v, p in zip(row, pivot, strict=True)]
        for k, row in enumerate(rows)
    ]
