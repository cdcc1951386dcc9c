r"""How much traffic whole jobs can carry under an order, by what is known of it.

* Orders in which jobs wait: the throughput of the saturated system (:mod:`queueing.waiting.saturation`).
* *MaxWeight* carries all that fits: loads inside the convex hull of the configurations of whole jobs
  (:mod:`capacity.regions.whole_tasks`), as :mod:`queueing.waiting.counted_orders` proves.
* *Priorities*, jobs being taken out of service. If all jobs hold the same, nothing is ever wasted while jobs
  wait, and the load has to be below what fits at once. Of two classes the first one never sees the second: it
  runs :math:`\min(x_1, m)` jobs, m of which fit, as a queue M/M/m, so that with
  :math:`\pi_n = c\,\rho_1^n/n!` for :math:`n < m` and the rest at m it leaves room for :math:`f(n)` jobs of
  the second class with probability :math:`\pi_n`. If the first is stable, the second is if and only if
  :math:`\rho_2 < \sum_n \pi_n f(n)`. A stationary queue ends as many jobs as come, and there are times when
  it runs fewer than f(n); conversely, with h from Poisson's equation of the first class for f, which grows
  linearly, :math:`x_2 + h(x_1) + \delta x_1^2` has a negative drift outside a finite set. Along a mix of
  arrivals the right side falls as the loads rise, and they meet once. Of more classes that hold different
  needs no such condition is known here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from capacity.regions.whole_tasks import packing_region
from fairness.errors import ModelError
from fairness.exact.linear_algebra import dot
from fairness.protocol.family import ByFamily
from queueing.model.system import System
from queueing.waiting.counted_orders import Priorities
from queueing.waiting.saturation import Saturation, held_parts, saturate
from queueing.waiting.service_states import check_whole_jobs
from queueing.waiting.whole_jobs import Order, waits

__all__ = ["whole_job_capacity"]

FEW = 3
"""Classes up to which the facets of the region are listed, and the throughput is exact."""


def whole_job_capacity(system: System, order: Order) -> Saturation:
    """How many jobs can be carried in the mix of the system; ModelError if that is not known."""
    if isinstance(order, Order) and not waits(system, order):
        check_whole_jobs(system)
    found: Saturation = _known(order, system)
    return found


@ByFamily
def _known(order: Order, system: System) -> Saturation:
    """By the saturated system."""
    return saturate(system, order)


@_known.register("max-weight")
def _(order: Order, system: System) -> Saturation:
    rates, sizes = system.as_fractions()
    loads = [rate * size for rate, size in zip(rates, sizes, strict=True)]
    region = packing_region(system.problem)
    throughput: Fraction | float
    if region.n_classes <= FEW:
        most = max(dot(normal, loads) / offset for normal, offset in region.exact_facets)
        throughput, known = sum(rates) / most, "the facets of the region of whole tasks"
    else:
        throughput = float(system.arrival_rates.sum()) / region.judge(system.loads).relative_load
        known = "a schedule of whole tasks, and prices that no other one beats"
    held = held_parts(system, system.loads * float(throughput) / system.arrival_rates.sum())
    return Saturation(system, order.name, throughput, held, 0, known)


@_known.register("priorities")
def _(order: Priorities, system: System) -> Saturation:
    pool, live = system.problem, np.flatnonzero(system.arrival_rates > 0)
    ranked = [i for i in order.ranking(pool) if i in live]
    loads, total = system.loads, float(system.arrival_rates.sum())

    def most(i: int, beside: Sequence[int] = ()) -> int:
        """Jobs of class i that fit beside others."""
        counts = np.zeros(pool.n_classes)
        counts[i] = 2.0**40
        for k, number in zip(ranked, beside, strict=False):
            counts[k] = number
        return int(order(pool, counts)[i])

    throughput: Fraction | float
    if (pool.demands[live] == pool.demands[live[0]]).all():
        rates, sizes = system.as_fractions()
        throughput = most(ranked[0]) * sum(rates) / dot(rates, sizes)
        held = system.loads / float(dot(rates, sizes)) * most(ranked[0])
        basis = "all jobs hold the same, and nothing is wasted while jobs wait"
        return Saturation(system, order.name, throughput, held_parts(system, held), 0, basis)
    if len(ranked) > 2:
        raise ModelError.of(
            "order",
            f"is {order.name}, of which the boundary is known for one or two classes with arrivals, and for "
            f"jobs that all hold the same; these are {len(ranked)} classes: stationary(system, order) finds "
            "a law where there is one, simulate(system, order) shows growth, is_stable(system) what no order "
            "can carry",
        )
    from scipy.optimize import brentq

    first, second = ranked
    room = [most(second, [n]) for n in range(most(first) + 1)]

    def spare(part: float) -> float:
        """What the second class can run, less its load, at part of the arrivals."""
        return float(np.dot(_running(part * loads[first], len(room) - 1), room)) - part * loads[second]

    top = (len(room) - 1) / loads[first]
    part = float(brentq(spare, 0.0, top, xtol=1e-300, rtol=1e-14)) if spare(top) < 0 else float(top)
    held = held_parts(system, part * loads)
    basis = "the second class as a queue in the random environment that the first one makes"
    return Saturation(system, order.name, part * total, held, 0, basis)


def _running(load: float, most: int) -> list[float]:
    """Law of the number in service of a queue M/M/m, on which the number that is there has no influence."""
    if load >= most:
        return [0.0] * most + [1.0]
    terms = [1.0]
    for n in range(1, most):
        terms.append(terms[-1] * load / n)
    last = terms[-1] * load / most / (1.0 - load / most)
    scale = math.fsum([*terms, last])
    return [term / scale for term in (*terms, last)]
