"""How far a replication is, told every few hundredths of a second, whatever an event costs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from fairness.machine.work import Task

__all__ = ["Pace"]

SECONDS = 0.05
"""Between two looks at the clock, about."""


class Pace:
    """Events that one replication has made.

    Parameters
    ----------
    work : Task
        What they are told to. It may raise, which ends the replication.
    effort : float
        Events of a replication, about. The last of them are for the caller to tell, when the replication is
        kept.

    Attributes
    ----------
    stride : int
        Events to make before the next look at the clock.
    total : float
        Events told so far.
    """

    def __init__(self, work: Task, effort: float) -> None:
        self._work, self._effort = work, effort
        self.stride, self.total = 1, 0.0
        self._since, self._begin = 0, math.nan

    def through(self, events: int, go: Callable[[int], int]) -> None:
        """Make some events; ``go`` makes as many as it is asked for, or fewer, and says how many."""
        while events > 0:
            made = go(min(events, self.stride))
            self.made(made)
            events -= made

    def made(self, events: int) -> None:
        """Count events."""
        self._since += events
        if self._since < self.stride:
            return
        now = time.monotonic()
        if math.isnan(self._begin):
            # The first event may have waited for compilation, which says nothing of the others.
            self._work.prepared()
            self._begin = now
            return
        if now - self._begin < SECONDS / 2:
            self.stride *= 2
        elif now - self._begin > 2 * SECONDS and self.stride > 1:
            self.stride //= 2
        told = max(0.0, min(self._since, self._effort - 1 - self.total))
        self._since, self._begin = 0, now
        self.total += told
        self._work.advance(told)
