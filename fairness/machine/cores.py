"""How many things this process can do at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["available_cores", "one_thread_of_blas"]

_lock = threading.Lock()


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """BLAS computes in the thread that calls it, of the whole process, while this one works.

    Its own threads wait by spinning, and would take the cores from threads that do more. Where another thread
    has asked for the same, its limit is the one that holds: two would restore each other's.
    """
    from threadpoolctl import threadpool_limits

    if not _lock.acquire(blocking=False):
        yield
        return
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        _lock.release()
