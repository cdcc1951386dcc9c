"""Linear programs that are changed and solved again by HiGHS, each from the basis of the one before."""

from __future__ import annotations

import logging
from typing import Any

import highspy

from fairness.errors import NotConvergedError

__all__ = ["SilentSolver", "require_optimum"]

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
