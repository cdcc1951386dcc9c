"""Fractions as floats, rounded away from what they bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fairness.arguments.validation import FloatArray

__all__ = ["above", "below", "outward"]


def above(value: Fraction) -> float:
    """The least float that is at least a fraction; infinite where no other is.

    Examples
    --------
    >>> above(Fraction(1, 2)), above(Fraction(1, 3)) > Fraction(1, 3), above(Fraction(10**400))
    (0.5, True, inf)
    """
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else math.nextafter(-math.inf, 0)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def below(value: Fraction) -> float:
    """The largest float that is at most a fraction.

    Examples
    --------
    >>> below(Fraction(0)), below(Fraction(1, 2)), below(Fraction(1, 3)) < Fraction(1, 3)
    (0.0, 0.5, True)
    """
    return 0.0 - above(-value)


def outward(rows: Sequence[Sequence[Fraction]]) -> FloatArray:
    """Bounds of fractions, lower and upper, as floats; shape (2, rows, columns)."""
    return np.array([[[bound(v) for v in row] for row in rows] for bound in (below, above)])
