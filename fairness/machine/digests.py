"""Digests of what a question holds, policies and functions of the caller included: equal means asked before.

Long work that goes on, and answers that are bettered, must not mix with those to a question that has been
edited since. :func:`digest_of` follows what a thing holds and what its code names, as far as it is the
caller's: of installed packages, of the standard library and of this project (whose version is told beside)
names are enough.
"""

from __future__ import annotations

import dis
import hashlib
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cached_property, partial
from pathlib import Path
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from fairness.display.storage import identity
from fairness.errors import ModelError

__all__ = ["comes_from", "digest_of", "told"]

_SOURCES: dict[int, tuple[Any, str]] = {}
"""What code comes from, by the address of the object, which lives as long as it stands here."""

_INSTALLED = tuple(
    str(Path(sysconfig.get_path(kind)).resolve()) for kind in ("stdlib", "platstdlib", "purelib", "platlib")
)
_OURS = ("fairness", "queueing", "capacity", "proofs", "fairqueues")

_WRAPPED = ("__wrapped__", "py_func")
"""Where what was wrapped stands: by functools, and by numba."""

_MADE = ("__init__", "__post_init__", "__new__", "__setstate__")
"""Methods in which an object gets what it holds."""

_CHANGES = (
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft"),
    *("remove", "setdefault", "sort", "update"),
)
"""Methods that change a list, dictionary or set."""

_ASSIGNS = ("STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR")
_INTO = ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_ATTR", "LOAD_METHOD")


def comes_from(thing: Any, sources: str) -> None:
    """Let :func:`told` say what the code of a thing comes from, such as the digest of its file."""
    _SOURCES[id(thing)] = (thing, sources)


def told(thing: Any) -> str:
    """What settings say of a function or object: its name, or its repr without addresses, and its sources.

    Examples
    --------
    >>> told(told), told(object())
    ('told', '<object object>')
    """
    name = getattr(thing, "__qualname__", None)
    text = str(name) if name else re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing))
    return f"{text} of {sources}" if (sources := _sources(thing)) else text


def _sources(thing: Any) -> str:
    """What was said that its code comes from."""
    return _SOURCES[id(thing)][1] if id(thing) in _SOURCES else ""


def digest_of(thing: Any) -> str:
    """Of all that a thing holds, which its ``repr`` may round, or leave out where it is large.

    Of the caller's functions, classes and objects: what they hold, and their byte code with the values and
    functions that it names, in other modules too. Not seen are what is looked up by a text, what is behind a
    C function, and what a function or an object changes itself after it was made: what it assigns, and the
    lists, dictionaries and sets that it changes by their names. Another version of Python may compile other
    byte code.

    Examples
    --------
    >>> half, third = (lambda x: x / 2), (lambda x: x / 3)
    >>> digest_of(half) == digest_of(lambda x: x / 2), digest_of(half) == digest_of(third)
    (True, False)
    """
    return _Walk().of(thing)[:16]


def _hashed(*parts: Any) -> str:
    """One digest of several texts, each with its length."""
    sha = hashlib.sha256()
    for part in map(str, parts):
        encoded = part.encode("utf-8", "surrogatepass")
        sha.update(b"%d:" % len(encoded))
        sha.update(encoded)
    return sha.hexdigest()


class _Walk:
    """One way through all that a thing holds; what is met again is not walked again."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._held: list[Any] = []

    def of(self, thing: Any) -> str:
        """Digest of a thing; on the way back to where it began, of its name."""
        if thing is None or type(thing) in (bool, int, float, complex, str, bytes):
            return _hashed(type(thing).__name__, repr(thing))
        if id(thing) not in self._known:
            self._held.append(thing)  # so that nothing else gets its address
            self._known[id(thing)] = _hashed("again", type(thing).__name__)
            self._known[id(thing)] = self._new(thing)
        return self._known[id(thing)]

    def _all(self, things: Iterable[Any]) -> list[str]:
        return [self.of(thing) for thing in things]

    def _new(self, thing: Any) -> str:
        kind = type(thing)
        if isinstance(thing, np.ndarray) and thing.dtype != object:
            content = hashlib.sha256(np.ascontiguousarray(thing).data).hexdigest()
            return _hashed("array", thing.dtype.str, thing.shape, content)
        if isinstance(thing, np.ndarray):
            return _hashed("objects", thing.shape, *self._all(thing.ravel().tolist()))
        if kind in (list, tuple):
            return _hashed(kind.__name__, *self._all(thing))
        if kind in (set, frozenset):
            return _hashed(kind.__name__, *sorted(self._all(thing)))
        if kind is dict:
            return _hashed("dict", *sorted(_hashed(self.of(k), self.of(v)) for k, v in thing.items()))
        if isinstance(thing, ModuleType):
            return _hashed("module", thing.__name__)
        if isinstance(thing, FunctionType):
            return self._function(thing)
        if isinstance(thing, MethodType | BuiltinMethodType):
            bound = getattr(thing, "__func__", None), thing.__self__
            return _hashed(told(thing), *self._all(bound))
        if isinstance(thing, partial):
            return _hashed("partial", *self._all((thing.func, thing.args, thing.keywords)))
        if isinstance(thing, type):
            return self._class(thing)
        for name in _WRAPPED:
            inner = getattr(thing, name, None)
            if callable(inner):
                own = self._object(thing) if _is_foreign(_file_of(kind), kind.__module__) else told(thing)
                return _hashed(own, self.of(inner))
        return self._object(thing)

    def _function(self, function: FunctionType) -> str:
        codes, known = list(_codes(function.__code__)), function.__globals__
        named = _enclosed(function)
        if not _is_foreign(known.get("__file__"), known.get("__name__")):
            # What somebody's decorator makes holds the function of the caller.
            inner = self._all(filter(callable, named.values()))
            return _hashed(known.get("__name__"), told(function), _code(function.__code__), *inner)
        named |= {name: known[name] for name in _loaded(codes) if name in known}
        for module in [one for one in named.values() if isinstance(one, ModuleType)]:
            if _is_foreign(getattr(module, "__file__", None), module.__name__):
                both = {name for code in codes for name in code.co_names} & vars(module).keys()
                named |= {f"{module.__name__}.{name}": vars(module)[name] for name in both}
        held = self._fixed(named, codes)
        defaults = self._all((function.__defaults__, function.__kwdefaults__))
        return _hashed(told(function), _code(function.__code__), *defaults, *held)

    def _fixed(self, named: dict[str, Any], codes: list[CodeType]) -> list[str]:
        """Of values by their names, but for those that the code changes."""
        changed = set().union(*map(_changed, codes))
        return [_hashed(name, self.of(named[name])) for name in sorted(named.keys() - changed)]

    def _class(self, cls: type) -> str:
        parts = [cls.__module__, told(cls)]
        for one in cls.__mro__:
            if _is_foreign(_file_of(one), one.__module__):
                parts += [_hashed(name, self.of(value)) for name, value in sorted(_members(one).items())]
            else:
                parts.append(f"{one.__module__}.{one.__qualname__}")
        return _hashed(*parts)

    def _object(self, thing: Any) -> str:
        try:
            return hashlib.sha256(identity(thing).encode()).hexdigest()
        except ModelError:  # no type that files hold, or it holds something of the caller
            pass
        cls = type(thing)
        foreign = [one for one in cls.__mro__ if _is_foreign(_file_of(one), one.__module__)]
        parts = [self.of(cls), _sources(thing)]
        if isinstance(thing, tuple):
            parts += self._all(thing)
        if is_dataclass(thing):
            names = [field.name for field in fields(thing)]
        elif foreign or cls.__module__.partition(".")[0] in _OURS:
            names = list(getattr(thing, "__dict__", ()))
        else:  # of an installed package: what it tells of itself
            return _hashed(*parts, told(thing))
        members = [item for one in foreign for item in _members(one).items()]
        functions = [v for name, v in members if isinstance(v, FunctionType) and name not in _MADE]
        slots = [name for one in foreign for name in _names(vars(one).get("__slots__", ()))]
        lazy = {n for one in cls.__mro__ for n, v in vars(one).items() if isinstance(v, cached_property)}
        state = {n: getattr(thing, n) for n in {*names, *slots} - lazy if hasattr(thing, n)}
        text = "" if state else told(thing)
        codes = [code for function in functions for code in _codes(function.__code__)]
        return _hashed(*parts, text, *self._fixed(state, codes))


def _is_foreign(file: Any, module: Any) -> bool:
    """Whether it is the caller's: neither this project's nor installed."""
    top = str(module or "").partition(".")[0]
    if top in _OURS:
        return False
    if file is None:
        return top not in sys.stdlib_module_names
    path = Path(str(file)).resolve()
    return not (str(path).startswith(_INSTALLED) or {"site-packages", "dist-packages"} & set(path.parts))


def _file_of(cls: type) -> Any:
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


def _members(cls: type) -> dict[str, Any]:
    """Functions and values that a class defines itself; of what wraps a function, the function."""
    found = dict[str, Any]()
    for name, value in vars(cls).items():
        if isinstance(value, property):
            found |= {f"{name}.get": value.fget, f"{name}.set": value.fset}
        elif isinstance(value, staticmethod | classmethod):
            found[name] = value.__func__
        elif isinstance(value, cached_property):
            found[name] = value.func
        elif isinstance(value, FunctionType) or not (name.startswith("__") or name == "_abc_impl"):
            found[name] = value
    return found


def _enclosed(function: FunctionType) -> dict[str, Any]:
    """What a function has of those around it, as far as it is assigned; and what it wraps."""
    found = {"__wrapped__": inner} if (inner := getattr(function, "__wrapped__", None)) is not None else {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions, comprehensions and classes inside."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _changed(code: CodeType) -> set[str]:
    """Names that the code assigns, and of what it changes: ``seen.append(x)``, ``self.table[k] = v``."""
    steps = list(dis.get_instructions(code))
    found = {step.argval for step in steps if step.opname in _ASSIGNS}
    loads = [(step.argval, _span(step)) for step in steps if step.opname in _LOADS]
    for step in steps:
        if step.opname in _INTO or (step.opname in _LOADS and step.argval in _CHANGES):
            start, end = _span(step)
            # What is changed begins where the whole begins, and is the longest part of it that does.
            inside = [(until, name) for name, (begin, until) in loads if begin == start and until < end]
            found |= {name for _, name in sorted(inside)[-1:]}
    return found


def _span(step: dis.Instruction) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the source of an instruction begins and ends: line and column."""
    at: Any = step.positions
    return (at.lineno or 0, at.col_offset or 0), (at.end_lineno or 0, at.end_col_offset or 0)


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _loaded(codes: list[CodeType]) -> set[str]:
    """Global names that are read."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    return {i.argval for code in codes for i in dis.get_instructions(code) if i.opname in loads}


def _code(code: CodeType) -> str:
    """Byte code and constants, those of inner functions included."""
    constants = [_code(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    return _hashed(code.co_code.hex(), *constants, *code.co_names)


def _constant(constant: Any) -> str:
    """A constant; of a set in one order."""
    return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)
