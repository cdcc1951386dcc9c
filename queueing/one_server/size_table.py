r"""A law of sizes as a table: what formulas integrate, at sizes that stand where the law and its work are.

A law with atoms is the table of them, and means over it are sums. Of any other law E[g(S)] is integrated by
parts,

.. math:: E[g(S)] = g(s_0) + \int_{s_0}^{s_n} g'(s)\, P(S > s)\, ds,

on panels of three sizes, g' that of the parabola through the three values of g, and the product by Simpson's
rule, whose errors of second order cancel. That needs no density. Where g jumps, panels are to be short.

The panels are equally long in the logarithm of the size, in P(S <= s), in E[S; S <= s], in E[S^2; S <= s]
and, at a server, in the logarithm of what jobs up to s leave of it, taken together; what lies below
:math:`s_0` has probability 1e-10 and counts as :math:`s_0`, and of the second moment 1e-14 lies above
:math:`s_n`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairness.model.problem import FloatArray
from queueing.model.laws import Law

__all__ = ["NOWHERE", "SizeTable", "size_spread", "size_table"]

BELOW = 1e-10
"""Probability that is left out below; a smaller one would be lost in the digits of 1."""
ABOVE = 1e-14
"""Of the second moment, left out above."""
ROUNDING = 2.0**-50
"""Relative, of what a law says of its moments above a size."""
WIDE, NARROW = 301, 401
"""Sizes that are looked at, at first and between the ends."""
PASSES = 4
"""Of which each adds sizes by what those before have found."""
BUSY = 0.3
"""Weight of a factor e of what is left of the server, that of the whole law being 1."""
EDGE = 1e-9
"""Part of a size up to which the ends are found."""
CLOSER = 33
"""Ends of panels around a size."""
NOWHERE: FloatArray = np.empty((2, 0))


@dataclass(frozen=True, eq=False)
class SizeTable:
    """Sizes in increasing order, and what is known there.

    Attributes
    ----------
    sizes : ndarray of shape (n,)
    chances : ndarray of shape (n,), or None
        P(S = s), where the sizes are atoms, all there are; None of a law without any.
    above : ndarray of shape (3, n)
        P(S > s), E[S; S > s], E[S^2; S > s].
    moments : ndarray of shape (3,)
        1, E[S], E[S^2].
    """

    sizes: FloatArray
    chances: FloatArray | None
    above: FloatArray
    moments: FloatArray

    @cached_property
    def _powers(self) -> FloatArray:
        return self.sizes ** np.arange(3)[:, None]

    @cached_property
    def upto(self) -> FloatArray:
        """P(S <= s), E[S; S <= s] and E[S^2; S <= s] for each size, (3, n)."""
        if self.chances is not None:
            return np.cumsum(self.chances * self._powers, axis=1)
        upto = np.maximum(self.moments[:, None] - self.above, 0.0)
        upto[2] = np.cumsum(np.append(upto[0, 0] * self.sizes[0] ** 2, self._squares))
        # Of the smallest sizes, where the difference has no digits, no more than there can be.
        return np.minimum(upto, upto[0] * self._powers)

    @property
    def _squares(self) -> FloatArray:
        r"""Parts of E[S^2] between the sizes of a law without atoms, (n - 1,).

        Of heavy tails a difference of E[S^2; S > s] has no digits. That of sizes from a to b, of probability
        p and with E[S; a < S <= b] = w, is :math:`w^2/p + p(b-a)^2/12` up to about :math:`((b-a)/a)^4/36` of
        it; of both ways the one that is off by less.
        """
        a, b = self.sizes[:-1], self.sizes[1:]
        chance, work, square = np.maximum(-np.diff(self.above), 0.0)
        parts = np.divide(work**2, chance, out=np.zeros(len(a)), where=chance > 0)
        parts = np.clip(parts + chance * (b - a) ** 2 / 12, a * work, b * work)
        return np.where(ROUNDING * self.above[2, :-1] < parts * (b / a - 1) ** 4 / 36, square, parts)

    @cached_property
    def at_least(self) -> FloatArray:
        """P(S >= s), E[S; S >= s] and E[S^2; S >= s] for each size, (3, n)."""
        return self.above if self.chances is None else self.above + self.chances * self._powers

    @cached_property
    def cut(self) -> FloatArray:
        """1, E[min(S, s)] and E[min(S, s)^2] for each size, (3, n)."""
        return self.upto + self.above[0] * self._powers

    def integral(self, values: FloatArray) -> FloatArray:
        """Integral from 0 to each size of a function that has these values before the sizes, (n,).

        Below the first size it is constant; of atoms, between them, too.
        """
        s = self.sizes
        if self.chances is not None:
            return np.cumsum(np.diff(s, prepend=0.0) * values)
        left, middle, right = values[:-2:2], values[1:-1:2], values[2::2]
        half = (s[2::2] - s[:-2:2]) / 2
        panels = np.empty(len(s))
        panels[0] = s[0] * values[0]
        panels[1::2] = half / 12 * (5 * left + 8 * middle - right)
        panels[2::2] = half / 12 * (5 * right + 8 * middle - left)
        return np.cumsum(panels)

    def mean(self, values: FloatArray) -> float:
        """E[g(S)] of g with these values at the sizes, (n,)."""
        if self.chances is not None:
            return float(self.chances @ values)
        start, middle, end, alive = values[:-2:2], values[1:-1:2], values[2::2], self.above[0]
        # With u = 0, 1, 2 along a panel g' du is (-3 g0 + 4 g1 - g2)/2, (g2 - g0)/2, (g0 - 4 g1 + 3 g2)/2.
        panels = alive[:-2:2] * (4 * middle - 3 * start - end) + alive[2::2] * (start - 4 * middle + 3 * end)
        return float(values[0] + (panels + 4 * alive[1:-1:2] * (end - start)).sum() / 6)

    @property
    def exponents(self) -> tuple[float, float]:
        """Of the smallest sizes, and a little further: P(S <= s) is about s to this power.

        Infinite where no size is close to 0.
        """
        if self.chances is not None:
            return math.inf, math.inf
        # Small sizes whose probability has digits.
        chance = self.upto[0]
        few = np.flatnonzero((chance > 3 * BELOW) & (chance < 1e-3))[:17]
        if len(few) < 3:
            return math.inf, math.inf
        few = few[[0, len(few) // 2, -1]]
        near, far = np.diff(np.log(chance[few])) / np.diff(np.log(self.sizes[few]))
        return float(near), float(far)


def size_table(law: Law, spread: FloatArray | None, panels: int, near: FloatArray = NOWHERE) -> SizeTable:
    """The table of a law, of two sizes a panel, or of its atoms.

    The sizes stand as ``spread`` says; ``near`` (2, m) are sizes, and how far on both sides of them there are
    more panels.

    Raises
    ------
    ModelError
        If the law knows no probabilities.
    """
    atoms = law.atoms()
    if atoms is not None:
        sizes, chances = atoms
        powers = chances * sizes ** np.arange(3)[:, None]
        above = np.append(np.cumsum(powers[:, :0:-1], axis=1)[:, ::-1], np.zeros((3, 1)), axis=1)
        return SizeTable(sizes, chances, above, powers.sum(axis=1))
    spread = size_spread(law) if spread is None else spread
    sizes = _panels(spread[0], spread[1], panels, near)
    above, moments = law.upper_moments(sizes), law.upper_moments(np.zeros(1))[:, 0]
    return SizeTable(sizes, None, above, moments)


def size_spread(law: Law, load: float = 0.0) -> FloatArray:
    """Sizes of a law without atoms, and a measure that grows where they are and their work is, (2, n).

    And where jobs up to a size leave less and less of a server with that load.
    """
    whole = law.upper_moments(np.zeros(1))
    wide = law.mean * np.geomspace(1e-120, 1e30, WIDE)
    # As near as can be: at the ends of their support densities may jump.
    low, _ = _edge(lambda s: 1.0 - law.upper_moments(s)[0] > BELOW, wide)
    _, high = _edge(lambda s: law.upper_moments(s)[2] <= ABOVE * whole[2], wide)
    points = more = np.geomspace(low, high, NARROW)
    above = np.empty((3, 0))
    for _ in range(PASSES):
        above = np.append(above, law.upper_moments(more) / whole, axis=1)
        order = np.argsort(points)
        points, above = points[order], above[:, order]
        parts = (1.0 - above).sum(axis=0) + np.log(points / low) / math.log(high / low)
        measure = np.maximum.accumulate(parts - BUSY * np.log(1.0 - load + load * above[1]))
        spread = np.array([points, measure])
        # Close to load 1, or to the largest size, all may happen between two points: more go there.
        more = np.interp(np.linspace(measure[0], measure[-1], NARROW), measure, points)
        points = np.append(points, more)
    return spread


def _edge(behind: Callable[[FloatArray], NDArray[np.bool_]], points: FloatArray) -> tuple[float, float]:
    """Sizes before and behind an edge."""
    while True:
        found = behind(points)
        k = max(1, int(np.argmax(found))) if found.any() else len(points) - 1
        if points[k] <= points[k - 1] * (1 + EDGE):
            return float(points[k - 1]), float(points[k])
        points = np.geomspace(points[k - 1], points[k], CLOSER)


def _panels(points: FloatArray, measure: FloatArray, panels: int, near: FloatArray) -> FloatArray:
    """Ends and middles of the panels."""
    ends = np.interp(np.linspace(measure[0], measure[-1], panels + 1), measure, points)
    closer = (near[0] + near[1] * np.linspace(-1.0, 1.0, CLOSER)[:, None]).ravel()
    ends = np.unique(np.append(ends, closer[(closer > ends[0]) & (closer < ends[-1])]))
    sizes = np.empty(2 * len(ends) - 1)
    sizes[::2], sizes[1::2] = ends, (ends[1:] + ends[:-1]) / 2
    return sizes
