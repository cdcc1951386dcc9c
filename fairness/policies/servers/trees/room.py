r"""How far tasks can grow on the servers of a cluster, and who cannot at all, with the prices that prove it.

Placements of given tasks are the solutions of :math:`\sum_n x_{ni} b_{nir} \le 1` with :math:`\sum_i x_{ni}`
at least the tasks of class n. Two linear programs ask for more, in one model that is changed from one to the
next: the longest step in a direction, and growth of single classes. Prices of resources, the dual values,
bound both from above whatever rounding does to the placement (:mod:`fairness.evidence.tree_placements`).
"""

from __future__ import annotations

import highspy
import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.evidence.queue_bounds import BoolArray
from fairness.evidence.tree_placements import worth_of_tasks
from fairness.machine.linear_programs import require_optimum
from fairness.model.cluster import Cluster
from fairness.policies.servers.engines.level_evidence import Pairs
from fairness.policies.servers.engines.level_program import FAR_APART
from fairness.policies.servers.engines.pair_program import PairProgram

__all__ = ["Room"]

NOTHING = 1e-10
"""Growth that is less than this part of what a class could have alone is rounding."""

PROBED = 1e-3
"""Part of what a class could have alone, up to which its growth is asked for."""

LOOSE = 1e-12
"""Part by which tasks that are placed already may be missed, so that rounding leaves a placement."""


class Room(PairProgram):
    r"""The servers, for classes with jobs.

    Columns are the parts :math:`x_{ni}/\gamma_{ni}`, the time of a step, and the growth of each class as a
    part of its tasks alone on the cluster. Rows are the resources of the servers and the classes.
    """

    def __init__(self, cluster: Cluster, present: BoolArray) -> None:
        pairs, n = Pairs(cluster, present), cluster.n_classes
        super().__init__(pairs)
        self.cluster, self.alone = cluster, cluster.gamma.sum(axis=1)
        self.time = len(pairs.job_class)
        self.growth = self.time + 1 + np.arange(n, dtype=np.int32)
        matrix = self.matrix(
            pairs.alone,
            pairs.alone / self.alone[pairs.job_class],
            (self.rising, np.full(n, self.time), np.full(n, -1.0)),
            (self.rising, self.growth, np.full(n, -1.0)),
        )
        most = np.r_[np.full(self.time, np.inf), np.zeros(1 + n)]
        self.solver = self.model(matrix, np.zeros(len(most)), most)
        self.solver.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def step(self, tasks: FloatArray, speeds: FloatArray, most: float) -> tuple[float, FloatArray | None]:
        """Longest time up to ``most`` that tasks can grow so, and the prices of the servers that end it."""
        n = len(tasks)
        parts = np.divide(speeds, self.alone)
        unit = float(parts.max())
        for row, part in zip(self.rising.tolist(), (parts / unit).tolist(), strict=True):
            self.solver.changeCoeff(row, self.time, -part)
        self._fix(np.zeros(n))
        # In units of this step the whole cluster is enough for no more than a time of 1.
        limit = min(most * unit, 2.0)
        self.solver.changeColBounds(self.time, 0.0, limit)
        self.solver.changeColCost(self.time, 1.0)
        values, prices = self._solved(tasks)
        self.solver.changeColCost(self.time, 0.0)
        self.solver.changeColBounds(self.time, 0.0, 0.0)
        worth = worth_of_tasks(self.cluster, prices)
        gained = float(worth @ speeds)
        if gained <= 0:
            return most, None
        bound = max(float(prices.sum() - worth @ tasks) / gained, 0.0)
        if bound >= most * (1 - NOTHING) and values[self.time] >= limit * (1 - NOTHING):
            return most, None
        return bound, prices

    def stopped(self, tasks: FloatArray, asked: BoolArray) -> tuple[BoolArray, FloatArray]:
        """Which of the classes cannot grow while the others keep theirs, and prices that say so."""
        left = asked.copy()
        while True:
            self._fix(np.where(left, PROBED, 0.0))
            self._cost(left)
            values, prices = self._solved(tasks)
            grown = left & (values[self.growth] > NOTHING)
            if not grown.any():
                break
            left &= ~grown
        self._cost(np.zeros_like(left))
        return left, prices

    def placement(self, tasks: FloatArray) -> FloatArray:
        """A placement of the tasks, (n_classes, n_servers)."""
        self._fix(np.zeros(len(tasks)))
        values, _ = self._solved(tasks)
        on_pair = np.maximum(values[: self.time], 0.0) * self.pairs.alone
        largest = np.zeros(len(tasks))
        np.maximum.at(largest, self.pairs.job_class, on_pair)
        on_pair[on_pair <= NOTHING * largest[self.pairs.job_class]] = 0.0  # what LOOSE left free
        sums = self.pairs.totals(on_pair)
        fit = np.divide(tasks, sums, out=np.zeros_like(sums), where=sums > 0)
        found = np.zeros((self.pairs.n_classes, self.pairs.n_servers))
        found[self.pairs.job_class, self.pairs.server] = on_pair * fit[self.pairs.job_class]
        return found

    def _fix(self, most: FloatArray) -> None:
        self.solver.changeColsBounds(len(most), self.growth, np.zeros(len(most)), most)

    def _cost(self, asked: BoolArray) -> None:
        self.solver.changeColsCost(len(asked), self.growth, asked.astype(float))

    def _solved(self, tasks: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values of the columns, and prices of the servers, (n_servers, n_resources)."""
        n = len(tasks)
        kept = tasks / self.alone * (1 - LOOSE)
        self.solver.changeRowsBounds(n, self.rising, kept, np.full(n, np.inf))
        self.solver.run()
        require_optimum(self.solver, f"; {FAR_APART}", best=tasks)
        solution = self.solver.getSolution()
        dual = np.abs(np.asarray(solution.row_dual)[: self.first_class])
        prices = self.by_place(np.where(dual > LOOSE * dual.max(initial=0.0), dual, 0.0))
        return np.asarray(solution.col_value), prices
