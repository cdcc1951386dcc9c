"""A policy that is a table: the tasks of each state, and beyond the table those of the nearest state in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.errors import ModelError
from fairness.model.problem import FloatArray, Problem

__all__ = ["TablePolicy"]


@dataclass(frozen=True, eq=False)
class TablePolicy:
    """The policy of a table, for its own problem; such as :func:`queueing.optimal` finds.

    It is a policy like any other: tabulate it, solve its chain, simulate it. Counts beyond the table are taken
    as the largest there, and counts between two whole numbers as the larger one.

    Attributes
    ----------
    problem : Problem
    table : ndarray of shape (*shape, n_classes), tasks
        Entry ``table[x_1, ..., x_n, i]``: running tasks of class i. A class with one state runs nothing.
    name : str

    Examples
    --------
    >>> pool = Problem([[1], [1]], [1])
    >>> table = np.zeros((2, 2, 2))
    >>> table[1, :, 0], table[0, 1, 1] = 1, 1
    >>> TablePolicy(pool, table, "first class first")(pool, [[5, 2], [0, 3]])
    array([[1., 0.],
           [0., 1.]])
    """

    problem: Problem
    table: FloatArray
    name: str = "best found"

    batches = "compiled"
    family = None

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes).

        Raises
        ------
        ModelError
            If the problem is another one.
        """
        if not (isinstance(problem, Problem) and self.problem.same(problem)):
            raise ModelError.of(
                "problem", f"is not that of the table of {self.name!r}; find a policy for this one by optimal"
            )
        x = problem.check_counts(counts)
        # Ceilings of huge counts are no integers.
        places = np.minimum(np.ceil(x), np.array(self.table.shape[:-1]) - 1.0).astype(np.int64)
        tasks: FloatArray = self.table[tuple(np.moveaxis(places, -1, 0))]
        return np.minimum(tasks, problem.most_tasks(x))
