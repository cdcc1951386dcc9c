"""What is known about a statement, with evidence that anybody can check again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING, Any

from proofs.errors import ProofError

if TYPE_CHECKING:
    from proofs.statement import Statement

__all__ = ["Finding", "Status", "Verdict"]

FORMAT = 1


class Status(StrEnum):
    """The four answers."""

    PROVED = "PROVED"
    """For all cases of the scope; every step has conclusive evidence or is said in words."""
    SUPPORTED = "SUPPORTED"
    """No counterexample in a stated search, or a numerical bound."""
    REFUTED = "REFUTED"
    """A witness contradicts it."""
    UNKNOWN = "UNKNOWN"
    """Neither; the reason is given."""


@dataclass(frozen=True)
class Finding:
    """One step settled, or not.

    Attributes
    ----------
    says : str
        The step in words.
    status : Status
    claim : dict
        The claim as plain data.
    evidence : dict
        Plain data; its "kind" says how it is checked. Empty for UNKNOWN and for steps in words.
    reason : str
        Why the status is UNKNOWN; otherwise how it was found.
    """

    says: str
    status: Status
    claim: Mapping[str, Any]
    evidence: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Verdict:
    """Answer to one statement; made by :func:`proofs.check`.

    Attributes
    ----------
    id : str
    status : Status
    scope : str
        For which sizes and quantifiers the status holds.
    sizes : dict of str to int
    dropped, reversed : tuple of str
        Hypotheses that were left out or turned round: then the verdict is on a changed statement.
    replaced : dict of str to str
        Hypotheses that were given another relation.
    findings : tuple of Finding
    seconds : float
    """

    id: str
    status: Status
    scope: str
    sizes: Mapping[str, int]
    dropped: tuple[str, ...]
    reversed: tuple[str, ...]
    replaced: Mapping[str, str]
    findings: tuple[Finding, ...]
    seconds: float

    def verify(self, statement: Statement | None = None) -> None:
        """Check all evidence again, with code that shares nothing with the prover.

        Parameters
        ----------
        statement : Statement, optional
            By default the one of the catalogue with this id; needed for one of your own.

        Raises
        ------
        EvidenceError
            If a piece of evidence does not prove its claim, the claims are not those of the statement, or the
            status does not follow.
        """
        from proofs.checking import verify

        verify(self, statement)

    @property
    def reason(self) -> str:
        """Why the answer is UNKNOWN, or how the last step was settled."""
        told = [f.reason for f in self.findings if f.status == self.status and f.reason]
        return told[-1] if told else ""

    @property
    def in_words(self) -> int:
        """Number of steps that are reasoned in words."""
        return sum(f.claim["claim"] == "InWords" for f in self.findings)

    @property
    def witness(self) -> Mapping[str, Any] | None:
        """The case that refutes the statement, if there is one."""
        for finding in self.findings:
            if finding.status == Status.REFUTED:
                return finding.evidence
        return None

    def to_json(self) -> str:
        """All of it as one JSON text."""
        data = asdict(self) | {"format": FORMAT}
        return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Verdict:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        ProofError
            If the text is no verdict of this format.
        """
        try:
            data = json.loads(text)
            if data.pop("format") != FORMAT:
                raise KeyError("format")
            findings = tuple(Finding(**{**f, "status": Status(f["status"])}) for f in data.pop("findings"))
            lists = {name: tuple(data.pop(name)) for name in ("dropped", "reversed")}
            return cls(**data | lists | {"status": Status(data["status"]), "findings": findings})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ProofError(f"this is not a verdict in JSON of format {FORMAT}: {error!r}") from None

    def summary(self) -> str:
        """The verdict, then a line for each step."""
        changed = [f"without {name!r}" for name in self.dropped]
        changed += [f"with {name!r} reversed" for name in self.reversed]
        changed += [f"with {name!r} replaced by {text}" for name, text in self.replaced.items()]
        lines = [f"{self.id}{' ' + ', '.join(changed) if changed else ''}: {self.status} ({self.scope})"]
        for k, finding in enumerate(self.findings, 1):
            how = "in words" if finding.claim["claim"] == "InWords" else str(finding.status)
            lines.append(f"  {k}. {finding.says} [{how}]" + (f" {finding.reason}" if finding.reason else ""))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        # No table of the library here: the checker knows verdicts, and knows no library.
        heading, *steps = self.summary().splitlines()
        lines = "".join(f'<div style="white-space:pre-wrap">{escape(step.strip())}</div>' for step in steps)
        return f"<div><strong>{escape(heading)}</strong>{lines}</div>"

    def __repr__(self) -> str:
        return self.summary()
