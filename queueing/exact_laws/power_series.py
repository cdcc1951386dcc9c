r"""The stationary measure as a power series in the load, and rational functions from series, modulo a prime.

Let arrivals have the rates :math:`u\lambda_i`. With the integer rates of
:mod:`queueing.exact_laws.balance_equations` at :math:`u = 1`, births times u, and :math:`z(0) = 1`, the
balance equation of state y is, coefficient by coefficient of :math:`z = \sum_k z_ku^k`,

.. math:: D_y\,z_k(y) = \sum_i m_{y+e_i,y}\,z_k(y + e_i)
   + \sum_i m_{y-e_i,y}\,z_{k-1}(y - e_i) - U_y\,z_{k-1}(y)

with the total integer death and birth rates :math:`D_y` and :math:`U_y`. From the largest states down each
coefficient costs :math:`2n + 2` multiplications per state: no linear system is solved. This is the expansion
for light traffic.

A rational function whose numerator and denominator have degrees below N is determined by the first 2N
coefficients of its series: the shortest recurrence that they satisfy, found by the algorithm of Berlekamp and
Massey [1]_, is the denominator.

References
----------
.. [1] J. L. Massey, "Shift-register synthesis and BCH decoding", IEEE Trans. Inf. Theory 15(1), 1969.
   DOI 10.1109/TIT.1969.1054260.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import stored
from queueing.exact_laws import modular
from queueing.exact_laws.modular import Residues, inner, inverse

__all__ = ["product", "quotient", "recurrence", "weighted_series"]


@stored(modular, nogil=True)
def weighted_series(
    sources: NDArray[np.int64],
    rates: Residues,
    leaving: Residues,
    deaths: Residues,
    levels: NDArray[np.int64],
    weights: Residues,
    series: Residues,
    modulus: int,
) -> None:
    """Fill ``series`` (n_sums, n_terms) with the coefficients of weighted sums of the measure.

    Parameters
    ----------
    sources : ndarray of int64, (2 n_classes, n_states)
        For each state those with one job less (n_classes rows) and one job more; n_states for none. The
        states with most jobs come first, the empty one last.
    rates : ndarray of uint32, (2 n_classes, n_states)
        Rates from there.
    leaving : ndarray of uint32, (n_states,)
        Minus the total birth rate.
    deaths : ndarray of uint32, (n_states - 1,)
        Inverses of the total death rates, without the empty state.
    levels : ndarray of int64
        Where states of one number of jobs end and those of one job less begin, from 0 to the empty state.
    weights : ndarray of uint32, (n_sums, n_states)
    series : ndarray of uint32, (n_sums, n_terms)
    modulus : int
    """
    p = np.uint64(modulus)
    lines, size = sources.shape
    half = lines // 2
    before, now = np.zeros(size + 1, dtype=np.uint32), np.zeros(size + 1, dtype=np.uint32)
    now[size - 1] = 1
    for k in range(series.shape[1]):
        if k > 0:
            before, now = now, before
            now[size - 1] = 0
            # A state with j jobs enters at order j.
            for level in range(max(0, len(levels) - 1 - k), len(levels) - 1):
                for y in range(levels[level], levels[level + 1]):
                    total = np.uint64(leaving[y]) * np.uint64(before[y])
                    for row in range(half):
                        total += np.uint64(rates[row, y]) * np.uint64(before[sources[row, y]])
                    for row in range(half, lines):
                        total += np.uint64(rates[row, y]) * np.uint64(now[sources[row, y]])
                    now[y] = total % p * np.uint64(deaths[y]) % p
        for f in range(len(weights)):
            series[f, k] = inner(weights[f], now[:size], p)


@stored(modular, nogil=True)
def quotient(top: Residues, bottom: Residues, modulus: int) -> Residues:
    """Series of a quotient of two series; the second does not begin with 0."""
    p, size = np.uint64(modulus), len(top)
    result, turned = np.zeros(size, dtype=np.uint32), bottom[::-1].copy()
    first = inverse(np.uint64(bottom[0]), p)
    for k in range(size):
        known = inner(result[:k], turned[size - 1 - k : size - 1], p)
        result[k] = (np.uint64(top[k]) + p - known) % p * first % p
    return result


@stored(modular, nogil=True)
def product(series: Residues, polynomial: Residues, modulus: int) -> Residues:
    """The first coefficients of a series times a polynomial, as many as the series has."""
    p, size, width = np.uint64(modulus), len(series), len(polynomial)
    result, turned = np.zeros(size, dtype=np.uint32), polynomial[::-1].copy()
    for k in range(size):
        low = max(0, k + 1 - width)
        result[k] = inner(series[low : k + 1], turned[width - 1 - (k - low) :], p)
    return result


@stored(modular, nogil=True)
def recurrence(series: Residues, modulus: int) -> tuple[Residues, int]:
    """The shortest recurrence of a sequence: coefficients c with c[0] = 1, and its length.

    sum_j c[j] series[k - j] = 0 for all k >= length; the coefficients beyond the length are 0.
    """
    p, size = np.uint64(modulus), len(series)
    current, other = np.zeros(size + 1, dtype=np.uint32), np.zeros(size + 1, dtype=np.uint32)
    kept, turned = np.zeros(size + 1, dtype=np.uint32), series[::-1].copy()
    current[0], other[0] = 1, 1
    length, shift, last = 0, 1, np.uint64(1)
    for k in range(size):
        error = inner(current[: length + 1], turned[size - 1 - k : size - k + length], p)
        if error == 0:
            shift += 1
            continue
        factor = p - error * inverse(last, p) % p
        longer = 2 * length <= k
        if longer:
            for j in range(size + 1):
                kept[j] = current[j]
        for j in range(min(k + 2, size + 1) - shift):
            if other[j] > 0:
                current[j + shift] = (np.uint64(current[j + shift]) + factor * np.uint64(other[j])) % p
        if longer:
            length, shift, last = k + 1 - length, 1, error
            kept, other = other, kept
        else:
            shift += 1
    return current[: length + 1], length
