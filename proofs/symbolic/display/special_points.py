"""Points of the plane at which what holds of two letters has corners, tips, ends or turning points.

They are the real zeros of two polynomials: of two borders, of a border and an axis, or of a border and one
of its derivatives. Of these only those count around which the formula does not hold throughout, nor nowhere.
They are floats: they choose the window of a picture and decide nothing.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import sympy

from proofs.language.polynomials import Polynomial
from proofs.language.relations import signum
from proofs.symbolic.decisions.formulas import Formula, holds, holds_by_signs, relations_in
from proofs.symbolic.display.areas import factors_of, vanishes

__all__ = ["special_points"]

AROUND = Fraction(1, 10_000)
"""Distance, as a part of that to the origin and 1, at which it is tried what holds around a point."""

RING = [(x, y) for x in (-3, -1, 1, 3) for y in (-3, -1, 1, 3)]
"""Directions, on no axis and no diagonal alone."""


def special_points(formula: Formula, letters: tuple[Any, Any]) -> list[tuple[float, float]]:
    """Corners, tips, ends and turning points of where a formula holds, and where it meets the axes.

    Examples
    --------
    >>> from proofs.language.relations import relation
    >>> formula = ("and", (relation("a > 3"), relation("b > 4"), relation("a + b < 8")))
    >>> sorted(special_points(formula, sympy.symbols("a b")))
    [(3.0, 4.0), (3.0, 5.0), (4.0, 4.0)]
    """
    curves = {f for r in relations_in([formula]) for f in factors_of(r.left, letters)}
    axes = {sympy.Poly(letter, *letters, domain="QQ") for letter in letters}
    pairs = [*combinations(sorted(curves | axes, key=str), 2)]
    pairs += [(f, f.diff(letter)) for f in curves for letter in letters]
    found = {point for f, g in pairs for point in _common(f, g, letters)}
    return [point for point in found if _changes(formula, letters, point)]


def _common(f: Any, g: Any, letters: tuple[Any, Any]) -> list[tuple[float, float]]:
    """The real zeros of two polynomials, if they are finitely many."""
    places = []
    for letter, other in (letters, letters[::-1]):
        left = sympy.Poly(sympy.resultant(f.as_expr(), g.as_expr(), other), letter, domain="QQ")
        if left.degree() < 1:
            return []
        places.append([float(sum(ends) / 2) for ends, _ in left.intervals(eps=sympy.Rational(1, 10**12))])
    return [(x, y) for x, y in product(*places) if vanishes(f, x, y) and vanishes(g, x, y)]


def _changes(formula: Formula, letters: tuple[Any, Any], point: tuple[float, float]) -> bool:
    """Whether the formula holds at some of the points around a point, or at itself, and not at others."""
    names, middle = [letter.name for letter in letters], [Fraction(value) for value in point]
    step = AROUND * (1 + max(map(abs, middle)))

    def sign(p: Polynomial) -> int:
        at_zero = any(vanishes(f, *point) for f in factors_of(p, letters))
        return 0 if at_zero else signum(p.at(itself))

    itself = dict(zip(names, middle, strict=True))
    truths = {holds_by_signs(formula, sign)}
    for away in RING:
        near = (m + step * d for m, d in zip(middle, away, strict=True))
        truths.add(holds(formula, dict(zip(names, near, strict=True))))
    return len(truths) > 1
