"""Checking a whole verdict: claims and texts are those of the statement, and the evidence proves the claims.

A verdict is plain data: what is a subclass of a number, of a text or of a list is refused before anything
else is read, for it could be one thing when it is checked and another when it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from proofs.catalogue import as_read, statement_named
from proofs.checking.cases import check_cases, check_computed, check_counterexample
from proofs.checking.digests import canonical
from proofs.checking.general import (
    check_along,
    check_chain,
    check_induction,
    check_instance,
    check_met_by_instance,
    check_states,
    check_sums,
)
from proofs.checking.queries import check_met, check_unsat
from proofs.checking.refutations import check_assignment, check_refutation
from proofs.claims import Claim, claim_of, claim_to_dict, content
from proofs.endings import shortfall
from proofs.errors import EvidenceError
from proofs.statement import Statement, reread
from proofs.verdicts.reasons import reason_of
from proofs.verdicts.verdict import CATALOGUE, Finding, Status, Verdict, kind_of, overall

__all__ = ["status_of", "verify", "verify_finding"]

Check = Callable[[Any, Any], None]


class Kind(NamedTuple):
    """What evidence of a kind makes of which claims, what it holds beside its kind, and what checks it."""

    status: Status
    claims: tuple[str, ...]
    holds: set[str]
    checks: tuple[Check, ...]


PROVED, SUPPORTED, REFUTED = Status.PROVED, Status.SUPPORTED, Status.REFUTED
TERMS, BY = {"terms", "cofactors", "met"}, {"second", "definitions"}
KINDS = {
    "refutation": Kind(PROVED, ("Implication",), TERMS, (check_refutation, check_met)),
    "unsat": Kind(PROVED, ("Implication",), {"query", "solvers", "met"}, (check_unsat, check_met)),
    "assignment": Kind(REFUTED, ("Implication",), {"values"}, (check_assignment,)),
    "sums": Kind(PROVED, ("SumSchema",), TERMS | {"sums", "size"}, (check_sums, check_met_by_instance)),
    "chained": Kind(PROVED, ("Chained",), {"met", "size"}, (check_chain, check_met_by_instance)),
    "instance": Kind(REFUTED, ("SumSchema", "Chained", "Induction"), {"values", "size"}, (check_instance,)),
    "induction": Kind(PROVED, ("Induction",), {"base", "step", "met"}, (check_induction,)),
    "states": Kind(
        PROVED, ("StateInduction",), {"base", "step", "end", "met", "size", "path"}, (check_states,)
    ),
    "along": Kind(REFUTED, ("StateInduction",), {"values", "jobs"}, (check_along,)),
    "computed": Kind(PROVED, ("Computation",), BY | {"value"}, (check_computed,)),
    "enumerated": Kind(PROVED, ("Enumeration",), BY | {"cases", "digest"}, (check_cases,)),
    "searched": Kind(SUPPORTED, ("Search",), BY | {"cases", "different", "last", "digest"}, (check_cases,)),
    "case": Kind(REFUTED, ("Enumeration", "Search"), BY | {"number", "case"}, (check_cases,)),
    "counterexample": Kind(REFUTED, ("Counterexample",), BY | {"values"}, (check_counterexample,)),
}


def status_of(evidence: Mapping[str, Any]) -> Status:
    """What evidence makes of its claim; nothing is a step in words."""
    if evidence.get("kind") == "open":
        return Status.UNKNOWN
    return KINDS[evidence["kind"]].status if evidence else PROVED


def verify(verdict: Verdict, statement: Statement | None = None) -> None:
    """Check all evidence of a verdict again, with code that shares nothing with the prover.

    Parameters
    ----------
    verdict : Verdict
    statement : Statement, optional
        By default the one of the catalogue with the id of the verdict; needed for one of your own.

    Raises
    ------
    EvidenceError
        If a piece of evidence does not prove its claim, the claims or the texts are not those of the
        statement, or the status does not follow; the message names the step, or what was edited.

    Examples
    --------
    A status that the evidence does not carry:

    >>> from dataclasses import replace
    >>> from proofs import Status, check
    >>> verdict = check("br-feasible")
    >>> verify(verdict)
    >>> verify(replace(verdict, status=Status.REFUTED))
    Traceback (most recent call last):
    proofs.errors.EvidenceError: br-feasible: the steps do not make the statement REFUTED
    """
    _refuse_disguised(verdict)
    statement = reread(statement or statement_named(verdict.id))
    data = statement.to_dict(own=not as_read(statement))
    question = statement.question(verdict.sizes, verdict.dropped, verdict.reversed, verdict.replaced)
    read = data["origin"] == CATALOGUE and not question.changed
    steps = statement.ask(question)
    if len(steps) != len(verdict.findings):
        raise EvidenceError(
            f"{verdict.id} has {len(steps)} steps; the verdict settles {len(verdict.findings)}"
        )
    for k, (step, finding) in enumerate(zip(steps, verdict.findings, strict=True), 1):
        try:
            claim = canonical(claim_to_dict(step.claim))
            told = step.says, step.refutes, claim
            if told != (finding.says, finding.states, canonical(finding.claim)):
                raise EvidenceError("its claim is not that of the statement")
            verify_finding(step.claim, finding)
            if not finding.evidence and not read:
                raise EvidenceError("it is in words that nobody has read for this statement")
        except EvidenceError as error:
            raise EvidenceError(f"{verdict.id}, step {k}: {error}") from None
    if overall(verdict.findings) != verdict.status:
        raise EvidenceError(f"{verdict.id}: the steps do not make the statement {verdict.status}")
    derived: dict[str, Any] = {
        "id": statement.id,
        "kind": kind_of(
            verdict.findings,
            statement.bounds(question),
            ends=read and not shortfall(statement),
            read=bool(statement.reading),
        ),
        "scope": statement.scope_of(question),
        "statement": data,
        "sizes": dict(question.sizes),
    }
    for name, right in derived.items():
        if canonical(getattr(verdict, name)) != canonical(right):
            raise EvidenceError(f"{verdict.id}: its {name} is {getattr(verdict, name)!r} and not {right!r}")


def verify_finding(claim: Claim, finding: Finding) -> None:
    """Raise EvidenceError unless the evidence settles the claim as the finding says."""
    claim = claim_of(content(claim))
    try:
        _verify_evidence(claim, finding)
        reason = reason_of(claim_to_dict(claim), finding.evidence)
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise EvidenceError(f"the evidence is malformed: {error!r}") from None
    if finding.reason != reason:
        raise EvidenceError(f"its reason is {reason!r} and not {finding.reason!r}")


def _verify_evidence(claim: Claim, finding: Finding) -> None:
    name, status, evidence = claim_to_dict(claim)["claim"], finding.status, finding.evidence
    if status == Status.UNKNOWN:
        if evidence.get("kind") != "open" or (name == "InWords") != evidence["why"].startswith("words"):
            raise EvidenceError(f"a step that is {status} has no evidence but says why; got {evidence}")
        return
    if name == "InWords":
        if evidence or status != Status.PROVED:
            raise EvidenceError(f"a step in words has no evidence and is not {status}")
        return
    kind = evidence.get("kind", "")
    known = KINDS.get(kind)
    if known is None or name not in known.claims or status != known.status:
        raise EvidenceError(f"{kind!r} does not make a claim {name} {status}")
    if set(evidence) != known.holds | {"kind"}:
        raise EvidenceError(f"evidence {kind!r} holds {sorted(known.holds)}; got {sorted(evidence)}")
    for check in known.checks:
        check(claim, evidence)


def _refuse_disguised(verdict: Verdict) -> None:
    """Raise EvidenceError unless all of a verdict is plain data of the types that it shows."""
    if type(verdict) is not Verdict or type(verdict.findings) is not tuple:
        raise EvidenceError(f"a verdict is a Verdict with a tuple of findings; got {type(verdict).__name__}")
    parts: tuple[Any, ...] = (verdict, *verdict.findings)
    for part in parts:
        if type(part) not in (Verdict, Finding) or set(vars(part)) - {f.name for f in fields(part)}:
            raise EvidenceError(f"a finding is a Finding and nothing more; got {type(part).__name__}")
        if type(part.status) is not Status:
            raise EvidenceError(f"a status is a Status; got {part.status!r}")
        for name, value in vars(part).items():
            if name not in ("status", "findings", "seconds"):
                _refuse_subclasses(value, name)
    if type(verdict.seconds) not in (int, float) or not 0 <= verdict.seconds < float("inf"):
        raise EvidenceError(f"seconds are a number >= 0; got {verdict.seconds!r}")


def _refuse_subclasses(value: Any, name: str) -> None:
    if type(value) is dict:
        for key, entry in value.items():
            if type(key) is not str:
                raise EvidenceError(f"{name} holds the name {key!r}, which is no text")
            _refuse_subclasses(entry, name)
    elif type(value) in (list, tuple):
        for entry in value:
            _refuse_subclasses(entry, name)
    elif type(value) not in (str, int, bool, type(None)):
        raise EvidenceError(f"{name} holds {value!r} of type {type(value).__name__}, which is no plain data")
