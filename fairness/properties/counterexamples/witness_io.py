"""Models, witnesses and results of searches as JSON: exact numbers are strings like "2/3", floats numbers.

What is written can be read back without loss: a rational model stays rational, a float keeps all its digits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.model.data import model_from_dict
from fairness.properties.changes.changed_model import change_from_dict
from fairness.properties.counterexamples.result import Failure, SearchResult
from fairness.properties.protocol.property import Finding, Numbers, Witness

__all__ = [
    "result_from_dict",
    "result_to_dict",
    "witness_from_dict",
    "witness_to_dict",
]

_PLAIN = (
    "policy",
    "property",
    "models",
    "domain",
    "budget",
    "searched",
    "seconds",
    "reached",
    "confirmation",
)
"""Fields of a result that are JSON already."""


def witness_to_dict(witness: Witness) -> dict[str, Any]:
    """Witness as plain data."""
    change, finding, after = witness.change, witness.finding, witness.allocation_after
    return {
        "policy": witness.policy,
        "property": witness.property,
        "model": witness.model.to_dict(),
        "change": None if change is None else change.to_dict(),
        "finding": {
            "name": finding.name,
            "violation": _written(finding.violation),
            "users": list(finding.users),
            "text": finding.text,
            "tolerance": finding.tolerance,
        },
        "allocation": _written(witness.allocation),
        "allocation_after": None if after is None else _written(after),
    }


def witness_from_dict(data: Mapping[str, Any]) -> Witness:
    """Read what :func:`witness_to_dict` wrote."""
    found, after = data["finding"], data["allocation_after"]
    return Witness(
        data["policy"],
        data["property"],
        model_from_dict(data["model"]),
        None if data["change"] is None else change_from_dict(data["change"]),
        Finding(
            found["name"], _read(found["violation"]), tuple(found["users"]), found["text"], found["tolerance"]
        ),
        _numbers(data["allocation"]),
        None if after is None else _numbers(after),
    )


def result_to_dict(result: SearchResult) -> dict[str, Any]:
    """Result of a search as plain data."""
    failure, witness = result.failure, result.witness
    return {
        **{name: getattr(result, name) for name in _PLAIN},
        "best": _written(result.best),
        "entropy": result.entropy,
        "witness": None if witness is None else witness_to_dict(witness),
        "failures": result.failures,
        "failure": failure and {"model": failure.model.to_dict(), "message": failure.message},
    }


def result_from_dict(data: Mapping[str, Any]) -> SearchResult:
    """Read what :func:`result_to_dict` wrote."""
    failure, witness = data["failure"], data["witness"]
    return SearchResult(
        **{name: data[name] for name in _PLAIN},
        best=_read(data["best"]),
        # Files written before results said so are still read.
        entropy=data.get("entropy"),
        witness=None if witness is None else witness_from_dict(witness),
        failures=data["failures"],
        failure=failure and Failure(model_from_dict(failure["model"]), failure["message"]),
    )


def _written(value: Any) -> Any:
    """Nested lists of strings (exact, or not finite) and floats."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_written(v) for v in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(float(value))
    return str(Fraction(int(value) if isinstance(value, np.integer) else value))


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(v) for v in value]
    if not isinstance(value, str):
        return float(value)
    if value in ("inf", "-inf", "nan"):
        return float(value)
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


def _numbers(values: Any) -> Numbers:
    """Array of floats, or of fractions where one is exact."""
    read = np.array(_read(values), dtype=object)
    if all(isinstance(v, float) for v in read.flat):
        return read.astype(float)
    read.ravel()[:] = [Fraction(v) for v in read.flat]
    return read
