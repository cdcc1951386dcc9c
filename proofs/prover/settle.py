"""One step of a statement: look for evidence, and accept what the checker accepts."""

from __future__ import annotations

import time

from proofs.checking.cases import (
    Disagreement,
    SilentError,
    asked,
    computed,
    counterexample,
    digests_of,
    looked_at,
)
from proofs.checking.digests import canonical
from proofs.claims import (
    Computation,
    Counterexample,
    Enumeration,
    Implication,
    InWords,
    Search,
    Step,
    claim_to_dict,
)
from proofs.definitions import plain
from proofs.prover.implications import Answer, implication_evidence, opened
from proofs.prover.library import library_value
from proofs.reasons import reason_of
from proofs.verdict import Finding, Status

__all__ = ["settle"]

Settled = Implication | Computation | Enumeration | Search | Counterexample

STATUS = {
    "open": Status.UNKNOWN,
    "enumerated": Status.PROVED,
    "searched": Status.SUPPORTED,
    "case": Status.REFUTED,
}
"""What the kind of evidence on cases means."""


def settle(step: Step, time_limit: float, unread: str = "") -> Finding:
    """Finding of one step within a time limit in seconds; UNKNOWN, with the reason, where none is reached.

    Solvers stop at the limit and cases are looked at until then; the computation of one case is not
    interrupted. ``unread`` says why nobody has read steps in words: the statement is somebody's "own", or
    "changed".
    """
    answer = opened("late")
    if isinstance(step.claim, InWords):
        answer = opened(f"words, {unread}") if unread else (Status.PROVED, {})
    elif time_limit > 0:
        try:
            answer = _once(step.claim, time.monotonic() + time_limit)
        except Disagreement as error:
            answer = opened("definitions", about=str(error))
        except SilentError as error:
            answer = opened("silent", way=error.way, about=error.about)
    status, evidence = answer[0], plain(answer[1])
    claim = plain(claim_to_dict(step.claim))
    return Finding(step.says, status, claim, evidence, reason_of(claim, evidence), step.refutes)


_ANSWERS: dict[str, Answer] = {}
"""Of this process: papers share lemmas and families of cases. Whatever is checked again is computed again."""


def _once(claim: Settled, deadline: float) -> Answer:
    """The answer, from memory where this very claim was settled before by the same definitions."""
    means = [claim.hints, claim.degree] if isinstance(claim, Implication) else digests_of(claim.function)
    key = canonical(plain([claim_to_dict(claim), means]))
    answer = _ANSWERS.get(key) or _answer(claim, deadline)
    if answer[0] != Status.UNKNOWN:
        _ANSWERS[key] = answer
    return answer


def _answer(claim: Settled, deadline: float) -> Answer:
    match claim:
        case Implication():
            return implication_evidence(claim, deadline)
        case Computation():
            return _computed(claim)
        case Enumeration() | Search():
            evidence = looked_at(claim, deadline)
            return STATUS[evidence["kind"]], evidence
        case Counterexample():
            evidence, holds = counterexample(claim)
            return opened("holds") if holds else (Status.REFUTED, evidence)


def _computed(claim: Computation) -> Answer:
    """By the definitions and, if it can, by the library: all values must be the stated one."""
    evidence, wanted = computed(claim), plain(claim.value)
    other, by_library = asked("the library", library_value, claim.function, claim.arguments)
    for found, way in ((evidence["value"], "by definition"), (plain(other), by_library)):
        if way is not None and found != wanted:
            return opened("differs", way=way, value=found)
    return Status.PROVED, evidence
