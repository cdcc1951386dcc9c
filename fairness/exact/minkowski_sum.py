r"""Sums of monotone polytopes: their support function, from the points of each summand.

Of a Minkowski sum :math:`\sum_i P_i` the support function is the sum of those of the :math:`P_i`, and a
vertex where it is attained is the sum of theirs; so the facets of the sum follow
(:mod:`fairness.exact.double_description`) without listing its vertices, whose number grows exponentially.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.exact.double_description import Point

__all__ = ["Body", "support_of_sum"]

SAFE = 2**62
"""Products below this are computed in 64 bits."""


@dataclass(frozen=True)
class Body:
    """The least monotone set around finitely many points, several times over.

    Attributes
    ----------
    points : ndarray of ints, shape (n_points, n)
        Numerators, in increasing lexicographic order; the largest point of a tie is the last one.
    denominator : int
    copies : int
        How often the body occurs in the sum.
    """

    points: NDArray[Any]
    denominator: int
    copies: int

    @classmethod
    def around(cls, points: Sequence[Sequence[Any]], copies: int = 1) -> Body:
        """Body around points of ints or fractions."""
        exact = sorted(tuple(Fraction(v) for v in point) for point in points)
        common = math.lcm(*(v.denominator for point in exact for v in point))
        whole = [[int(v * common) for v in point] for point in exact]
        small = max(v for point in whole for v in point) < SAFE
        return cls(np.array(whole, dtype=np.int64 if small else object), common, copies)

    def highest(self, prices: Sequence[int]) -> tuple[int, int]:
        """Largest value of prices * numerators, and the number of the point; of ties the last one."""
        points = self.points
        size = int(points.max()) * max(prices) * len(prices)
        kind: Any = np.int64 if points.dtype != object and size < SAFE else object
        values = points.astype(kind, copy=False) @ np.array(prices, dtype=kind)
        at = len(values) - 1 - int(np.argmax(values[::-1]))
        return int(values[at]), at


def support_of_sum(bodies: Sequence[Body], prices: Sequence[int]) -> tuple[Fraction, Point]:
    """Largest value of prices >= 0 over the sum of the bodies, and a vertex of the sum where it is attained.

    All bodies break ties for the largest point, so the sum of their points is a vertex of the sum.
    """
    value, total = Fraction(0), [Fraction(0)] * len(prices)
    for body in bodies:
        top, at = body.highest(prices)
        value += Fraction(top * body.copies, body.denominator)
        for k, entry in enumerate(body.points[at].tolist()):
            if entry:
                total[k] += Fraction(entry * body.copies, body.denominator)
    return value, tuple(total)
