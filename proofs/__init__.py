"""Statements of the papers, proved, supported or refuted, with evidence that a stranger can check."""

from typing import TYPE_CHECKING, Any

from proofs.catalogue import statements
from proofs.checking import verify
from proofs.claims import (
    Chained,
    Citation,
    Computation,
    Counterexample,
    Enumeration,
    Implication,
    Induction,
    InWords,
    Search,
    StateInduction,
    Step,
    SumSchema,
)
from proofs.conjectures import conjecture
from proofs.errors import EvidenceError, ProofError
from proofs.statement import Question, Said, Size, Statement
from proofs.verdicts.verdict import Finding, Status, Verdict

__all__ = [
    "Chained",
    "Citation",
    "Computation",
    "Counterexample",
    "Enumeration",
    "EvidenceError",
    "Finding",
    "Implication",
    "InWords",
    "Induction",
    "ProofError",
    "Question",
    "Report",
    "Said",
    "Search",
    "Size",
    "StateInduction",
    "Statement",
    "Status",
    "Step",
    "SumSchema",
    "Verdict",
    "check",
    "check_all",
    "conjecture",
    "statements",
    "verify",
]

if TYPE_CHECKING:
    from proofs.checks import Report, check, check_all
else:

    def __getattr__(name: str) -> Any:
        """Load what asks the prover when it is first asked for."""
        if name in ("Report", "check", "check_all"):
            from proofs import checks

            return getattr(checks, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
