"""Polynomial implications: a written contradiction, a solver's verdict, or a witness against."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from proofs.checking.queries import ask, smt_query, symbol
from proofs.checking.refutations import check_assignment, check_not_vacuous, rests_on_negation
from proofs.claims import Implication
from proofs.definitions import plain
from proofs.errors import EvidenceError
from proofs.language.relations import Relation, relation
from proofs.prover.combinations import find_refutation
from proofs.prover.squares import find_squares
from proofs.verdicts.verdict import NEVER, Status

__all__ = ["Answer", "implication_evidence", "lucky_witness", "meeting", "opened", "witness_of"]

TRIES = 300
ROUNDING = 1e-12
"""Of a sum, relative to the sizes of its terms: they are few, of small numbers."""
MEETING, CONFIRMING, LONGEST = 2.0, 5.0, 600.0
"""Seconds at most for values that meet the hypotheses, for the second solver, and for the first."""
REFUTING, SQUARES = 1.0, 20.0
"""Seconds at most for a witness by z3 before sums of squares are sought, and for these."""
VALUES = [Fraction(v) for v in (0, 1, 2, 3, -1, 4, 5, "1/2", "1/3", "3/2", "2/3")]


Answer = tuple[Status, dict[str, Any]]


def implication_evidence(claim: Implication, deadline: float) -> Answer:
    """Status and evidence before a deadline of the monotonic clock."""
    witness = lucky_witness(claim)
    if witness is not None:
        return Status.REFUTED, {"kind": "assignment", "values": witness}
    for degree in range(1, claim.degree + 1):
        evidence = find_refutation(claim, degree, deadline)
        if evidence is not None:
            return _not_vacuous(claim, evidence, deadline)
        if time.monotonic() > deadline:
            return opened("degree", degree=degree)
    return _beyond_products(claim, deadline)


def opened(why: str, **data: Any) -> Answer:
    """The answer that nothing settles the claim, and why."""
    return Status.UNKNOWN, {"kind": "open", "why": why, **data}


def _not_vacuous(claim: Implication, evidence: dict[str, Any], deadline: float) -> Answer:
    """The evidence with values that meet all hypotheses, if there are any."""
    if relation(claim.conclusion).impossible:
        return Status.PROVED, evidence | {"met": {}}
    if claim.case is not None and not rests_on_negation(evidence):
        return Status.PROVED, evidence | {"met": NEVER}
    met = meeting(claim, deadline)
    if met is None:
        return opened("vacuous") if claim.case is None else (Status.PROVED, evidence | {"met": NEVER})
    evidence = evidence | {"met": met}
    try:
        check_not_vacuous(claim, plain(evidence))
    except EvidenceError:
        return opened("vacuous")
    return Status.PROVED, evidence


def meeting(claim: Implication, deadline: float) -> dict[str, Fraction] | str | None:
    """Values that meet all hypotheses; "z3" if only it says so, {} if none are known, None if none exist."""
    hypotheses = Implication(claim.hypotheses, "0 == 1")
    lucky = lucky_witness(hypotheses)
    if lucky is not None:
        return _for_all(claim, lucky)
    try:
        answer, model = ask("z3", smt_query(hypotheses), _milliseconds(deadline, MEETING))
    except ImportError:
        return {}
    if answer == "unsat":
        return None
    if answer != "sat":
        return {}
    values = _rational_witness(hypotheses, model)
    return "z3" if values is None else _for_all(claim, values)


def _for_all(claim: Implication, values: dict[str, Fraction]) -> dict[str, Fraction]:
    """Values with one for every variable of the claim, also for those that no hypothesis mentions."""
    return {name: values.get(name, Fraction(0)) for name in _names(claim)}


def _milliseconds(deadline: float, most: float = inf) -> int:
    return int(1000 * min(deadline - time.monotonic(), most))


def _names(claim: Implication) -> list[str]:
    relations = [*claim.relations.values(), relation(claim.conclusion)]
    return sorted(set().union(*(r.left.variables for r in relations)))


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
    names, violates = _names(claim), _violating(claim)
    drawn = np.random.default_rng(0).integers(len(VALUES), size=(len(names), TRIES))
    values = dict(zip(names, np.array(VALUES, dtype=float)[drawn], strict=True))
    promising = np.ones(TRIES, dtype=bool)
    with np.errstate(all="ignore"):  # what is beyond all floats promises nothing
        for r in (relation(claim.conclusion).negated, *claim.relations.values()):
            promising &= _seems(r, values)
    found = [[VALUES[k] for k in row] for row in drawn.T[promising]]
    # No negative numbers where there is a choice, then small ones.
    for point in sorted(found, key=lambda point: (sum(v < 0 for v in point), sum(point))):
        witness = dict(zip(names, point, strict=True))
        if violates(witness):
            return witness
    return None


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf


def _seems(r: Relation, values: dict[str, np.ndarray]) -> Any:
    """Whether a relation holds at many points, up to rounding."""
    value, size = np.zeros(TRIES), np.zeros(TRIES)
    for monomial, coefficient in r.left.terms.items():
        term = np.full(TRIES, _float(coefficient))
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


def _beyond_products(claim: Implication, deadline: float) -> Answer:
    """A witness if z3 finds one at once, sums of squares, or the answer of the solvers.

    Most false claims end here before any sum of squares is sought.
    """
    query = smt_query(claim)
    answer, model = _z3(query, deadline, REFUTING)
    if answer == "sat":
        return _refuted(claim, model)
    left = deadline - time.monotonic()
    evidence = find_squares(claim, time.monotonic() + min(SQUARES, left / 2))
    if evidence is not None:
        return _not_vacuous(claim, evidence, deadline)
    if answer == "unknown":
        answer, model = _z3(query, deadline, LONGEST)
    if answer == "sat":
        return _refuted(claim, model)
    if answer != "unsat":
        return opened("no solver" if answer == "not asked" else "solver", degree=claim.degree)
    solvers = ["z3"]
    try:
        other, _ = ask("cvc5", query, _milliseconds(deadline, CONFIRMING))
    except ImportError:
        other = "not asked"
    if other == "sat":
        return opened("solvers")
    if other == "unsat":
        solvers.append("cvc5")
    return _not_vacuous(claim, {"kind": "unsat", "query": query, "solvers": solvers}, deadline)


def _z3(query: str, deadline: float, most: float) -> tuple[str, Any]:
    """The answer of z3 and its model; "not asked" where it is not installed."""
    try:
        return ask("z3", query, _milliseconds(deadline, most))
    except ImportError:
        return "not asked", None


def _refuted(claim: Implication, model: Any) -> Answer:
    values = _rational_witness(claim, model)
    if values is None:
        return opened("irrational")
    return Status.REFUTED, {"kind": "assignment", "values": values}


def witness_of(claim: Implication, deadline: float) -> dict[str, Fraction] | None:
    """Values that z3 finds against the claim, if it is there and finds any."""
    try:
        answer, model = ask("z3", smt_query(claim), _milliseconds(deadline, CONFIRMING))
    except ImportError:
        return None
    return _rational_witness(claim, model) if answer == "sat" else None


def _rational_witness(claim: Implication, model: Any) -> dict[str, Fraction] | None:
    """Values of a model of z3, or fractions near them, that violate the claim."""
    import z3

    exact, violates = {str(v): model[v] for v in model.decls()}, _violating(claim)
    for digits in (None, 3, 6, 12, 24):
        values = {}
        for name in _names(claim):
            value = exact.get(symbol(name))
            if value is None:
                values[name] = Fraction(0)
            elif z3.is_rational_value(value):
                values[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
            else:
                values[name] = Fraction(value.approx(digits or 3).as_fraction())
        if violates(values):
            try:
                check_assignment(claim, {"values": values})
            except EvidenceError:
                continue
            return values
    return None
