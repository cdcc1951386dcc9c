"""Values that the library computes, for claims whose definitions :mod:`proofs.definitions` gives again."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from proofs.definitions import BY_LIBRARY

__all__ = ["library_value", "second_method"]

F = TypeVar("F", bound=Callable[..., Any])

LIBRARY_MODULES: tuple[str, ...] = (
    "library_pools",
    "library_mechanisms",
    "library_cloud",
    "library_servers",
    "library_queues",
)
"""Modules beside this one that know second methods; loaded when a value is asked for first."""

_METHODS: dict[str, Callable[..., Any]] = {}


def second_method(function: F) -> F:
    """Make a function known as the library's way to the definition of the same name; decorator."""
    _METHODS[function.__name__] = function
    return function


def library_value(name: str, arguments: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Value by the library and how it was computed; (None, None) if the library has no way."""
    _load()
    method = _METHODS.get(name)
    if method is None:
        return None, None
    return method(**arguments), f"by {BY_LIBRARY[name]}"


@cache
def _load() -> None:
    for module in LIBRARY_MODULES:
        importlib.import_module(f"proofs.prover.{module}")
