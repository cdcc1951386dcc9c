r"""Fractions and integers from residues, and large integers from digits, in less than quadratic time.

The vectors :math:`(n, d)` with :math:`n \equiv rd` modulo m form a lattice with the basis (m, 0), (r, 1).
Euclid's algorithm for m and r walks through shorter and shorter vectors of it. For large numbers the leading
halves decide many of its steps at once: they are made on the halves, recursively, and then applied to the
whole (Lehmer, Schönhage). Steps that the halves decide wrongly do no harm: the two vectors remain a basis,
only a little longer, and it is reduced in the end, by Lagrange and Gauss, on the whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from queueing.exact_laws.balance_equations import Integers

__all__ = ["fraction", "from_digits", "from_residues"]

Matrix = tuple[int, int, int, int]

SMALL = 1500
"""Bits below which Euclid's steps are made one by one."""


def from_digits(digits: list[int], base: int) -> int:
    """Sum of digits[k] base^k, halves at a time; the digits may be any integers.

    Examples
    --------
    >>> from_digits([1, 2, 13], 10)
    1321
    """
    values, power = list(digits) or [0], base
    while len(values) > 1:
        pairs = [low + high * power for low, high in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[len(pairs) * 2 :]
        power *= power
    return values[0]


def fraction(residue: int, modulus: int, top: int, bottom: int) -> tuple[int, int]:
    """The fraction n/d with 0 <= n <= top and 0 < d <= bottom of a residue modulo m > top * bottom.

    Raises
    ------
    ArithmeticError
        If there is none.

    Examples
    --------
    >>> fraction(22 * pow(7, -1, 10007) % 10007, 10007, 50, 50)
    (22, 7)
    """
    a, b, c, d = _shrinking(modulus, residue % modulus, top.bit_length())
    first = _Vector(a * modulus + b * residue, b)
    second = _Vector(c * modulus + d * residue, d)
    while True:
        if first.square(top, bottom) < second.square(top, bottom):
            first, second = second, first
        quotient = _nearest(first.product(second, top, bottom), second.square(top, bottom))
        if quotient == 0:
            break
        first = first.plus(second, -quotient)
    # In this measure the basis is reduced and spans an area above 1, and the vector looked for is not longer
    # than the root of 2. So it holds the longer basis vector at most once, and then the other at most twice.
    for vector in (second, *(first.plus(second, k) for k in range(-2, 3))):
        n, d = (vector.n, vector.d) if vector.d > 0 else (-vector.n, -vector.d)
        if 0 <= n <= top and 0 < d <= bottom:
            common = gcd(n, d)
            return n // common, d // common
    raise ArithmeticError("no fraction within the bounds has this residue")


class _Vector(NamedTuple):
    """A vector (n, d) of the lattice, whose parts are measured by the largest numerator and denominator."""

    n: int
    d: int

    def product(self, other: _Vector, top: int, bottom: int) -> int:
        """Scalar product, times the square of both measures."""
        return self.n * other.n * bottom * bottom + self.d * other.d * top * top

    def square(self, top: int, bottom: int) -> int:
        """Scalar product with itself."""
        return self.product(self, top, bottom)

    def plus(self, other: _Vector, factor: int) -> _Vector:
        """The sum with a multiple of another."""
        return _Vector(self.n + factor * other.n, self.d + factor * other.d)


def _shrinking(a: int, b: int, target: int) -> Matrix:
    """Unimodular matrix under which both numbers get about ``target`` bits, or as far as is easy."""
    total: Matrix = (1, 0, 0, 1)
    while True:
        size = max(abs(a), abs(b)).bit_length()
        excess = size - target
        if min(abs(a), abs(b)).bit_length() <= target + 2 or excess <= 2:
            return total
        # Halving numbers of 2 * excess bits takes away excess bits.
        shift = max(0, size - 2 * excess)
        step = _halving(a >> shift, b >> shift)
        if step == (1, 0, 0, 1):
            return total
        a, b = step[0] * a + step[1] * b, step[2] * a + step[3] * b
        total = _times(step, total)


def _halving(a: int, b: int) -> Matrix:
    """Unimodular matrix that makes two numbers about half as long."""
    size = max(abs(a), abs(b)).bit_length()
    target = size // 2 + 1
    total: Matrix = (1, 0, 0, 1)
    if size > SMALL:
        # First a quarter by the leading half, then another quarter by the leading half of what is left.
        for goal in ((3 * size) // 4, target):
            here = max(abs(a), abs(b)).bit_length()
            if min(abs(a), abs(b)).bit_length() <= goal:
                continue
            shift = max(0, here - 2 * (here - goal))
            step = _halving(a >> shift, b >> shift)
            a, b = step[0] * a + step[1] * b, step[2] * a + step[3] * b
            total = _times(step, total)
    p, q, r, s = total
    while min(abs(a), abs(b)).bit_length() > target:
        if abs(a) < abs(b):
            a, b, p, q, r, s = b, a, r, s, p, q
        quotient = _nearest(a, b)
        a, b, p, q, r, s = b, a - quotient * b, r, s, p - quotient * r, q - quotient * s
    return p, q, r, s


def _nearest(a: int, b: int) -> int:
    return (2 * a + abs(b)) // (2 * abs(b)) * (1 if b > 0 else -1)


def _times(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d = first
    e, f, g, h = second
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


def from_residues(rows: Sequence[Integers], moduli: Sequence[int]) -> tuple[Integers, int]:
    """Integers from 0 on with given residues, and the product of the moduli, halves at a time.

    Parameters
    ----------
    rows : sequence of object ndarray of int, one per modulus
    moduli : sequence of int
        Without common divisors.

    Examples
    --------
    >>> import numpy as np
    >>> from_residues([np.array([2, 0], object), np.array([3, 4], object)], [5, 7])
    (array([17, 25], dtype=object), 35)
    """
    parts = list(zip(rows, moduli, strict=True))
    while len(parts) > 1:
        joined = []
        for (low, first), (high, second) in zip(parts[::2], parts[1::2], strict=False):
            joined.append((low + first * ((high - low) * pow(first, -1, second) % second), first * second))
        parts = joined + parts[len(joined) * 2 :]
    return parts[0]
