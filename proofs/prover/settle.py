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
from proofs.checking.verdicts import status_of
from proofs.claims import (
    Chained,
    Computation,
    Counterexample,
    Enumeration,
    Implication,
    Induction,
    InWords,
    Reasoned,
    Search,
    StateInduction,
    Step,
    SumSchema,
    claim_to_dict,
    content,
    reread_step,
)
from proofs.definitions import is_of_papers, plain
from proofs.prover.general import chain_evidence, induction_evidence, states_evidence, sums_evidence
from proofs.prover.implications import Evidence, implication_evidence, opened
from proofs.prover.library import library_value
from proofs.verdicts.reasons import reason_of
from proofs.verdicts.verdict import Finding

__all__ = ["remember", "settle"]

Settled = Reasoned | Computation | Enumeration | Search | Counterexample


def settle(step: Step, time_limit: float, unread: str = "") -> Finding:
    """Finding of one step within a time limit in seconds; UNKNOWN, with the reason, where none is reached.

    Solvers stop at the limit and cases are looked at until then; the computation of one case is not
    interrupted. ``unread`` says why nobody has read steps in words: the statement is somebody's "own", or
    "changed".
    """
    step = reread_step(step)
    evidence = opened("late")
    if isinstance(step.claim, InWords):
        evidence = opened(f"words, {unread}") if unread else {}
    elif time_limit > 0:
        try:
            evidence = _once(step.claim, time.monotonic() + time_limit)
        except Disagreement as error:
            evidence = opened("definitions", about=str(error))
        except SilentError as error:
            evidence = opened("silent", way=error.way, about=error.about)
    claim, evidence = claim_to_dict(step.claim), plain(evidence)
    reason = reason_of(claim, evidence)
    return Finding(step.says, status_of(evidence), claim, evidence, reason, step.refutes)


_ANSWERS: dict[str, Evidence] = {}
"""Of this process: papers share lemmas and families of cases. Whatever is checked again is computed again."""


def _once(claim: Settled, deadline: float) -> Evidence:
    """The answer, from memory where a claim of this very content was settled before.

    Claims that name a function of one's own are settled each time: what it gives may depend on more than its
    text.
    """
    if (key := _key(claim)) is None:
        return _answer(claim, deadline)
    answer = _ANSWERS.get(key) or _answer(claim, deadline)
    if answer["kind"] != "open":
        _ANSWERS[key] = answer
    return answer


def remember(step: Step, finding: Finding) -> None:
    """Take what another process found, so that nobody looks for it again in this one."""
    claim = reread_step(step).claim
    if isinstance(claim, InWords) or finding.evidence["kind"] == "open":
        return
    if (key := _key(claim)) is not None:
        _ANSWERS.setdefault(key, dict(finding.evidence))


def _key(claim: Settled) -> str | None:
    """What an answer is remembered by; None where a function of one's own is named."""
    function = getattr(claim, "function", None)
    if function is not None and not is_of_papers(function):
        return None
    return canonical([content(claim), digests_of(function) if function else []])


def _answer(claim: Settled, deadline: float) -> Evidence:
    match claim:
        case Implication():
            return implication_evidence(claim, deadline)
        case SumSchema():
            return sums_evidence(claim, deadline)
        case Induction():
            return induction_evidence(claim, deadline)
        case StateInduction():
            return states_evidence(claim, deadline)
        case Chained():
            return chain_evidence(claim, deadline)
        case Computation():
            return _computed(claim)
        case Enumeration() | Search():
            return looked_at(claim, deadline)
        case Counterexample():
            evidence, holds = counterexample(claim)
            return opened("holds") if holds else evidence


def _computed(claim: Computation) -> Evidence:
    """By the definitions and, if it can, by the library: all values must be the stated one."""
    evidence, wanted = computed(claim), plain(claim.value)
    other, by_library = asked("the library", library_value, claim.function, claim.arguments)
    for found, way in ((evidence["value"], "by definition"), (plain(other), by_library)):
        if way is not None and found != wanted:
            return opened("differs", way=way, value=found)
    return evidence
