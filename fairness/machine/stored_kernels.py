"""Kernels are compiled once and stored, wherever something can be stored.

numba keeps a compiled kernel in a file beside its source, or in the cache folder of the user
(``cache=True``). Where it can write to neither - a read-only file system, a package inside a zip file, a full
disk - it raises, when the kernel is defined or when it is first called. A kernel computes the same without
its file: it is then compiled in each process that uses it, and the first one says so.

A file that names a type which has moved since, or that is cut off, is forgotten, and its kernel compiled
anew.
"""

from __future__ import annotations

import pickle
from typing import Any

from numba.core.caching import FunctionCache

from fairness.machine.compilation_log import BEGUN, ENDED, LOG, say_not_stored
from fairness.machine.work import ASIDE

__all__ = ["store"]

_UNREADABLE = (ImportError, AttributeError, EOFError, pickle.UnpicklingError)
"""Of a file that is cut off, or names a type that stands elsewhere since: numba reads it before its stamp."""


class _Store(FunctionCache):
    """The files of a kernel; a kernel that cannot be read or written there is compiled for this process."""

    def __init__(self, function: Any, made_of: str) -> None:
        super().__init__(function)
        self._made_of = made_of
        self._kernel = f"{function.__module__}.{function.__qualname__}"
        self._begun = ASIDE.begin()

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), self._made_of)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found, loading = None, ASIDE.begin()
        try:
            found = super().load_overload(sig, target_context)
        except OSError as error:
            say_not_stored(error)
        except _UNREADABLE as error:
            LOG.info("what was stored of %s cannot be read (%s)", self._kernel, error)
            self._forget()
        ASIDE.end(loading)
        if found is None:  # then it is compiled now
            self._begun = ASIDE.begin()
            LOG.info(BEGUN, self._kernel)
        return found

    def _forget(self) -> None:
        try:
            self.flush()
        except OSError as error:
            say_not_stored(error)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            say_not_stored(error)
        LOG.info(ENDED, self._kernel, ASIDE.end(self._begun))


def store(compiled: Any, made_of: str) -> None:
    """Let a dispatcher of numba keep what it compiles, as made of sources with this stamp."""
    try:
        compiled._cache = _Store(compiled.py_func, made_of)
    except (RuntimeError, OSError) as error:  # RuntimeError: of numba, which finds no place
        say_not_stored(error)
