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
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import ModelError
from fairness.model.problem import FloatArray, Problem
from queueing.certificates.running import running

__all__ = ["TablePolicy"]


@dataclass(frozen=True, eq=False, repr=False)
class TablePolicy:
    """The policy that :func:`queueing.optimal` found, for its own problem.

    It is a policy like any other: tabulate it, solve its chain, simulate it. Numbers of jobs that are not
    whole count as the next larger ones. Classes without arrivals run nothing.

    Attributes
    ----------
    problem : Problem
    classes : tuple of int
        Those with arrivals, n of them.
    table : ndarray of shape ``(*shape, n)``, tasks
        Entry ``table[x_1, ..., x_n, i]``: running tasks of a class; NaN where the largest weight decides, as
        it does beyond the table.
    gains : ndarray of shape (n,)
        The g of the largest weight.
    name : str
    """

    problem: Problem
    classes: tuple[int, ...]
    table: FloatArray
    gains: FloatArray
    name: str = "best found"

    batches = "compiled"
    family = None

    def __repr__(self) -> str:
        return f"TablePolicy({self.name} on {' x '.join(map(str, self.table.shape[:-1]))} states)"

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
        x, live = problem.check_counts(counts), list(self.classes)
        whole = np.ceil(x.reshape(-1, problem.n_classes)[:, live])
        # Huge counts are no integers.
        places = np.minimum(whole, np.array(self.table.shape[:-1]) - 1.0).astype(np.int64)
        chosen = self.table[tuple(places.T)]
        beyond = np.isnan(chosen).any(axis=1) | (places < whole).any(axis=1)
        chosen[beyond] = self._heaviest(whole[beyond])
        tasks = np.zeros((len(whole), problem.n_classes))
        tasks[:, live] = chosen
        return np.minimum(tasks.reshape(x.shape), problem.most_tasks(x))

    def tabulated(self) -> NDArray[np.int64]:
        """The states whose tasks the table tells, (n_states, n)."""
        return np.argwhere(~np.isnan(self.table).any(axis=-1))

    @cached_property
    def _vertices(self) -> dict[tuple[int, ...], FloatArray]:
        found = running(self.problem, self.classes).vertices
        return {pattern: np.array(points, dtype=float) for pattern, points in found.items()}

    def _heaviest(self, counts: FloatArray) -> FloatArray:
        """The vertices with the largest weight, (n_states, n)."""
        tasks = np.zeros(counts.shape)
        patterns, which = np.unique(np.minimum(counts, max(self._vertices)), axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns.astype(int).tolist()):
            points, rows = self._vertices[tuple(pattern)], np.flatnonzero(which.ravel() == k)
            # Sums in this order have the same digits in whatever batch a state is asked for.
            weights = ((self.gains * counts[rows])[:, None] * points).sum(axis=2)
            tasks[rows] = points[weights.argmax(axis=1)]
        return tasks
