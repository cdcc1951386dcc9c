"""The functions that claims name, and the plain data that they take and give."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from proofs.errors import ProofError

__all__ = ["Case", "define", "definition", "fraction", "fractions", "plain"]

Case = tuple[Any, bool]
"""What enumerations and searches give: a case, and whether it has the property."""

F = TypeVar("F", bound=Callable[..., Any])

MODULES = (
    "pools",
    "bottleneck_max",
    "mechanisms",
    "timed",
    "rounds",
    "rounds_cases",
    "bundles",
    "servers",
    "servers_claims",
    "queues",
    "drifts",
    "servers_points",
)
"""Modules that define functions; loaded when a function is asked for first."""

_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def define(function: F) -> F:
    """Make a function known under its name; decorator.

    Raises
    ------
    ProofError
        If another function has the name.
    """
    name = function.__name__
    if name in _FUNCTIONS and _FUNCTIONS[name].__module__ != function.__module__:
        raise ProofError(f"two functions are called {name!r}: in {_FUNCTIONS[name].__module__} and here")
    _FUNCTIONS[name] = function
    return function


def definition(name: str) -> Callable[..., Any]:
    """The function of that name."""
    if name not in _FUNCTIONS:
        for module in MODULES:
            importlib.import_module(f"proofs.definitions.{module}")
    if name not in _FUNCTIONS:
        raise ProofError(f"no definition is called {name!r}")
    return _FUNCTIONS[name]


def plain(value: Any) -> Any:
    """Data as JSON has it: fractions as "3/4" (whole ones as integers), tuples as lists, keys as text."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    raise ProofError(f"{value!r} of type {type(value).__name__} has no place in exact evidence")


def fraction(value: Any) -> Fraction:
    """An int, a Fraction or "3/4" as Fraction.

    Raises
    ------
    ProofError
        If it is something else, such as a float.
    """
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise ProofError(f"exact arithmetic takes integers and fractions; got {value!r}")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise ProofError(f"{value!r} is no fraction") from None


def fractions(values: Any) -> Any:
    """Nested lists of such numbers, with the same shape."""
    return [fractions(v) for v in values] if isinstance(values, list | tuple) else fraction(values)
