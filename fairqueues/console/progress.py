"""What is said on standard error while a command works: progress, compiled kernels, and what is logged.

Progress with the remaining time is for terminals, and what is logged is for ``--verbose``.

What is counted is work, states and events say, below a line that tells for which of the policies. Work of
more than half a minute is said before it starts, terminal or not. What a time limit or a missed precision
leaves is kept: commands show it, marked, and end with exit code 1.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from fairness.machine.bars import Bars, above, status

if TYPE_CHECKING:
    from fairness.machine.work import Progress

__all__ = ["heard", "listening", "reached", "telling_of_kernels"]

WORTH_SAYING = 30.0
"""Seconds of work that are said where standard error is no terminal."""

AT_ONCE = 0.5
"""Seconds of work that needs no bar."""

PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")
"""Names of the loggers above those of the modules."""

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""By how often ``--verbose`` is given."""

T = TypeVar("T")


class _Lines(logging.Handler):
    """A line per record, above the bars of progress."""

    def emit(self, record: logging.LogRecord) -> None:
        above(self.format(record))


def heard() -> bool:
    """Whether what is logged is shown, so that nobody else need say it."""
    return any(isinstance(handler, _Lines) for handler in logging.getLogger(PACKAGES[0]).handlers)


@contextmanager
def listening(verbose: int) -> Iterator[None]:
    """Show what the packages log: 0 nothing more than usual, 1 what is decided, 2 each piece of work, too.

    Examples
    --------
    >>> with listening(1):
    ...     logging.getLogger("queueing").getEffectiveLevel() == logging.INFO
    True
    """
    if not verbose:
        yield
        return
    handler = _Lines()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    with _attached(handler, LEVELS[min(verbose, len(LEVELS) - 1)], PACKAGES):
        yield


@contextmanager
def _attached(handler: logging.Handler, level: int, names: Sequence[str]) -> Iterator[None]:
    """Have these loggers call a handler from a level on."""
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, old in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old)


def _announced(progress: Progress) -> None:
    """Say before it starts what is long, once."""
    long = progress.remaining >= WORTH_SAYING
    if progress.announced and not heard() and (long or sys.stderr.isatty()):
        above(f"{progress}; Ctrl-C stops")


class _Kernels(logging.Handler):
    """Says when kernels are compiled for the first time, which takes longer than what they compute."""

    def __init__(self) -> None:
        super().__init__()
        self._count = self._open = 0
        self._line: Any = None

    def emit(self, record: logging.LogRecord) -> None:
        from fairness.machine.compilation_log import BEGUN, ENDED, is_storing

        if record.msg == BEGUN:
            if not self._count and not heard():
                later = "later runs find them stored" if is_storing() else "they cannot be stored"
                above(f"compiling kernels for the first time; {later}")
            self._count += 1
            self._open += 1
            if self._line is None:
                self._line = status(form="{desc} [{elapsed}]")
            self._line.set_description_str(f"compiling kernel {self._count}")
        elif record.msg == ENDED:
            self._open -= 1
            if not self._open:
                self.close()
        elif not heard():
            above(record.getMessage())

    def close(self) -> None:
        """Take away the line, not what was said."""
        if self._line is not None:
            self._line.close()
            self._line = None
        self._open = 0
        super().close()


@contextmanager
def telling_of_kernels() -> Iterator[None]:
    """Say on standard error, if that is a terminal, when kernels are compiled for the first time."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    handler = _Kernels()
    try:
        with _attached(handler, logging.INFO, ["fairness.machine.compiling"]):
            yield
    finally:
        handler.close()


def reached(
    runs: Mapping[str, Callable[[], T]],
    command: str,
    *,
    what: str | None = None,
    time_limit: float | None = None,
    unit: str = "policy",
    refusals: bool = False,
) -> tuple[dict[str, T], tuple[str, ...]]:
    """Results by name, and what kept any of them from its precision.

    A run that ends with NotConvergedError gives the best it found, or nothing, one that ends with
    UnstableError nothing; if all give nothing, the first error is raised. With ``refusals`` a run may also
    end with ModelError, and all may give nothing.
    """
    from fairness.errors import ModelError, NotConvergedError, UnstableError
    from fairness.machine.work import OutOfTime, watching
    from fairqueues.console.remedies import placed

    results: dict[str, Any] = {}
    failures: list[tuple[str, Exception]] = []
    kept = (NotConvergedError, OutOfTime, UnstableError, *((ModelError,) if refusals else ()))
    bars = Bars(AT_ONCE)

    def shown(progress: Progress) -> None:
        _announced(progress)
        bars(progress)

    with watching(shown, time_limit):
        for k, (name, run) in enumerate(runs.items(), 1):
            which = f" ({unit} {k} of {len(runs)})" if len(runs) > 1 else ""
            line = status(f"{what or command}: {name}{which}")
            try:
                results[name] = run()
            except kept as error:
                failures.append((name, error))
                best = getattr(error, "best", None)
                if hasattr(best, "to_dataframe"):
                    results[name] = best
            finally:
                bars.close()
                line.close()
    if not results and failures and not refusals:
        raise failures[0][1]
    return results, tuple(f"{name}: {placed(str(error), command)}" for name, error in failures)
