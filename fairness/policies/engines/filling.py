r"""Progressive filling, the engine of max-min fairness in any unit.

Every job of class :math:`i` grows at rate :math:`r_i`; at the common level :math:`y` a class of
:math:`x_i` jobs runs :math:`x_i r_i y` tasks. When a resource fills up, the classes that demand it are
frozen; when a class reaches its limit, it is frozen; the others go on. The result is the weighted
leximin allocation, so it is Pareto efficient with zero demands too. Different growth rates give
max-min fairness, dominant resource fairness, EDRF and asset fairness.

The common level need not rise event by event. In each round, with the classes frozen so far, let

.. math:: y_j = \Bigl(1 - \sum_{\text{frozen}} a_{ij}\varphi_i\Bigr) \Big/
   \sum_{\text{growing}} a_{ij} x_i r_i

be the level at which resource :math:`j` would fill up if nobody stopped before. Whoever stops leaves room
for the others, so these levels only rise from round to round. Therefore a class whose limit comes before
:math:`\min_{j: a_{ij} > 0} y_j` ends at its limit, and a resource whose :math:`y_j` is this minimum for all
its growing classes, none of them at its limit, fills up at just this level. All such classes are frozen at
once. The lowest resource either fills up or loses a class to its limit, so each round freezes somebody; for
one resource the rounds are Newton's steps on its concave, piecewise linear usage, which are few however
many limits there are.

Usage is only ever added up and load is summed afresh in each round, so that no error accumulates from
repeated subtraction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numba
import numpy as np
from numpy.typing import ArrayLike

from fairness.evidence.pools import job_levels, level_certificate
from fairness.machine import kernels
from fairness.machine.compiling import stored
from fairness.machine.kernels import IntArray, Shares, entry, span
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.family import Family
from fairness.protocol.following import AnsweringFollower, Follower
from fairness.protocol.policy import Solution, evaluate

__all__ = ["FILLING_COLUMNS", "FillingPolicy", "progressive_filling", "water_fill"]

FILLING_COLUMNS = 4
"""Work space of :func:`water_fill`, in vectors over the resources."""


@numba.njit(nogil=True, error_model="numpy")
def water_fill(
    shares: Shares,
    growing: IntArray,
    left: int,
    rates: FloatArray,
    caps: FloatArray,
    tasks: FloatArray,
    columns: FloatArray,
) -> None:
    """Fill ``tasks`` (n_classes,) of the first ``left`` classes listed in ``growing``, a list used up here.

    ``rates`` and ``caps`` (n_classes,) are x r and x l of the module docstring; ``columns``
    (FILLING_COLUMNS, n_resources) is work space.
    """
    used, floor, level, open_ = columns[0], columns[1], columns[2], columns[3]
    used[:] = 0.0
    floor[:] = 0.0
    while left > 0:
        level[:] = 0.0
        open_[:] = 0.0
        for k in range(left):
            i = growing[k]
            first, last = span(shares, i)
            for e in range(first, last):
                j, a = entry(shares, i, e)
                level[j] += a * rates[i]
        for j in range(level.size):
            # Rounding may put a resource that fills up at the level of a frozen class a hair below it.
            level[j] = max(floor[j], (1.0 - used[j]) / level[j]) if level[j] > 0 else np.inf
        for k in range(left):
            i = growing[k]
            first, last = span(shares, i)
            reach = np.inf
            for e in range(first, last):
                j, a = entry(shares, i, e)
                reach = min(reach, level[j] if a > 0 else np.inf)
            tasks[i] = min(caps[i], rates[i] * reach)
            # Equal levels are to count as equal, whether or not they round that way.
            ceiling = -1.0 if tasks[i] == caps[i] else reach * (1.0 + 1e-15)
            for e in range(first, last):
                j, a = entry(shares, i, e)
                if a > 0 and level[j] > ceiling:
                    open_[j] = 1.0
        remaining = 0
        for k in range(left):
            i = growing[k]
            first, last = span(shares, i)
            stop = tasks[i] == caps[i]
            for e in range(first, last):
                j, a = entry(shares, i, e)
                stop = stop or (open_[j] == 0 and a > 0)
            if stop:
                height = tasks[i] / rates[i]
                for e in range(first, last):
                    j, a = entry(shares, i, e)
                    used[j] += a * tasks[i]
                    floor[j] = max(floor[j], height if a > 0 else 0.0)
            else:
                growing[remaining] = i
                remaining += 1
        left = remaining


@stored(kernels, nogil=True, error_model="numpy")
def progressive_filling(
    task_shares: FloatArray, limits: FloatArray, counts: FloatArray, tasks: FloatArray, growth: FloatArray
) -> None:
    """Fill ``tasks`` (n_states, n_classes); growth is infinite for classes without demand."""
    _fill_states(task_shares, limits, counts, tasks, growth, task_shares.shape[1])


@stored(kernels, nogil=True, error_model="numpy")
def fill_on_demand(
    shares: Shares,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    _alpha: float,
    prices: FloatArray,
    _residuals: FloatArray,
) -> None:
    """The same as :class:`fairness.protocol.following.Answers` want it; of prices only the number counts."""
    _fill_states(shares, limits, counts, tasks, growth, prices.size)


@numba.njit(nogil=True, error_model="numpy")
def _fill_states(
    shares: Shares,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    n_resources: int,
) -> None:
    n_states, n = counts.shape
    growing = np.empty(n, dtype=np.int64)
    rates = np.empty(n)
    caps = np.empty(n)
    columns = np.empty((FILLING_COLUMNS, n_resources))
    for state in range(n_states):
        left = 0
        for i in range(n):
            x = counts[state, i]
            tasks[state, i] = 0.0
            if x > 0:
                rates[i] = x * growth[i]
                caps[i] = x * limits[i]
                if growth[i] < np.inf:
                    growing[left] = i
                    left += 1
                else:
                    # A class without demand is bounded by its limit alone.
                    tasks[state, i] = caps[i]
        water_fill(shares, growing, left, rates, caps, tasks[state], columns)


class FillingPolicy(ABC):
    """A policy that fills progressively; a subclass says how fast a job grows."""

    batches = "compiled"
    family = Family("filling", {"growth": "own"})

    def __init_subclass__(cls) -> None:
        # Rates of its own, unless it says which they are.
        if "family" not in vars(cls) and not {"rates", "growth"}.isdisjoint(vars(cls)):
            cls.family = FillingPolicy.family

    @abstractmethod
    def rates(self, problem: Problem) -> FloatArray:
        """Growth per unit of weight, shape (n_classes,), tasks per unit of level; infinite without demand."""

    def growth(self, problem: Problem) -> FloatArray:
        """Growth rates r_i of one job, shape (n_classes,)."""
        # A blocked class never runs, so any finite rate will do.
        return problem.weights * np.where(problem.blocked, 1.0, self.rates(problem))

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes)."""
        return evaluate(problem, counts, progressive_filling, self.growth(problem))

    def follow(self, problem: Problem) -> Follower:
        """One state after the other."""
        return AnsweringFollower(problem, fill_on_demand, self.growth(problem))

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation, levels and certificate for one vector of counts."""
        x, growth = problem.check_state(counts), self.growth(problem)
        tasks = evaluate(problem, x, progressive_filling, growth)
        certificate = level_certificate(problem, x, tasks, growth)
        return Solution(tasks, certificate, levels=job_levels(x, tasks, growth))
