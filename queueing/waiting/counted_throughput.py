r"""How much traffic orders carry that look at counts alone: MaxWeight and priorities.

* *MaxWeight* carries all that fits (:mod:`queueing.waiting.counted_orders`): of a mix :math:`\rho` of loads
  the largest part u for which :math:`u\rho \le \sum_c p_c m_c` with parts :math:`p_c` of the time of the
  configurations :math:`m_c`, a linear program. It is solved in fractions and proved where there are few
  configurations, else in floats, between a schedule and prices that agree to 1e-9.
* *Priorities*. If all jobs hold the same, nothing is wasted while jobs wait, and the load has to be below
  what fits at once. Of two classes the first one never sees the second: it runs :math:`\min(x_1, m)` jobs,
  m of which fit, as a queue M/M/m, so that with :math:`\pi_n = c\,\rho_1^n/n!` for :math:`n < m` and the
  rest at m it leaves room for :math:`f(n)` jobs of the second class with probability :math:`\pi_n`. If the
  first is stable, the second is if and only if :math:`\rho_2 < \sum_n \pi_n f(n)`. A stationary queue ends
  as many jobs as come, and there are times when it runs fewer than f(n); conversely, with h from Poisson's
  equation of the first class for f, which grows linearly, :math:`x_2 + h(x_1) + \delta x_1^2` has a negative
  drift outside a finite set. Along a mix of arrivals the right side falls as the loads rise, and they meet
  once. Of more classes that hold different needs no such condition is known here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from fairness.errors import NotConvergedError
from fairness.exact.linear_algebra import dot
from fairness.exact.linear_program import maximise
from fairness.model.problem import FloatArray
from queueing.model.cluster_load import GAP, least_part
from queueing.model.system import System
from queueing.waiting.counted_orders import Priorities, configurations, most_alone

__all__ = ["Throughput", "max_weight_throughput", "priority_throughput"]

FEW = 60
"""Configurations up to which the linear program is solved in fractions."""
MOST_SERVERS = 1_000_000
"""Jobs of the first of two classes that fit at once, over whose number is summed."""


class Throughput(NamedTuple):
    """The part of the arrivals at which they can just not be carried, and what that rests on."""

    part: Fraction | float
    basis: str


def max_weight_throughput(system: System) -> Throughput:
    """Of MaxWeight; arrivals and sizes as :meth:`System.as_fractions` has them."""
    listed, (rates, sizes) = configurations(system.problem), system.as_fractions()
    loads = [rate * size for rate, size in zip(rates, sizes, strict=True)]
    if len(listed) <= FEW:
        rows = [[load, *(-int(m) for m in column)] for load, column in zip(loads, listed.T, strict=True)]
        found = maximise([1, *[0] * len(listed)], [*rows, [0, *[1] * len(listed)]], [*[0] * len(loads), 1])
        return Throughput(found.value, "a schedule of configurations, and prices that prove it the best")
    live = np.flatnonzero(system.loads)
    held, mix = listed[:, live].astype(float), system.loads[live]
    one = csc_array(np.ones((1, len(held))))
    parts, prices, _ = least_part(csc_array(held.T), one, mix)
    # What the tolerance of the solver leaves out is made up for by more of all.
    upper = float(parts.sum()) * max(1.0, float(np.max(mix / (parts @ held))))
    lower = float(prices @ mix) / float((held @ prices).max())
    if not upper - lower <= GAP * upper:
        raise NotConvergedError(
            f"the linear program over {len(held):,} configurations leaves a relative gap of "
            f"{(upper - lower) / upper:.1e} between schedule and prices",
            residual=(upper - lower) / upper,
        )
    return Throughput(1.0 / upper, f"a schedule of configurations, and prices, within {GAP:g} of each other")


def priority_throughput(system: System, order: Priorities) -> Throughput | None:
    """Of priorities; None where it is not known."""
    pool, loads = system.problem, system.loads
    live = [i for i in order.ranking(pool) if system.arrival_rates[i] > 0]
    most = most_alone(pool, live[0])
    if (pool.demands[live] == pool.demands[live[0]]).all():
        whole = most / dot(*system.as_fractions())
        return Throughput(whole, "all jobs hold the same, and nothing is wasted while jobs wait")
    if len(live) > 2 or most > MOST_SERVERS:
        return None
    from scipy.optimize import brentq

    first, second = live
    counts = np.zeros((most + 1, pool.n_classes))
    counts[:, first], counts[:, second] = np.arange(most + 1), most_alone(pool, second)
    room = order(pool, counts)[:, second]

    def spare(part: float) -> float:
        """What the second class can run, less its load, at part of the arrivals."""
        return float(_running(part * loads[first], most) @ room) - part * loads[second]

    top = float(most / loads[first])
    part = top if spare(top) >= 0 else float(brentq(spare, 0.0, top, xtol=1e-300, rtol=1e-14))
    return Throughput(part, "the second class as a queue in the random environment that the first one makes")


def _running(load: float, most: int) -> FloatArray:
    """Law of the number in service of a queue M/M/m, (m + 1,)."""
    if load >= most:
        return np.append(np.zeros(most), 1.0)
    # Falling products from the likeliest number on, to both sides: those of many servers leave the floats.
    likeliest = int(load)
    below = np.cumprod(np.arange(likeliest, 0, -1) / load)[::-1]
    above = np.cumprod(load / np.arange(likeliest + 1, most))
    law = np.concatenate([below, [1.0], above])
    law = np.append(law, law[-1] * load / (most - load))
    return law / law.sum()
