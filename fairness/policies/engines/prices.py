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

Steps are those of the logarithms of usages :math:`u_j` in the logarithms of prices, which one resource by
itself makes linear: :math:`u_j \log u_j` takes the place of :math:`u_j - 1`, and a price is multiplied by
:math:`\exp(\Delta p_j/p_j)`, unless it would more than double or vanish. Prices of a state nearby are then
two or three steps away.

*From far away*, prices begin equal and are multiplied by :math:`u_j^\alpha`, round after round. No round
raises the dual objective. Where no class is at its limit it is :math:`\sum_j p_j + \sum_i f_i(e_i)` with
:math:`f_i' = -W_i e_i^{-1/\alpha}`, and as :math:`f_i` is convex, Jensen's inequality with the parts
:math:`\lambda_{ij} = a_{ij} p_j/e_i` of the bills,

.. math:: f_i\Bigl(\sum_j a_{ij} p'_j\Bigr) \le \sum_j \lambda_{ij} f_i(e_i p'_j/p_j) ,

bounds it by a sum over resources that :math:`p'_j = p_j u_j^\alpha` makes least, and which touches it at
:math:`p' = p`. (A limit makes the slope of :math:`f_i` change more slowly, so that this step goes less far
than the least.) For proportional fairness these are proportional responses [1]_. They lose no time on prices
that are many decades apart, but end slowly. Newton's method takes over, in the logarithms of prices: damped
so that a price of which nothing but slack is left falls by a few powers of e a step, shortened where the
slope of the dual objective says so, and without the prices of which slack outweighs the part in every bill.

The Hessian is singular where the users of a resource pay for others in the same proportions. Such a resource
keeps its price while its load is theirs in these proportions; where it is not, they cannot all be full, and
prices are exchanged between them, which no class notices, until one of them is 0.

Tasks are exact functions of the prices, so all that can be wrong with a state is the excess over a
capacity, or the slack of a resource with a price: that is its residual.

References
----------
.. [1] F. Wu and L. Zhang, "Proportional response dynamics leads to market equilibrium", ACM STOC 2007.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine import kernels
from fairness.machine.compiling import COUNTED, inlined, part, stored
from fairness.machine.kernels import exp, log
from fairness.model import nonzeros
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray
from fairness.policies.engines import cholesky, conjugate
from fairness.policies.engines.cholesky import factorise, gram, solve
from fairness.policies.engines.conjugate import conjugate_step, rounds_worth

__all__ = ["CERTIFIED", "price_kernel", "solve_states", "tasks_at"]

CERTIFIED = 1e-10
"""Largest residual (excess over a capacity, or slack of a priced resource) of a solved state."""

STEPS = 20
"""Microseconds per entry of the task shares and state, interpreted."""

_SHARP = 1e-13  # Newton stops here: errors are squared, so the step that arrives goes on to rounding errors
_LOST = 1e-16  # usage that rounding hides
_LEFT = 1e-150  # as many decades are left above the prices
_SLACK = 0.1  # usage of a resource so far below its capacity that its price may well be 0
_LEAST = 0.1  # part of a resource with which a class begins that finds it full, though free
_CONTRADICTION = 1e-9  # loads of dependent resources differ by less than this only by rounding
_STEPS, _MORE_STEPS = 25, 60  # near the solution; from far away, where 8 to 15 are usual
_RISE = 0.1  # slope with which a step may end, upwards, in that with which it begins, downwards
_SHORTEST = 1.0 / 1024.0  # part of a step; a shorter one is no use, unless the step is very long
_LONGEST = 1e30  # a step that is so many times as long as one may be is shortened no more
_LEAST_LEFT = 0.05  # part of a price that a straight way leaves at least
_FARTHEST = 4.0  # change of the logarithm of a price in one step; times alpha, if that is larger than 1
_INEXACT = 0.01  # part of a right side that conjugate gradients may leave; less and less, towards the end
_CLOSE = 1e-6  # residual from which the priced resources are known, but for ties
_NEAR = 1e-3  # part of the payments that is amiss, from which Newton's method is the better one
_ROUNDS, _BETWEEN = 100, 10  # of prices at first, and after a step that was too long
_ATTEMPTS = 2  # from equal prices, each with _ROUNDS times the rounds of the one before
_ANEW = 256  # states after which prices start anew: a batch has the tasks of its parts of so many states


class Space(NamedTuple):
    """Work space over the classes and resources of one problem."""

    rows: FloatArray  # (4, n): weights, limits, tasks, roots of their slopes
    columns: FloatArray  # (9, m): prices, loads less 1, active resources, steps; 4 to 8 serve single steps
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


@inlined
def _occupy(shares: Nonzeros, i: int, tasks: float, load: FloatArray) -> None:
    """Add what so many tasks of class i hold."""
    for e in range(shares.start[i], shares.start[i + 1]):
        j, a = shares.resource[e], shares.share[e]
        load[j] += a * tasks


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
        _occupy(shares, i, 1.0, load)
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
            _occupy(shares, i, value, load)
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
        _occupy(shares, i, room, load)


@part
def _approach(
    shares: Nonzeros, users: IntArray, alpha: float, space: Space, rounds: int, enough: float
) -> bool:
    """Raise prices where loads are too large and lower them elsewhere; False if a class finds all free.

    It begins with tasks and loads at the prices and ends with them: after so many rounds, or where no more
    than ``enough`` of the payments is amiss. A round never raises the dual objective.
    """
    p, load = space.columns[0], space.columns[1]
    used = True
    for _ in range(rounds):
        paid, amiss = 0.0, 0.0
        for j in range(p.size):
            paid += p[j]
            amiss += p[j] * abs(load[j])
        if not (used and amiss > enough * paid):
            break
        for j in range(p.size):
            # What is hardly used is 0 after rounding, but may be in demand at half of its price.
            usage = max(1.0 + load[j], _LOST)
            p[j] *= usage if alpha == 1.0 else exp(alpha * log(usage))
        used = _use(shares, users, alpha, space)
    return used


@part
def _enter(
    shares: Nonzeros, users: IntArray, alpha: float, space: Space, rounds: int, enough: float
) -> float:
    """Prices from nothing; return the unit by which the weights were divided."""
    weight, p, load, start = space.rows[0], space.columns[0], space.columns[1], space.columns[4]
    most, unit = 0.0, 0.0
    p[:] = 1.0
    for i in users:
        most = max(most, _bill(shares, i, p))
    # The largest usage that there would be at equal prices, if nobody had a limit.
    load[:] = 0.0
    for i in users:
        _occupy(shares, i, tasks_at(_bill(shares, i, p) / most, weight[i], np.inf, alpha), load)
    for j in range(p.size):
        unit = max(unit, load[j])
    if not 0.0 < unit < np.inf:
        unit = 1.0
    if alpha > 1.0:
        # Prices are unit**-alpha times as large: the small ones would leave the floating-point numbers.
        unit *= _LEFT ** (1.0 / alpha)
    for i in users:
        weight[i] /= unit
    for j in range(p.size):
        p[j] = start[j] = 1.0 / (most * (_LEFT if alpha > 1.0 else 1.0))
    used = _use(shares, users, alpha, space)
    if used and _approach(shares, users, alpha, space, rounds, enough):
        _drop_needless(shares, users, alpha, space)
    return unit


@part
def _weigh_prices(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> None:
    """Put into ``columns[5]`` the part of a bill that a unit of a price is at most; bills pay for limits."""
    weight, cap, phi = space.rows[0], space.rows[1], space.rows[2]
    p, part_of_bill = space.columns[0], space.columns[5]
    part_of_bill[:] = 0.0
    for i in users:
        bill = _bill(shares, i, p)
        if phi[i] == cap[i]:
            bill = max(bill, (weight[i] / cap[i]) ** alpha)
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            part_of_bill[j] = max(part_of_bill[j], a / bill)


@part
def _drop_needless(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> None:
    """Prices of which slack outweighs the part in any bill become 0; those that were 0 before stay."""
    p, load, start, part_of_bill = space.columns[0], space.columns[1], space.columns[4], space.columns[5]
    _weigh_prices(shares, users, alpha, space)
    for j in range(p.size):
        if start[j] > 0 and not p[j] * part_of_bill[j] > -load[j]:
            p[j] = 0.0


@part
def _newton(shares: Nonzeros, users: IntArray, alpha: float, space: Space, attempt: int) -> float:
    """Improve the prices and set the tasks; return the residual, infinite for failure.

    At the attempt 0, prices are near the solution and change by full steps, up to where one reaches 0.
    """
    near = attempt == 0
    p, load, active = space.columns[0], space.columns[1], space.columns[2]
    before = np.inf
    blocking, lower = -1, 0.0
    used = _use(shares, users, alpha, space)
    entries = 0
    for i in users:
        entries += shares.start[i + 1] - shares.start[i]
    for _ in range(_STEPS if attempt == 0 else _MORE_STEPS * attempt**2):
        if not used:
            # Who pays for nothing else needs the price that the last step took away, if only a lower one.
            if blocking >= 0 and p[blocking] == 0 and lower > 0:
                p[blocking] = lower
            else:
                _revise_prices(shares, users, alpha, space.rows, space.columns)
            before, blocking = np.inf, -1
            used = _use(shares, users, alpha, space)
            continue
        residual, size = _violation(space.columns), 0.0
        for j in range(p.size):
            active[j] = 1.0 if p[j] > 0 or load[j] > _SHARP else 0.0
            size += active[j]
        near = near or residual <= _CLOSE
        # The second way out is the level of rounding errors.
        if residual <= _SHARP or (residual <= CERTIFIED and residual >= 0.5 * before):
            return residual
        exchanged = _find_step(shares, users, alpha, space, near, residual, rounds_worth(entries, size))
        if _leave_limits(shares, users, alpha, space):
            before, blocking = np.inf, -1
            used = _use(shares, users, alpha, space)
            continue
        if near or exchanged:
            length, blocking, lower = _take_step(space.columns, exchanged)
            if length == np.inf:
                return np.inf
            used = _use(shares, users, alpha, space)
        else:
            length = _descend(shares, users, alpha, space, residual)
            blocking, used = -1, length > 0.0 or _use(shares, users, alpha, space)
        if not near:
            if used and length != 1.0:
                used = _approach(shares, users, alpha, space, _BETWEEN, _NEAR)
            if used and not exchanged:
                _drop_needless(shares, users, alpha, space)
                used = _use(shares, users, alpha, space)
        before = residual if blocking < 0 and length == 1.0 else np.inf
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
        _occupy(shares, i, value, load)
    return True


@part
def _violation(columns: FloatArray) -> float:
    """Largest excess over a capacity, or slack of a priced resource."""
    p, load = columns[0], columns[1]
    worst = 0.0
    for j in range(p.size):
        worst = max(worst, abs(load[j]) if p[j] > 0 else load[j])
    return worst


@part
def _find_step(
    shares: Nonzeros, users: IntArray, alpha: float, space: Space, near: bool, residual: float, rounds: float
) -> bool:
    """Newton's step of the prices of active resources; whether it is an exchange of prices instead.

    By conjugate gradients if they need no more than so many rounds.
    """
    farthest = _FARTHEST * max(1.0, alpha)
    p, load, active, step, more = (
        space.columns[0],
        space.columns[1],
        space.columns[2],
        space.columns[3],
        space.columns[8],
    )
    for j in range(p.size):
        # Damping: with slack alone, a price falls by exp(-farthest); near the solution there is none.
        more[j] = max(-load[j], 0.0) / (p[j] * farthest) if not near and p[j] > 0 else 0.0
    exchanged, again = False, True
    while again:
        if rounds > 0.0:
            for j in range(p.size):
                space.right[j] = _wanted(space.columns, j) if active[j] > 0 else np.nan
            precision = max(min(residual, _INEXACT), 1e-10)
            met = conjugate_step(
                shares, users, space.rows[3], more, space.right, space.columns[3:8], precision, rounds
            )
            rounds = rounds if met else 0.0
        if rounds == 0.0:
            exchanged = _factor_step(shares, users, space)
        # A resource overflows but needs no price, when the others' new prices already mend it.
        again = False
        for j in range(p.size):
            if p[j] == 0 and step[j] < 0:
                active[j] = 0.0
                again = True
    return exchanged


@inlined
def _wanted(columns: FloatArray, j: int) -> float:
    """What Newton's method in logarithms puts in the place of the excess of a resource."""
    excess = columns[1, j]
    usage = 1.0 + excess
    return usage * log(usage) if columns[0, j] > 0 and usage > _SLACK else excess


@part
def _factor_step(shares: Nonzeros, users: IntArray, space: Space) -> bool:
    """The step by a Cholesky factor; whether it is an exchange of prices instead."""
    load, active, step, more = space.columns[1], space.columns[2], space.columns[3], space.columns[8]
    matrix, kept = space.matrix, space.kept
    gram(shares, users, space.rows[3], active, matrix)
    k = 0
    for j in range(load.size):
        step[j] = 0.0
        # A full resource that only classes at their limits use keeps its price.
        if matrix[j, j] + more[j] > 0:
            kept[k] = j
            k += 1
    small, right = space.packed[: k * k].reshape((k, k)), space.right[:k]
    for r in range(k):
        right[r] = load[kept[r]]
        for c in range(r + 1):
            small[r, c] = matrix[kept[r], kept[c]]
        small[r, r] += more[kept[r]]
    factorise(small)
    exchanged = _exchange(small, right, space.forward)
    if not exchanged:
        for r in range(k):
            right[r] = _wanted(space.columns, kept[r])
        solve(small, right)
    # An exchange changes nothing but the prices, until one of them is 0.
    for r in range(k):
        step[kept[r]] = right[r]
    return exchanged


@part
def _leave_limits(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> bool:
    """Raise the price of what classes at their limits alone overfill, to where the first leaves its limit.

    Up to there no load changes, and the dual objective falls. Whether there is such a resource.
    """
    weight, cap, factor = space.rows[0], space.rows[1], space.rows[3]
    p, load, active, step, raised = (
        space.columns[0],
        space.columns[1],
        space.columns[2],
        space.columns[3],
        space.columns[6],
    )
    stuck = False
    for j in range(p.size):
        raised[j] = np.inf if active[j] > 0 and step[j] == 0.0 and load[j] > _SHARP else 0.0
        stuck = stuck or raised[j] > 0
    if not stuck:
        return False
    for i in users:
        bill = _bill(shares, i, p)
        most = (weight[i] / cap[i]) ** alpha * (1.0 + _CONTRADICTION) if factor[i] == 0.0 else bill
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            raised[j] = min(raised[j], max(most - bill, 0.0) / a)
    stuck = False
    for j in range(p.size):
        if 0.0 < raised[j] < np.inf:
            p[j] += raised[j]
            stuck = True
    return stuck


@part
def _take_step(columns: FloatArray, exchanged: bool) -> tuple[float, int, float]:
    """Change the prices; the length, the resource whose price ends the step, and a lower price for it.

    The step ends where a price reaches 0: what is beyond was computed for a set that has changed. If an
    exchange meets no end, its length is infinite, and nothing changes.
    """
    p, load, step = columns[0], columns[1], columns[3]
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
    return length, blocking, lower


@part
def _descend(shares: Nonzeros, users: IntArray, alpha: float, space: Space, residual: float) -> float:
    """Take the step, shortened until it is acceptable; return its length, or 0 if no part of it is.

    The slope of the dual objective along a change of prices is the sum of changes times slack. It must begin
    below 0, and end no steeper upwards than a tenth of that, as Newton's own steps may; or the residual is
    halved, where prices are so many decades apart that rounding errors hide the slope. Each length is tried
    along a way that is straight in the logarithms of prices, and along one that is straight in the prices:
    where several prices make the same bills, only the latter keeps them. If no length will do, a resource
    that enters gets a price all the same, and rounds go on from there.
    """
    p, load, step, start = space.columns[0], space.columns[1], space.columns[3], space.columns[4]
    part_of_bill, excess = space.columns[5], space.columns[6]
    farthest, entrance = _FARTHEST * max(1.0, alpha), _FARTHEST * min(1.0, alpha)
    longest, enters = 1.0, False
    for j in range(p.size):
        start[j], excess[j] = p[j], load[j]
        if p[j] > 0:
            longest = min(max(longest, abs(step[j]) / (p[j] * farthest)), _LONGEST)
        elif step[j] > 0:
            enters = True
    if enters:
        _weigh_prices(shares, users, alpha, space)
    length, bent = 1.0, True
    while length >= _SHORTEST / longest:
        for j in range(p.size):
            if start[j] > 0 and bent:
                p[j] = start[j] * exp(min(max(length * step[j] / start[j], -farthest), farthest))
            elif start[j] > 0:
                p[j] = max(start[j] + length * step[j], _LEAST_LEFT * start[j])
            elif step[j] > 0:
                p[j] = min(length * step[j], entrance / part_of_bill[j])
        if _use(shares, users, alpha, space):
            fall, rise = 0.0, 0.0
            for j in range(p.size):
                if abs(excess[j]) > _SHARP or abs(load[j]) > _SHARP:
                    fall += excess[j] * (p[j] - start[j])
                    rise -= load[j] * (p[j] - start[j])
            if (fall > 0 and rise <= _RISE * fall) or _violation(space.columns) <= 0.5 * residual:
                return length
        if not bent:
            length *= 0.5
        bent = not bent
    for j in range(p.size):
        p[j] = start[j]
        if start[j] == 0.0 and step[j] > 0:
            p[j] = min(step[j], entrance / part_of_bill[j])
    return 0.0


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


@stored(kernels, nonzeros, cholesky, conjugate, **COUNTED)
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
    rows, columns, matrix = np.empty((4, n)), np.zeros((9, m)), np.empty((m, m))
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
        rounds = 1
        for attempt in range(0 if warm and (state == 0 or state % _ANEW > 0) else 1, _ATTEMPTS + 1):
            if residual <= CERTIFIED:
                break
            if attempt == 0:
                _revise_prices(shares, users, alpha, rows, columns)
            else:
                for i in users:
                    weight[i] = counts[state, i] * growth[i]
                rounds *= _ROUNDS
                unit = _enter(shares, users, alpha, space, rounds, _NEAR if attempt == 1 else 0.0)
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
