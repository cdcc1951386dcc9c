"""One step of a statement: look for evidence, and accept what the checker accepts."""

from __future__ import annotations

import time
from typing import Any

from proofs.checking.cases import cases_of
from proofs.claims import (
    Claim,
    Computation,
    Counterexample,
    Enumeration,
    Implication,
    InWords,
    Search,
    Step,
    claim_to_dict,
)
from proofs.definitions import definition, plain
from proofs.prover.implications import implication_evidence
from proofs.prover.library import library_value
from proofs.verdict import Finding, Status

__all__ = ["settle"]

Answer = tuple[Status, dict[str, Any], str]


def settle(step: Step, time_limit: float) -> Finding:
    """Finding of one step within a time limit in seconds; UNKNOWN, with the reason, where none is reached.

    Solvers stop at the limit and cases are looked at until then; the computation of one case is not
    interrupted.
    """
    answer: Answer = Status.UNKNOWN, {}, "the time limit was reached before this step"
    if time_limit > 0 or isinstance(step.claim, InWords):
        answer = _answer(step.claim, time.monotonic() + time_limit)
    status, evidence, reason = answer
    return Finding(step.says, status, plain(claim_to_dict(step.claim)), plain(evidence), reason)


def _answer(claim: Claim, deadline: float) -> Answer:
    match claim:
        case Implication():
            return implication_evidence(claim, deadline)
        case Computation():
            return _computed(claim)
        case Enumeration() | Search():
            return _cases(claim, deadline)
        case Counterexample():
            values = plain(definition(claim.function)(**claim.arguments))
            if values["holds"] is not False:
                return Status.UNKNOWN, {}, "the case that was meant as a counterexample has the property"
            return Status.REFUTED, {"kind": "counterexample", "values": values}, ""
        case InWords():
            return Status.PROVED, {}, ""


def _computed(claim: Computation) -> Answer:
    """By the definition and, if it can, by the library: all values must be the stated one."""
    wanted = plain(claim.value)
    value, how = plain(definition(claim.function)(**claim.arguments)), "by definition"
    other, by_library = library_value(claim.function, claim.arguments)
    for found, way in ((value, how), (plain(other), by_library)):
        if way is not None and found != wanted:
            return Status.UNKNOWN, {}, f"computed {way}: {found}, where the statement says {wanted}"
    how = f"{how} and {by_library}" if by_library else how
    return Status.PROVED, {"kind": "computed", "value": value}, how


def _cases(claim: Enumeration | Search, deadline: float) -> Answer:
    number, case = 0, None
    for number, (case, holds) in enumerate(cases_of(claim), 1):
        if not holds:
            return Status.REFUTED, {"kind": "case", "number": number, "case": case}, f"case {number} lacks it"
        if time.monotonic() > deadline:
            return (
                Status.UNKNOWN,
                {},
                f"the time limit was reached after {number:,} cases, all with the property",
            )
    if not number:
        return Status.UNKNOWN, {}, "there is no case to look at"
    if isinstance(claim, Search):
        evidence = {"kind": "searched", "cases": number, "last": case}
        return Status.SUPPORTED, evidence, f"{number:,} random cases (seed {claim.seed})"
    return Status.PROVED, {"kind": "enumerated", "cases": number}, f"all {number:,} cases"
