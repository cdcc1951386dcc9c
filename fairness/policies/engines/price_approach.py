r"""Prices from far away: rounds that never raise the dual objective, and damped steps of Newton.

Prices begin equal and are multiplied by :math:`u_j^\alpha`, round after round. No round raises the dual
objective. Where no class is at its limit it is :math:`\sum_j p_j + \sum_i f_i(e_i)` with
:math:`f_i' = -W_i e_i^{-1/\alpha}`, and as :math:`f_i` is convex, Jensen's inequality with the parts
:math:`\lambda_{ij} = a_{ij} p_j/e_i` of the bills,

.. math:: f_i\Bigl(\sum_j a_{ij} p'_j\Bigr) \le \sum_j \lambda_{ij} f_i(e_i p'_j/p_j) ,

bounds it by a sum over resources that :math:`p'_j = p_j u_j^\alpha` makes least, and which touches it at
:math:`p' = p`. (A limit makes the slope of :math:`f_i` change more slowly, so that this step goes less far
than the least.) For proportional fairness these are proportional responses [1]_. They lose no time on prices
that are many decades apart, but end slowly. Newton's method takes over, in the logarithms of prices: damped
so that a price of which nothing but slack is left falls by a few powers of e a step, shortened where the
slope of the dual objective says so, and without the prices of which slack outweighs the part in every bill.

References
----------
.. [1] F. Wu and L. Zhang, "Proportional response dynamics leads to market equilibrium", ACM STOC 2007.
"""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine.compiling import part
from fairness.machine.kernels import exp, log
from fairness.model.nonzeros import Nonzeros
from fairness.policies.engines.price_space import (
    FARTHEST,
    SHARP,
    Space,
    bill_of,
    occupy,
    tasks_at,
    use,
    violation,
)

__all__ = ["approach", "descend", "drop_needless", "enter"]

_LOST = 1e-16  # usage that rounding hides
_LEFT = 1e-150  # as many decades are left above the prices
_RISE = 0.1  # slope with which a step may end, upwards, in that with which it begins, downwards
_SHORTEST = 1.0 / 1024.0  # part of a step; a shorter one is no use, unless the step is very long
_LONGEST = 1e30  # a step that is so many times as long as one may be is shortened no more
_LEAST_LEFT = 0.05  # part of a price that a straight way leaves at least


@part
def approach(
    shares: Nonzeros, users: IntArray, alpha: float, space: Space, rounds: int, enough: float
) -> bool:
    """Raise prices where loads are too large and lower them elsewhere; False if a class finds all free.

    It begins with tasks and loads at the prices and ends with them: after so many rounds, or where no more
    than ``enough`` of the payments is amiss. A round never raises the dual objective.
    """
    p, load = space.price, space.load
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
        used = use(shares, users, alpha, space)
    return used


@part
def enter(shares: Nonzeros, users: IntArray, alpha: float, space: Space, rounds: int, enough: float) -> float:
    """Prices from nothing; return the unit by which the weights were divided."""
    weight, p, load, start = space.weight, space.price, space.load, space.start
    most, unit = 0.0, 0.0
    p[:] = 1.0
    for i in users:
        most = max(most, bill_of(shares, i, p))
    # The largest usage that there would be at equal prices, if nobody had a limit.
    load[:] = 0.0
    for i in users:
        occupy(shares, i, tasks_at(bill_of(shares, i, p) / most, weight[i], np.inf, alpha), load)
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
    used = use(shares, users, alpha, space)
    if used and approach(shares, users, alpha, space, rounds, enough):
        drop_needless(shares, users, alpha, space)
    return unit


@part
def _weigh_prices(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> None:
    """Set ``space.part_of_bill``, what a unit of a price is of a bill at most; bills pay for limits, too."""
    weight, cap, phi = space.weight, space.limit, space.tasks
    p, part_of_bill = space.price, space.part_of_bill
    part_of_bill[:] = 0.0
    for i in users:
        bill = bill_of(shares, i, p)
        if phi[i] == cap[i]:
            bill = max(bill, (weight[i] / cap[i]) ** alpha)
        for e in range(shares.start[i], shares.start[i + 1]):
            j, a = shares.resource[e], shares.share[e]
            part_of_bill[j] = max(part_of_bill[j], a / bill)


@part
def drop_needless(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> None:
    """Prices of which slack outweighs the part in any bill become 0; those that were 0 before stay."""
    p, load, start, part_of_bill = space.price, space.load, space.start, space.part_of_bill
    _weigh_prices(shares, users, alpha, space)
    for j in range(p.size):
        if start[j] > 0 and not p[j] * part_of_bill[j] > -load[j]:
            p[j] = 0.0


@part
def descend(shares: Nonzeros, users: IntArray, alpha: float, space: Space, residual: float) -> float:
    """Take the step, shortened until it is acceptable; return its length, or 0 if no part of it is.

    The slope of the dual objective along a change of prices is the sum of changes times slack. It must begin
    below 0, and end no steeper upwards than a tenth of that, as Newton's own steps may; or the residual is
    halved, where prices are so many decades apart that rounding errors hide the slope. Each length is tried
    along a way that is straight in the logarithms of prices, and along one that is straight in the prices:
    where several prices make the same bills, only the latter keeps them. If no length will do, a resource
    that enters gets a price all the same, and rounds go on from there.
    """
    p, load, step, start = space.price, space.load, space.step, space.start
    part_of_bill, excess = space.part_of_bill, space.spare
    farthest, entrance = FARTHEST * max(1.0, alpha), FARTHEST * min(1.0, alpha)
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
        if use(shares, users, alpha, space):
            fall, rise = 0.0, 0.0
            for j in range(p.size):
                if abs(excess[j]) > SHARP or abs(load[j]) > SHARP:
                    fall += excess[j] * (p[j] - start[j])
                    rise -= load[j] * (p[j] - start[j])
            if (fall > 0 and rise <= _RISE * fall) or violation(space) <= 0.5 * residual:
                return length
        if not bent:
            length *= 0.5
        bent = not bent
    for j in range(p.size):
        p[j] = start[j]
        if start[j] == 0.0 and step[j] > 0:
            p[j] = min(step[j], entrance / part_of_bill[j])
    return 0.0
