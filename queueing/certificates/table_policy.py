r"""A policy that is a table of the tasks in each state, and beyond it the policy of the largest weight.

*Largest weight* (MaxWeight): of all that can run, the vertex with the largest
:math:`\sum_i g_i x_i\varphi_i`, :math:`g_i > 0`. It is stable below load 1 [1]_: where
:math:`V = \sum_i g_i\sigma_i x_i^2/2` is large, it falls, as the loads :math:`\rho` can run with something to
spare. Whatever stands in the table does no harm.

References
----------
.. [1] L. Tassiulas and A. Ephremides, "Stability properties of constrained queueing systems and scheduling
   policies for maximum throughput in multihop radio networks", IEEE Transactions on Automatic Control 37(12),
   1992. DOI 10.1109/9.182479.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.errors import ModelError
from fairness.model.problem import FloatArray, Problem

__all__ = ["TablePolicy"]


@dataclass(frozen=True, eq=False)
class TablePolicy:
    """The policy that :func:`queueing.optimal` found, for its own problem.

    It is a policy like any other: tabulate it, solve its chain, simulate it. Numbers of jobs that are not
    whole count as the next larger ones in the table. Classes without arrivals run nothing.

    Attributes
    ----------
    problem : Problem
    table : ndarray of shape (*shape, n_classes), tasks
        Entry ``table[x_1, ..., x_n, i]``: running tasks of class i; NaN where the largest weight decides, as
        it does beyond the table.
    gains : ndarray of shape (n_classes,)
        The g of the largest weight.
    vertices : dict of tuple of int to ndarray of shape (n_vertices, n_classes)
        What can run, by the numbers of jobs; those above the largest that are listed are no different.
    name : str
    """

    problem: Problem
    table: FloatArray
    gains: FloatArray
    vertices: dict[tuple[int, ...], FloatArray]
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
                "problem", f"is not the one that {self.name!r} was found for; call optimal for this one"
            )
        x = problem.check_counts(counts)
        whole = np.ceil(x).reshape(-1, problem.n_classes)
        # Huge counts are no integers.
        places = np.minimum(whole, np.array(self.table.shape[:-1]) - 1.0).astype(np.int64)
        tasks: FloatArray = self.table[tuple(places.T)]
        beyond = np.isnan(tasks[:, 0]) | (places < whole).any(axis=1)
        tasks[beyond] = self._heaviest(whole[beyond])
        return np.minimum(tasks.reshape(x.shape), problem.most_tasks(x))

    def _heaviest(self, counts: FloatArray) -> FloatArray:
        """The vertices with the largest weight, (n_states, n_classes)."""
        tasks, caps = np.zeros(counts.shape), max(self.vertices)
        patterns, which = np.unique(np.minimum(counts, caps).astype(int), axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns.tolist()):
            points, rows = self.vertices[tuple(pattern)], np.flatnonzero(which.ravel() == k)
            tasks[rows] = points[((self.gains * counts[rows]) @ points.T).argmax(axis=1)]
        return tasks
