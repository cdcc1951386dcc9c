"""Fractions as floats, rounded away from what they bound."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["above", "below"]


def above(value: Fraction) -> float:
    """The least float that is at least a fraction.

    Examples
    --------
    >>> above(Fraction(1, 2)), above(Fraction(1, 3)) > Fraction(1, 3)
    (0.5, True)
    """
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def below(value: Fraction) -> float:
    """The largest float that is at most a fraction.

    Examples
    --------
    >>> below(Fraction(0)), below(Fraction(1, 2)), below(Fraction(1, 3)) < Fraction(1, 3)
    (0.0, 0.5, True)
    """
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)
