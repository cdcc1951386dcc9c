"""Claims on functions of :mod:`proofs.definitions`, and the pools and clusters that they are asked of."""

from __future__ import annotations

from typing import Any

from proofs.claims import Computation, Counterexample, Enumeration

__all__ = ["against", "computed", "every", "model"]


def model(demands: Any, capacities: Any, **more: Any) -> dict[str, Any]:
    """A pool, or with a row of capacities for each server a cluster; weights and so on by name."""
    return {"demands": demands, "capacities": capacities, **more}


def computed(function: str, /, *, gives: Any, **arguments: Any) -> Computation:
    """The claim that a function gives a value."""
    return Computation(function, arguments, gives)


def every(function: str, /, **arguments: Any) -> Enumeration:
    """The claim that all cases of a function have its property."""
    return Enumeration(function, arguments)


def against(function: str, /, **arguments: Any) -> Counterexample:
    """The claim that a case lacks the property that a function asks of it."""
    return Counterexample(function, arguments)
