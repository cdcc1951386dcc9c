r"""Weighted sums of the stationary measure by p-adic lifting, to as many digits as their fractions need.

Write the balance equations of :mod:`queueing.exact_laws.balance_equations` with :math:`z(0) = 1` as
:math:`Az = b`, and A, b and z to the base p: :math:`A = \sum_l A_lp^l`, :math:`z = \sum_k z_kp^k`. The digits
of z follow one after the other [1]_,

.. math::

   t_k = c_k + b_k - \sum_{l \ge 1} A_l z_{k-l}, \qquad z_k = A_0^{-1}t_k \bmod p, \qquad
   c_{k+1} = (t_k - A_0z_k)/p ,

each by one solution with the same factors of :math:`A_0` modulo p: :math:`2nb` multiplications for n states
and half-width b, and a few more for :math:`Az_k`. Of the digits only the weighted sums :math:`\sum_x w_xz(x)`
are kept, and where the whole law is asked for the digits themselves. The prime is small enough for all
numbers to stay below :math:`2^{63}`.

From :math:`r = \sum_x w_xz(x)` modulo :math:`p^k` the fraction :math:`r = N/D` is found as the short vector
of the lattice of all :math:`(n, d)` with :math:`n \equiv rd`. If N and D are known to be at most
:math:`\bar N` and :math:`\bar D` (inequality (2) of the equations) and :math:`p^k > \bar N\bar D`, no other
fraction within these bounds has the same residue: :math:`nD \equiv Nd` and both products are below
:math:`p^k`, so they are equal. So what is returned is proved; nothing is left to chance.

References
----------
.. [1] J. D. Dixon, "Exact solution of linear equations using p-adic expansions", Numerische Mathematik 40,
   1982. DOI 10.1007/BF01459082.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import stored
from fairness.machine.memory import require_memory
from fairness.machine.work import TOO_LONG, Task
from queueing.exact_laws import modular
from queueing.exact_laws.balance_equations import Equations, Integers
from queueing.exact_laws.modular import Residues, digits, factorise, inner, primes, residues, rows_of
from queueing.exact_laws.reconstruction import fraction, from_digits

__all__ = ["Sums", "require_feasible", "solve_sums"]

SPARE = 64
"""Bits beyond what the bounds need, so that the short vector stands out."""

SAFE = 2**62
"""What the products that a step adds up may come to; the carries add hardly anything."""

STEP = 2e-9
"""Guess of the seconds that a product of residues takes."""

LEAST_BITS = 4
"""Bits per state that a denominator has at least, as a rule."""

STATE_BYTES = 1500.0
"""Bytes that the rates of a state take as fractions and integers."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Weighted sums of an unnormalised stationary measure.

    Attributes
    ----------
    values : list of int
        One per vector of weights.
    measure : object ndarray of int, (n_states,), or None
        The measure z itself, times the same number.
    n_bits : int
        Bits of the p-adic expansion that were computed.
    bound_bits : int
        Bits of the bound that it had to exceed.
    """

    values: list[int]
    measure: Integers | None
    n_bits: int
    bound_bits: int


def require_feasible(name: str, states: float, band: float, remedy: str) -> None:
    """Refuse so many states, neighbours so far apart, if they take too much memory or time."""
    what = f"exact solution of {name} states"
    steps = 2 * LEAST_BITS * states / modular.BITS
    seconds = 2 * STEP * states * band * steps
    if seconds > TOO_LONG:
        # Entering the task refuses it; a shorter one is announced when more is known.
        with Task(what, steps, "digits", seconds, remedy):
            pass
    require_memory(states * (STATE_BYTES + 16.0 * band), what, remedy)


def solve_sums(equations: Equations, weights: list[Integers], *, keep: bool = False) -> Sums:
    """Sums of the measure with integer weights >= 0, times a common number.

    Parameters
    ----------
    equations : Equations
    weights : list of object ndarray of int, (n_states,)
        The first bounds the others up to factors, it is that of the total.
    keep : bool
        Compute the measure of every state, too.
    """
    if equations.n_states == 1:
        return Sums([int(w[0]) for w in weights], np.ones(1, dtype=object) if keep else None, 0, 0)
    top, bottom = equations.largest_sum(np.max(np.stack(weights), axis=0)), equations.largest_tree
    # A prime that divides a leading minor is passed over; hardly any does.
    pairs = ((p, _factors(equations, p)) for p in primes(2 ** _prime_bits(equations)))
    p, found = next((p, factors) for p, factors in pairs if factors is not None)
    bound_bits = top.bit_length() + bottom.bit_length()
    steps = math.ceil((bound_bits + SPARE) / math.log2(p)) + 1
    rows, states = _lifted(equations, weights, found, p, steps, keep)
    modulus = p**steps
    sums = [(from_digits(row, p) + int(w[0])) % modulus for row, w in zip(rows, weights, strict=True)]
    # z(0) = 1, and then the other states.
    values = [*sums, 1, *(from_digits(column, p) for column in states)] if keep else sums
    whole = _cleared(values, modulus, top, bottom)
    divisor = math.gcd(*whole)
    whole = [value // divisor for value in whole]
    measure = np.array(whole[len(sums) :], dtype=object) if keep else None
    return Sums(whole[: len(sums)], measure, modulus.bit_length() - 1, bound_bits)


def _prime_bits(equations: Equations) -> int:
    """Bits of the prime: as many as leave room for the products that a step adds up."""
    longest = int(max(equations.out)).bit_length()
    for bits in range(modular.BITS, 8, -1):
        n_digits = math.ceil(longest / (bits - 1))
        if n_digits * (len(equations.sources) + 1) * 4**bits <= SAFE:
            break
    return bits


def _cleared(values: list[int], modulus: int, top: int, bottom: int) -> list[int]:
    """Fractions from their residues, all times their common denominator."""
    common, k = 1, 0
    whole: list[int] = []
    while k < len(values):
        product = common * values[k] % modulus
        # The value is n/d with d <= bottom and common <= bottom: product * d and common * n agree modulo the
        # modulus, and both are smaller if this holds; so product = common * n/d.
        if product * bottom < modulus:
            whole.append(product)
            k += 1
        else:
            _, denominator = fraction(values[k], modulus, top, bottom)
            if common % denominator == 0:
                raise ArithmeticError("a sum is not within its bounds")
            common, k, whole = math.lcm(common, denominator), 0, []
    return whole


class _Factors(NamedTuple):
    """Factors of the equations of all states but the empty one, modulo a prime, and the equations' digits."""

    lower: Residues
    rows: Residues
    inverses: Residues
    places: NDArray[np.int64]  # (n_lines, n): whose rate leads here; n for none
    rates: Residues  # (n_digits, n_lines + 1, n): the last row is the rate out
    right: Residues  # (n_digits, n)


def _factors(equations: Equations, p: int) -> _Factors | None:
    """Factors modulo a prime; None if a pivot is 0."""
    size, n_lines, band = equations.n_states - 1, len(equations.sources), equations.band
    sources, speeds = equations.sources[:, 1:], equations.speeds[:, 1:]
    there = sources > 0
    places = np.where(there, sources - 1, size)
    rates = np.zeros((n_lines + 1, size), dtype=object)
    rates[-1] = equations.out[1:]
    rates[:-1][there] = speeds[there]
    right = np.where(sources == 0, speeds, 0).sum(axis=0)
    lower, upper = (np.zeros((size, band), dtype=np.uint32) for _ in range(2))
    for row in range(n_lines):
        columns = places[row]
        here = np.flatnonzero(columns < size)
        entries, far = residues(-rates[row, here], p), here - columns[here]
        below = far > 0
        lower[here[below], band - far[below]] = entries[below]
        upper[columns[here[~below]], band + far[~below]] = entries[~below]
    diagonal, inverses = residues(rates[-1], p), np.zeros(size, dtype=np.uint32)
    if not factorise(lower, upper, diagonal, inverses, p):
        return None
    together = digits(np.concatenate([rates, right[None]]), p)
    split, ends = np.ascontiguousarray(together[:, :-1]), np.ascontiguousarray(together[:, -1])
    # The kernel multiplies by what it adds: L and U are kept with their signs changed.
    return _Factors(_negative(lower, p), _negative(rows_of(upper), p), inverses, places, split, ends)


def _negative(values: Residues, p: int) -> Residues:
    return np.where(values > 0, np.uint32(p) - values, np.uint32(0)).astype(np.uint32)


def _lifted(
    equations: Equations, weights: list[Integers], factors: _Factors, p: int, steps: int, keep: bool
) -> tuple[list[list[int]], list[list[int]]]:
    """Digits to the base p, not reduced, of every sum without the empty state; and of the states, if kept."""
    n_digits, lines, size = factors.rates.shape
    split = digits(np.stack([w[1:] for w in weights]), 2**modular.BITS)  # (limbs, sums, n)
    limbs, n_sums = split.shape[:2]
    what = f"exact solution of {equations.name} states"
    kept = steps if keep else 0
    require_memory(4.0 * kept * size * 2, what, f"{equations.remedy}, or leave out distribution")
    work_per_step = size * (2 * equations.band + n_digits * lines + 2 * limbs * n_sums)
    history = np.zeros((n_digits, size + 1), dtype=np.uint32)
    carry = np.zeros(size, dtype=np.int64)
    states = np.zeros((kept, size), dtype=np.uint32)
    flat = np.ascontiguousarray(split.reshape(limbs * n_sums, size))
    rows: list[list[int]] = [[] for _ in range(n_sums)]
    chunk = max(1, min(steps, int(2e8 / work_per_step)))
    with Task(what, steps, "digits", STEP * work_per_step * steps, equations.remedy) as work:
        for first in range(0, steps, chunk):
            count = min(chunk, steps - first)
            sums = np.zeros((count, limbs * n_sums, 2), dtype=np.uint64)
            part = states[first : first + count]
            _lift(factors, (history, carry), flat, sums, part, first, p, pow(p, -1, 2**64))
            whole = sums[..., 0].astype(object) + (sums[..., 1].astype(object) << 32)
            for f in range(n_sums):
                parts = (whole[:, f + limb * n_sums] << (modular.BITS * limb) for limb in range(limbs))
                rows[f] += sum(parts, np.zeros(count, dtype=object)).tolist()
            work.advance(count)
    return rows, states.T.tolist()


@stored(modular, nogil=True)
def _lift(
    factors: _Factors,
    carried: tuple[Residues, NDArray[np.int64]],
    weights: Residues,
    sums: NDArray[np.uint64],
    states: Residues,
    first: int,
    modulus: int,
    odd_inverse: np.uint64,
) -> None:
    """The next digits of z; the last digits and the carry are carried on. See the module docstring.

    ``odd_inverse`` is the inverse of p modulo 2^64, by which numbers are divided that p divides.
    """
    lower, rows, inverses, places, rates, right = factors
    history, carry = carried
    p, p_signed = np.uint64(modulus), np.int64(modulus)
    n_digits, lines, size = rates.shape
    band = lower.shape[1]
    low = np.uint64(2**32 - 1)
    for step in range(len(sums)):
        k = first + step
        for y in range(size):
            if k < n_digits:
                carry[y] += np.int64(right[k, y])
            for digit in range(1, min(n_digits, k + 1)):
                old = history[(k - digit) % n_digits]
                carry[y] -= np.int64(rates[digit, lines - 1, y]) * np.int64(old[y])
                for row in range(lines - 1):
                    carry[y] += np.int64(rates[digit, row, y]) * np.int64(old[places[row, y]])
        z = history[k % n_digits]
        for y in range(size):
            start = max(0, y - band)
            known = inner(lower[y, band - (y - start) :], z[start:y], p)
            z[y] = (np.uint64(carry[y] % p_signed) + known) % p
        for y in range(size - 1, -1, -1):
            end = min(size, y + 1 + band)
            known = inner(rows[y, : end - y - 1], z[y + 1 : end], p)
            z[y] = (np.uint64(z[y]) + known) % p * np.uint64(inverses[y]) % p
        for y in range(size):
            left = carry[y] - np.int64(rates[0, lines - 1, y]) * np.int64(z[y])
            for row in range(lines - 1):
                left += np.int64(rates[0, row, y]) * np.int64(z[places[row, y]])
            carry[y] = np.int64(np.uint64(left) * odd_inverse)
        for f in range(len(weights)):
            lows, highs, weight = np.uint64(0), np.uint64(0), weights[f]
            for y in range(size):
                product = np.uint64(weight[y]) * np.uint64(z[y])
                lows += product & low
                highs += product >> np.uint64(32)
            sums[step, f, 0], sums[step, f, 1] = lows, highs
        if len(states) > 0:
            for y in range(size):
                states[step, y] = z[y]
