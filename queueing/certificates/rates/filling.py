r"""Bounds of the tasks under progressive filling: max-min fairness, DRF, EDRF, asset fairness.

*Definition.* Every job of class i grows at rate :math:`r_i` with the common level; when a resource is full,
the classes that demand it stop, and a class at its limit stops. Growth rates are, with weights w,

.. math:: r_i = w_i \;\text{(MMF)}, \quad
   r_i = w_i \min_{j: a_{ij} > 0} \frac{v_{ij} C_j}{a_{ij}} \;\text{(DRF, weights } v_{ij} \text{ or 1)},
   \quad r_i = w_i \Big/ \sum_j \frac{a_{ij}}{C_j} \;\text{(asset fairness)} .

*Rounds.* Let some classes be done, with known bounds of their tasks, and the others *grow*. The tasks of
those who grow are the filling of what the others leave: in an allocation by filling every class is at its
limit or demands a full resource on which no class has a higher level, such an allocation is unique, and the
property passes to what is left. So each round is about a pool of its own, with capacities :math:`c_j` between
bounds. With :math:`g_i = x_i r_i` and :math:`L_j = \sum_{\text{growing}} a_{ij} g_i` the levels :math:`y_j =
c_j/L_j`, at which resource j would be full if nobody stopped before, and :math:`t_i = \ell_i/r_i`, at which
class i would be at its limit, are known between bounds. Whoever stops leaves room, so the :math:`y_j` only
rise.

1. A class whose :math:`t_i` is certainly at most all the :math:`y_j` of its resources ends at its limit.
2. Let the resources in a set J be demanded by the same growing classes K, each of which has all its other
   :math:`y_j`, and its :math:`t_i`, certainly at least as high as :math:`y = \min_J y_j`. Nobody of K stops
   before the level y, and there all do: they run :math:`g_i y` tasks.
3. If neither is certain of anybody (ties, up to rounding), let y be the smallest of all lower bounds. All who
   grow reach the level y. So the tasks of class i are at least :math:`g_i y`, and at most

   .. math:: g_i y + \min_j (c_j - L_j y)/a_{ij} ,

   since the others hold what they hold at level y. These bounds are taken for the classes whose resources, or
   limits, may be the first to come. They are narrow: the numerators are 0 up to rounding for such a resource.

Every round ends at least one class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.exact.outward import outward
from fairness.filling.fractions import fill, growth_rates
from fairness.machine.compiling import UNCOUNTED, part, stored
from fairness.model.problem import FloatArray
from queueing.certificates import intervals
from queueing.certificates.errors import CertificateError
from queueing.certificates.intervals import Interval, above, below
from queueing.certificates.pool import Pool
from queueing.certificates.rates import interface
from queueing.certificates.rates.interface import Rates

__all__ = [
    "GROWTH",
    "exact_growth",
    "exact_tasks",
    "growth",
    "memory",
    "numbers",
    "resource_weights",
    "tasks",
]

GROWTH: Mapping[str, str] = {"MMF": "tasks", "DRF": "dominant", "Asset": "assets"}
"""Policies that fill, by name, and what of a job grows alike."""

GROWING, ENDED = 1.0, 2.0
"""A class that grows in this round, and one that has ended in it; others are 0."""


def exact_growth(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> list[Fraction]:
    """Growth rates r_i of a job of each class, by the definition of the policy; floats are fractions."""
    weights = [Fraction(w) for w in pool.weights]
    return growth_rates(GROWTH[policy], pool.shares, weights, resource_weights(pool, policy, parameters))


def exact_tasks(
    pool: Pool, policy: str, parameters: Mapping[str, Any], counts: Sequence[int]
) -> list[Fraction]:
    """Tasks of each class in a state, in exact fractions.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing import System
    >>> pool = Pool.of(System(Problem([[1, 4], [3, 1]], [9, 18]), [1, 1]))
    >>> exact_tasks(pool, "Asset", {}, [1, 1])
    [Fraction(63, 25), Fraction(54, 25)]
    """
    rates = [x * r for x, r in zip(counts, exact_growth(pool, policy, parameters), strict=True)]
    limits = [
        x * Fraction(limit) if limit < np.inf else None for x, limit in zip(counts, pool.limits, strict=True)
    ]
    return fill(pool.shares, rates, limits)


def growth(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> tuple[Interval, ...]:
    """Bounds of the growth rates."""
    return tuple(Interval(low, high) for low, high in numbers(pool, policy, parameters).T.tolist())


def numbers(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> FloatArray:
    """Bounds of the growth rates, (2, n), for :func:`tasks`."""
    return outward([exact_growth(pool, policy, parameters)])[:, 0]


def memory(n: int, m: int) -> int:
    """Length of the work space of :func:`tasks`."""
    return 5 * m + 5 * n


def resource_weights(pool: Pool, policy: str, parameters: Mapping[str, Any]) -> FloatArray:
    """Weights v_ij of the classes with arrivals, (n, m)."""
    given = dict(parameters)
    weights = given.pop("resource_weights", None) if policy == "DRF" else None
    if given:
        raise CertificateError("data", f"{policy} has no parameter {next(iter(given))!r}")
    if weights is None:
        return np.ones_like(pool.demands)
    try:
        array = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise CertificateError("data", "resource_weights must be numbers") from None
    if array.shape != pool.problem.demands.shape:
        raise CertificateError(
            "data", f"resource_weights has shape {array.shape}; demands have {pool.problem.demands.shape}"
        )
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise CertificateError("data", "resource_weights must be finite and > 0")
    return array[np.ix_(pool.classes, pool.resources)]


@stored(intervals, interface, **UNCOUNTED)
def tasks(rates: Rates, counts: Any, lower: FloatArray, upper: FloatArray, memory: FloatArray) -> None:
    """Bounds of the tasks in one state, see :mod:`queueing.certificates.rates.interface`."""
    demands = rates.demands
    n, m = demands.shape
    # Capacities left, loads and levels of the resources; growth and limit levels of the classes.
    left_low, left_high, load_low = memory[:m], memory[m : 2 * m], memory[2 * m : 3 * m]
    level_low, level_high = memory[3 * m : 4 * m], memory[4 * m : 5 * m]
    rest = memory[5 * m :]
    grow_low, grow_high, growing = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n]
    stop_low, stop_high = rest[3 * n : 4 * n], rest[4 * n : 5 * n]
    remaining = 0
    for i in range(n):
        x = float(counts[i])
        lower[i] = upper[i] = 0.0
        growing[i] = 0.0
        if x > 0:
            growing[i] = GROWING
            remaining += 1
            grow_low[i], grow_high[i] = below(x * rates.numbers[0, i]), above(x * rates.numbers[1, i])
            stop_low[i] = stop_high[i] = np.inf
            if rates.limits[i] < np.inf:
                stop_low[i] = below(rates.limits[i] / rates.numbers[1, i])
                stop_high[i] = above(rates.limits[i] / rates.numbers[0, i])
    for j in range(m):
        left_low[j] = left_high[j] = rates.capacities[j]
    while remaining > 0:
        first = last = np.inf
        for j in range(m):
            load_low[j], load_high = _load(j, demands, growing, grow_low, grow_high)
            level_low[j] = level_high[j] = np.inf
            if load_high > 0:
                level_low[j] = max(0.0, below(left_low[j] / load_high))
                level_high[j] = above(left_high[j] / load_low[j])
                first, last = min(first, level_low[j]), min(last, level_high[j])
        ended = 0
        for i in range(n):
            if growing[i] > 0:
                first, last = min(first, stop_low[i]), min(last, stop_high[i])
                reach = np.inf
                for j in range(m):
                    if demands[i, j] > 0:
                        reach = min(reach, level_low[j])
                if stop_high[i] < np.inf and stop_high[i] <= reach:  # 1.
                    limit = counts[i] * rates.limits[i]
                    lower[i], upper[i] = below(limit), above(limit)
                    growing[i] = ENDED
                    ended += 1
        for j in range(m):  # 2.
            if level_low[j] < np.inf and _first_for_all(j, demands, growing, stop_low, level_low, level_high):
                low, high = _group_level(j, demands, growing, level_low, level_high)
                for i in range(n):
                    if growing[i] == GROWING and demands[i, j] > 0:
                        lower[i], upper[i] = below(grow_low[i] * low), above(grow_high[i] * high)
                        growing[i] = ENDED
                        ended += 1
        if ended == 0:  # 3.
            for i in range(n):
                if growing[i] == GROWING:
                    concerned = stop_low[i] <= last
                    more = np.inf
                    for j in range(m):
                        if demands[i, j] > 0:
                            concerned = concerned or level_low[j] <= last
                            slack = above(left_high[j] - below(load_low[j] * first))
                            more = min(more, above(max(slack, 0.0) / demands[i, j]))
                    if concerned:
                        lower[i] = below(grow_low[i] * first)
                        upper[i] = above(above(grow_high[i] * first) + more)
                        upper[i] = min(upper[i], above(counts[i] * rates.limits[i]))
                        growing[i] = ENDED
                        ended += 1
        for i in range(n):
            if growing[i] == ENDED:
                growing[i] = 0.0
                for j in range(m):
                    a = demands[i, j]
                    if a > 0:
                        left_low[j] = below(left_low[j] - above(a * upper[i]))
                        left_high[j] = above(left_high[j] - below(a * lower[i]))
        remaining -= ended


@part
def _load(
    j: int, demands: FloatArray, growing: FloatArray, grow_low: FloatArray, grow_high: FloatArray
) -> tuple[float, float]:
    """Bounds of L_j."""
    low = high = 0.0
    for i in range(len(growing)):
        a = demands[i, j]
        if growing[i] > 0 and a > 0:
            low = below(low + below(a * grow_low[i]))
            high = above(high + above(a * grow_high[i]))
    return low, high


@part
def _same_classes(j: int, k: int, demands: FloatArray, growing: FloatArray) -> bool:
    """Whether two resources are demanded by the same of the classes that grow in this round."""
    for i in range(len(growing)):
        if growing[i] > 0 and (demands[i, j] > 0) != (demands[i, k] > 0):
            return False
    return True


@part
def _group_level(
    j: int, demands: FloatArray, growing: FloatArray, level_low: FloatArray, level_high: FloatArray
) -> tuple[float, float]:
    """Bounds of the lowest level of all resources that the same classes demand."""
    low, high = level_low[j], level_high[j]
    for k in range(demands.shape[1]):
        if _same_classes(j, k, demands, growing):
            low, high = min(low, level_low[k]), min(high, level_high[k])
    return low, high


@part
def _first_for_all(
    j: int,
    demands: FloatArray,
    growing: FloatArray,
    stop_low: FloatArray,
    level_low: FloatArray,
    level_high: FloatArray,
) -> bool:
    """Whether the group of a resource certainly comes before whatever else may stop its classes."""
    high = _group_level(j, demands, growing, level_low, level_high)[1]
    for i in range(len(growing)):
        if growing[i] > 0 and demands[i, j] > 0:
            if stop_low[i] < high:
                return False
            for k in range(demands.shape[1]):
                if demands[i, k] > 0 and level_low[k] < high and not _same_classes(j, k, demands, growing):
                    return False
    return True
