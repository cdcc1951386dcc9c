"""Witnesses in words: the exact numbers of a case that contradicts a claim."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs.language.polynomials import polynomial

__all__ = ["told_value", "told_witness"]


def told_witness(claim: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    """The case that refutes a claim, with its numbers; empty where the evidence is no witness.

    Examples
    --------
    >>> claim = {"claim": "Implication", "hypotheses": {}, "conclusion": "-a*x + 2 >= 0"}
    >>> told_witness(claim, {"kind": "assignment", "values": {"a": "1/2", "x": 6}})
    'a = 1/2, x = 6: here -a*x + 2 >= 0 would be -1 >= 0'
    >>> told_witness({}, {"kind": "counterexample", "values": {"tasks": [[1, "1/2"], [0, 2]]}})
    'tasks: ((1, 1/2), (0, 2))'
    """
    match evidence.get("kind"):
        case "instance":
            return f"sets of {evidence['size']}: {_point(evidence)}"
        case "assignment":
            values = {name: Fraction(value) for name, value in evidence["values"].items()}
            left, sign, _ = claim["conclusion"].rsplit(" ", 2)
            return f"{_point(evidence)}: here {left} {sign} 0 would be {polynomial(left).at(values)} {sign} 0"
        case "case":
            return told_value(evidence["case"])
        case "counterexample":
            return told_value({name: value for name, value in evidence["values"].items() if name != "holds"})
    return ""


def _point(evidence: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in evidence["values"].items()) or "everywhere"


def told_value(value: Any) -> str:
    """Plain data for people: nested lists in parentheses."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {told_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return f"({', '.join(map(told_value, value))})"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
