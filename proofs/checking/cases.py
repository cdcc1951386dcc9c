"""Computations, enumerations, searches and counterexamples by their definitions.

Prover and checker settle them with the same code, so all independence lies in the definitions: where a
second one exists, both are run, and nothing counts on which they disagree. The evidence holds the digests of
what was computed and of the definitions that did it.
"""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import inf
from typing import Any

from proofs.checking.digests import Running, canonical, definition_digest
from proofs.claims import Computation, Counterexample, Enumeration, Search
from proofs.definitions import definition, plain, second_definition, second_method
from proofs.errors import EvidenceError, ProofError

__all__ = [
    "Disagreement",
    "SilentError",
    "asked",
    "cases_of",
    "check_cases",
    "check_computed",
    "check_counterexample",
    "computed",
    "counterexample",
    "digests_of",
    "looked_at",
]

Evidence = dict[str, Any]
Drawn = Computation | Counterexample | Enumeration | Search


class Disagreement(EvidenceError):
    """The two definitions give different answers."""


class SilentError(EvidenceError):
    """A definition or the library gives no answer here, which confirms nothing.

    Attributes
    ----------
    way : str
        Which of them: "the first definition", "the second definition" or "the library".
    about : str
        What it said instead.
    """

    def __init__(self, way: str, about: str) -> None:
        super().__init__(f"{way} cannot be asked here ({about})")
        self.way, self.about = way, about


FIRST, SECOND = "the first definition", "the second definition"


def asked(way: str, function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
    """What a function gives; whatever goes wrong inside it is told as silence.

    Only the first definition may say that the claim is malformed: what it takes is well formed for all.

    Raises
    ------
    SilentError
        If there is no answer.
    """
    try:
        return function(*given, **named)
    except Exception as error:
        if way == FIRST and isinstance(error, ProofError):
            raise
        raise SilentError(way, f"{type(error).__name__}: {error}".removesuffix(": ")) from error


def computed(claim: Computation) -> Evidence:
    """Evidence that holds the value of a computation, whatever the claim says.

    Raises
    ------
    Disagreement
        If the second definition gives another value.
    SilentError
        If one of them gives none.
    """
    value = plain(_call(claim))
    if (again := second_definition(claim.function)) is not None:
        other = _again(again.function, claim)
        if canonical(other) != canonical(value):
            raise Disagreement(f"{claim.function} is {value} by the first and {other} by the second")
    return {"kind": "computed", "value": value, **_by(claim)}


def counterexample(claim: Counterexample) -> tuple[Evidence, bool]:
    """Evidence that holds the values of a case, and whether the case has the property.

    Raises
    ------
    ProofError
        If the function gives no dict with the truth value "holds", or nothing beside it.
    Disagreement
        If the second definition gives another value to something.
    SilentError
        If one of them gives none.
    """
    values = plain(_call(claim))
    if not _tells(values):
        raise ProofError(
            f'{claim.function} gives a dict with "holds", True or False, and with values that show it; got '
            f"{values!r}"
        )
    if (again := second_definition(claim.function)) is not None:
        other = _again(again.function, claim)
        if not _tells(other):
            raise ProofError(
                f'the second {claim.function} gives a dict with "holds" and values; got {other!r}'
            )
        for name, value in other.items():
            if name not in values or canonical(value) != canonical(values[name]):
                first = values.get(name)
                raise Disagreement(
                    f"{name!r} of {claim.function} is {first} by the first and {value} by the second"
                )
    return {"kind": "counterexample", "values": values, **_by(claim)}, values["holds"]


def _tells(values: Any) -> bool:
    """Whether this is a dict with the truth value "holds" and something that shows it."""
    if not isinstance(values, dict) or type(values.get("holds")) is not bool:
        return False
    return any(name != "holds" and value not in (None, "", [], {}) for name, value in values.items())


def looked_at(claim: Enumeration | Search, deadline: float = inf) -> Evidence:
    """Evidence on all cases, or on the first without the property; open when the deadline has passed.

    Cases that come twice count once; those of a search are counted as drawn, too.

    Raises
    ------
    ProofError
        If something else than a case comes.
    Disagreement
        If the second definition judges a case in another way, or counts another number of cases.
    SilentError
        If one of them does not.
    """
    number, case, digest = 0, None, Running()
    different: set[str] = set()
    for number, (case, holds) in enumerate(cases_of(claim), 1):
        if not holds:
            return {"kind": "case", "number": number, "case": case, **_by(claim)}
        digest.add(case)
        different.add(canonical(case))
        if time.monotonic() > deadline:
            return {"kind": "open", "why": "cases", "cases": number}
    if not number:
        return {"kind": "open", "why": "empty"}
    if isinstance(claim, Search):
        drawn = {"cases": number, "different": len(different), "last": case, "digest": digest.text}
        return {"kind": "searched", **drawn, **_by(claim)}
    again = second_definition(claim.function)
    if again is not None and again.cases is not None:
        count = _again(again.cases, claim)
        if count != number:
            raise Disagreement(f"{claim.function} has {number} cases by the first and {count} by the second")
    return {"kind": "enumerated", "cases": len(different), "digest": digest.text, **_by(claim)}


def cases_of(claim: Enumeration | Search) -> Iterator[tuple[Any, bool]]:
    """The cases that a claim speaks of as plain data, in order, each judged by all definitions.

    Which random cases a seed means is settled here alone.
    """
    again = second_definition(claim.function)
    others = _given(claim, again.function, SECOND) if again is not None and again.gives else None
    for given in _given(claim, definition(claim.function)):
        if not isinstance(given, tuple) or len(given) != 2 or type(given[1]) is not bool:
            raise ProofError(
                f"{claim.function} gives a case and whether it has the property, True or False; got {given!r}"
            )
        case, holds = plain(given[0]), given[1]
        if others is not None:
            other = plain(next(others, None))
            if canonical(other) != canonical([case, holds]):
                raise Disagreement(f"a case is {[case, holds]} by the first and {other} by the second")
        elif again is not None:
            other = _again(again.function, claim, _copied(case))
            if type(other) is not bool:
                raise ProofError(f"the second {claim.function} judges with True or False; got {other!r}")
            if other != holds:
                has = {True: "has", False: "lacks"}
                raise Disagreement(
                    f"case {case} {has[holds]} the property by the first and {has[other]} it by the second"
                )
        yield case, holds
    if others is not None and next(others, None) is not None:
        raise Disagreement(f"{claim.function} has more cases by the second than by the first")


def _given(claim: Enumeration | Search, function: Callable[..., Any], way: str = FIRST) -> Iterator[Any]:
    if isinstance(claim, Search):
        for k in range(claim.number):
            yield asked(way, function, random.Random(f"{claim.seed} {k}"), **_arguments(claim))
        return
    cases, end = asked(way, iter, asked(way, function, **_arguments(claim))), object()
    while (given := asked(way, next, cases, end)) is not end:
        yield given


def _call(claim: Computation | Counterexample) -> Any:
    return asked(FIRST, definition(claim.function), **_arguments(claim))


def _again(function: Callable[..., Any], claim: Drawn, *case: Any) -> Any:
    return plain(asked(SECOND, function, *case, **_arguments(claim)))


def _arguments(claim: Drawn) -> dict[str, Any]:
    """A copy, so that no function changes what the claim says."""
    return {name: _copied(value) for name, value in claim.arguments.items()}


def _copied(value: Any) -> Any:
    """A copy of what can be changed; of plain data much faster than deepcopy."""
    kind = type(value)
    if kind is list:
        return [_copied(entry) for entry in value]
    if kind is dict:
        return {key: _copied(entry) for key, entry in value.items()}
    return value if kind in (str, int, bool, Fraction, type(None)) else copy.deepcopy(value)


def _by(claim: Drawn) -> Evidence:
    """The definitions that were run, and what confirms the first."""
    return {"second": second_method(claim.function), "definitions": digests_of(claim.function)}


def digests_of(name: str) -> list[str]:
    """Digests of the definition of that name, and of the second one where there is one."""
    again = second_definition(name)
    functions = [definition(name)] if again is None else [definition(name), again.function]
    return [definition_digest(function) for function in functions]


def _check(found: Evidence, evidence: Mapping[str, Any], function: str) -> None:
    """Raise EvidenceError unless the evidence is what was found."""
    if found["definitions"] != evidence["definitions"]:
        raise EvidenceError(f"{function} is no longer the function that the evidence is from; check again")
    for name, value in {**found, **evidence}.items():
        other = evidence.get(name)
        if name not in found or canonical(found[name]) != canonical(other):
            raise EvidenceError(
                f"{name!r} of {function} is {found.get(name)!r} by definition; the evidence says {value!r}"
            )


def check_computed(claim: Computation, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless value, claim and definitions agree."""
    found = computed(claim)
    _check(found, evidence, claim.function)
    if canonical(found["value"]) != canonical(plain(claim.value)):
        raise EvidenceError(
            f"by definition {claim.function} is {found['value']}; the claim says {claim.value}"
        )


def check_cases(claim: Enumeration | Search, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless all cases, or the first without the property, are those of the evidence."""
    found = looked_at(claim)
    if found["kind"] == "open":
        raise EvidenceError("there is no case to look at")
    if found["kind"] != evidence["kind"]:
        told = (
            f"case {found['number']}, {found['case']}, lacks" if found["kind"] == "case" else "all cases have"
        )
        raise EvidenceError(f"{told} the property")
    _check(found, evidence, claim.function)


def check_counterexample(claim: Counterexample, evidence: Mapping[str, Any]) -> None:
    """Raise EvidenceError unless the values are those of the case, which lacks the property."""
    found, holds = counterexample(claim)
    _check(found, evidence, claim.function)
    if holds:
        raise EvidenceError("the case has the property")
