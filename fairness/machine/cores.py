"""How many things this process can do at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["available_cores", "one_thread_of_blas"]

_lock = threading.Lock()
_limits: list[Any] = []
"""The limit that holds, once for each thread that wants it."""


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """BLAS computes in the thread that calls it, of the whole process, as long as anybody wants it to.

    Its own threads wait by spinning, and would take the cores from threads that do more.
    """
    from threadpoolctl import threadpool_limits

    with _lock:
        _limits.append(_limits[0] if _limits else threadpool_limits(1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()
