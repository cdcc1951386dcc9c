r"""Where a formula in two letters holds: areas, borders and single points of a rectangle.

The rectangle is cut into cylinders. Over an open interval of the first letter in which no discriminant, no
leading coefficient and no resultant of the irreducible factors vanishes, their real roots in the second
letter are as many everywhere and never meet: they are curves, and between two of them every polynomial has
one sign, that at a rational point. On a curve the polynomials of which its factor is a part are 0, and the
others have the sign beside it. On the vertical line between two intervals those are 0 that have a factor in
the first letter alone with this root [1]_.

What holds where is found with fractions. The places at which it is drawn are floats, and whether a polynomial
is 0 at a single point is seen with them.

References
----------
.. [1] G. E. Collins, "Quantifier elimination for real closed fields by cylindrical algebraic decomposition",
   LNCS 33, 1975, https://doi.org/10.1007/3-540-07407-4_17.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from proofs.language.polynomials import Polynomial
from proofs.language.relations import signum
from proofs.symbolic.decisions.formulas import (
    Formula,
    exact,
    holds,
    holds_by_signs,
    poly_of,
    relations_in,
)
from proofs.symbolic.decisions.sign_tables import simple_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Areas", "areas_of", "factors_of", "vanishes"]

COLUMNS = 65
"""Places at which a curve is drawn between two vertical lines; denser at its ends, where it may be steep."""
NEAR = 1e-9
"""How near to a vertical line a curve is followed, as a part of the interval."""
NARROW = sympy.Rational(1, 10**18)
"""Width of the intervals around the roots."""
FAR = 3.0
"""From 0, as multiples of the extent of what is drawn."""
TOUCHING = 1e-4
"""Part of the height; what is no farther from a point touches it."""
ZERO = 1e-7
"""Part of the sum of the sizes of the terms; what is less is 0 at a single point. Double roots are known to
half of the digits of floats."""


@dataclass(frozen=True)
class Areas:
    """Where a formula holds in a rectangle, as it is drawn.

    Attributes
    ----------
    polygons : list of ndarray of shape (n_points, 2)
        Counterclockwise; none lie on each other.
    borders : list of (ndarray of shape (n_points, 2), bool)
        Pieces of curves on which it changes whether the formula holds, and whether it holds there.
    points : list of (float, float)
        Where it holds, and nowhere near.
    """

    polygons: list[np.ndarray]
    borders: list[tuple[np.ndarray, bool]]
    points: list[tuple[float, float]]

    @property
    def empty(self) -> bool:
        """Whether it holds nowhere."""
        return not (self.polygons or self.points or any(inside for _, inside in self.borders))

    def fill(self, ax: Axes, **style: Any) -> None:
        """Draw the polygons as one patch, so that no seam shows where they touch."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        if self.polygons:
            whole = Path.make_compound_path(*(Path(p, closed=True) for p in self.polygons))
            whole.should_simplify = False  # by up to a ninth of a pixel, which would be seen as a seam
            ax.add_patch(PathPatch(whole, linewidth=0, antialiased=False, **style))

    def near(self, axis: int, low: float, high: float) -> tuple[float, float]:
        """Ends of an axis around all that is drawn, if that is less than what was looked at.

        0 stays, unless it is far from all of it.
        """
        drawn = [*self.polygons, *(line for line, _ in self.borders), *map(np.atleast_2d, self.points)]
        if not drawn:
            return low, high
        least, most = (f(np.concatenate(drawn)[:, axis]) for f in (np.min, np.max))
        rest = (most - least or 1.0) / 4
        stays = low == 0 and least <= FAR * (most - least or 1.0)
        return low if stays else max(low, least - rest), min(high, most + rest)


@dataclass(frozen=True)
class _Cylinder:
    """Curves (n_curves, n_columns) from the lower side to the upper one; truths of area, curve, ..., area."""

    x: np.ndarray
    curves: np.ndarray
    truths: list[bool]

    def truth(self, side: int, y: float) -> bool:
        """Whether the formula holds in the area that reaches y on the left (0) or right (-1) side."""
        area = np.searchsorted(self.curves[:, side], y) - 1
        return self.truths[2 * int(np.clip(area, 0, len(self.curves) - 2))]

    def touches(self, side: int, y: float, near: float) -> bool:
        """Whether some of what holds comes near y on a side."""
        ends = self.curves[:, side]
        pieces = [*pairwise(ends), *((end, end) for end in ends[1:-1])]
        truths = [*self.truths[::2], *self.truths[1::2]]
        return any(
            t and low - near <= y <= high + near for t, (low, high) in zip(truths, pieces, strict=True)
        )


def areas_of(formula: Formula, letters: tuple[Any, Any], window: tuple[tuple[float, float], ...]) -> Areas:
    """Where a formula holds in a rectangle.

    Parameters
    ----------
    formula : Formula
    letters : tuple of two sympy symbols
        The one to the right, and the one upwards.
    window : pair of pairs of float
        Ends of the rectangle, of both letters.

    Examples
    --------
    >>> from proofs.language.relations import relation
    >>> found = areas_of(relation("a + b < 1"), sympy.symbols("a b"), ((0, 2), (0, 2)))
    >>> found.polygons[0][[0, 64, -1]].round(6) + 0.0
    array([[0., 0.],
           [1., 0.],
           [0., 1.]])
    >>> [inside for _, inside in found.borders]
    [False]
    """
    return _Cutting(formula, letters, window).found()


class _Cutting:
    """The rectangle, the factors of the polynomials, and the steps of the cut."""

    def __init__(self, formula: Formula, letters: tuple[Any, Any], window: Any) -> None:
        self.formula, self.letters = formula, letters
        self.names = [symbol.name for symbol in letters]
        (self.left, self.right), (self.low, self.high) = (tuple(map(Fraction, ends)) for ends in window)
        self.factors = {r.left: factors_of(r.left, letters) for r in relations_in([formula])}
        found: set[Any] = set().union(*self.factors.values())
        self.sides = [f for f in found if not f.degree(1)]
        self.floor, self.roof = (
            self._poly(letters[1] - sympy.Rational(end)) for end in (self.low, self.high)
        )
        self.curves = sorted({f for f in found if f.degree(1)} | {self.floor, self.roof}, key=str)

    def _poly(self, expression: Any) -> Any:
        return sympy.Poly(expression, *self.letters, domain="QQ")

    def found(self) -> Areas:
        """All of it, from left to right."""
        lines = self._lines()
        cylinders = [self._cylinder(*ends) for ends in pairwise([self.left, *lines, self.right])]
        areas = Areas([], [], [])
        for one in cylinders:
            _draw(one, areas)
        for (x, sides), one, other in zip(lines.items(), cylinders, cylinders[1:], strict=False):
            self._draw_line(x, sides, one, other, areas)
        return areas

    def _lines(self) -> dict[Fraction, list[Any]]:
        """Places of the vertical lines, ascending, and the factors in the first letter that are 0 there."""
        x, y = self.letters
        made = [f.as_expr() for f in self.sides]
        for f in self.curves:
            made.append(sympy.Poly(f.as_expr(), y).LC())
            if f.degree(1) > 1:
                made.append(sympy.discriminant(f.as_expr(), y))
        made += [sympy.resultant(f.as_expr(), g.as_expr(), y) for f, g in combinations(self.curves, 2)]
        factors = {f.monic() for p in made for f, _ in sympy.Poly(p, x, domain="QQ").factor_list()[1]}
        places: dict[Fraction, list[Any]] = {}
        for f in factors:
            sides = [side for side in self.sides if side.as_expr() == f.as_expr()]
            for (a, b), _ in f.intervals(
                eps=NARROW, inf=sympy.Rational(self.left), sup=sympy.Rational(self.right)
            ):
                places[exact(a + b) / 2] = sides
        return {place: places[place] for place in sorted(places) if self.left < place < self.right}

    def _cylinder(self, left: Fraction, right: Fraction) -> _Cylinder:
        x, y = self.letters
        middle = simple_between(left, right)
        inner = NEAR + (1 - 2 * NEAR) * (1 - np.cos(np.linspace(0, np.pi, COLUMNS))) / 2
        columns = float(left) + float(right - left) * inner
        paths, owners = [], []
        for f in self.curves:
            count = sympy.Poly(f.as_expr().subs(x, sympy.Rational(middle)), y, domain="QQ").count_roots()
            paths += list(_roots(self._coefficients(f, np.append(columns, float(middle))), count))
            owners += [f] * count
        order = np.argsort([path[-1] for path in paths])
        first, last = (
            next(k for k, i in enumerate(order) if owners[i] == f) for f in (self.floor, self.roof)
        )
        kept = order[first : last + 1]
        curves = np.array([paths[i] for i in kept])
        truths: list[bool] = []
        for k, (low, high) in enumerate(pairwise(curves[:, -1])):
            place = {self.names[0]: middle, self.names[1]: (Fraction(low) + Fraction(high)) / 2}
            if k:
                truths.append(self._true(place, [owners[kept[k]]]))
            truths.append(holds(self.formula, place))
        return _Cylinder(columns, curves[:, :-1], truths)

    def _coefficients(self, f: Any, x: np.ndarray) -> np.ndarray:
        """Coefficients of the powers of the second letter, the highest first, at places of the first one."""
        each = sympy.Poly(f.as_expr(), self.letters[1]).all_coeffs()
        made = [sympy.Poly(c, self.letters[0], domain="QQ").all_coeffs() for c in each]
        return np.stack([np.polyval(np.array(c, dtype=float), x) for c in made], axis=-1)

    def _true(self, place: dict[str, Fraction], vanishing: Collection[Any]) -> bool:
        """Whether the formula holds where some factors are 0, and the others have the sign of a place."""

        def sign(p: Polynomial) -> int:
            return signum(p.at(place)) if self.factors[p].isdisjoint(vanishing) else 0

        return holds_by_signs(self.formula, sign)

    def _draw_line(
        self, x: Fraction, sides: list[Any], left: _Cylinder, right: _Cylinder, areas: Areas
    ) -> None:
        """Borders on the vertical line between two cylinders, and its single points."""
        low, high = float(self.low), float(self.high)
        near = TOUCHING * (high - low)
        meetings = self._meetings(float(x))
        ends = np.unique(np.concatenate([left.curves[:, -1], right.curves[:, 0], meetings]).clip(low, high))
        inside = []
        for bottom, top in pairwise(ends):
            if top - bottom < near:
                continue
            y = (bottom + top) / 2
            on = self._true({self.names[0]: x, self.names[1]: Fraction(y)}, sides)
            if on:
                inside.append((bottom, top))
            if sides and len({left.truth(-1, y), on, right.truth(0, y)}) > 1:
                areas.borders.append((np.array([(float(x), bottom), (float(x), top)]), on))
        for y in meetings:
            alone = not (left.touches(-1, y, near) or right.touches(0, y, near)) and not any(
                bottom - near <= y <= top + near for bottom, top in inside
            )
            if low <= y <= high and alone:
                zero = [f for f in self.curves if vanishes(f, float(x), y)]
                place = {self.names[0]: x, self.names[1]: Fraction(y)}
                if self._true(place, [*sides, *zero]):
                    areas.points.append((float(x), y))

    def _meetings(self, x: float) -> list[float]:
        """Where curves meet a vertical line, each place once."""
        found: list[float] = []
        for f in self.curves:
            roots = np.roots(self._coefficients(f, np.array(x)))
            for y in roots.real[abs(roots.imag) <= ZERO * (1 + abs(roots))]:
                if not any(math.isclose(y, other, rel_tol=ZERO, abs_tol=ZERO) for other in found):
                    found.append(float(y))
        return found


def factors_of(p: Polynomial, letters: tuple[Any, Any]) -> frozenset[Any]:
    """The irreducible factors of a polynomial in two letters, with leading coefficients 1."""
    return frozenset(f.monic() for f, _ in poly_of(p, *letters).factor_list()[1])


def vanishes(f: Any, x: float, y: float) -> bool:
    """Whether a polynomial is 0 at a point, as far as floats tell."""
    sizes = np.array([float(c) * x**a * y**b for (a, b), c in f.terms()])
    return bool(abs(sizes.sum()) <= ZERO * abs(sizes).sum())


def _draw(one: _Cylinder, areas: Areas) -> None:
    """Areas that lie above each other as one, and the curves at which something changes."""
    n = len(one.curves) - 1
    bottom: int | None = None
    for k in range(n + 1):
        true = k < n and one.truths[2 * k]
        if true and bottom is None:
            bottom = k
        if not true and bottom is not None:
            low, high = (np.stack([one.x, one.curves[j]], axis=-1) for j in (bottom, k))
            areas.polygons.append(np.concatenate([low, high[::-1]]))
            bottom = None
    for k in range(1, n):
        if len(set(one.truths[2 * k - 2 : 2 * k + 1])) > 1:
            areas.borders.append((np.stack([one.x, one.curves[k]], axis=-1), one.truths[2 * k - 1]))


def _roots(coefficients: np.ndarray, count: int) -> np.ndarray:
    """Real roots (count, n_places) of polynomials, ascending; coefficients have the highest power first."""
    degree = coefficients.shape[1] - 1
    companion = np.zeros((len(coefficients), degree, degree))
    companion[:, 0] = -coefficients[:, 1:] / coefficients[:, :1]
    companion[:, np.arange(1, degree), np.arange(degree - 1)] = 1.0
    roots = np.linalg.eigvals(companion)
    # How many are real is known; near the ends of an interval two of them all but meet.
    nearest = np.argsort(abs(roots.imag), axis=1, kind="stable")[:, :count]
    return np.sort(np.take_along_axis(roots, nearest, axis=1).real, axis=1).T
