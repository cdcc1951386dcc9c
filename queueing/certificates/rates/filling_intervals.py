r"""Intervals of the tasks of policies that level: progressive filling and bottleneck max fairness.

*The definition.* One task of class i takes the part :math:`s_{ij}` of resource j, and a job of the class runs
at most :math:`\ell_i` tasks. These policies give every resource a level :math:`f_j > 0` and each of
:math:`x_i` jobs

.. math:: h_i = \min\bigl(\ell_i, \min_{j: s_{ij} > 0} f_j g_{ij}\bigr)
   \quad\text{tasks, where}\quad
   \sum_i s_{ij} x_i h_i = 1 \;\text{ if } f_j < \infty, \qquad \sum_i s_{ij} x_i h_i \le 1 \;\text{ else.}

* *Progressive filling*: :math:`g_{ij} = r_i`, the growth rate of a job, and :math:`f_j` is the level at which
  resource j fills up: a class stops at the first of its resources that does.
* *Bottleneck max fairness*: :math:`g_{ij} = w_i / s_{ij}`, and :math:`f_j` is the largest weighted share of a
  job on the full resource j: every class is at its limit or has the largest share of some full resource.

*The enclosure.* Let :math:`m_i = \min(\ell_i, \min_{k \ne j} f_k g_{ik})`. If resource j is full, then
:math:`f_j` solves :math:`u_j(f) = \sum_i s_{ij} x_i \min(f g_{ij}, m_i) = 1`, and if it is not, then
:math:`u_j(\infty) \le 1`. The function :math:`u_j` rises with f and with all :math:`m_i`, hence

.. math:: \inf\{f : \bar u_j(f) \ge 1\} \le f_j \le \sup\{f : \underline u_j(f) \le 1\}

if :math:`\bar u_j` is computed from upper bounds of :math:`s, x, g, m` and :math:`\underline u_j` from lower
ones. Lower bounds of the levels so give upper ones and these give lower ones, again and again; for filling,
where the level that is reached first needs no other, this ends with all levels, and in ties too. Besides,
the tasks of a class are at most what the others leave, :math:`\varphi_i \le (1 - \sum_{k \ne i} s_{kj}
\varphi_k)/s_{ij}`; and so :math:`m_i` may be replaced by that over :math:`x_i`, since of upper bounds no more
is used than :math:`m_i \ge h_i`. All of this holds for every solution of the definition: where bottleneck max
fairness has several, the intervals hold them all, and where they are narrow, there is only one. It also holds
for all counts between two bounds at once, which are given as such.

Where the bounds of one state do not meet, the levels between them are halved, and halved again. In a part
without a solution a lower bound soon exceeds an upper one; the others have bounds of their own, and the whole
has the widest of them.

*Rounding.* A level is guessed in floating point, and moved away from the guess until the inequality that
makes it a bound holds. What is compared are sums of at most n products of numbers >= 0 that are neither tiny
nor huge (:mod:`queueing.certificates.rates.levelling` refuses others): at most n + 3 roundings, each by a
factor within :math:`1 \pm 2^{-53}`; the slack allows for twice as many of twice the size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairness.machine.compiling import helper, stored
from fairness.model.problem import FloatArray
from queueing.certificates.rates import interface
from queueing.certificates.rates.interface import Rates

__all__ = ["ROUNDS", "many_tasks", "memory", "tasks"]

ULP = 2.0**-52
ROUNDS = 1000
"""Most rounds of bounds in one state: those of BMF come nearer by a factor from round to round."""
NARROW = 1e-11
"""Relative width of bounds that are not improved further."""
PIECES = 1000
"""Of the levels in one state, at most."""


class Levelled(NamedTuple):
    """A pool in the terms of its levels: lower and upper bounds."""

    shares: FloatArray  # (2, n, m)
    growth: FloatArray  # (2, n, m): not read where the share is 0
    limits: FloatArray  # (2, n)


def memory(n: int, _m: int) -> int:
    """Length of the work space of :func:`tasks`."""
    return 2 * n


@stored(interface, nogil=True, error_model="numpy")
def tasks(rates: Rates, counts: Any, lower: FloatArray, upper: FloatArray, memory: FloatArray) -> None:
    """Bounds of the tasks in one state, see :mod:`queueing.certificates.rates.interface`."""
    n = len(counts)
    jobs = memory[:n]
    for i in range(n):
        jobs[i] = counts[i]
    enclose_tasks(rates.numbers, jobs, jobs, lower, upper, ROUNDS)


@stored(nogil=True, error_model="numpy")
def many_tasks(
    numbers: FloatArray,
    fewest: FloatArray,
    most: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    rounds: int,
) -> None:
    """Fill ``lower`` and ``upper`` (n_boxes, n) with bounds of the tasks in boxes of counts, or in states."""
    for k in range(len(fewest)):
        enclose_tasks(numbers, fewest[k], most[k], lower[k], upper[k], rounds)


@helper(nogil=True, error_model="numpy")
def enclose_tasks(
    numbers: FloatArray,
    fewest: FloatArray,
    most: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    rounds: int,
) -> None:
    """Fill ``lower`` and ``upper`` (n,) with bounds of the tasks for all counts from ``fewest`` to ``most``.

    ``numbers`` are those of :func:`queueing.certificates.rates.levelling.numbers`.
    """
    n = fewest.size
    matrix = (numbers.shape[1] - 2 * n - 1) // 4
    m = matrix // n
    low, high, work = np.empty(n), np.empty(n), np.empty((5, n, m))
    pieces = PIECES if rounds >= ROUNDS else 1
    lower[:] = 0.0
    upper[:] = 0.0
    for part in range(numbers.shape[0]):
        pool = Levelled(
            numbers[part, : 2 * matrix].reshape((2, n, m)),
            numbers[part, 2 * matrix : 4 * matrix].reshape((2, n, m)),
            numbers[part, 4 * matrix : 4 * matrix + 2 * n].reshape((2, n)),
        )
        copies = numbers[part, -1]
        _enclose_pool(pool, fewest, most, low, high, rounds, pieces, work)
        for i in range(n):
            # Three roundings, of numbers >= 0.
            lower[i] = (lower[i] + copies * low[i]) * (1.0 - 2.0 * ULP)
            upper[i] = (upper[i] + copies * high[i]) * (1.0 + 2.0 * ULP)


@helper(nogil=True, error_model="numpy")
def _usage(level: float, held: FloatArray, growth: FloatArray, most: FloatArray, j: int) -> float:
    """Usage of resource j at a level, where the jobs of a class run at most ``most`` tasks each."""
    total = 0.0
    for i in range(held.shape[0]):
        if held[i, j] > 0.0:
            total += held[i, j] * min(level * growth[i, j], most[i])
    return total


@helper(nogil=True, error_model="numpy")
def _guess(held: FloatArray, growth: FloatArray, most: FloatArray, j: int) -> float:
    """About the level at which resource j is full; infinite if it never is."""
    level = 0.0
    for _ in range(held.shape[0] + 1):
        rest, slope = 1.0, 0.0
        for i in range(held.shape[0]):
            if held[i, j] > 0.0:
                if level > 0.0 and level * growth[i, j] >= most[i]:
                    rest -= held[i, j] * most[i]
                else:
                    slope += held[i, j] * growth[i, j]
        if slope == 0.0:
            return np.inf
        if not rest / slope > level:
            break
        level = rest / slope
    return level


@helper(nogil=True, error_model="numpy")
def _lower_level(held: FloatArray, growth: FloatArray, most: FloatArray, j: int) -> float:
    """A level at which resource j is not yet full; infinite if it is full at none."""
    slack = 1.0 + (2 * held.shape[0] + 8) * ULP
    level = _guess(held, growth, most, j)
    if level == np.inf:
        if _usage(np.inf, held, growth, most, j) * slack < 1.0:
            return np.inf
        level = 0.0
        for i in range(held.shape[0]):
            if held[i, j] > 0.0:
                level = max(level, most[i] / growth[i, j])
    step = 8.0 * ULP
    while step < 0.5:
        lower = level * (1.0 - step)
        if _usage(lower, held, growth, most, j) * slack < 1.0:
            return lower
        step *= 4.0
    return 0.0


@helper(nogil=True, error_model="numpy")
def _upper_level(held: FloatArray, growth: FloatArray, most: FloatArray, j: int) -> float:
    """A level at which resource j would be more than full; infinite if none is found."""
    slack = 1.0 - (2 * held.shape[0] + 8) * ULP
    level = _guess(held, growth, most, j)
    step = 8.0 * ULP
    while level < np.inf and step < 1e6:
        upper = level * (1.0 + step)
        if _usage(upper, held, growth, most, j) * slack > 1.0:
            return upper
        step *= 4.0
    return np.inf


@helper(nogil=True, error_model="numpy")
def _enclose_pool(
    pool: Levelled,
    fewest: FloatArray,
    most: FloatArray,
    low: FloatArray,
    high: FloatArray,
    rounds: int,
    pieces: int,
    work: FloatArray,
) -> None:
    """Fill ``low`` and ``high`` (n,) with bounds of the tasks in one pool.

    ``rounds`` are the most rounds of bounds, ``pieces`` the most parts of the levels;
    ``work`` (5, n, m) is work space.
    """
    shares, growth, limits = pool
    n, m = shares.shape[1:]
    level_low, level_high = work[3, 0], work[4, 0]
    stack = np.empty((pieces + 1, 2, m))
    stack[0, 0], stack[0, 1] = 0.0, np.inf
    depth, left = 1, pieces
    smallest, largest = np.full(n, np.inf), np.zeros(n)
    while depth > 0:
        depth -= 1
        left -= 1
        for j in range(m):
            level_low[j], level_high[j] = stack[depth, 0, j], stack[depth, 1, j]
        if not _contract(shares, growth, limits, fewest, most, low, high, rounds, work):
            continue
        # Levels are halved; where no solution is, bounds contradict each other.
        j, middle = _halved(shares, growth, fewest, high, level_low, level_high)
        if left < 2 or middle == 0.0 or _is_narrow(low, high):
            for i in range(n):
                smallest[i], largest[i] = min(smallest[i], low[i]), max(largest[i], high[i])
            continue
        for half in range(2):
            for k in range(m):
                stack[depth, 0, k], stack[depth, 1, k] = level_low[k], level_high[k]
            stack[depth, 1 - half, j] = middle
            depth += 1
    for i in range(n):
        low[i], high[i] = smallest[i], largest[i]


@helper(nogil=True, error_model="numpy")
def _is_narrow(low: FloatArray, high: FloatArray) -> bool:
    widest = 0.0
    for i in range(len(low)):
        widest = max(widest, (high[i] - low[i]) - NARROW * high[i])
    return widest <= 0.0


@helper(nogil=True, error_model="numpy")
def _halved(
    shares: FloatArray,
    growth: FloatArray,
    counts: FloatArray,
    high: FloatArray,
    level_low: FloatArray,
    level_high: FloatArray,
) -> tuple[int, float]:
    """The resource whose level is known worst, of those that may stop a class, and where to halve; 0: no."""
    worst, ratio = 0, 1.0 + NARROW
    for j in range(len(level_low)):
        stops = False
        for i in range(len(counts)):
            if shares[0, i, j] > 0.0 and counts[i] > 0.0:
                stops = stops or level_low[j] * growth[0, i, j] * counts[i] < high[i]
        if stops and level_high[j] > ratio * level_low[j]:
            worst, ratio = j, level_high[j] / level_low[j] if level_low[j] > 0.0 else np.inf
    if ratio == 1.0 + NARROW or level_low[worst] == 0.0:
        return worst, 0.0
    if ratio > 4.0:
        return worst, 2.0 * level_low[worst]
    return worst, level_low[worst] * math.sqrt(ratio)


@helper(nogil=True, error_model="numpy")
def _contract(
    shares: FloatArray,
    growth: FloatArray,
    limits: FloatArray,
    fewest: FloatArray,
    most: FloatArray,
    low: FloatArray,
    high: FloatArray,
    rounds: int,
    work: FloatArray,
) -> bool:
    """Bounds of the tasks if the levels lie between those in ``work``, which are improved; False if not."""
    n, m = shares.shape[1:]
    held_low, held_high, job_most = work[0], work[1], work[2, :, 0]
    level_low, level_high = work[3, 0], work[4, 0]
    wide = 1.0 + 8.0 * ULP
    narrow = 1.0 - 8.0 * ULP
    for i in range(n):
        low[i] = 0.0
        high[i] = most[i] * limits[1, i] * wide if most[i] > 0.0 else 0.0
        for j in range(m):
            held_low[i, j] = shares[0, i, j] * fewest[i]
            held_high[i, j] = shares[1, i, j] * most[i]
            if shares[0, i, j] > 0.0:
                high[i] = min(high[i], wide / shares[0, i, j])
    for _ in range(rounds):
        moved = 0.0
        for j in range(m):
            for i in range(n):
                job_most[i] = limits[1, i]
                if fewest[i] > 0.0:
                    job_most[i] = min(job_most[i], high[i] / fewest[i] * wide)
                for k in range(m):
                    if k != j and shares[0, i, k] > 0.0:
                        job_most[i] = min(job_most[i], level_high[k] * growth[1, i, k] * wide)
            new = _lower_level(held_high, growth[1], job_most, j)
            if new > level_low[j]:
                moved = max(moved, 1.0 if new == np.inf else (new - level_low[j]) / new)
                level_low[j] = new
        for j in range(m):
            for i in range(n):
                job_most[i] = limits[0, i]
                for k in range(m):
                    if k != j and shares[0, i, k] > 0.0:
                        job_most[i] = min(job_most[i], level_low[k] * growth[0, i, k] * narrow)
            new = _upper_level(held_low, growth[0], job_most, j)
            if new < level_high[j]:
                moved = max(moved, 1.0 if level_high[j] == np.inf else (level_high[j] - new) / level_high[j])
                level_high[j] = new
        for i in range(n):
            smallest, largest = limits[0, i], limits[1, i]
            for j in range(m):
                if shares[0, i, j] > 0.0:
                    smallest = min(smallest, level_low[j] * growth[0, i, j])
                    largest = min(largest, level_high[j] * growth[1, i, j])
            if fewest[i] > 0.0:
                low[i] = max(low[i], fewest[i] * smallest * narrow)
            if most[i] > 0.0:
                high[i] = min(high[i], most[i] * largest * wide)
        for i in range(n):
            for j in range(m):
                if shares[0, i, j] > 0.0:
                    others = 0.0
                    for k in range(n):
                        if k != i:
                            others += shares[0, k, j] * low[k]
                    left = max(1.0 - others * (1.0 - (2 * n + 4) * ULP), 0.0) / shares[0, i, j] * wide
                    if left < high[i]:
                        moved = max(moved, (high[i] - left) / high[i])
                        high[i] = left
        for j in range(m):
            if level_low[j] > level_high[j]:
                return False
        for i in range(n):
            if low[i] > high[i]:
                return False
        if moved < 4.0 * ULP:
            break
    return True
