r"""Progressive filling, the engine of max-min fairness in any unit.

Every job of class :math:`i` grows at rate :math:`r_i`; at the common level :math:`y` a class of
:math:`x_i` jobs runs :math:`x_i r_i y` tasks. When a resource fills up, the classes that demand it are
frozen; when a class reaches its limit, it is frozen; the others go on. The result is the weighted
leximin allocation, so it is Pareto efficient with zero demands too. Different growth rates give
max-min fairness, dominant resource fairness, EDRF and asset fairness.

The level at which a resource fills is computed afresh in each round from the frozen tasks,
:math:`y_j = (1 - \sum_{\text{frozen}} a_{ij}\varphi_i) / \sum_{\text{growing}} a_{ij} x_i r_i`,
so that no error accumulates from repeated subtraction.
"""

from __future__ import annotations

import numba
import numpy as np

from fairness.certificates import level_certificate
from fairness.policies.protocol import Solution, evaluate
from fairness.problem import FloatArray, Problem

__all__ = ["filling_solution", "progressive_filling"]


@numba.njit(cache=True, nogil=True)
def progressive_filling(
    task_shares: FloatArray, limits: FloatArray, counts: FloatArray, tasks: FloatArray, growth: FloatArray
) -> None:
    """Fill ``tasks`` (n_states, n_classes); growth (n_classes,) is infinite for classes without demand."""
    n_states, n = counts.shape
    m = task_shares.shape[1]
    frozen_usage = np.empty(m)
    growing_load = np.empty(m)
    growing = np.empty(n, dtype=np.bool_)
    full = np.empty(m, dtype=np.bool_)
    for state in range(n_states):
        x = counts[state]
        phi = tasks[state]
        left = 0
        for i in range(n):
            growing[i] = x[i] > 0 and growth[i] < np.inf
            left += growing[i]
            # A class without demand is bounded by its limit alone.
            phi[i] = x[i] * limits[i] if x[i] > 0 and not growing[i] else 0.0
        level = 0.0
        while left > 0:
            frozen_usage[:] = 0.0
            growing_load[:] = 0.0
            reach = np.inf
            first_class = -1
            first_resource = -1
            for i in range(n):
                if growing[i]:
                    rate = x[i] * growth[i]
                    for j in range(m):
                        growing_load[j] += task_shares[i, j] * rate
                    if limits[i] / growth[i] < reach:
                        reach = limits[i] / growth[i]
                        first_class = i
                elif phi[i] > 0:
                    for j in range(m):
                        frozen_usage[j] += task_shares[i, j] * phi[i]
            for j in range(m):
                if growing_load[j] > 0 and (1.0 - frozen_usage[j]) / growing_load[j] < reach:
                    reach = (1.0 - frozen_usage[j]) / growing_load[j]
                    first_class, first_resource = -1, j
            # Rounding may put a resource that fills at this very level a hair below it.
            level = max(level, reach)
            # Whatever sets the level binds, whether or not the products below round that way.
            ceiling = level * (1.0 + 1e-15)
            for j in range(m):
                full[j] = growing_load[j] > 0 and 1.0 - frozen_usage[j] <= ceiling * growing_load[j]
            if first_resource >= 0:
                full[first_resource] = True
            for i in range(n):
                if growing[i]:
                    stop = i == first_class or limits[i] <= ceiling * growth[i]
                    for j in range(m):
                        stop = stop or (full[j] and task_shares[i, j] > 0)
                    if stop:
                        phi[i] = x[i] * min(growth[i] * level, limits[i])
                        growing[i] = False
                        left -= 1


def filling_solution(problem: Problem, counts: FloatArray, growth: FloatArray) -> Solution:
    """Allocation, levels and certificate of progressive filling for one vector of counts."""
    tasks = evaluate(problem, counts, progressive_filling, growth)
    levels = np.divide(tasks, counts * growth, out=np.zeros_like(tasks), where=counts > 0)
    return Solution(tasks, level_certificate(problem, counts, tasks, growth), levels=levels)
