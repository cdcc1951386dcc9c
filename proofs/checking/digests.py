"""Digests: of what was computed, and of the definition that computed it.

A definition is digested as it is read by Python, without comments, names of files and docstrings, together
with the functions and classes of the same file or of :mod:`proofs.definitions` that it uses, and those that
these use.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from proofs.definitions.registry import names_in

__all__ = ["Running", "canonical", "definition_digest"]

LENGTH = 32
"""Hexadecimal digits that are kept: 128 bits."""


def canonical(data: Any) -> str:
    """One text for plain data; True and 1, 1 and "1" differ."""
    return _CANONICAL.encode(data)


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


class Running:
    """The digest of plain data that come one after another."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, data: Any) -> None:
        """Take in one piece."""
        self._hash.update(canonical(data).encode() + b"\n")

    @property
    def text(self) -> str:
        """What has come so far."""
        return self._hash.hexdigest()[:LENGTH]


def definition_digest(function: Callable[..., Any]) -> str:
    """Digest of a function and of what it uses."""
    parts = sorted(_read(part) for part in _used(function))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:LENGTH]


_PARTS: dict[Any, str] = {}
"""Texts by name and compiled code."""


def _used(function: Any) -> list[Any]:
    """The function, and all functions and classes of ours that it reaches."""
    found: dict[int, Any] = {}
    pending = [function]
    home = getattr(function, "__module__", None)
    while pending:
        part = pending.pop()
        if id(part) in found:
            continue
        found[id(part)] = part
        for member in _members(part):
            scope = getattr(member, "__globals__", {})
            for name in names_in(member.__code__):
                other: Any = inspect.unwrap(scope.get(name, int))  # through caches; int is none of ours
                if (inspect.isfunction(other) or inspect.isclass(other)) and _ours(other, home):
                    pending.append(other)
    return list(found.values())


def _ours(part: Any, home: str | None) -> bool:
    module = getattr(part, "__module__", None) or ""
    return module == home or module.startswith("proofs.definitions.")


def _members(part: Any) -> Iterator[Any]:
    """Functions in which a function or class consists."""
    if inspect.isclass(part):
        for value in vars(part).values():
            inner = getattr(value, "fget", None) or getattr(value, "func", None) or value
            inner = getattr(inner, "__func__", inner)
            if inspect.isfunction(inner):
                yield inner
        return
    inner = inspect.unwrap(part)
    if inspect.isfunction(inner):
        yield inner


def _read(part: Any) -> str:
    members = list(_members(part))
    key = part.__qualname__, tuple(member.__code__ for member in members)
    if key not in _PARTS:
        _PARTS[key] = _text(part)
    defaults = [(member.__defaults__, member.__kwdefaults__) for member in members]
    return f"{_PARTS[key]}\n{defaults}"


def _text(part: Any) -> str:
    """The source as Python reads it, or the compiled code where there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
    except (OSError, TypeError, SyntaxError):
        return "\n".join(_compiled(member.__code__) for member in _members(part)) or repr(part)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _compiled(code: CodeType) -> str:
    constants = [_compiled(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"
