"""The utilitarian policy: as many tasks as possible in all, whoever they are of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from fairness.errors import NotConvergedError
from fairness.model.problem import FloatArray, Problem

__all__ = ["Utilitarian"]


@dataclass(frozen=True)
class Utilitarian:
    """The most tasks in all: a linear program; ties go to the class that stands first.

    Of all allocations with the most tasks it takes those that give the first class the most, of these those
    that give the second class the most, and so on. Jobs count by their limits alone, and weights for nothing.
    """

    name = "Utilitarian"
    batches = "in turn"
    family = None  # no bound, definition or notion of the library is about it

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes)."""
        x = problem.check_counts(counts)
        most = np.where(x > 0, np.where(x > 0, x, 1.0) * problem.limits, 0.0)
        # States with the same bounds have the same allocation.
        bounds, which = np.unique(most.reshape(-1, problem.n_classes), axis=0, return_inverse=True)
        tasks = np.array([_most_tasks(problem, upper) for upper in bounds])
        return tasks[which.reshape(-1)].reshape(x.shape)


def _most_tasks(problem: Problem, upper: FloatArray) -> FloatArray:
    """Maximise the sum, then class after class, and hold on to what was reached before."""
    n, reached = problem.n_classes, list[float]()
    goals = np.vstack([np.ones(n), np.eye(n)])
    for held, goal in enumerate(goals):
        found = linprog(
            -goal,
            A_ub=problem.demands.T,
            b_ub=problem.capacities,
            A_eq=goals[:held] if held else None,
            b_eq=reached if held else None,
            bounds=[(0.0, most) for most in upper],
        )
        if found.status != 0:
            raise NotConvergedError(f"the program of the bounds {upper} ended with: {found.message}")
        reached.append(float(goal @ found.x))
    return np.where(upper > 0, np.maximum(found.x, 0.0), 0.0)
