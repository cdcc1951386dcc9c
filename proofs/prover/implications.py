"""Polynomial implications: a written contradiction, a solver's verdict, or a witness against."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.checking.queries import ask_if_there, model_values, smt_query
from proofs.checking.refutations import check_assignment, rests_on_negation
from proofs.claims import Implication
from proofs.errors import EvidenceError
from proofs.language.relations import Relation, relation
from proofs.prover.combinations import find_refutation
from proofs.prover.squares import find_squares
from proofs.prover.values import SMALL, nearest, values_meeting
from proofs.verdicts.verdict import NEVER

__all__ = [
    "UNMET",
    "Evidence",
    "certified",
    "implication_evidence",
    "lucky_witness",
    "meeting",
    "opened",
    "witness_of",
]

TRIES = 300
ROUNDING = 1e-12
"""Of a sum, relative to the sizes of its terms: they are few, of small numbers."""
MEETING, CONFIRMING, LONGEST = 2.0, 5.0, 600.0
"""Seconds at most for values that meet the hypotheses, for the second solver, and for the first."""
REFUTING, SQUARES = 1.0, 20.0
"""Seconds at most for a witness by z3 before sums of squares are sought, and for these."""
UNMET = "unmet"
"""No values are known that meet the hypotheses, nor that there are none."""

Evidence = dict[str, Any]


def implication_evidence(claim: Implication, deadline: float) -> Evidence:
    """Evidence before a deadline of the monotonic clock."""
    evidence = certified(claim, deadline)
    proved = evidence["kind"] in ("refutation", "unsat")
    return _not_vacuous(claim, evidence, deadline) if proved else evidence


def certified(claim: Implication, deadline: float) -> Evidence:
    """Evidence without values that meet the hypotheses, so that a proof may say nothing."""
    witness = lucky_witness(claim)
    if witness is not None:
        return {"kind": "assignment", "values": witness}
    for degree in range(1, claim.degree + 1):
        evidence = find_refutation(claim, degree, deadline)
        if evidence is not None:
            return evidence
        if time.monotonic() > deadline:
            return opened("degree", degree=degree)
    return _beyond_products(claim, deadline)


def opened(why: str, **data: Any) -> Evidence:
    """The evidence that nothing settles the claim, and why."""
    return {"kind": "open", "why": why, **data}


def _not_vacuous(claim: Implication, evidence: dict[str, Any], deadline: float) -> Evidence:
    """The evidence with values that meet all hypotheses; without them it is none.

    One of several cases may do without, or never occur, as long as another does.
    """
    if relation(claim.conclusion).impossible:
        return evidence | {"met": {}}
    met = meeting(claim, deadline) if rests_on_negation(evidence) else NEVER
    if claim.case is not None:
        return evidence | {"met": {} if met == UNMET else met}
    if met in (NEVER, UNMET):
        return opened("vacuous" if met == NEVER else "unmet")
    return evidence | {"met": met}


def meeting(claim: Implication, deadline: float) -> dict[str, Fraction] | str:
    """Values that meet all hypotheses, "z3" if only it says so, NEVER if none do, UNMET if none are known."""
    hypotheses = Implication(claim.hypotheses, "0 == 1")
    values = lucky_witness(hypotheses)
    if values is None:
        values = values_meeting(list(hypotheses.relations.values()), deadline)
    if values is not None:
        return _for_all(claim, values)
    answer, model = _asked("z3", smt_query(hypotheses), deadline, MEETING)
    if answer != "sat":
        return NEVER if answer == "unsat" else UNMET
    values = _rational_witness(hypotheses, model)
    return "z3" if values is None else _for_all(claim, values)


def _for_all(claim: Implication, values: dict[str, Fraction]) -> dict[str, Fraction]:
    """Values with one for every variable of the claim, also for those that no hypothesis mentions."""
    return {name: values.get(name, Fraction(0)) for name in claim.variables}


def _violating(claim: Implication) -> Callable[[dict[str, Fraction]], bool]:
    """Whether values meet the hypotheses and not the conclusion; the texts are read once."""
    hypotheses, conclusion = list(claim.relations.values()), relation(claim.conclusion)

    def violates(values: dict[str, Fraction]) -> bool:
        return not conclusion.holds(values) and all(r.holds(values) for r in hypotheses)

    return violates


def lucky_witness(claim: Implication) -> dict[str, Fraction] | None:
    """A small witness by trying, which a reader prefers to a solver's.

    All tries are looked at together in floating point; what seems to be a witness is asked in fractions.
    """
    names, violates = claim.variables, _violating(claim)
    drawn = np.random.default_rng(0).integers(len(SMALL), size=(len(names), TRIES))
    values = dict(zip(names, np.array(SMALL, dtype=float)[drawn], strict=True))
    promising = np.ones(TRIES, dtype=bool)
    with np.errstate(all="ignore"):  # what is beyond all floats promises nothing
        for r in (relation(claim.conclusion).negated, *claim.relations.values()):
            promising &= _seems(r, values)
    found = [[SMALL[k] for k in row] for row in drawn.T[promising]]
    # No negative numbers where there is a choice, then small ones.
    for point in sorted(found, key=lambda point: (sum(v < 0 for v in point), sum(point))):
        witness = dict(zip(names, point, strict=True))
        if violates(witness):
            return witness
    return None


def _seems(r: Relation, values: dict[str, np.ndarray]) -> Any:
    """Whether a relation holds at many points, up to rounding."""
    value, size = np.zeros(TRIES), np.zeros(TRIES)
    for monomial, coefficient in r.left.terms.items():
        term = np.full(TRIES, nearest(coefficient))
        for name, exponent in monomial:
            term *= values[name] ** exponent
        value += term
        size += np.abs(term)
    slack = ROUNDING * size
    match r.sign:
        case ">=":
            return value >= -slack
        case ">":
            return value > slack
        case "==":
            return np.abs(value) <= slack
    return np.abs(value) > slack


def _beyond_products(claim: Implication, deadline: float) -> Evidence:
    """A witness if z3 finds one at once, sums of squares, or the answer of the solvers.

    Most false claims end here before any sum of squares is sought.
    """
    query = smt_query(claim)
    answer, model = _asked("z3", query, deadline, REFUTING)
    if answer == "sat":
        return _refuted(claim, model)
    left = deadline - time.monotonic()
    evidence = find_squares(claim, time.monotonic() + min(SQUARES, left / 2))
    if evidence is not None:
        return evidence
    if answer == "unknown":
        answer, model = _asked("z3", query, deadline, LONGEST)
    if answer == "sat":
        return _refuted(claim, model)
    if answer != "unsat":
        return opened("no solver" if answer == "not asked" else "solver", degree=claim.degree)
    other, _ = _asked("cvc5", query, deadline, CONFIRMING)
    if other == "sat":
        return opened("solvers")
    solvers = ["z3", "cvc5"] if other == "unsat" else ["z3"]
    return {"kind": "unsat", "query": query, "solvers": solvers}


def _asked(solver: str, query: str, deadline: float, most: float) -> tuple[str, Any]:
    """The answer of a solver and its model within the time that is left, and at most."""
    return ask_if_there(solver, query, min(deadline - time.monotonic(), most))


def _refuted(claim: Implication, model: Any) -> Evidence:
    values = _rational_witness(claim, model)
    if values is None:
        return opened("irrational")
    return {"kind": "assignment", "values": values}


def witness_of(claim: Implication, deadline: float) -> dict[str, Fraction] | None:
    """Values that z3 finds against the claim, if it is there and finds any."""
    answer, model = _asked("z3", smt_query(claim), deadline, CONFIRMING)
    return _rational_witness(claim, model) if answer == "sat" else None


def _rational_witness(claim: Implication, model: Any) -> dict[str, Fraction] | None:
    """Values of a model of z3, or fractions near them, that violate the claim."""
    violates = _violating(claim)
    for digits in (3, 6, 12, 24):
        values = model_values(model, claim.variables, digits)
        if values is None:
            return None
        if violates(values):
            try:
                check_assignment(claim, {"values": values})
            except EvidenceError:
                continue
            return values
    return None
