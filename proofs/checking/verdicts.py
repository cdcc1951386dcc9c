"""Checking a whole verdict: claims and texts are those of the statement, and the evidence proves the claims.

A verdict is plain data: what is a subclass of a number, of a text or of a list is refused before anything
else is read, for it could be one thing when it is checked and another when it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from proofs.catalogue import as_read, statement_named
from proofs.checking.cases import check_cases, check_computed, check_counterexample
from proofs.checking.digests import canonical
from proofs.checking.general import (
    check_chain,
    check_induction,
    check_instance,
    check_met_by_instance,
    check_sums,
)
from proofs.checking.queries import check_met, check_unsat
from proofs.checking.refutations import check_assignment, check_refutation
from proofs.claims import Claim, claim_of, claim_to_dict, content
from proofs.errors import EvidenceError
from proofs.statement import Statement, reread
from proofs.verdicts.reasons import reason_of
from proofs.verdicts.verdict import CATALOGUE, Finding, Status, Verdict, kind_of, overall

__all__ = ["verify", "verify_finding"]

Check = Callable[[Any, Any], None]

_PROVED: dict[str, tuple[Check, ...]] = {
    "refutation": (check_refutation, check_met),
    "unsat": (check_unsat, check_met),
}
CHECKS: dict[tuple[str, Status], dict[str, tuple[Check, ...]]] = {
    ("Implication", Status.PROVED): _PROVED,
    ("Implication", Status.REFUTED): {"assignment": (check_assignment,)},
    ("SumSchema", Status.PROVED): {"sums": (check_sums, check_met_by_instance)},
    ("SumSchema", Status.REFUTED): {"instance": (check_instance,)},
    ("Chained", Status.PROVED): {"chained": (check_chain, check_met_by_instance)},
    ("Chained", Status.REFUTED): {"instance": (check_instance,)},
    ("Induction", Status.PROVED): {"induction": (check_induction,)},
    ("Computation", Status.PROVED): {"computed": (check_computed,)},
    ("Enumeration", Status.PROVED): {"enumerated": (check_cases,)},
    ("Enumeration", Status.REFUTED): {"case": (check_cases,)},
    ("Search", Status.SUPPORTED): {"searched": (check_cases,)},
    ("Search", Status.REFUTED): {"case": (check_cases,)},
    ("Counterexample", Status.REFUTED): {"counterexample": (check_counterexample,)},
}
"""Which kinds of evidence settle which claim in which way."""

BY = {"second", "definitions"}
FIELDS = {
    "refutation": {"terms", "cofactors", "met"},
    "unsat": {"query", "solvers", "met"},
    "assignment": {"values"},
    "sums": {"sums", "terms", "cofactors", "met", "size"},
    "chained": {"met", "size"},
    "induction": {"base", "step", "met"},
    "instance": {"values", "size"},
    "computed": {"value"} | BY,
    "enumerated": {"cases", "digest"} | BY,
    "case": {"number", "case"} | BY,
    "searched": {"cases", "different", "last", "digest"} | BY,
    "counterexample": {"values"} | BY,
}
"""What evidence of each kind holds beside its kind, and nothing more."""


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
            if not finding.evidence and (data["origin"] != CATALOGUE or question.changed):
                raise EvidenceError("it is in words that nobody has read for this statement")
        except EvidenceError as error:
            raise EvidenceError(f"{verdict.id}, step {k}: {error}") from None
    if overall(verdict.findings) != verdict.status:
        raise EvidenceError(f"{verdict.id}: the steps do not make the statement {verdict.status}")
    derived: dict[str, Any] = {
        "id": statement.id,
        "kind": kind_of(verdict.findings, statement.bounds(question)),
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
    checks = CHECKS.get((name, status), {}).get(kind)
    if checks is None:
        raise EvidenceError(f"{kind!r} does not make a claim {name} {status}")
    if set(evidence) != FIELDS[kind] | {"kind"}:
        raise EvidenceError(f"evidence {kind!r} holds {sorted(FIELDS[kind])}; got {sorted(evidence)}")
    for check in checks:
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
