"""How the library computes a value: methods by the name of the definition, and what they read floats with."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from proofs.definitions import BY_LIBRARY

__all__ = ["library_value", "near", "second_method"]

F = TypeVar("F", bound=Callable[..., Any])

ROOMS = ("pools", "servers", "cloud", "queues")
"""Modules beside this one that know second methods; loaded one by one until a name is known."""
LARGEST_DENOMINATOR = 10**5
"""Of the fraction next to a float; whether it is the value is for the definitions to check."""

_METHODS: dict[str, Callable[..., Any]] = {}


def second_method(function: F) -> F:
    """Make a function known as the library's way to the definition of the same name; decorator."""
    _METHODS[function.__name__] = function
    return function


def near(values: Any) -> list[Fraction]:
    """The fractions next to floats."""
    return [Fraction(float(v)).limit_denominator(LARGEST_DENOMINATOR) for v in values]


def library_value(name: str, arguments: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Value by the library and how it was computed; (None, None) if the library has no way."""
    if name not in BY_LIBRARY:
        return None, None
    for room in ROOMS:
        importlib.import_module(f"proofs.prover.library.{room}")
        if name in _METHODS:
            return _METHODS[name](**arguments), f"by {BY_LIBRARY[name]}"
    raise AssertionError(f"no method of the library is called {name!r}")
