"""Linear programs that are changed and solved again by HiGHS, each from the basis of the one before."""

from __future__ import annotations

import logging
from typing import Any

import highspy

from fairness.errors import NotConvergedError

__all__ = ["require_optimum"]

_log = logging.getLogger(__name__)


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
