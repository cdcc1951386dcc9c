"""Polynomial implications: a written contradiction, a solver's verdict, or a witness against."""

from __future__ import annotations

import random
import time
from fractions import Fraction
from typing import Any

from proofs.checking.queries import smt_query, solver_module
from proofs.checking.refutations import check_assignment
from proofs.claims import Implication
from proofs.errors import EvidenceError
from proofs.prover.combinations import find_refutation
from proofs.relations import relation
from proofs.verdict import Status

__all__ = ["implication_evidence"]

TRIES = 300
VALUES = [Fraction(k) for k in (0, 1, 2, 3, -1, 4, 5)] + [
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(3, 2),
    Fraction(2, 3),
]


def implication_evidence(claim: Implication, deadline: float) -> tuple[Status, dict[str, Any], str]:
    """Status, evidence and how it was found, before a deadline of the monotonic clock."""
    witness = _lucky_witness(claim)
    if witness is not None:
        return Status.REFUTED, {"kind": "assignment", "values": witness}, "witness"
    for degree in range(1, claim.degree + 1):
        evidence = find_refutation(claim, degree, deadline)
        if evidence is not None:
            how = "Farkas certificate" if degree == 1 and _affine(claim) else "Positivstellensatz certificate"
            return Status.PROVED, evidence, f"{how}, {len(evidence['terms'])} terms"
        if time.monotonic() > deadline:
            return Status.UNKNOWN, {}, f"time limit reached after certificates of degree {degree}"
    return _ask_solver(claim, deadline)


def _affine(claim: Implication) -> bool:
    relations = [*claim.relations.values(), relation(claim.conclusion)]
    return all(r.left.degree <= 1 for r in relations)


def _names(claim: Implication) -> list[str]:
    relations = [*claim.relations.values(), relation(claim.conclusion)]
    return sorted(set().union(*(r.left.variables for r in relations)))


def _violates(claim: Implication, values: dict[str, Fraction]) -> bool:
    if relation(claim.conclusion).holds(values):
        return False
    return all(r.holds(values) for r in claim.relations.values())


def _lucky_witness(claim: Implication) -> dict[str, Fraction] | None:
    """A small witness by trying, which a reader prefers to a solver's."""
    rng, names = random.Random(0), _names(claim)
    for _ in range(TRIES):
        values = {name: rng.choice(VALUES) for name in names}
        if _violates(claim, values):
            return values
    return None


def _ask_solver(claim: Implication, deadline: float) -> tuple[Status, dict[str, Any], str]:
    try:
        z3 = solver_module()
    except ImportError as error:
        return Status.UNKNOWN, {}, f"no certificate of degree {claim.degree} was found, and {error}"
    query = smt_query(claim)
    solver = z3.SolverFor("QF_NRA", ctx=z3.Context())
    solver.set("timeout", max(1, int(1000 * (deadline - time.monotonic()))))
    solver.from_string(query)
    answer = str(solver.check())
    if answer == "unsat":
        return Status.PROVED, {"kind": "unsat", "query": query}, f"z3 {z3.get_version_string()}"
    if answer == "sat":
        values = _rational_witness(claim, z3, solver.model())
        if values is not None:
            return Status.REFUTED, {"kind": "assignment", "values": values}, "witness by z3"
        return Status.UNKNOWN, {}, "z3 has a witness, but no rational one was found near it"
    reason = solver.reason_unknown()
    return Status.UNKNOWN, {}, f"no certificate of degree {claim.degree}, and z3 stopped: {reason}"


def _rational_witness(claim: Implication, z3: Any, model: Any) -> dict[str, Fraction] | None:
    exact = {str(v): model[v] for v in model.decls()}
    for digits in (None, 3, 6, 12, 24):
        values = {}
        for name in _names(claim):
            value = exact.get(name)
            if value is None:
                values[name] = Fraction(0)
            elif z3.is_rational_value(value):
                values[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
            else:
                values[name] = Fraction(value.approx(digits or 3).as_fraction())
        if _violates(claim, values):
            check = {"values": values}
            try:
                check_assignment(claim, check)
            except EvidenceError:
                continue
            return values
    return None
