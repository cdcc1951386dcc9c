r"""The linear programs of leximin, in one model that is changed from round to round.

Each round maximises the common level :math:`t` of the free classes, :math:`\sum_i x_{ni} \ge g_n t`, while
the others keep what they have. Its dual values are the prices and multipliers of :mod:`.level_evidence`,
scaled so that :math:`\sum_{\text{free}} \mu_n g_n = 1`: therefore some free class has :math:`\mu_n > 0`.
Those classes are at their leximin level and are frozen. The level is taken from the bound that the dual
values prove, which an error in them enters only in second order.

What a round proves is kept in the model as equality: resources with a positive price are full, pairs with a
positive reduced cost are unused, frozen classes have their tasks; but for the one with the largest
:math:`\mu_n g_n`, whose tasks follow from all that. As inequalities these rows would leave a sliver that the
next program cannot resolve, and without that exception they would contradict each other by a rounding error.

HiGHS [1]_ finds the optimal basis B, by an interior point method with crossover in the first round of a large
program, else by the primal simplex method from the last basis. The values are computed afresh. The dual ones
solve :math:`B^\top y = c_B` only where the pattern of B lets the cost of t arrive; elsewhere they are 0, and
a factorisation of the whole of B would leave rounding errors there. The placement is that of the last basis.

References
----------
.. [1] Q. Huangfu and J. A. J. Hall, "Parallelizing the dual revised simplex method", Mathematical
   Programming Computation 10, 2018. DOI 10.1007/s12532-017-0130-5.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_bipartite_matching
from scipy.sparse.linalg import splu

from fairness.arguments.validation import FloatArray, frozen
from fairness.errors import NotConvergedError
from fairness.evidence.pools import SATURATION
from fairness.machine.linear_programs import by_rows, require_optimum
from fairness.policies.servers.engines.level_evidence import Level, Pairs
from fairness.policies.servers.engines.pair_program import PairProgram

__all__ = ["FAR_APART", "LevelProgram"]

FAR_APART = "are demands, counts or yardsticks many decades apart? leave out what is negligible"
"""What to ask, and to do, when rounding spoils a program."""

SAME_LEVEL = 1e-12
"""Levels that differ by less than this, relatively, are reported as equal."""

LARGE_PROGRAM = 2000
"""Pairs of class and server from which an interior point method finds the first basis faster."""


class LevelProgram(PairProgram):
    r"""The program of the current round.

    Columns are the levels :math:`z_{ni} = x_{ni}/(g_n u)` that a class draws from a server, and t; u is a
    level of the right size. Rows are the resources, :math:`\sum_n g_n u b_{nir} z_{ni} \le 1`, and the
    classes, :math:`\sum_i z_{ni} - t \ge 0`.

    Attributes
    ----------
    free : ndarray of bool, shape (n_classes,)
        Classes with jobs that are not frozen yet.
    levels : ndarray of shape (n_classes,)
        Levels of the frozen classes.
    """

    def __init__(self, pairs: Pairs, goals: FloatArray) -> None:
        super().__init__(pairs)
        self.goals = goals
        self.free = np.bincount(pairs.job_class, minlength=pairs.n_classes) > 0
        self.levels = np.zeros(pairs.n_classes)
        self.opened = np.ones(len(pairs.job_class), dtype=bool)
        self.full = np.zeros((pairs.n_servers, pairs.n_resources), dtype=bool)
        # A middling level if every server were divided equally; a power of 2, so that scaling does not round.
        users = np.bincount(pairs.server, minlength=pairs.n_servers)
        equal = pairs.totals(pairs.alone / users[pairs.server])[self.free] / goals[self.free]
        self.unit = 2.0 ** round(float(np.log2(equal).mean()))
        self.scale = np.where(self.free, goals * self.unit, 1.0)
        # Columns: pairs, then t, then the slacks of the rows.
        self.t = len(pairs.job_class)
        rows, n_rows = self.rising, np.arange(len(self.lower))
        self.columns = self.matrix(
            self.scale[pairs.job_class],
            np.ones(self.t),
            (rows, np.full(len(rows), self.t), np.where(self.free, -1.0, 0.0)),
            (n_rows, self.t + 1 + n_rows, np.full(len(n_rows), -1.0)),
        )
        self.interior = self.t >= LARGE_PROGRAM
        self.solver = self.model(
            self.columns,
            # This stake in t makes the multipliers of order 1: the tolerance on them is a relative one.
            np.append(np.zeros(self.t), -float(self.free.sum())),
            np.full(self.t + 1, np.inf),
            simplex_strategy=4,  # primal: the last solution stays feasible from round to round
            primal_simplex_bound_perturbation_multiplier=0.0,  # equalities leave it no room
            large_matrix_value=1e30,  # the evidence judges the answer, whatever the coefficients
            solver="ipm" if self.interior else "simplex",
        )
        self.basic: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.basis = self.columns

    def _solve(self) -> None:
        """Find the optimal basis."""
        self.solver.run()
        if self.interior:
            # The simplex method starts from the basis of the crossover, and HiGHS only tells one that it has.
            self.solver.setOptionValue("solver", "simplex")
            self.solver.run()
            self.interior = False
        told = f" with {int(self.free.sum())} classes to go; {FAR_APART}"
        require_optimum(self.solver, told, best=self.levels)
        self.basic = np.asarray(self.solver.getBasicVariables()[1])
        # HiGHS calls the slack of row k the variable -1-k.
        self.basis = self.columns[:, np.where(self.basic >= 0, self.basic, self.t - self.basic)]
        if not isinstance(self.basis, np.ndarray):
            self.basis.eliminate_zeros()

    def round(self, lowest: float) -> Level:
        """Solve, and say which free classes are at their maximum by the dual values."""
        self._solve()
        dual = self._dual_values()
        prices = self.by_place(dual)
        prices[~self.full] = np.maximum(prices[~self.full], 0.0)
        multipliers = -dual[self.first_class :] / self.scale
        multipliers[self.free] = np.maximum(multipliers[self.free], 0.0)
        worth = multipliers * self.goals
        counted, visible = self.pairs.counted(multipliers, worth, prices, self.opened, self.free)
        group = self.free & counted
        if not group.any():
            raise NotConvergedError(
                f"rounding hides all dual values, with {int(self.free.sum())} classes to go; {FAR_APART}",
                best=self.levels,
            )
        weight = math.fsum(worth[group])
        prices = np.where(visible, prices, 0.0) / weight
        multipliers = np.where(counted, multipliers, 0.0) / weight
        kept = (multipliers * self.goals * self.levels)[~self.free]
        bound = math.fsum([*prices.ravel(), *(-kept)])
        level = bound if bound > lowest * (1 + SAME_LEVEL) else lowest
        return Level(level, tuple(np.flatnonzero(group).tolist()), frozen(prices), frozen(multipliers), bound)

    def freeze(self, record: Level) -> None:
        """Keep the classes of the record at its level, and close the pairs that its prices make too dear."""
        group, full = np.array(record.classes), record.prices > 0
        for row in self.first_class + group:
            self.solver.changeCoeff(int(row), self.t, 0.0)
        # The column of t has an entry for every class.
        self.columns[self.first_class + group, self.t] = 0.0
        self.levels[group], self.free[group] = record.level, False
        self.full |= full
        self.lower[: self.first_class][full[self.demanded]] = 1.0
        self.lower[self.first_class + group] = self.upper[self.first_class + group] = record.level / self.unit
        implied = self.first_class + group[np.argmax((record.multipliers * self.goals)[group])]
        self.lower[implied], self.upper[implied] = -np.inf, np.inf
        rows = np.append(np.flatnonzero(full[self.demanded]), self.first_class + group).astype(np.int32)
        self.solver.changeRowsBounds(len(rows), rows, self.lower[rows], self.upper[rows])
        dear = self.pairs.reduced_costs(record.multipliers, record.prices, self.opened)[0] > SATURATION
        dear[self.basic[(self.basic >= 0) & (self.basic < self.t)]] = False
        closed = np.flatnonzero(self.opened & dear).astype(np.int32)
        self.solver.changeColsBounds(len(closed), closed, np.zeros(len(closed)), np.zeros(len(closed)))
        self.opened[closed] = False

    def _dual_values(self) -> FloatArray:
        start, column, entry = by_rows(self.basis)
        matrix = csr_array((entry, column, start))
        # Column k and row row_of[k] have an entry in common, from which the value of this row follows
        # once the values of the other rows of the column are known. So the cost of t passes from the row of
        # its column on to the rows of all columns that have an entry there.
        row_of = np.asarray(maximum_bipartite_matching(matrix, perm_type="row"))
        source = row_of[self.basic == self.t]
        passes = csr_array((entry, row_of[column], start))
        reached = np.asarray(breadth_first_order(passes, source[0], return_predecessors=False))
        part = (self.basis if isinstance(self.basis, np.ndarray) else matrix)[reached]
        values: FloatArray = np.zeros(len(self.lower))
        values[reached] = _refined(part[:, np.argsort(row_of)[reached]].T, (reached == source).astype(float))
        return values

    def tasks(self) -> FloatArray:
        """Tasks per pair, when all classes are frozen."""
        self.solver.changeColCost(self.t, 0.0)
        self.solver.changeColBounds(self.t, 0.0, 0.0)
        self._solve()
        # Rows whose slack is not basic are at the one bound they have.
        resting = np.where(np.isfinite(self.lower), self.lower, self.upper)
        resting[-1 - self.basic[self.basic < 0]] = 0.0
        values = _refined(self.basis, resting)
        pair = (self.basic >= 0) & (self.basic < self.t)
        tasks = np.zeros(self.t)
        tasks[self.basic[pair]] = np.maximum(values[pair], 0.0)
        return tasks * self.scale[self.pairs.job_class]


def _refined(matrix: Any, right: FloatArray) -> FloatArray:
    """Solution of a square system, with one step of iterative refinement."""
    solve = partial(np.linalg.solve, matrix) if isinstance(matrix, np.ndarray) else splu(matrix).solve
    solution = solve(right)
    return np.asarray(solution + solve(right - matrix @ solution))
