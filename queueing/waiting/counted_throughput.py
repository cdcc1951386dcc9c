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

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array

from fairness.errors import NotConvergedError
from fairness.exact.linear_algebra import dot
from fairness.exact.linear_program import maximise
from queueing.model.cluster_load import GAP, least_part
from queueing.model.system import System
from queueing.waiting.counted_orders import Priorities, configurations

__all__ = ["Throughput", "max_weight_throughput", "priority_throughput"]

FEW = 60
"""Configurations up to which the linear program is solved in fractions."""


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

    def most(i: int, beside: Sequence[int] = ()) -> int:
        """Jobs of class i that fit beside others."""
        counts = np.zeros(pool.n_classes)
        counts[i] = 2.0**40
        counts[live[: len(beside)]] = beside
        return int(order(pool, counts)[i])

    if (pool.demands[live] == pool.demands[live[0]]).all():
        whole = most(live[0]) / dot(*system.as_fractions())
        return Throughput(whole, "all jobs hold the same, and nothing is wasted while jobs wait")
    if len(live) > 2:
        return None
    from scipy.optimize import brentq

    first, second = live
    room = [most(second, [n]) for n in range(most(first) + 1)]

    def spare(part: float) -> float:
        """What the second class can run, less its load, at part of the arrivals."""
        return float(np.dot(_running(part * loads[first], len(room) - 1), room)) - part * loads[second]

    top = float((len(room) - 1) / loads[first])
    part = top if spare(top) >= 0 else float(brentq(spare, 0.0, top, xtol=1e-300, rtol=1e-14))
    return Throughput(part, "the second class as a queue in the random environment that the first one makes")


def _running(load: float, most: int) -> list[float]:
    """Law of the number in service of a queue M/M/m."""
    if load >= most:
        return [0.0] * most + [1.0]
    terms = [1.0]
    for n in range(1, most):
        terms.append(terms[-1] * load / n)
    last = terms[-1] * load / most / (1.0 - load / most)
    scale = math.fsum([*terms, last])
    return [term / scale for term in (*terms, last)]
