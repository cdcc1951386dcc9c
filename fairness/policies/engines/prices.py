r"""Prices for a batch of states: Newton on the active set, from state to state.

In units where every capacity is 1, with :math:`W_i = x_i w_i` and :math:`L_i = x_i \ell_i`, weighted
:math:`\alpha`-fair tasks are a function of one price per resource,

.. math:: \varphi_i(p) = \min\bigl(L_i, W_i (\textstyle\sum_j a_{ij} p_j)^{-1/\alpha}\bigr), \qquad
   0 \le p_j \perp 1 - \sum_i \varphi_i(p) a_{ij} \ge 0 .

A state (one vector of counts) is solved by Newton's method on the usages of the priced resources, which must
be 1: a price that would turn negative leaves the set, a resource that overflows enters it. It starts from
the prices of the previous state. With bills :math:`e = A p`, the Hessian of the dual objective is
:math:`A^\top \mathrm{diag}(\varphi_i/(\alpha e_i)) A` over the classes below their limits. Its system is
solved by conjugate gradients where demands are sparse and resources many
(:mod:`fairness.policies.engines.conjugate`), and by a Cholesky factor elsewhere.

Near the solution, prices change by whole steps (:mod:`fairness.policies.engines.price_step`). Far from it,
they begin equal and come near by rounds and damped steps (:mod:`fairness.policies.engines.price_approach`).

Tasks are exact functions of the prices, so all that can be wrong with a state is the excess over a
capacity, or the slack of a resource with a price: that is its residual.
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine import kernels
from fairness.machine.compiling import COUNTED, part, stored
from fairness.model import nonzeros
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray
from fairness.policies.engines import cholesky, conjugate, price_approach, price_space, price_step
from fairness.policies.engines.conjugate import rounds_worth
from fairness.policies.engines.price_approach import approach, descend, drop_needless, enter
from fairness.policies.engines.price_space import (
    SHARP,
    Space,
    bill_of,
    occupy,
    space_for,
    tasks_at,
    use,
    violation,
)
from fairness.policies.engines.price_step import find_step, leave_limits, take_step

__all__ = ["CERTIFIED", "price_kernel", "solve_states"]

CERTIFIED = 1e-10
"""Largest residual (excess over a capacity, or slack of a priced resource) of a solved state."""

STEPS = 20
"""Microseconds per entry of the task shares and state, interpreted."""

_LEAST = 0.1  # part of a resource with which a class begins that finds it full, though free
_STEPS, _MORE_STEPS = 25, 60  # near the solution; from far away, where 8 to 15 are usual
_CLOSE = 1e-6  # residual from which the priced resources are known, but for ties
_NEAR = 1e-3  # part of the payments that is amiss, from which Newton's method is the better one
_ROUNDS, _BETWEEN = 100, 10  # of prices at first, and after a step that was too long
_ATTEMPTS = 2  # from equal prices, each with _ROUNDS times the rounds of the one before
_ANEW = 256  # states after which prices start anew: a batch has the tasks of its parts of so many states


@part
def _revise_prices(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> None:
    """What nobody uses any more is free; who finds everything free gets what is left of some resource.

    It is given the price that stops the class there.
    """
    weight, cap, p, load = space.weight, space.limit, space.price, space.load
    load[:] = 0.0
    for i in users:
        occupy(shares, i, 1.0, load)
    for j in range(p.size):
        if load[j] == 0:
            p[j] = 0.0
    free = False
    for i in users:
        free = free or (cap[i] == np.inf and bill_of(shares, i, p) == 0)
    if not free:
        return
    load[:] = -1.0
    for i in users:
        value = tasks_at(bill_of(shares, i, p), weight[i], cap[i], alpha)
        if value < np.inf:
            occupy(shares, i, value, load)
    for i in users:
        cost, room, scarce = bill_of(shares, i, p), np.inf, 0
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
        occupy(shares, i, room, load)


@part
def _newton(shares: Nonzeros, users: IntArray, alpha: float, space: Space, attempt: int) -> float:
    """Improve the prices and set the tasks; return the residual, infinite for failure.

    At the attempt 0, prices are near the solution and change by full steps, up to where one reaches 0. Later
    ones take such steps where the residual is small, until one of them leads far away: loads may be right to
    nine digits at prices that are not, where hardly anybody's load tells one price from another.
    """
    near, trusted = attempt == 0, True
    p, load, active = space.price, space.load, space.active
    before = np.inf
    blocking, lower = -1, 0.0
    used = use(shares, users, alpha, space)
    entries = 0
    for i in users:
        entries += shares.start[i + 1] - shares.start[i]
    for _ in range(_STEPS if attempt == 0 else _MORE_STEPS * attempt**2):
        if not used:
            # Who pays for nothing else needs the price that the last step took away, if only a lower one.
            if blocking >= 0 and p[blocking] == 0 and lower > 0:
                p[blocking] = lower
            else:
                _revise_prices(shares, users, alpha, space)
            before, blocking = np.inf, -1
            used = use(shares, users, alpha, space)
            continue
        residual, size = violation(space), 0.0
        for j in range(p.size):
            active[j] = 1.0 if p[j] > 0 or load[j] > SHARP else 0.0
            size += active[j]
        if near and attempt > 0 and residual > _NEAR:
            near = trusted = False
        near = near or (trusted and residual <= _CLOSE)
        # The second way out is the level of rounding errors.
        if residual <= SHARP or (residual <= CERTIFIED and residual >= 0.5 * before):
            return residual
        exchanged = find_step(shares, users, alpha, space, near, residual, rounds_worth(entries, size))
        if leave_limits(shares, users, alpha, space):
            before, blocking = np.inf, -1
            used = use(shares, users, alpha, space)
            continue
        if near or exchanged:
            length, blocking, lower = take_step(space, exchanged)
            if length == np.inf:
                return np.inf
            used = use(shares, users, alpha, space)
        else:
            length = descend(shares, users, alpha, space, residual)
            blocking, used = -1, length > 0.0 or use(shares, users, alpha, space)
        if not near:
            if used and length != 1.0:
                used = approach(shares, users, alpha, space, _BETWEEN, _NEAR)
            if used and not exchanged:
                drop_needless(shares, users, alpha, space)
                used = use(shares, users, alpha, space)
        before = residual if blocking < 0 and length == 1.0 else np.inf
    return np.inf


@stored(kernels, nonzeros, cholesky, conjugate, price_space, price_approach, price_step, **COUNTED)
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
    space = space_for(n, m)
    weight, cap, phi, p = space.weight, space.limit, space.tasks, space.price
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
        rounds = 1
        for attempt in range(0 if warm and (state == 0 or state % _ANEW > 0) else 1, _ATTEMPTS + 1):
            if residual <= CERTIFIED:
                break
            if attempt == 0:
                _revise_prices(shares, users, alpha, space)
            else:
                for i in users:
                    weight[i] = counts[state, i] * growth[i]
                rounds *= _ROUNDS
                unit = enter(shares, users, alpha, space, rounds, _NEAR if attempt == 1 else 0.0)
            residual = _newton(shares, users, alpha, space, attempt)
        residuals[state] = residual
        warm = number > 0 and residual <= CERTIFIED
        for i in users:
            tasks[state, i] = phi[i]
    half = unit ** (0.5 * alpha)  # the whole power may leave the floating-point numbers
    for j in range(m):
        prices[j] = p[j] * half * half if warm else 0.0


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

    It starts from the ``prices`` given, or from equal ones where all are 0. ``growth`` (n_classes,)
    holds the weights, infinite for classes without demand. Capacities are 1. Where the residual of a state
    exceeds :data:`CERTIFIED` its tasks are not a solution.
    """
    kernel = solve_states.small(STEPS * limits.size * prices.size, len(counts))
    kernel(shares, limits, counts, tasks, growth, alpha, prices, residuals)
