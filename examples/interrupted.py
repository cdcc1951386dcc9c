"""Ctrl-C ends the scripts of this folder in one line, also while they are imported or compile kernels.

Importing this module sees to it; it comes before everything that takes long.
"""

from __future__ import annotations

import _thread
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

__all__ = ["uninterrupted"]


def _say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def _again(lost: Any) -> None:
    """Raised where it cannot be passed on, such as a callback of a compiler: raised once more, outside."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _thread.interrupt_main()
    else:
        sys.__unraisablehook__(lost)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Processes that are started here are not interrupted with this one, which ends them.

    What is ignored when a process is started, it goes on to ignore.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


sys.excepthook = _say
sys.unraisablehook = _again
