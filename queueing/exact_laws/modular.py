r"""Banded linear equations modulo a prime, and integers from their residues.

Primes stay below :math:`2^{28}`, so that 256 products of residues fit into 64 bits and a scalar product needs
one division per 256 terms; residues are stored in 32 bits, which the vector units multiply four at a time.
A band matrix A of half-width b is factorised as LU without pivots, row and column by row and column, in
:math:`nb^2` multiplications; whether all pivots differ from 0 modulo p is checked, and if they do A is
invertible modulo p, hence over the rationals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import helper, stored

__all__ = ["BITS", "Residues", "digits", "factorise", "inner", "inverse", "primes", "residues", "rows_of"]

Residues = NDArray[np.uint32]

BITS = 28
"""Primes are smaller than 2 to this power."""

SUMMED = 256
"""Products of two residues that fit into 64 bits together."""


def primes(below: int = 2**BITS) -> Iterator[int]:
    """Primes, from the largest down.

    Examples
    --------
    >>> found = primes(30)
    >>> next(found), next(found), next(found)
    (29, 23, 19)
    """
    number = below - 1
    while number > 2:
        if _is_prime(number):
            yield number
        number -= 1


def _is_prime(number: int) -> bool:
    """The test of Miller and Rabin, which to these bases has no exception below 3.2e9 (Jaeschke 1993)."""
    small = (2, 3, 5, 7)
    if number < 11 or any(number % p == 0 for p in small):
        return number in small
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in small:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def residues(values: Sequence[int] | NDArray, p: int) -> Residues:
    """Integers modulo p, in 32 bits."""
    return (np.asarray(values, dtype=object) % p).astype(np.uint32)


def digits(values: NDArray, base: int) -> Residues:
    """Digits of integers >= 0 to a base, the lowest first: shape (n_digits, *shape), at least one digit."""
    left = np.asarray(values, dtype=object)
    found: list[Residues] = []
    while not found or left.any():
        found.append((left % base).astype(np.uint32))
        left = left // base
    return np.stack(found)


@helper(nogil=True)
def inner(first: Residues, second: Residues, p: np.uint64) -> np.uint64:
    """Scalar product modulo p."""
    total, start = np.uint64(0), 0
    while start < len(first):
        # Slices from 0 on, whose indices need no checks: the loop is vectorised.
        left, right = first[start : start + SUMMED], second[start : start + SUMMED]
        part = np.uint64(0)
        for k in range(len(left)):
            part += np.uint64(left[k]) * np.uint64(right[k])
        total += part % p
        start += SUMMED
    return total % p


@helper(nogil=True)
def inverse(value: np.uint64, p: np.uint64) -> np.uint64:
    """Inverse of a residue that is not 0, by Fermat's theorem."""
    result, power, left = np.uint64(1), value, p - np.uint64(2)
    while left > np.uint64(0):
        if left & np.uint64(1):
            result = result * power % p
        power = power * power % p
        left >>= np.uint64(1)
    return result


@stored(nogil=True)
def factorise(lower: Residues, upper: Residues, diagonal: Residues, inverses: Residues, modulus: int) -> bool:
    """Replace a band matrix by its factors; False if a pivot is 0 modulo p.

    Parameters
    ----------
    lower, upper : ndarray of uint32, (n, band)
        ``lower[i, band - d]`` is the entry in row i, column i - d, and ``upper[i, band - d]`` that in row
        i - d, column i; places before the first row or column are not read. Then those of L and U.
    diagonal : ndarray of uint32, (n,)
        Then that of U.
    inverses : ndarray of uint32, (n,)
        Is filled with the inverses of the pivots.
    modulus : int
    """
    p = np.uint64(modulus)
    size, band = lower.shape
    for i in range(size):
        start = max(0, i - band)
        at = start - (i - band)  # place of column start in row i
        for j in range(start, i):
            width = j - start
            here = band - (j - start)  # place of row (column) start in column (row) j
            place = at + width
            left, right = lower[i, at:place], upper[j, here:band]
            value = (np.uint64(lower[i, place]) + p - inner(left, right, p)) % p
            lower[i, place] = value * np.uint64(inverses[j]) % p
            left, right = lower[j, here:band], upper[i, at:place]
            upper[i, place] = (np.uint64(upper[i, place]) + p - inner(left, right, p)) % p
        pivot = (np.uint64(diagonal[i]) + p - inner(lower[i, at:], upper[i, at:], p)) % p
        if pivot == np.uint64(0):
            return False
        diagonal[i] = pivot
        inverses[i] = inverse(pivot, p)
    return True


def rows_of(upper: Residues) -> Residues:
    """The columns of U as rows: entry (i, k) of the result is that in row i, column i + 1 + k."""
    size, band = upper.shape
    rows = np.zeros_like(upper)
    for d in range(1, min(band, size - 1) + 1):
        rows[: size - d, d - 1] = upper[d:, band - d]
    return rows
