"""How far a replication is, told every few hundredths of a second, whatever an event costs."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Pace"]

STRIDE = 64
"""Events before the first look at the clock."""

SECONDS = 0.05
"""Between two looks at the clock, about."""


class Pace:
    """Events that one replication has made.

    Parameters
    ----------
    told : callable
        ``told(events)``: events since the last call. It may raise, which ends the replication.

    Attributes
    ----------
    stride : int
        Events to make before the next look at the clock.
    total : int
        Events told so far.
    """

    def __init__(self, told: Callable[[float], None]) -> None:
        self._told = told
        self.stride, self.total = STRIDE, 0
        self._since, self._begin = 0, time.monotonic()

    def made(self, events: int) -> None:
        """Count events."""
        self._since += events
        if self._since < self.stride:
            return
        now = time.monotonic()
        if now - self._begin < SECONDS / 2:
            self.stride *= 2
        elif now - self._begin > 2 * SECONDS and self.stride > 1:
            self.stride //= 2
        since, self._since, self._begin = self._since, 0, now
        self.total += since
        self._told(since)
