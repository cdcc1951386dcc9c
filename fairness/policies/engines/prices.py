r"""Prices for a batch of states: Newton on the active set, from state to state.

In units where every capacity is 1, with :math:`W_i = x_i w_i` and :math:`L_i = x_i \ell_i`, weighted
:math:`\alpha`-fair tasks are a function of one price per resource,

.. math:: \varphi_i(p) = \min\bigl(L_i, W_i (\textstyle\sum_j a_{ij} p_j)^{-1/\alpha}\bigr), \qquad
   0 \le p_j \perp 1 - \sum_i \varphi_i(p) a_{ij} \ge 0 .

A state (one vector of counts) is solved by Newton's method on the usages of the priced resources, which must
be 1: a price that would turn negative leaves the set, a resource that overflows enters it. It starts from the
prices of the previous state and, where that does not certify, from an interior point
(:mod:`fairness.policies.engines.interior`). With bills :math:`e = A p`, the Hessian of the dual is
:math:`A^\top \mathrm{diag}(\varphi_i/(\alpha e_i)) A` over the classes below their limits. It is singular
when resources are redundant; a dependent one then keeps its price.

Tasks are exact functions of the prices, so all that can be wrong with a state is the excess over a
capacity, or the slack of a resource with a price: that is its residual.
"""

from __future__ import annotations

import numba
import numpy as np

from fairness.machine import kernels
from fairness.machine.compiling import stored
from fairness.machine.kernels import IntArray, Shares, entry, nonzeros, span
from fairness.model.problem import FloatArray
from fairness.policies.engines import filling, interior
from fairness.policies.engines.interior import BLOCK, COLUMNS, ROWS, factorise, gram, interior_point, solve

__all__ = ["CERTIFIED", "price_kernel"]

CERTIFIED = 1e-10
"""Largest residual (excess over a capacity, or slack of a priced resource) of a solved state."""

_SHARP = 1e-13  # Newton stops here: errors are squared, so the step that arrives goes on to rounding errors
_STEPS = 25
_ANEW = 256  # states after which prices start anew: a batch has the tasks of its parts of so many states


@numba.njit(nogil=True, error_model="numpy")
def _tasks_at(cost: float, weight: float, cap: float, alpha: float) -> float:
    if not cost > 0:
        return cap
    if alpha == 1.0:
        return min(cap, weight / cost)
    if alpha == 2.0:
        return min(cap, weight / np.sqrt(cost))
    return min(cap, weight * cost ** (-1.0 / alpha))


@numba.njit(nogil=True, error_model="numpy")
def _price_newcomers(
    shares: Shares, users: IntArray, alpha: float, rows: FloatArray, columns: FloatArray
) -> None:
    """A class whose resources are all free gets what is left of one, at the price that stops it there."""
    weight, cap = rows[0], rows[1]
    p, load = columns[0], columns[1]
    load[:] = -1.0
    free = 0
    for i in users:
        cost = 0.0
        first, last = span(shares, i)
        for e in range(first, last):
            j, a = entry(shares, i, e)
            cost += a * p[j]
        value = _tasks_at(cost, weight[i], cap[i], alpha)
        if value < np.inf:
            for e in range(first, last):
                j, a = entry(shares, i, e)
                load[j] += a * value
        else:
            free += 1
    if free == 0:
        return
    for i in users:
        cost, room, scarce = 0.0, np.inf, 0
        first, last = span(shares, i)
        for e in range(first, last):
            j, a = entry(shares, i, e)
            cost += a * p[j]
            if a > 0 and -load[j] < room * a:
                room, scarce = -load[j] / a, e
        if cost > 0 or cap[i] < np.inf or not room > 0:
            continue
        j, a = entry(shares, i, scarce)
        p[j] = (weight[i] / room) ** alpha / a
        for e in range(first, last):
            j, a = entry(shares, i, e)
            load[j] += a * room


@numba.njit(nogil=True, error_model="numpy")
def _newton(
    shares: Shares, users: IntArray, alpha: float, rows: FloatArray, columns: FloatArray, matrix: FloatArray
) -> float:
    """Improve the prices in ``columns[0]`` and set the tasks; return the residual, infinite for failure."""
    m = columns.shape[1]
    weight, cap, phi, factor = rows[0], rows[1], rows[2], rows[3]
    p, load, active, step = columns[0], columns[1], columns[2], columns[3]
    for j in range(m):
        active[j] = 1.0 if p[j] > 0 else 0.0
    kept = np.empty(m, dtype=np.int64)
    packed, right = np.empty(m * m), np.empty(m)
    before = np.inf
    blocking = -1
    for _ in range(_STEPS):
        load[:] = -1.0
        for i in users:
            cost = 0.0
            first, last = span(shares, i)
            for e in range(first, last):
                j, a = entry(shares, i, e)
                cost += a * p[j]
            value = _tasks_at(cost, weight[i], cap[i], alpha)
            if not value < np.inf:
                return np.inf
            phi[i] = value
            factor[i] = np.sqrt(value / (alpha * cost)) if value < cap[i] else 0.0
            for e in range(first, last):
                j, a = entry(shares, i, e)
                load[j] += a * value
        residual = 0.0
        for j in range(m):
            violation = abs(load[j]) if active[j] > 0 else load[j]
            residual = max(residual, violation)
            if load[j] > _SHARP:
                active[j] = 1.0
        # The second way out is the level of rounding errors.
        if residual <= _SHARP or (residual <= CERTIFIED and residual >= 0.5 * before):
            return residual
        before = residual
        again = True
        while again:
            gram(shares, users, factor, active, matrix)
            k = 0
            for j in range(m):
                step[j] = 0.0
                # A priced resource that only classes at their limits use keeps its price.
                if matrix[j, j] > 0:
                    kept[k] = j
                    k += 1
            small = packed[: k * k].reshape((k, k))
            for r in range(k):
                right[r] = load[kept[r]]
                for c in range(r + 1):
                    small[r, c] = matrix[kept[r], kept[c]]
            factorise(small)
            solve(small, right[:k])
            # A resource overflows but needs no price, when the others' new prices already mend it.
            again = False
            for r in range(k):
                j = kept[r]
                step[j] = right[r]
                if p[j] == 0 and step[j] < 0:
                    active[j] = 0.0
                    again = True
        # The step ends where a price reaches 0: what is beyond was computed for a set that has changed.
        length = 1.0
        for j in range(m):
            if p[j] > 0 and p[j] + length * step[j] < 0:
                length = p[j] / -step[j]
                blocking = j
        for j in range(m):
            p[j] += length * step[j]
            if not p[j] > 0 or (length < 1 and j == blocking):
                p[j] = 0.0
                active[j] = 0.0
        if length < 1:
            before = np.inf
    return np.inf


@stored(kernels, filling, interior, nogil=True, error_model="numpy")
def _solve_states(
    shares: Shares,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    alpha: float,
    prices: FloatArray,
    residuals: FloatArray,
) -> None:
    n_states, n = counts.shape
    m = prices.size
    present = np.empty(n, dtype=np.int64)
    rows = np.empty((ROWS, n))
    columns = np.zeros((COLUMNS, m))
    matrix = np.empty((m, m))
    weight, cap, phi, p = rows[0], rows[1], rows[2], columns[0]
    unit = 1.0
    warm = False
    for j in range(m):
        p[j] = prices[j]
        warm = warm or p[j] > 0
    for state in range(n_states):
        number = 0
        for i in range(n):
            x = counts[state, i]
            # A class without demand is bounded by its limit alone.
            tasks[state, i] = x * limits[i] if x > 0 and growth[i] == np.inf else 0.0
            if x > 0 and growth[i] < np.inf:
                present[number] = i
                number += 1
                weight[i] = x * growth[i] / unit
                cap[i] = x * limits[i]
        users = present[:number]
        residual = 0.0 if number == 0 else np.inf
        for cold in range(0 if warm and (state == 0 or state % _ANEW > 0) else 1, 2):
            if residual <= CERTIFIED:
                break
            if cold == 1:
                for i in users:
                    weight[i] = counts[state, i] * growth[i]
                unit = interior_point(shares, users, alpha, rows, columns, matrix)
            else:
                _price_newcomers(shares, users, alpha, rows, columns)
            residual = _newton(shares, users, alpha, rows, columns, matrix)
        residuals[state] = residual
        warm = number > 0 and residual <= CERTIFIED
        for i in users:
            tasks[state, i] = phi[i]
    for j in range(m):
        prices[j] = p[j] * unit**alpha if warm else 0.0


def price_kernel(
    task_shares: FloatArray,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    alpha: float,
    prices: FloatArray,
    residuals: FloatArray,
) -> None:
    """Fill ``tasks`` (n_states, n_classes), ``residuals`` (n_states,) and the ``prices`` of the last state.

    It starts from the ``prices`` given, or from an interior point where all are 0. ``growth`` (n_classes,)
    holds the weights, infinite for classes without demand. Capacities are 1. Where the residual of a state
    exceeds :data:`CERTIFIED` its tasks are not a solution.
    """
    shares = task_shares if prices.size <= BLOCK else nonzeros(task_shares)
    _solve_states(shares, limits, counts, tasks, growth, alpha, prices, residuals)
