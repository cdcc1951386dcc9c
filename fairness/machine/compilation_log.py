"""What is said of kernels that are compiled.

A kernel that is not stored yet takes seconds. The log ``fairness.machine.compiling`` tells its name when it
begins, and the seconds when it is compiled, at the level INFO; and once that kernels cannot be stored.
"""

from __future__ import annotations

import logging
import os

__all__ = ["BEGUN", "ENDED", "LOG", "is_storing", "say_not_stored"]

LOG = logging.getLogger("fairness.machine.compiling")

BEGUN, ENDED = "compiling %s for the first time", "compiled %s in %.1f s"
"""What the log is told of a kernel, by its name."""

_SAID = "FAIRQUEUES_NOT_STORED"
"""In the environment, which the workers of a process inherit: that it has been said."""


def is_storing() -> bool:
    """Whether nothing has kept this process or the one that started it from storing kernels."""
    return _SAID not in os.environ


def say_not_stored(error: Exception) -> None:
    """Say once, for this process and its workers, that compiled kernels are not stored."""
    if is_storing():
        os.environ[_SAID] = "1"
        LOG.warning(
            "compiled kernels cannot be stored, and each process compiles them anew (%s); a writable folder "
            "in NUMBA_CACHE_DIR, or in XDG_CACHE_HOME for a package inside a zip file, spares that time",
            error,
        )
