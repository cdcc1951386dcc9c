"""Linear programs in HiGHS, which may be changed and solved again, each from the basis of the one before."""

from __future__ import annotations

import logging
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from fairness.errors import NotConvergedError

__all__ = ["Entries", "SilentSolver", "by_rows", "linear_program", "require_optimum"]

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Three arrays that list the entries of a matrix."""

_log = logging.getLogger(__name__)


class SilentSolver(highspy.Highs):
    """HiGHS in one thread, without a word on standard output.

    HiGHS 1.16 prints its name when its callbacks are registered, in its constructor, where nobody could yet
    have asked it not to.

    Parameters
    ----------
    **options
        Options of HiGHS and their values; not ``threads``, of which it refuses another number than in its
        first use.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        for option, setting in {"parallel": "off", **options}.items():
            if self.setOptionValue(option, setting) != highspy.HighsStatus.kOk:
                raise ValueError(f"HiGHS {self.version()} has no option {option} = {setting!r}")

    def enableCallbacks(self) -> None:
        """Register the callbacks, silently."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()


def linear_program(
    cost: NDArray[Any],
    matrix: Any,
    lower: NDArray[Any],
    upper: NDArray[Any],
    most: NDArray[Any] | None = None,
    **options: Any,
) -> SilentSolver:
    """HiGHS with a program to run: the least cost @ x over x >= 0 with lower <= matrix @ x <= upper.

    Parameters
    ----------
    cost : ndarray of shape (n_columns,)
    matrix : ndarray or csc_array of shape (n_rows, n_columns)
        Of more columns, the first.
    lower, upper : ndarray of shape (n_rows,)
    most : ndarray of shape (n_columns,), optional
        Bounds of x, infinite by default.
    **options
        Of :class:`SilentSolver`.

    Examples
    --------
    >>> program = linear_program(np.array([-1.0]), np.array([[3.0]]), np.array([-np.inf]), np.ones(1))
    >>> _ = program.run()
    >>> list(program.getSolution().col_value)
    [0.3333333333333333]
    """
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(cost), len(lower)
    model.col_cost_, model.col_lower_ = cost, np.zeros(len(cost))
    model.col_upper_ = np.full(len(cost), np.inf) if most is None else most
    model.row_lower_, model.row_upper_ = lower, upper
    start, row, value = by_rows(matrix.T)
    end = start[len(cost)]
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = start[: len(cost) + 1]
    model.a_matrix_.index_, model.a_matrix_.value_ = row[:end], value[:end]
    solver = SilentSolver(**options)
    solver.passModel(model)
    return solver


def by_rows(matrix: Any) -> Entries:
    """Entries row by row, of a table those that are not 0: where a row starts, columns and values."""
    if not isinstance(matrix, np.ndarray):
        entries = matrix.tocsr()
        return entries.indptr, entries.indices, entries.data
    row, column = np.nonzero(matrix)
    start = np.searchsorted(row, np.arange(len(matrix) + 1))
    return start.astype(np.int32), column.astype(np.int32), matrix[row, column]


def require_optimum(solver: Any, remark: str, best: Any = None) -> None:
    """After a run of HiGHS: once more without the last basis if it found no optimum.

    Raises
    ------
    NotConvergedError
        If there is none then either, with the status, the remark and the best that is known.
    """
    if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
        return
    said = solver.modelStatusToString(solver.getModelStatus())
    _log.info("HiGHS stopped with status %r: once more without the last basis", said)
    solver.clearSolver()
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise NotConvergedError(
            f"HiGHS stopped with status {solver.modelStatusToString(status)!r}{remark}", best=best
        )
