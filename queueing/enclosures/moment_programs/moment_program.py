r"""Linear programs over moments, with cuts for the matrices that are positive semidefinite.

Of the infinitely many inequalities :math:`v^\top M v \ge 0` of a block M those are added that solutions
violate most: eigenvectors with negative eigenvalues of a running mean of the solutions, which moves less than
the corners do, or else of the last one. Programs of many columns get the squares first that
:mod:`queueing.enclosures.moment_programs.splitting` finds to bound them, which leaves next to nothing to cut
off, and are solved by HiGHS's interior point instead of its simplex method. What is returned are multipliers
in floating point, which :mod:`queueing.enclosures.moment_programs.rounding` makes exact; nothing of this
module is trusted.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.machine.linear_programs import SilentSolver, require_optimum
from fairness.machine.work import Task
from fairness.model.problem import FloatArray
from queueing.certificates.drift_certificate import Cut
from queueing.certificates.moments.moments import Coefficients, Moments
from queueing.enclosures.moment_programs.splitting import block_multipliers

__all__ = ["MomentProgram", "Multipliers"]

_log = logging.getLogger(__name__)

FAR = 1e4
"""The program looks no further than this many times the jobs of single servers, one per class."""

STILL = 1e-4
"""A bound that moves by less than this part of itself a round stands still."""

LARGE = 1000
"""Columns from which on programs are solved by interior points, with squares from operator splitting."""

AIM = 2e-4
"""A bound that is within this part of the value that operator splitting estimates is near enough."""

PER_BLOCK = 3
"""Most cuts per block and round."""

MEMORY = 0.8
"""Part of the running mean that stays from round to round."""

GRID = 2.0**-12
"""Entries of the vectors of cuts are multiples of this, before they are scaled."""

NEGATIVE = 1e-7
"""Eigenvalues above minus this, of a matrix with ones on its diagonal, are not cut off."""


FAINT = 1e-6
"""Squares with multipliers below this part of the largest are left out."""

FORGET, RECENT = 5, 40
"""Rounds after which cuts that do not bind are left out, and how many of the latest stay all the same."""


@dataclass(frozen=True)
class Multipliers:
    """Multipliers of rows in floating point: of the drifts, the other rows and the cuts."""

    drifts: FloatArray
    rows: FloatArray
    cuts: FloatArray


class MomentProgram:
    """Bounds of linear functions of some moments, one after the other; cuts are kept.

    Parameters
    ----------
    moments : Moments
    load : float
        Largest relative load, below 1.
    one_sided : bool
        Whether multipliers of drifts must be >= 0.
    cuts : sequence of Cut
        To start from.
    """

    def __init__(
        self, moments: Moments, load: float, *, one_sided: bool = False, cuts: list[Cut] | None = None
    ) -> None:
        self.moments = moments
        self.cuts: list[Cut] = []
        # Powers of two, which change no digit.
        self.scales: FloatArray = np.exp2(np.round(np.log2(np.array(moments.sizes()))))
        self._blocks = [np.array(block) for block in moments.blocks()]
        self._row_scales: list[float] = []
        self._large = len(self.scales) > LARGE
        self._solver = _solver(len(self.scales))
        if self._large:
            self._solver.setOptionValue("solver", "ipx")
            self._solver.setOptionValue("run_crossover", "off")
        numbers = moments.numbers
        far: Coefficients = {}
        for k in range(numbers.n):
            for column, value in moments.jobs(k).items():
                far[column] = value / (numbers.loads[k] * max(numbers.shares[k]))
        self._add(far, -np.inf, FAR * numbers.n / (1.0 - load))
        self._far = FAR * numbers.n / (1.0 - load) * self._row_scales[0]
        for row in moments.drifts.values():
            # Minus the mean drift of a function, and 0; "at most" keeps multipliers from being negative.
            self._add(row.coefficients, -np.inf if one_sided else float(row.constant), float(row.constant))
        for row in moments.listed:
            self._add(row.coefficients, float(row.constant), float(row.constant) if row.equal else np.inf)
        for cut in cuts or [Cut(block, tuple(map(Fraction, vector))) for block, vector in moments.squares()]:
            self._cut(cut)

    def _add(self, coefficients: Coefficients, low: float, high: float) -> None:
        columns = np.fromiter(coefficients, np.int32, len(coefficients))
        self._add_row(columns, np.array([float(value) for value in coefficients.values()]), low, high)

    def _add_row(self, columns: NDArray[np.int32], values: FloatArray, low: float, high: float) -> None:
        values = values * self.scales[columns]
        scale = 2.0 ** -np.round(np.log2(np.abs(values).max()))
        self._row_scales.append(scale)
        self._solver.addRow(low * scale, high * scale, len(columns), columns, values * scale)

    def _cut(self, cut: Cut) -> None:
        self.cuts.append(cut)
        vector = np.array([float(v) for v in cut.vector])
        support = np.flatnonzero(vector)
        entries = np.outer(vector[support], vector[support]).ravel()
        columns, places = np.unique(self._blocks[cut.block][np.ix_(support, support)], return_inverse=True)
        values: FloatArray = np.bincount(places.ravel(), entries).astype(float)
        self._add_row(columns.astype(np.int32), values, 0.0, np.inf)

    def _forget(self, duals: FloatArray) -> None:
        """Leave out the cuts that did not bind in a solution with these multipliers, but for the latest."""
        first = 1 + len(self.moments.drifts) + len(self.moments.listed)
        idle = np.flatnonzero(duals[first : duals.size - RECENT] == 0)
        if len(idle):
            self._solver.deleteRows(len(idle), (first + idle).astype(np.int32))
            gone = set(idle.tolist())
            self.cuts = [cut for number, cut in enumerate(self.cuts) if number not in gone]
            self._row_scales = [
                scale for number, scale in enumerate(self._row_scales) if number - first not in gone
            ]

    def solve(
        self, objective: FloatArray, rounds: int, task: Task, *, any_bound: bool = False
    ) -> Multipliers | None:
        """Multipliers that bound ``objective`` (n_columns,) times the columns from above.

        None if no bound was found in that many rounds of cuts; with ``any_bound`` the first one will do.
        """
        n = len(self.scales)
        costs = objective * self.scales
        size = 2.0 ** np.round(np.log2(np.abs(costs).max()))
        self._solver.changeColsCost(n, np.arange(n, dtype=np.int32), -costs / size)
        aim, patience = np.nan, 10
        if self._large and self._blocks and rounds and not any_bound:
            aim, patience = self._guide(costs / size), 1
        values: list[float] = []
        mean: FloatArray | None = None
        for turn in range(rounds + 1):
            value, point, duals = self._solved()
            task.advance()
            # What bounds the program must not be that it looks no further.
            values.append(value if abs(duals[0]) * self._far <= 1e-8 * abs(value) else np.inf)
            still = len(values) > patience and (
                0 <= values[-1 - patience] - values[-1] <= STILL * patience * abs(values[-1])
            )
            still = still or abs(values[-1] - aim) <= AIM * abs(aim)
            if still or turn == rounds or (any_bound and np.isfinite(values[-1])):
                break
            mean = point if mean is None else MEMORY * mean + (1 - MEMORY) * point
            if not (self._separate(mean, point) or self._separate(point, point)):
                break
            if turn % FORGET == FORGET - 1:
                self._forget(duals)
        if not np.isfinite(values[-1]):
            return None
        duals = duals * size * np.array(self._row_scales)
        rows = 1 + len(self.moments.drifts)
        cuts = rows + len(self.moments.listed)
        return Multipliers(duals[1:rows], -duals[rows:cuts], -duals[cuts:])

    def _solved(self) -> tuple[float, FloatArray, FloatArray]:
        """Value, point and multipliers of the program as it stands, in scaled units but for the point."""
        solver = self._solver
        solver.run()
        if self._large and solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            _log.info("the interior point ended with %r: simplex method", solver.getModelStatus())
            solver.setOptionValue("solver", "simplex")
            solver.run()
        require_optimum(
            solver, "; if demands, weights or rates are many decades apart, leave out what is negligible"
        )
        solution = solver.getSolution()
        point = np.array(solution.col_value) * self.scales
        return -solver.getInfo().objective_function_value, point, -np.array(solution.row_dual)

    def _guide(self, costs: FloatArray) -> float:
        """Add the squares that bound the program with these costs; an estimate of its value."""
        program = self._solver.getLp()
        form = program.a_matrix_
        columnwise = form.format_ == highspy.MatrixFormat.kColwise
        kind = sparse.csc_array if columnwise else sparse.csr_array
        matrix = kind((form.value_, form.index_, form.start_), shape=(program.num_row_, program.num_col_))
        known = slice(1, 1 + len(self.moments.drifts) + len(self.moments.listed))
        low, high = (np.array(end)[known] for end in (program.row_lower_, program.row_upper_))
        units = [np.exp2(np.round(np.log2(self.scales[np.diag(block)]) / 2)) for block in self._blocks]
        entries = [
            self.scales[block] / np.outer(unit, unit) for block, unit in zip(self._blocks, units, strict=True)
        ]
        value, found = block_multipliers(matrix.tocsr()[known], low, high, costs, self._blocks, entries)
        most = max(np.abs(one).max() for one in found)
        for number, (one, unit) in enumerate(zip(found, units, strict=True)):
            sizes, vectors = np.linalg.eigh(one)
            for k in np.flatnonzero(sizes > FAINT * most):
                self._cut_along(number, vectors[:, k], unit)
        return value

    def _cut_along(self, block: int, vector: FloatArray, unit: FloatArray) -> None:
        """Add the cut of a vector of moments in units."""
        self._cut(Cut(block, tuple(map(Fraction, (_on_grid(vector) / unit).tolist()))))

    def _separate(self, guide: FloatArray, point: FloatArray) -> bool:
        """Add cuts from eigenvectors of ``guide`` that ``point`` violates; False if there are none."""
        found = False
        for number, block in enumerate(self._blocks):
            matrix = guide[block]
            least = 1e-12 * np.diag(self.scales[block])
            scale = 2.0 ** np.round(np.log2(np.maximum(np.diag(matrix), least)) / 2)
            matrix, other = (one[block] / np.outer(scale, scale) for one in (guide, point))
            values, vectors = np.linalg.eigh(matrix)
            for k in np.flatnonzero(values < -NEGATIVE)[:PER_BLOCK]:
                vector = _on_grid(vectors[:, k])
                if vector @ other @ vector < -NEGATIVE / 10:
                    self._cut_along(number, vector, scale)
                    found = True
        return found


def _on_grid(vector: FloatArray) -> FloatArray:
    rounded: FloatArray = np.round(vector / np.abs(vector).max() / GRID) * GRID
    return rounded


def _solver(n_columns: int) -> Any:
    solver: Any = SilentSolver(
        primal_feasibility_tolerance=1e-9,
        dual_feasibility_tolerance=1e-9,
        small_matrix_value=1e-12,
        large_matrix_value=1e30,
    )
    solver.addVars(n_columns, np.zeros(n_columns), np.full(n_columns, np.inf))
    return solver
