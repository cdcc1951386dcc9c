"""Checking a whole verdict: its claims are those of the statement, and its evidence proves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from proofs.checking.cases import (
    check_case,
    check_computed,
    check_counterexample,
    check_enumerated,
    check_searched,
)
from proofs.checking.queries import check_unsat
from proofs.checking.refutations import check_assignment, check_refutation
from proofs.claims import Claim, claim_to_dict
from proofs.definitions import plain
from proofs.errors import EvidenceError
from proofs.verdict import Finding, Status, Verdict

if TYPE_CHECKING:
    from proofs.statement import Statement

__all__ = ["overall", "verify", "verify_finding"]

CHECKS: dict[tuple[str, Status], dict[str, Callable[[Any, Any], None]]] = {
    ("Implication", Status.PROVED): {"refutation": check_refutation, "unsat": check_unsat},
    ("Implication", Status.REFUTED): {"assignment": check_assignment},
    ("Computation", Status.PROVED): {"computed": check_computed},
    ("Enumeration", Status.PROVED): {"enumerated": check_enumerated},
    ("Enumeration", Status.REFUTED): {"case": check_case},
    ("Search", Status.SUPPORTED): {"searched": check_searched},
    ("Search", Status.REFUTED): {"case": check_case},
    ("Counterexample", Status.REFUTED): {"counterexample": check_counterexample},
}
"""Which kinds of evidence settle which claim in which way."""


def verify(verdict: Verdict, statement: Statement | None = None) -> None:
    """Raise EvidenceError unless the verdict follows from its evidence.

    Parameters
    ----------
    verdict : Verdict
    statement : Statement, optional
        By default the one of the catalogue with the id of the verdict.

    Raises
    ------
    EvidenceError
        With the step whose evidence does not settle it.

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
    if statement is None:
        from proofs.catalogue import statement_named

        statement = statement_named(verdict.id)
    question = statement.question(verdict.sizes, verdict.dropped, verdict.reversed, verdict.replaced)
    steps = statement.ask(question)
    if len(steps) != len(verdict.findings):
        raise EvidenceError(
            f"{verdict.id} has {len(steps)} steps; the verdict settles {len(verdict.findings)}"
        )
    for k, (step, finding) in enumerate(zip(steps, verdict.findings, strict=True), 1):
        try:
            if step.says != finding.says or plain(claim_to_dict(step.claim)) != plain(finding.claim):
                raise EvidenceError("its claim is not that of the statement")
            verify_finding(step.claim, finding)
        except EvidenceError as error:
            raise EvidenceError(f"{verdict.id}, step {k}: {error}") from None
    if overall([f.status for f in verdict.findings]) != verdict.status:
        raise EvidenceError(f"{verdict.id}: the steps do not make the statement {verdict.status}")


def verify_finding(claim: Claim, finding: Finding) -> None:
    """Raise EvidenceError unless the evidence settles the claim as the finding says."""
    kind = type(claim).__name__
    if finding.status == Status.UNKNOWN or kind == "InWords":
        if finding.evidence or finding.status not in (Status.UNKNOWN, Status.PROVED):
            raise EvidenceError(f"evidence of a step that is {finding.status}")
        return
    known = CHECKS.get((kind, finding.status), {})
    check = known.get(finding.evidence.get("kind", ""))
    if check is None:
        raise EvidenceError(f"{finding.evidence.get('kind')!r} does not make a claim {kind} {finding.status}")
    try:
        check(claim, finding.evidence)
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise EvidenceError(f"the evidence is malformed: {error!r}") from None


def overall(statuses: list[Status]) -> Status:
    """Refuted by one step; otherwise as good as the weakest step."""
    for status in (Status.REFUTED, Status.UNKNOWN, Status.SUPPORTED):
        if status in statuses:
            return status
    return Status.PROVED
