"""Means under the policy with the fewest mean jobs in all, beside the proof that none has fewer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from capacity.means.found import Found
from capacity.means.method import Effort, Method, Plan, clock
from capacity.means.words import OPTIMAL
from fairness.display.tables import rounded_up
from fairness.errors import NotConvergedError
from fairness.machine.work import OutOfTime
from queueing.model.system import System
from queueing.optima.optimal import FINEST, optimal

__all__ = ["ByOptimum"]

FINER = (1.0, 0.1, 0.01)
"""How near to the best the policy is asked to be in turn, in units of how well its means are to be known."""

LONGER = 4.0
"""Times longer that a tenth takes, about."""


@dataclass(frozen=True)
class ByOptimum(Method):
    """The policy with the fewest mean jobs in all ("optimal"), for at most three classes."""

    name: ClassVar[str] = "dynamic programming"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """It stops by itself where the time is over."""
        return Plan(0.0, partial(self._best, system)) if policy == OPTIMAL else None

    def _best(self, system: System, effort: Effort) -> Found:
        """Nearer and nearer to the best while there is time."""
        until, best = clock() + effort.seconds, None
        for part in FINER if effort.timed else FINER[-1:]:
            begin = clock()
            now = replace(effort, seconds=max(until - begin, 0.0))
            try:
                best = optimal(system, precision=max(FINEST, part * effort.precision), time_limit=now.limit)
            except (NotConvergedError, OutOfTime):
                if best is None:
                    raise
                break
            if until - clock() < LONGER * (clock() - begin):
                break
        assert best is not None
        known = f"fewest jobs up to {rounded_up(best.gap, 1):.0e}, proved"
        return replace(Found.of_law(best.law, OPTIMAL), result=best, known=known)
