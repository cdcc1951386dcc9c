"""Threads inside compiled kernels: how many, and when they may be used.

A kernel that is compiled for threads meets its workers in a few microseconds, so that even a round of a few
100,000 entries can be shared (:mod:`fairness.cloud.model.tiles` is for passes over millions of them and costs
some 50). The price: numba's simplest threading layer ends the process when two Python threads enter such
kernels at once, and GNU OpenMP ends it when a forked child does. So there is one lock, and a forked child
works with one thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba

from fairness.arguments.validation import require_whole
from fairness.errors import ModelError
from fairness.machine.cores import available_cores

__all__ = ["PARALLEL", "SHARED_ENTRIES", "check_threads", "workers"]

SHARED_ENTRIES = 100_000
"""Entries that are worth sharing among threads: with fewer, waiting for a busy core may cost more."""

PARALLEL: Any = {
    "comprehension": False,
    "fusion": False,
    "inplace_binop": False,
    "numpy": False,
    "prange": True,
    "reduction": False,
    "setitem": False,
    "stencil": False,
}
"""Value of numba's option ``parallel`` with which nothing but the loops over tiles is shared."""

_LOCK = threading.Lock()
_state = {"started": False, "forked": False}


def _after_fork() -> None:
    """A child cannot use the workers of its parent, and the lock may be held by a thread it has not got."""
    global _LOCK
    _LOCK = threading.Lock()
    _state["forked"] = _state["started"]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _most() -> int:
    """Workers that numba can start at all."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def check_threads(threads: Any, entries: int) -> int:
    """Number of threads to use for so many entries; None for all cores that this process may use.

    Raises
    ------
    ModelError
        If it is no whole number of at least 1, or more than 1 where the workers were lost in a fork.
    """
    if threads is None:
        threads = 1 if _state["forked"] else min(available_cores(), _most())
    threads = require_whole("threads", threads, 1, hint=", or None for all cores")
    if threads > 1 and _state["forked"]:
        raise ModelError.of(
            "threads",
            f"is {threads}, but this process was forked from one that had started threads in "
            "kernels; use threads=1 here, or start processes with the method 'spawn'",
        )
    return threads if entries >= SHARED_ENTRIES else 1


@contextmanager
def workers(threads: int) -> Iterator[None]:
    """Call a kernel that is compiled for threads; nothing is started for one thread."""
    if threads == 1:
        yield
        return
    with _LOCK:
        _state["started"] = True
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, _most()))
        try:
            yield
        finally:
            numba.set_num_threads(before)
