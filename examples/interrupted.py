"""Ctrl-C ends the scripts of this folder in one line, also while they are imported or compile kernels.

Importing this module sees to it; it comes before everything that takes long.
"""

from __future__ import annotations

import _thread
import sys
from types import TracebackType
from typing import Any


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


sys.excepthook = _say
sys.unraisablehook = _again
