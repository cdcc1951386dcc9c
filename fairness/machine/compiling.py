"""Kernels are compiled once and stored, wherever something can be stored.

numba keeps a compiled kernel in a file beside its source, or in the cache folder of the user
(``cache=True``). Where it can write to neither - a read-only file system, a package inside a zip file, a full
disk - it raises, when the kernel is defined or when it is first called. A kernel computes the same without
its file: it is then compiled in each process that uses it, and the first one says so.

numba stores a compiled kernel together with everything it calls, and compiles it anew when the file it stands
in has changed. Changes in *other* files go unnoticed: a kernel that calls a helper from another module would
go on running the helper of yesterday, and so would a helper with a stored copy of its own. Hence the rule: a
helper that kernels of other files call is compiled as a part of them, by ``numba.njit`` without ``cache``; a
kernel with such helpers names their modules, ``@stored(kernels, interior)``, and is looked up by the sources
of these too.

A file that names a type which has moved since, or that is cut off, is forgotten, and its kernel compiled
anew.

Views of arrays are cheap where numba does not count the references to them, which can take two thirds of the
time of a small kernel. Nothing is counted in a *part*: a helper that allocates nothing and returns no array,
or a kernel that calls such (:data:`UNCOUNTED`). What a part calls and allocates something says so
(:data:`COUNTED`), for it would be compiled as a part otherwise.

A kernel that is not stored yet takes seconds. The log of this module tells its name when it begins, and the
seconds when it is compiled, at the level INFO.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
from numba.core.caching import FunctionCache

from fairness.machine.work import ASIDE

__all__ = ["BEGUN", "COUNTED", "ENDED", "UNCOUNTED", "first_class", "inlined", "is_storing", "part", "stored"]

_log = logging.getLogger(__name__)

BEGUN, ENDED = "compiling %s for the first time", "compiled %s in %.1f s"
"""What the log is told of a kernel, by its name."""

_UNREADABLE = (ImportError, AttributeError, EOFError, pickle.UnpicklingError)
"""Of a file that is cut off, or names a type that stands elsewhere since: numba reads it before its stamp."""

UNCOUNTED: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Options of a kernel that allocates nothing and calls parts."""
COUNTED: dict[str, Any] = UNCOUNTED | {"_nrt": True}
"""Options of what parts call and allocates something."""

part: Callable[..., Any] = numba.njit(**UNCOUNTED)
"""Decorator of a helper that allocates nothing and returns no array."""

inlined: Callable[..., Any] = numba.njit(**UNCOUNTED, forceinline=True)
"""A part that is called so often that to hand over its arrays would cost as much as its work."""

_TOLD = "FAIRQUEUES_NOT_STORED"
"""In the environment, which the workers of a process inherit: that it has been said."""


class _Store(FunctionCache):
    """The files of a kernel; a kernel that cannot be read or written there is compiled for this process."""

    def __init__(self, function: Callable[..., Any], made_of: str) -> None:
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
            _tell(error)
        except _UNREADABLE as error:
            _log.info("what was stored of %s cannot be read (%s)", self._kernel, error)
            self._forget()
        ASIDE.end(loading)
        if found is None:  # then it is compiled now
            self._begun = ASIDE.begin()
            _log.info(BEGUN, self._kernel)
        return found

    def _forget(self) -> None:
        try:
            self.flush()
        except OSError as error:
            _tell(error)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _tell(error)
        _log.info(ENDED, self._kernel, ASIDE.end(self._begun))


def stored(*helpers: ModuleType, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a kernel: like ``numba.njit(cache=True, **options)``, but without a file if there can be none.

    Parameters
    ----------
    *helpers : module
        Every other module whose helpers, constants or named tuples the kernel absorbs, helpers of helpers
        included; an edit there compiles it anew.
    **options
        Of :func:`numba.njit`, without ``cache``.

    Returns
    -------
    callable
        Decorator of a function that numba can compile.

    Examples
    --------
    >>> @stored(nogil=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    compiled = numba.njit(**options)
    sources = "".join(inspect.getsource(module) for module in helpers)
    made_of = hashlib.sha256(f"{sorted(options.items())}{sources}".encode()).hexdigest()

    def decorate(function: Callable[..., Any]) -> Any:
        kernel: Any = compiled(function)
        if kernel is not function:  # with NUMBA_DISABLE_JIT it is the function itself
            try:
                kernel._cache = _Store(function, made_of)
            except (RuntimeError, OSError) as error:  # RuntimeError: of numba, which finds no place
                _tell(error)
        return kernel

    return decorate


def first_class(kernel: Any, *arguments: Any) -> Any:
    """A kernel, compiled for such arguments, that other kernels can be given and call."""
    if not hasattr(kernel, "overloads"):  # with NUMBA_DISABLE_JIT it is the function itself
        return kernel
    signature = tuple(numba.typeof(argument) for argument in arguments)
    kernel.compile(signature)
    return numba.types.CompileResultWAP(kernel.overloads[signature])


def is_storing() -> bool:
    """Whether nothing has kept this process or the one that started it from storing kernels."""
    return _TOLD not in os.environ


def _tell(error: Exception) -> None:
    """Say once, for this process and its workers, that compiled kernels are not stored."""
    if is_storing():
        os.environ[_TOLD] = "1"
        _log.warning(
            "compiled kernels cannot be stored, and each process compiles them anew (%s); a writable folder "
            "in NUMBA_CACHE_DIR, or in XDG_CACHE_HOME for a package inside a zip file, spares that time",
            error,
        )
