"""Linear equations over the rationals by Gauss-Jordan elimination.

The rows of a system are lists of coefficients with the right side at the end. Numbers may be
:class:`fractions.Fraction` (or decimals) with tolerance 0, or floats, whose largest entry is the pivot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["Number", "affine_solutions", "dot", "reduced", "whole"]

Number = Any
"""Fraction in exact computations, float otherwise."""


def dot(first: Iterable[Fraction | int], second: Iterable[Fraction | int]) -> Fraction:
    """Sum of the products."""
    return Fraction(0) + sum(u * v for u, v in zip(first, second, strict=True) if u and v)


def whole(values: Sequence[Fraction]) -> tuple[Fraction, list[int]]:
    """The factor that makes fractions, not all 0, integers without a common divisor, and these integers.

    Examples
    --------
    >>> whole([Fraction(1, 2), Fraction(3, 4)])
    (Fraction(4, 1), [2, 3])
    """
    common = math.lcm(*(value.denominator for value in values))
    numerators = [value.numerator * (common // value.denominator) for value in values]
    divisor = math.gcd(*numerators)
    return Fraction(common, divisor), [v // divisor for v in numerators]


def reduced(
    rows: Sequence[Sequence[Number]],
    width: int,
    tolerance: Number = 0,
    look: Callable[[], None] | None = None,
) -> tuple[list[list[Number]], list[int]]:
    """Rows solved for as many of the first ``width`` unknowns as they determine, and these unknowns.

    Row k has coefficient 1 for unknown ``pivots[k]``, and no other row has any; rows from ``len(pivots)`` on
    have no coefficients left (above the tolerance). ``look`` is called before every step.

    Examples
    --------
    >>> reduced([[Fraction(3), Fraction(6), Fraction(1)]], 2)
    ([[Fraction(1, 1), Fraction(2, 1), Fraction(1, 3)]], [0])
    """
    found = [list(row) for row in rows]
    pivots: list[int] = []
    for column in range(width):
        depth = len(pivots)
        if look is not None:
            look()
        if tolerance > 0:
            open_columns = [c for c in range(width) if c not in pivots]
            places = [(abs(found[r][c]), r, c) for r in range(depth, len(found)) for c in open_columns]
            largest, r, c = max(places, default=(0, 0, 0))
            if largest <= tolerance:
                break
        else:
            c = column
            r = next((k for k in range(depth, len(found)) if found[k][c] != 0), -1)
            if r < 0:
                continue
        found[depth], found[r] = found[r], found[depth]
        head = found[depth][c]
        found[depth] = pivot = [v / head for v in found[depth]]
        for k, row in enumerate(found):
            factor = row[c]
            if k != depth and factor != 0:
                found[k] = [a - factor * b if b != 0 else a for a, b in zip(row, pivot, strict=True)]
        pivots.append(c)
    return found, pivots


def affine_solutions(
    equations: Sequence[Sequence[Number]], size: int, tolerance: Number
) -> tuple[list[Number], list[list[Number]]] | None:
    """A solution of the equations (coefficients, then right side) and a basis of the kernel; None if none."""
    rows, pivots = reduced(equations, size, tolerance)
    if any(abs(row[-1]) > tolerance for row in rows[len(pivots) :]):
        return None
    zero = 0 * equations[0][0] if equations else 0
    origin = [zero] * size
    for row, c in zip(rows, pivots, strict=False):
        origin[c] = row[-1]
    kernel = []
    for free in (c for c in range(size) if c not in pivots):
        direction = [zero] * size
        direction[free] = zero + 1
        for row, c in zip(rows, pivots, strict=False):
            direction[c] = -row[free]
        kernel.append(direction)
    return origin, kernel
