"""What the steps of :mod:`fairness.policies.engines.prices` work on, and tasks and loads at given prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine.compiling import COUNTED, helper, inlined, part
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray

__all__ = ["FARTHEST", "SHARP", "Space", "bill_of", "occupy", "space_for", "tasks_at", "use", "violation"]


SHARP = 1e-13  # Newton stops here: errors are squared, so the step that arrives goes on to rounding errors
FARTHEST = 4.0  # change of the logarithm of a price in one step; times alpha, if that is larger than 1


class Space(NamedTuple):
    """Work space over the classes and resources of one problem."""

    weight: FloatArray  # (n,)
    limit: FloatArray  # (n,): most tasks
    tasks: FloatArray  # (n,)
    root: FloatArray  # (n,): of the slopes of the tasks
    price: FloatArray  # (m,)
    load: FloatArray  # (m,): less 1
    active: FloatArray  # (m,): whether the resource has a price, or needs one
    step: FloatArray  # (m,): of the prices
    start: FloatArray  # (m,): prices before a step
    part_of_bill: FloatArray  # (m,): of a unit of the price
    spare: FloatArray  # (m,): for a single step
    more: FloatArray  # (m,): what the diagonal of the Hessian has besides
    gradients: FloatArray  # (4, m): of conjugate gradients
    right: FloatArray  # (m,): the right side
    forward: FloatArray  # (m,): the same in the middle of a solution
    matrix: FloatArray  # (m, m): the Hessian
    packed: FloatArray  # (m * m,): its factor on the active resources
    kept: IntArray  # (m,): active resources


@helper(**COUNTED)
def space_for(n: int, m: int) -> Space:
    """Work space for n classes and m resources, without prices."""
    return Space(
        weight=np.empty(n),
        limit=np.empty(n),
        tasks=np.empty(n),
        root=np.empty(n),
        price=np.zeros(m),
        load=np.zeros(m),
        active=np.zeros(m),
        step=np.zeros(m),
        start=np.zeros(m),
        part_of_bill=np.zeros(m),
        spare=np.zeros(m),
        more=np.zeros(m),
        gradients=np.zeros((4, m)),
        right=np.empty(m),
        forward=np.empty(m),
        matrix=np.empty((m, m)),
        packed=np.empty(m * m),
        kept=np.empty(m, dtype=np.int64),
    )


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
def bill_of(shares: Nonzeros, i: int, prices: FloatArray) -> float:
    """What a task of class i costs."""
    cost = 0.0
    for e in range(shares.start[i], shares.start[i + 1]):
        j, a = shares.resource[e], shares.share[e]
        cost += a * prices[j]
    return cost


@inlined
def occupy(shares: Nonzeros, i: int, tasks: float, load: FloatArray) -> None:
    """Add what so many tasks of class i hold."""
    for e in range(shares.start[i], shares.start[i + 1]):
        j, a = shares.resource[e], shares.share[e]
        load[j] += a * tasks


@part
def use(shares: Nonzeros, users: IntArray, alpha: float, space: Space) -> bool:
    """Tasks at the prices, roots of their slopes, loads less 1; False if a class finds everything free."""
    weight, cap, phi, factor = space.weight, space.limit, space.tasks, space.root
    p, load = space.price, space.load
    load[:] = -1.0
    for i in users:
        cost = bill_of(shares, i, p)
        value = tasks_at(cost, weight[i], cap[i], alpha)
        if not value < np.inf:
            return False
        phi[i] = value
        factor[i] = np.sqrt(value / (alpha * cost)) if value < cap[i] else 0.0
        occupy(shares, i, value, load)
    return True


@part
def violation(space: Space) -> float:
    """Largest excess over a capacity, or slack of a priced resource."""
    p, load = space.price, space.load
    worst = 0.0
    for j in range(p.size):
        worst = max(worst, abs(load[j]) if p[j] > 0 else load[j])
    return worst
