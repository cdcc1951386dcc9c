r"""Prices for a batch of states: Newton on the active set, from state to state.

In units where every capacity is 1, with :math:`W_i = x_i w_i` and :math:`L_i = x_i \ell_i`, weighted
:math:`\alpha`-fair tasks are a function of one price per resource,

.. math:: \varphi_i(p) = \min\bigl(L_i, W_i (\textstyle\sum_j a_{ij} p_j)^{-1/\alpha}\bigr), \qquad
   0 \le p_j \perp 1 - \sum_i \varphi_i(p) a_{ij} \ge 0 .

A state (one vector of counts) is solved by Newton's method on the usages of the priced resources, which must
be 1: a price that would turn negative leaves the set, a resource that overflows enters it. It starts from the
prices of the previous state and, where that does not certify, from an interior point
(:mod:`fairness.policies.engines.interior`). With bills :math:`e = A p`, the Hessian of the dual is
:math:`A^\top \mathrm{diag}(\varphi_i/(\alpha e_i)) A` over the classes below their limits.

Steps are those of the logarithms of usages :math:`u_j` in the logarithms of prices, which one resource by
itself makes linear: :math:`u_j \log u_j` takes the place of :math:`u_j - 1`, and a price is multiplied by
:math:`\exp(\Delta p_j/p_j)`, unless it would more than double or vanish. Prices of a state nearby are then
two or three steps away.

The Hessian is singular where the users of a resource pay for others in the same proportions. Such a resource
keeps its price while its load is theirs in these proportions; where it is not, they cannot all be full, and
prices are exchanged between them, which no class notices, until one of them is 0.

Tasks are exact functions of the prices, so all that can be wrong with a state is the excess over a
capacity, or the slack of a resource with a price: that is its residual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.filling import floats
from fairness.machine import kernels
from fairness.machine.compiling import COUNTED, inlined, part, stored
from fairness.machine.kernels import exp, log
from fairness.model import nonzeros
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray
from fairness.policies.engines import interior
from fairness.policies.engines.interior import COLUMNS, ROWS, factorise, gram, interior_point, solve

__all__ = ["CERTIFIED", "price_kernel", "solve_states", "tasks_at"]

CERTIFIED = 1e-10
"""Largest residual (excess over a capacity, or slack of a priced resource) of a solved state."""

STEPS = 20
"""Microseconds per entry of the task shares and state, interpreted."""

_SHARP = 1e-13  # Newton stops here: errors are squared, so the step that arrives goes on to rounding errors
_SLACK = 0.1  # usage of a resource so far below its capacity that its price may well be 0
_LEAST = 0.1  # part of a resource with which a class begins that finds it full, though free
_CONTRADICTION = 1e-9  # loads of dependent resources differ by less than this only by rounding
_STEPS = 25
_ANEW = 256  # states after which prices start anew: a batch has the tasks of its parts of so many states


class Space(NamedTuple):
    """Work space over the classes and resources of one problem."""

    rows: FloatArray  # (ROWS, n): weights, limits, tasks, roots of their slopes; and of the interior point
    columns: FloatArray  # (COLUMNS, m): prices, loads less 1, active resources, steps; and more
    matrix: FloatArray  # (m, m): the Hessian
    packed: FloatArray  # (m * m,): its factor on the active resources
    right: FloatArray  # (m,): the right side
    forward: FloatArray  # (m,): the same in the middle of a solution
    kept: IntArray  # (m,): active resources


@part
def tasks_at(cost: float, weight: float, cap: float, alpha: float) -> float:
    """Tasks of a class at the cost of one, up to its limit."""
    if not cost > 0:
        return cap
    if alpha == 1.0:
        return min(cap, weight / cost)
    if alpha == 2.0:
        return min(cap, weight / np.sqrt(cost))
    return min(cap, weight * cost ** (-1.0 / alpha))


@inlined
def _bill(shares: Nonzeros, i: int, prices: FloatArray) -> float:
    """What a task of class i costs."""
    cost = 0.0
    for e in range(shares.start[i], shares.start[i + 1]):
        j, a = shares.resource[e], shares.share[e]
        cost += a * prices[j]
    return cost


@part
def _revise_prices(
    shares: Nonzeros, users: IntArray, alpha: float, rows: FloatArray, columns: FloatArray
) -> None:
    """What nobody uses any more is free; who finds everything free gets what is left of some resource.

    It is given the price that stops the class there.
    """
    weight, cap = rows[0], rows[1]
    p, load = columns[0], columns[1]
    load[:] = 0.0
    for i in users:
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            load[j] += a
    for j in range(p.size):
        if load[j] == 0:
            p[j] = 0.0
    free = False
    for i in users:
        free = free or (cap[i] == np.inf and _bill(shares, i, p) == 0)
    if not free:
        return
    load[:] = -1.0
    for i in users:
        value = tasks_at(_bill(shares, i, p), weight[i], cap[i], alpha)
        if value < np.inf:
            for e in range(shares.start[i], shares.start[i + 1]):
                j, a = shares.resource[e], shares.share[e]
                load[j] += a * value
    for i in users:
        cost, room, scarce = _bill(shares, i, p), np.inf, 0
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            if a > 0 and -load[j] < room * a:
                room, scarce = -load[j] / a, e
        if cost > 0 or cap[i] < np.inf:
            continue
        # Where nothing is left, others will have to leave some: Newton's method finds out how much.
        room = max(room, _LEAST / shares.share[scarce])
        j, a = shares.resource[scarce], shares.share[scarce]
        p[j] = (weight[i] / room) ** alpha / a
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            load[j] += a * room


@part
def _newton(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> float:
    """Improve the prices and set the tasks; return the residual, infinite for failure."""
    p, load, active = space.columns[0], space.columns[1], space.columns[2]
    for j in range(p.size):
        active[j] = 1.0 if p[j] > 0 else 0.0
    before = np.inf
    blocking, lower = -1, 0.0
    for _ in range(_STEPS):
        if not _use(shares, users, alpha, space):
            # Who pays for nothing else needs the price that the last step took away, if only a lower one.
            if blocking >= 0 and p[blocking] == 0 and lower > 0:
                p[blocking] = lower
            else:
                _revise_prices(shares, users, alpha, space.rows, space.columns)
            for j in range(p.size):
                active[j] = 1.0 if p[j] > 0 else 0.0
            before, blocking = np.inf, -1
            continue
        residual = 0.0
        for j in range(p.size):
            violation = abs(load[j]) if active[j] > 0 else load[j]
            residual = max(residual, violation)
            if load[j] > _SHARP:
                active[j] = 1.0
        # The second way out is the level of rounding errors.
        if residual <= _SHARP or (residual <= CERTIFIED and residual >= 0.5 * before):
            return residual
        exchanged = _find_step(shares, users, space)
        length, blocking, lower = _take_step(space.columns, exchanged)
        if length == np.inf:
            return np.inf
        before = residual if blocking < 0 else np.inf
    return np.inf


@part
def _use(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> bool:
    """Tasks at the prices, roots of their slopes, loads less 1; False if a class finds everything free."""
    weight, cap, phi, factor = space.rows[0], space.rows[1], space.rows[2], space.rows[3]
    p, load = space.columns[0], space.columns[1]
    load[:] = -1.0
    for i in users:
        cost = _bill(shares, i, p)
        value = tasks_at(cost, weight[i], cap[i], alpha)
        if not value < np.inf:
            return False
        phi[i] = value
        factor[i] = np.sqrt(value / (alpha * cost)) if value < cap[i] else 0.0
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            load[j] += a * value
    return True


@part
def _find_step(shares: Nonzeros, users: IntArray, space: Space) -> bool:
    """Newton's step of the prices of active resources; whether it is an exchange of prices instead."""
    p, load, active, step = space.columns[0], space.columns[1], space.columns[2], space.columns[3]
    matrix, kept = space.matrix, space.kept
    again = True
    while again:
        gram(shares, users, space.rows[3], active, matrix)
        k = 0
        for j in range(p.size):
            step[j] = 0.0
            # A priced resource that only classes at their limits use keeps its price.
            if matrix[j, j] > 0:
                kept[k] = j
                k += 1
        small, right = space.packed[: k * k].reshape((k, k)), space.right[:k]
        for r in range(k):
            right[r] = load[kept[r]]
            for c in range(r + 1):
                small[r, c] = matrix[kept[r], kept[c]]
        factorise(small)
        if _exchange(small, right, space.forward):
            # Nothing changes along this direction but the prices, until one of them is 0.
            for r in range(k):
                step[kept[r]] = right[r]
            return True
        for r in range(k):
            usage = 1.0 + right[r]
            if p[kept[r]] > 0 and usage > _SLACK:
                right[r] = usage * log(usage)
        solve(small, right)
        # A resource overflows but needs no price, when the others' new prices already mend it.
        again = False
        for r in range(k):
            j = kept[r]
            step[j] = right[r]
            if p[j] == 0 and step[j] < 0:
                active[j] = 0.0
                again = True
    return False


@part
def _take_step(columns: FloatArray, exchanged: bool) -> tuple[float, int, float]:
    """Change the prices; the length, the resource whose price ends the step, and a lower price for it.

    The step ends where a price reaches 0: what is beyond was computed for a set that has changed. If an
    exchange meets no end, its length is infinite, and nothing changes.
    """
    p, load, active, step = columns[0], columns[1], columns[2], columns[3]
    length, blocking, lower = np.inf if exchanged else 1.0, -1, 0.0
    for j in range(p.size):
        if p[j] > 0 and step[j] < 0 and p[j] < -length * step[j]:
            length = p[j] / -step[j]
            blocking = j
    if length == np.inf:
        return length, blocking, lower
    if blocking >= 0:
        lower = p[blocking] * (1.0 + load[blocking])
    for j in range(p.size):
        if length == 1.0 and abs(step[j]) < p[j]:
            p[j] *= exp(step[j] / p[j])
        else:
            p[j] += length * step[j]
        if not p[j] > 0 or j == blocking:
            p[j] = 0.0
            active[j] = 0.0
    return length, blocking, lower


@part
def _exchange(factor: FloatArray, load: FloatArray, forward: FloatArray) -> bool:
    """Whether loads contradict each other: then ``load`` becomes a change of prices that no class notices.

    A resource whose users pay for others in the same proportions depends on these (it is left out of the
    Cholesky ``factor``). If its load is not theirs in these proportions, they cannot all be full: prices move
    from those with less load than it to it, or back.
    """
    n = load.size
    dependent, worst, sign = -1, _CONTRADICTION, 0.0
    for k in range(n):
        forward[k] = load[k]
        for c in range(k):
            forward[k] -= factor[k, c] * forward[c]
        if factor[k, k] == np.inf:
            if abs(forward[k]) > worst:
                dependent, worst = k, abs(forward[k])
                sign = 1.0 if forward[k] > 0 else -1.0
            forward[k] = 0.0
        else:
            forward[k] /= factor[k, k]
    if dependent < 0:
        return False
    load[:] = 0.0
    load[dependent] = sign
    for k in range(dependent - 1, -1, -1):
        if factor[k, k] < np.inf:
            value = -sign * factor[dependent, k]
            for r in range(k + 1, dependent):
                value -= factor[r, k] * load[r]
            load[k] = value / factor[k, k]
    return True


@stored(kernels, nonzeros, floats, interior, **COUNTED)
def solve_states(
    shares: Nonzeros,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    alpha: float,
    prices: FloatArray,
    residuals: FloatArray,
) -> None:
    """What :func:`price_kernel` does."""
    n_states, n = counts.shape
    m = prices.size
    present = np.empty(n, dtype=np.int64)
    rows, columns, matrix = np.empty((ROWS, n)), np.zeros((COLUMNS, m)), np.empty((m, m))
    kept = np.empty(m, dtype=np.int64)
    space = Space(rows, columns, matrix, np.empty(m * m), np.empty(m), np.empty(m), kept)
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
            weight[i] = 0.0
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
                _revise_prices(shares, users, alpha, rows, columns)
            residual = _newton(shares, users, alpha, space)
        residuals[state] = residual
        warm = number > 0 and residual <= CERTIFIED
        for i in users:
            tasks[state, i] = phi[i]
    for j in range(m):
        prices[j] = p[j] * unit**alpha if warm else 0.0


def price_kernel(
    shares: Nonzeros,
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
    kernel = solve_states.small(STEPS * limits.size * prices.size, len(counts))
    kernel(shares, limits, counts, tasks, growth, alpha, prices, residuals)
