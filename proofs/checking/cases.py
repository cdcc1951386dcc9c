"""Checking computations, enumerations, searches and counterexamples by the definitions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from proofs.claims import Computation, Counterexample, Enumeration, Search
from proofs.definitions import Case, definition, plain
from proofs.errors import EvidenceError

__all__ = [
    "cases_of",
    "check_case",
    "check_computed",
    "check_counterexample",
    "check_enumerated",
    "check_searched",
]


def check_computed(claim: Computation, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless value, claim and definition agree."""
    value = plain(definition(claim.function)(**claim.arguments))
    for whose, other in (("evidence", evidence["value"]), ("claim", claim.value)):
        if value != plain(other):
            raise EvidenceError(f"by definition {claim.function} is {value}; the {whose} says {other}")


def check_enumerated(claim: Enumeration, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless all cases have the property and there are as many as stated."""
    cases = 0
    for case, holds in cases_of(claim):
        cases += 1
        if not holds:
            raise EvidenceError(f"case {cases}, {plain(case)}, lacks the property")
    if cases != evidence["cases"] or not cases:
        raise EvidenceError(f"there are {cases} cases, not {evidence['cases']}")


def check_case(claim: Enumeration | Search, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the case of the stated number is the stated one and lacks the property."""
    wanted = evidence["number"]
    for number, (case, holds) in enumerate(cases_of(claim), 1):
        if number == wanted:
            if holds or plain(case) != evidence["case"]:
                raise EvidenceError(
                    f"case {number} is {plain(case)} and {'has' if holds else 'lacks'} the property"
                )
            return
    raise EvidenceError(f"there is no case {wanted}")


def check_searched(claim: Search, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless all random cases have the property and the last one is the stated one."""
    case: Any = None
    for number, (case, holds) in enumerate(cases_of(claim), 1):
        if not holds:
            raise EvidenceError(f"random case {number}, {plain(case)}, lacks the property")
    if evidence["cases"] != claim.number or evidence["last"] != plain(case):
        raise EvidenceError(f"the search made {claim.number} cases and ended with {plain(case)}")


def cases_of(claim: Enumeration | Search) -> Iterator[Case]:
    """The cases that a claim speaks of, in order: which random ones a seed means is settled here alone."""
    function = definition(claim.function)
    if isinstance(claim, Enumeration):
        yield from function(**claim.arguments)
        return
    for k in range(claim.number):
        yield function(random.Random(f"{claim.seed} {k}"), **claim.arguments)


def check_counterexample(claim: Counterexample, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the values are those of the case, which lacks the property."""
    values = plain(definition(claim.function)(**claim.arguments))
    if values != plain(evidence["values"]):
        raise EvidenceError(f"by definition the values are {values}; the evidence says {evidence['values']}")
    if values["holds"] is not False:
        raise EvidenceError("the case has the property")
