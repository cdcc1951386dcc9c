"""Kernels: loops in plain Python, compiled where that pays, and interpreted where the work is small.

To compile a kernel takes seconds, once per machine; what two users ask takes it less than a millisecond,
also uncompiled. So :meth:`Kernel.small` tells by the *work of a request* which of the two serves it: at most
:data:`SMALL` steps are interpreted, until a kernel has been interpreted for :data:`PATIENCE` steps, as long
as compiling takes, or, if it lies compiled already, as long as loading does. The work is that of the request
as a whole, :class:`asked`, and not of a batch of it, so that the numbers of a state do not depend on the
states beside it. Both ways run the same source; where it adds, multiplies, divides and takes roots, and
exponentials and logarithms are those of :mod:`fairness.machine.kernels`, they give the same bits.

A helper that kernels call - a :data:`part` - is a plain function, which compiled kernels absorb
(:mod:`fairness.machine.absorbed`). A kernel that an interpreted one calls is interpreted, too. numba itself
is imported when something is compiled (:mod:`fairness.machine.kernel_compiler`).

Compiled kernels are stored by :mod:`fairness.machine.stored_kernels`. numba stores a kernel together with
everything it calls, and compiles it anew when the file it stands in has changed. Changes in *other* files go
unnoticed: a kernel that calls a helper from another module would go on running the helper of yesterday. Hence
the rule: a kernel with such helpers names their modules, ``@stored(kernels, cholesky)``, and is looked up by
the sources of these too.

Views of arrays are cheap where numba does not count the references to them, which can take two thirds of the
time of a small kernel. Nothing is counted in a *part*: a helper that allocates nothing and returns no array,
or a kernel that calls such (:data:`UNCOUNTED`). What a part calls and allocates something says so
(:data:`COUNTED`), for it would be compiled as a part otherwise.

A kernel that is not stored yet takes seconds: :mod:`fairness.machine.compilation_log` tells.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

__all__ = [
    "COUNTED",
    "PATIENCE",
    "SMALL",
    "UNCOUNTED",
    "Kernel",
    "asked",
    "compiled_as",
    "compiler",
    "first_class",
    "helper",
    "inlined",
    "part",
    "stored",
]

SMALL = 1e6
"""Steps that are interpreted: of about a microsecond each."""
PATIENCE = 1e7
"""Steps of a kernel that are interpreted in one process before it is compiled after all."""
AT_HAND = 0.03
"""Part of the patience for a kernel that lies compiled beside its source: to load it takes half a second."""
FURTHER = 0.1
"""Part of that where numba is there already: it is most of what is loaded."""

UNCOUNTED: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Options of a kernel that allocates nothing and calls parts."""
COUNTED: dict[str, Any] = UNCOUNTED | {"_nrt": True}
"""Options of what parts call and allocates something."""

_ONLY_CALLED_BY_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of a helper: what Python would need to call it takes half of the time to compile it."""

_log = logging.getLogger(__name__)
_Function = TypeVar("_Function", bound=Callable[..., Any])

_untold: list[Callable[[Any], None]] = []
"""What numba is told of helpers when it is imported."""
_interpreting: ContextVar[bool] = ContextVar("_interpreting", default=False)
_asked: ContextVar[asked | None] = ContextVar("_asked", default=None)


@cache
def compiler() -> Any:
    """numba, which knows all helpers from now on."""
    # Ctrl-C strikes the waiting, and not the import, of which it would leave half.
    thread = Thread(target=import_module, args=("numba",))
    thread.start()
    thread.join()
    import numba

    while _untold:
        _untold.pop(0)(numba)
    return numba


def _tell(told: Callable[[Any], None]) -> None:
    """Tell numba something, when it is there."""
    _untold.append(told)
    if compiler.cache_info().currsize:
        compiler.__wrapped__()


@cache
def _pipelines() -> tuple[dict[str, Any], dict[str, Any]]:
    """How kernels, and what they absorb, are compiled: in half the time, where numba is one that we know."""
    try:
        from fairness.machine.absorbed import AbsorbedCompiler
        from fairness.machine.kernel_compiler import KernelCompiler
    except (ImportError, AttributeError) as error:
        _log.warning("kernels take twice as long to be compiled: numba has changed inside (%s)", error)
        return {}, {}
    return {"pipeline_class": KernelCompiler}, {"pipeline_class": AbsorbedCompiler}


def helper(**options: Any) -> Callable[[_Function], _Function]:
    """Decorate what kernels call: compiled and stored as a part of them; Python calls it as it is.

    Parameters
    ----------
    **options
        Of :func:`numba.njit`, without ``cache``.
    """

    def decorate(function: _Function) -> _Function:
        def told(numba: Any) -> None:
            compiled = numba.njit(**options, **_ONLY_CALLED_BY_KERNELS, **_pipelines()[1])(function)
            if compiled is not function:  # with NUMBA_DISABLE_JIT it is the function itself
                named.dispatcher, named._numba_type_ = compiled, numba.types.Dispatcher(compiled)

        named: Any = function
        named.py_func = function
        _tell(told)
        return function

    return decorate


part: Callable[[_Function], _Function] = helper(**UNCOUNTED)
"""Decorator of a helper that allocates nothing and returns no array."""

inlined: Callable[[_Function], _Function] = helper(**UNCOUNTED, forceinline=True)
"""A part that is called so often that to hand over its arrays would cost as much as its work."""


def compiled_as(choose: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Decorate a function that compiled kernels replace by another one, which depends on the types.

    ``choose`` is given numba's types of the arguments, as by :func:`numba.extending.overload`.
    """

    def decorate(function: _Function) -> _Function:
        def told(numba: Any) -> None:
            numba.extending.overload(function, strict=False)(choose)

        _tell(told)
        return function

    return decorate


class asked:
    """A context: what is computed in it belongs to one request, of so many states or events in all.

    Kernels are chosen once in it. In one request all that is asked belongs to the outer one.

    Examples
    --------
    >>> @stored()
    ... def twice(x):
    ...     return 2 * x
    >>> twice.small(1.0)(21)
    42
    >>> with asked(1e9):
    ...     twice.small(1.0) is twice
    True
    """

    def __init__(self, states: float) -> None:
        self.states, self._chosen = float(states), dict[Any, bool]()

    def __enter__(self) -> None:
        self._token: Token[asked | None] | None = _asked.set(self) if _asked.get() is None else None

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _asked.reset(self._token)

    def chooses(self, kernel: Kernel, states: float, steps: float) -> bool:
        """Whether this kernel is interpreted, with so many steps a state, at least so many states."""
        if kernel not in self._chosen:
            work = max(self.states, states) * steps
            loaded = FURTHER if compiler.cache_info().currsize else 1.0
            patience = PATIENCE * (AT_HAND * loaded if kernel.is_at_hand else 1.0)
            self._chosen[kernel] = work <= SMALL and kernel.spent <= patience
            kernel.spent += work if self._chosen[kernel] else 0.0
        return self._chosen[kernel]


class Kernel:
    """A function that numba compiles when it is called, or that is interpreted: see :func:`stored`.

    Attributes
    ----------
    py_func : callable
        The function as it is written.
    spent : float
        Steps that were interpreted in this process.
    """

    def __init__(
        self, function: Callable[..., Any], helpers: tuple[ModuleType, ...], options: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self.py_func, self.spent = function, 0.0
        self._at_hand, self._looked = False, 0.0
        self._helpers, self._options = helpers, options

    def __call__(self, *arguments: Any) -> Any:
        """Compiled, unless an interpreted kernel asks."""
        return (self.py_func if _interpreting.get() else self.dispatcher)(*arguments)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined]

    def small(self, steps: float, states: float = 1) -> Callable[..., Any]:
        """The kernel for a request: interpreted where that has few steps, compiled otherwise.

        Parameters
        ----------
        steps : float
            About how many microseconds a state or event takes when it is interpreted.
        states : float
            How many there are, unless :class:`asked` says that there are more.
        """
        return self.interpreted if (_asked.get() or asked(0)).chooses(self, states, steps) else self

    def interpreted(self, *arguments: Any) -> Any:
        """Call the function as it is written, and so all that it calls."""
        token = _interpreting.set(True)
        try:
            # As in compiled code, which knows no warnings.
            with np.errstate(all="ignore"):
                return self.py_func(*arguments)
        finally:
            _interpreting.reset(token)

    @property
    def is_compiled(self) -> bool:
        """Whether a call runs compiled code; with NUMBA_DISABLE_JIT none does."""
        return self.dispatcher is not self.py_func

    @property
    def is_at_hand(self) -> bool:
        """Whether it lies compiled beside its source, or where NUMBA_CACHE_DIR says, for some types.

        Looked for anew when twice as much was interpreted: another process may compile it meanwhile.
        """
        if not self._at_hand and self.spent >= self._looked:
            self._at_hand, self._looked = self._is_stored(), max(1.0, 2.0 * self.spent)
        return self._at_hand

    def _is_stored(self) -> bool:
        source = Path(self.py_func.__code__.co_filename)
        given = os.environ.get("NUMBA_CACHE_DIR")
        places = Path(given).glob(f"{source.parent.name}_*") if given else [source.parent / "__pycache__"]
        pattern = f"{source.stem}.{self.py_func.__name__}-*.nbi"
        return any(next(place.glob(pattern), None) for place in places)

    @cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function: compiled when it is called with types that are not stored."""
        numba = compiler()
        from fairness.machine.stored_kernels import store

        compiled = numba.njit(**self._options, **_pipelines()[0])(self.py_func)
        if compiled is not self.py_func:  # with NUMBA_DISABLE_JIT it is the function itself
            sources = "".join(inspect.getsource(module) for module in self._helpers)
            made_of = hashlib.sha256(f"{_told(self._options)}{sources}".encode()).hexdigest()
            store(compiled, made_of)
        return compiled

    @property
    def _numba_type_(self) -> Any:
        return compiler().types.Dispatcher(self.dispatcher)


def _told(options: dict[str, Any]) -> list[tuple[str, Any]]:
    """Options in an order that is the same in every process, which that of a set is not."""
    ordered = {name: sorted(given) if isinstance(given, set) else given for name, given in options.items()}
    return sorted(ordered.items())


def stored(*helpers: ModuleType, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
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
    return lambda function: Kernel(function, helpers, options)


def first_class(kernel: Any, *arguments: Any) -> Any:
    """A kernel (no helper: it has no address), compiled for such arguments, that kernels can be given."""
    numba = compiler()
    compiled = getattr(kernel, "dispatcher", kernel)
    if not hasattr(compiled, "overloads"):  # with NUMBA_DISABLE_JIT it is the function itself
        return compiled
    signature = tuple(numba.typeof(argument) for argument in arguments)
    compiled.compile(signature)
    return numba.types.CompileResultWAP(compiled.overloads[signature])
