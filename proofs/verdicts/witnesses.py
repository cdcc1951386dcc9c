"""Witnesses in words: the exact numbers of a case that contradicts a claim."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import log10
from typing import Any

from proofs.language.polynomials import MOST_BITS, polynomial

__all__ = ["told_number", "told_value", "told_witness"]


def told_witness(claim: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    """The case that refutes a claim, with its numbers; empty where the evidence is no witness.

    Examples
    --------
    >>> claim = {"claim": "Implication", "hypotheses": {}, "conclusion": "-a*x + 2 >= 0"}
    >>> told_witness(claim, {"kind": "assignment", "values": {"a": "1/2", "x": 6}})
    'a = 1/2, x = 6: here -a*x + 2 >= 0 would be -1 >= 0'
    >>> claim = {"claim": "Counterexample", "arguments": {"demands": [[1], [2]], "lie": ["8/10"], "liar": 0}}
    >>> told_witness(claim, {"kind": "counterexample", "values": {"tasks": ["2/5", "1/5"], "holds": False}})
    'demands: ((1), (2)); lie: (4/5); liar: 1; hence tasks: (2/5, 1/5)'
    """
    match evidence.get("kind"):
        case "instance":
            where = "a run" if "first" in claim else f"sets of {evidence['size']}"
            return f"{where}: {_point(evidence)}"
        case "along":
            return f"states of up to {evidence['jobs']} jobs of one class: {_point(evidence)}"
        case "assignment":
            values = {name: Fraction(value) for name, value in evidence["values"].items()}
            left, sign, _ = claim["conclusion"].rsplit(" ", 2)
            reached = told_number(polynomial(left).at(values))
            return f"{_point(evidence)}: here {left} {sign} 0 would be {reached} {sign} 0"
        case "case":
            return told_value(evidence["case"])
        case "counterexample":
            found = {name: value for name, value in evidence["values"].items() if name != "holds"}
            return "; hence ".join(filter(None, (_case(claim.get("arguments", {})), told_value(found))))
    return ""


def told_number(value: Fraction) -> str:
    """A fraction, or its size where it has thousands of digits."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= MOST_BITS:
        return str(value)
    exponent = round((value.numerator.bit_length() - value.denominator.bit_length()) * log10(2))
    return f"about {'-' if value < 0 else ''}10**{exponent}"


_COUNTED = ("liar", "user")
"""Arguments that are the number of a user, in the definitions from 0, for people from 1."""


def _case(arguments: Mapping[str, Any]) -> str:
    """The case that a definition was asked about; what is empty was not needed."""
    flat: dict[str, Any] = {}
    for name, value in arguments.items():
        flat |= value if isinstance(value, Mapping) else {name: value}
    told = {name: value + 1 if name in _COUNTED else value for name, value in flat.items()}
    return told_value({name.replace("_", " "): value for name, value in told.items() if value != []})


def _point(evidence: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in evidence["values"].items()) or "everywhere"


def told_value(value: Any) -> str:
    """Plain data for people: nested lists in parentheses, fractions in lowest terms."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {told_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return f"({', '.join(map(told_value, value))})"
    if isinstance(value, str) and re.fullmatch(r"-?\d+/\d+", value):
        return str(Fraction(value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
