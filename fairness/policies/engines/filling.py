"""Policies that fill progressively: how fast a job grows is all that they say.

Max-min fairness, dominant resource fairness, EDRF and asset fairness differ in the growth rates; they are
filled by :mod:`fairness.filling.floats`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from fairness.evidence.pools import certificate_of_levels, job_levels
from fairness.filling import floats
from fairness.filling.floats import fill, work_for
from fairness.machine.compiling import stored
from fairness.model import nonzeros
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.family import Family
from fairness.protocol.following import AnsweringFollower, Follower
from fairness.protocol.policy import Solution, evaluate

__all__ = ["FillingPolicy", "fill_states", "progressive_filling"]

STEPS = 5
"""Microseconds per entry of the task shares and state, interpreted."""


def progressive_filling(
    shares: Nonzeros, limits: FloatArray, counts: FloatArray, tasks: FloatArray, growth: FloatArray
) -> None:
    """Fill ``tasks`` (n_states, n_classes); growth is infinite for classes without demand."""
    n_resources = shares.columns.start.size - 1
    kernel = fill_states.small(STEPS * (limits.size + n_resources + shares.share.size), len(counts))
    kernel(shares, limits, counts, tasks, growth, 1.0, np.empty(n_resources), np.empty(0))


@stored(nonzeros, floats, nogil=True, error_model="numpy")
def fill_states(
    shares: Nonzeros,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    _alpha: float,
    prices: FloatArray,
    _residuals: FloatArray,
) -> None:
    """The same as :class:`fairness.protocol.following.Answers` want it; of prices only the number counts."""
    n_states, n = counts.shape
    rates, caps = np.empty(n), np.empty(n)
    work = work_for(n, prices.size)
    for state in range(n_states):
        for i in range(n):
            x = counts[state, i]
            present = x > 0.0
            caps[i] = x * limits[i] if present else 0.0
            rates[i] = x * growth[i] if present and growth[i] < np.inf else 0.0
            # A class without demand is bounded by its limit alone.
            tasks[state, i] = caps[i] if growth[i] == np.inf else 0.0
        fill(shares, rates, caps, tasks[state], work)


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
        return self._tasks(problem, counts, self.growth(problem))

    def _tasks(self, problem: Problem, counts: ArrayLike, growth: FloatArray) -> FloatArray:
        return evaluate(problem, counts, progressive_filling, growth, shares=problem.nonzeros)

    def follow(self, problem: Problem) -> Follower:
        """One state after the other."""
        return AnsweringFollower(problem, fill_states, self.growth(problem))

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation, levels and certificate for one vector of counts."""
        x, growth = problem.check_state(counts), self.growth(problem)
        tasks = self._tasks(problem, x, growth)
        levels = job_levels(x, tasks, growth)
        return Solution(tasks, certificate_of_levels(problem, x, tasks, levels), levels=levels)
