"""What the library logs, on standard error where ``--verbose`` asks for it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["heard", "listening"]

PACKAGES = ("fairness", "queueing", "capacity", "proofs", "fairqueues")
"""Names of the loggers above those of the modules."""

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""By how often ``--verbose`` is given."""


class _Lines(logging.Handler):
    """A line per record, above the bars of progress."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        tqdm.write(self.format(record), file=sys.stderr)


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
    loggers = [logging.getLogger(name) for name in PACKAGES]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(LEVELS[min(verbose, len(LEVELS) - 1)])
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
