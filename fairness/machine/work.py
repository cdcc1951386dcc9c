"""Long work: said before it starts, shown while it runs, stopped on request with what is known by then.

A :class:`Task` is work of a known or guessed amount: states of a table, levels of a recursion, evaluations of
a model. Its time is guessed from what is known of such work, and better as soon as a small part is done.
From :data:`LONG` seconds on the guess is announced, to the log of this module and to whoever watches; work
that would take longer than :data:`TOO_LONG` is refused with the guess and what can be done instead, unless a
time limit says when to stop. The refusal goes by the time that the processor has worked: by the clock on the
wall, which also runs while others have the machine, a moment's work may look like weeks. Both clocks stand
still while kernels are compiled (:data:`ASIDE`), which is no work that comes again.

Long work may lie many calls deep, so tasks report to those who watch *now* (:func:`watching`), as logs do; a
driver opens the watch with the ``progress`` and ``time_limit`` it was given. Where the time is
over, or a user presses Ctrl-C, the driver says what is known so far (:func:`stopped`): NotConvergedError for
the time limit, for Ctrl-C the same KeyboardInterrupt; both with ``best``.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import RLock
from typing import Any

from fairness.arguments.validation import require_number
from fairness.display.wording import rough, said
from fairness.errors import FairqueuesError, ModelError, NotConvergedError
from fairness.machine.backends import BackendError
from fairness.machine.bars import Bars

__all__ = [
    "ASIDE",
    "OutOfTime",
    "Progress",
    "ProgressOption",
    "Task",
    "Watch",
    "current_watch",
    "duration",
    "stopped",
    "watching",
]

LONG = 5.0
"""Seconds of work that are announced."""

TOO_LONG = 7 * 86400.0
"""Seconds of work that do not start without a time limit: a week."""

SAMPLE = 0.25
"""Seconds of work from which its speed is read."""

SHOWN = 0.1
"""Seconds between two reports."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """How far a task is.

    Attributes
    ----------
    what : str
        The task, for people.
    done, total : float
        Units done, and in all; the total is a guess for searches.
    unit : str
    elapsed, remaining : float
        Seconds; the remaining ones are a guess, NaN while nothing is known.
    announced : bool
        Whether this is the announcement of long work.
    """

    what: str
    done: float
    total: float
    unit: str
    elapsed: float
    remaining: float
    announced: bool = False

    def __str__(self) -> str:
        if self.announced:
            return f"{self.what}: about {rough(self.total)} {self.unit}, about {duration(self.remaining)}"
        left = "" if math.isnan(self.remaining) else f", about {duration(self.remaining)} left"
        return f"{self.what}: {said(self.done)} of about {said(self.total)} {self.unit}{left}"


ProgressOption = bool | Callable[[Progress], None] | None
"""None: a bar for long work where standard error is a terminal; False: never; or a function to call."""


class OutOfTime(FairqueuesError):
    """The time limit is over; drivers turn it into a NotConvergedError with what is known."""


@dataclass(frozen=True)
class Watch:
    """Who watches, and until when."""

    progress: ProgressOption = None
    time_limit: float = math.inf
    deadline: float = math.inf

    def check(self, what: str) -> None:
        """OutOfTime if the time is over."""
        if time.monotonic() >= self.deadline:
            raise OutOfTime(f"time_limit={self.time_limit:g} seconds are over during {what}")


_NOBODY = Watch()
_watch: ContextVar[Watch] = ContextVar("_watch", default=_NOBODY)


def current_watch() -> Watch:
    """Who watches now; threads hand it to :func:`watching` themselves."""
    return _watch.get()


@contextmanager
def watching(
    progress: ProgressOption = None, time_limit: float | None = None, *, watch: Watch | None = None
) -> Iterator[None]:
    """Let tasks in this block report to ``progress``, and stop them after ``time_limit`` seconds.

    Blocks inside others keep to both limits, and to the progress of the outer one unless they give their own.

    Examples
    --------
    >>> seen = []
    >>> with watching(seen.append), Task("a table", 3, "rows") as task:
    ...     for row in range(3):
    ...         task.advance()
    >>> print(seen[-1])
    a table: 3 of about 3 rows, about 0 s left
    """
    if watch is None:
        outer, limit = _watch.get(), math.inf
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise ModelError.of(
                "progress", f"must be None, a bool or a function of a Progress; got {progress!r}"
            )
        if time_limit is not None:
            limit = require_number("time_limit", time_limit, least=0, most=math.inf, hint=", seconds")
        deadline = time.monotonic() + limit
        first = deadline < outer.deadline
        watch = Watch(
            outer.progress if progress is None else progress,
            limit if first else outer.time_limit,
            deadline if first else outer.deadline,
        )
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


class Aside:
    """Seconds that this process has spent on what is done once, and which foretell nothing."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def begin(self) -> tuple[float, float]:
        """What :meth:`end` is given."""
        return self.seconds, time.monotonic()

    def end(self, begun: tuple[float, float]) -> float:
        """Seconds since it began; what was set aside within counts once."""
        before, start = begun
        took = time.monotonic() - start
        self.seconds = max(self.seconds, before + took)
        return took


ASIDE = Aside()
"""Of the kernels that were compiled, or read from where they are stored."""


def _clock() -> float:
    return time.monotonic() - ASIDE.seconds


def _processor() -> float:
    return time.process_time() - ASIDE.seconds


class Task:
    """Work in units; a context manager.

    Parameters
    ----------
    what : str
        For people: "the table of DRF on 100 x 100 states".
    total : float
        Units in all; a guess where nobody knows.
    unit : str
        In the plural.
    seconds : float, optional
        Guess of the time; default: read from the first units done.
    instead : str
        What can be done where the work takes too long.
    longest : float
        Seconds from which it does not start without a time limit, if that is sooner than :data:`TOO_LONG`.
    """

    def __init__(
        self,
        what: str,
        total: float,
        unit: str,
        seconds: float = math.nan,
        instead: str = "make it smaller",
        longest: float = math.inf,
    ) -> None:
        self.what, self.total, self.unit, self.instead = what, float(total), unit, instead
        self.done = 0.0
        self._guess, self._longest, self._watch = seconds, longest, current_watch()
        self._begin, self._told, self._worked = _clock(), time.monotonic(), _processor()
        self._announced = self._judged = False
        self._lock = RLock()
        self._bars = Bars()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process is watched by nobody."""
        return {**self.__dict__, "_watch": Watch(progress=False), "_bars": Bars(), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy with a lock of its own."""
        self.__dict__.update(state, _lock=RLock())

    def __enter__(self) -> Task:
        _log.debug("%s: about %.4g %s", self.what, self.total, self.unit)
        self._watch.check(self.what)
        self._refuse(self._guess)
        self._announce(self._guess)
        return self

    def __exit__(self, *_: object) -> None:
        took = duration(_clock() - self._begin)
        _log.debug("%s: %.4g %s in %s", self.what, self.done, self.unit, took)
        self._bars.close()

    def advance(self, units: float = 1.0, *, done: float | None = None, total: float | None = None) -> None:
        """Count units that are done, or set how many; OutOfTime if the time is over.

        Threads may share a task: each count is reported.
        """
        with self._lock:
            self.done = self.done + units if done is None else done
            self.total = max(self.total if total is None else total, self.done)
            now = time.monotonic()
            elapsed = _clock() - self._begin
            remaining = elapsed * (self.total - self.done) / self.done if self.done else math.nan
            if elapsed > SAMPLE:
                self._announce(elapsed + remaining)
                self._judge(elapsed)
            if now - self._told > SHOWN or self.done >= self.total:
                self._told = now
                self._tell(Progress(self.what, self.done, self.total, self.unit, elapsed, remaining))
            self._watch.check(self.what)

    def _judge(self, elapsed: float) -> None:
        """Refuse work that turns out too long, once its speed is known."""
        if self.done and not self._judged:
            worked = min(elapsed, _processor() - self._worked)
            if worked > SAMPLE:
                self._judged = True
                self._refuse(worked * self.total / self.done)

    def prepared(self) -> None:
        """While nothing is done, read the speed from now on: what came before is no work."""
        with self._lock:
            if not self.done:
                self._begin, self._worked = _clock(), _processor()
            self._watch.check(self.what)

    def _announce(self, seconds: float) -> None:
        """Say once that the work is long."""
        if self._announced or not seconds >= LONG:
            return
        self._announced = True
        progress = self._announcement(seconds)
        _log.info("%s", progress)
        self._tell(progress)

    def _refuse(self, seconds: float) -> None:
        """Refuse work that is too long."""
        if seconds > min(TOO_LONG, self._longest) and math.isinf(self._watch.deadline):
            guess = self._announcement(seconds)
            raise ModelError(f"{guess}; {self.instead}, or give a time_limit to start it all the same")

    def _announcement(self, seconds: float) -> Progress:
        return Progress(self.what, self.done, self.total, self.unit, 0.0, seconds, announced=True)

    def _tell(self, progress: Progress) -> None:
        watcher = self._watch.progress
        if callable(watcher):
            watcher(progress)
        elif watcher is not False and self._announced:
            self._bars(progress)


def stopped(stop: BaseException, known: str, best: Any, residual: float = math.nan) -> BaseException:
    """What to raise for OutOfTime, BackendError or KeyboardInterrupt; ``known``: what is known so far."""
    if isinstance(stop, KeyboardInterrupt):
        stop.add_note(known)
        stop.best = best  # type: ignore[attr-defined]
        return stop
    if isinstance(stop, BackendError):
        return BackendError(f"{stop}: {known}", best=best, residual=residual)
    return NotConvergedError(f"{stop}: {known}; raise time_limit", best=best, residual=residual)


def duration(seconds: float) -> str:
    """A time for people, to two digits.

    Examples
    --------
    >>> duration(0.4), duration(75), duration(9000), duration(9e9)
    ('0.4 s', '75 s', '2.5 h', '290 years')
    """
    for name, size in (("years", 365.25 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{float(f'{seconds / size:.2g}'):g} {name}"
    return f"{float(f'{seconds:.2g}'):g} s"
