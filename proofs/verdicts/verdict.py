"""What is known about a statement, with evidence that anybody can check again.

A verdict keeps the contract of all results (:mod:`fairness.display.result`) without that base class: the
checker knows verdicts, and knows no library.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from html import escape
from typing import TYPE_CHECKING, Any

from proofs.errors import ProofError
from proofs.verdicts.witnesses import told_witness

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Finding", "Kind", "Status", "Verdict", "kind_of", "overall"]

FORMAT = 4


class Status(StrEnum):
    """The four answers."""

    PROVED = "PROVED"
    """For all cases of the scope; every step has conclusive evidence or is said in words."""
    SUPPORTED = "SUPPORTED"
    """No counterexample in a stated search, or a numerical bound."""
    REFUTED = "REFUTED"
    """A witness contradicts the statement itself."""
    UNKNOWN = "UNKNOWN"
    """Neither; the reason is given. A witness against a step only breaks this proof there."""


class Kind(StrEnum):
    """What a proof rests on: it counts under the first of these that applies, and says the others besides."""

    SOLVER = "by a solver without certificate"
    """At least one step is an answer "unsat" of an SMT solver, which nobody can check on paper."""
    FINITE = "for the finite sizes named"
    """Computed case by case, or proved for the numbers of users, resources and so on that are named."""
    WORDS = "general, with steps in words"
    """For all sizes; at least one step, or how to read them, is in words that no machine checked."""
    GENERAL = "general, by certificates only"
    """For all sizes; what it rests on has certificates in fractions, or is a chain of steps that have."""


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
        Plain data; its "kind" says how it is checked, or that the step is open. Empty for steps in words.
    reason : str
        Why the status is UNKNOWN; otherwise how it was found. It follows from the evidence.
    states : bool
        Whether a witness against the claim refutes the statement; otherwise it breaks the proof only.
    """

    says: str
    status: Status
    claim: Mapping[str, Any]
    evidence: Mapping[str, Any]
    reason: str = ""
    states: bool = False


@dataclass(frozen=True, repr=False)
class Verdict:
    """Answer to one statement; made by :func:`proofs.check`, checked again by :func:`proofs.verify`.

    Attributes
    ----------
    id : str
    status : Status
    kind : str
        What a proof rests on, in full; :attr:`proof` is the one that it counts under. Empty unless PROVED.
    scope : str
        For which sizes and quantifiers the status holds.
    statement : dict
        The statement as plain data: source, place, words, latex, hypotheses, who says so, remark, and whether
        it is one "of the catalogue" or "of your own".
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
    kind: str
    scope: str
    statement: Mapping[str, Any]
    sizes: Mapping[str, int]
    dropped: tuple[str, ...]
    reversed: tuple[str, ...]
    replaced: Mapping[str, str]
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def proof(self) -> Kind | None:
        """The kind that a proof counts under; None unless PROVED."""
        return next((kind for kind in Kind if self.kind.startswith(kind)), None)

    @property
    def reason(self) -> str:
        """Why the answer is UNKNOWN, or how the last step was settled; of a refutation, what it is."""
        given = [f for f in self.findings if f.states or self.status != Status.REFUTED]
        told = [f.reason for f in given if f.status == self.status and f.reason]
        if self.status == Status.UNKNOWN and (broken := self.broken):
            told.append(f"this proof breaks at step {broken}, against which there is a witness")
        elif self.status == Status.UNKNOWN and (first := _without_cases(self.findings)):
            told.append(f"no case of step {first} is known to occur, so anything may follow")
        return told[-1] if told else ""

    @property
    def broken(self) -> int | None:
        """Number of the first step that has a witness against it without refuting the statement, from 1."""
        for k, finding in enumerate(self.findings, 1):
            if finding.status == Status.REFUTED and not finding.states:
                return k
        return None

    @property
    def in_words(self) -> int:
        """Number of steps that are reasoned in words."""
        return sum(f.claim["claim"] == "InWords" for f in self.findings)

    @property
    def second_methods(self) -> Counter[str]:
        """How many computed steps are confirmed by a second "definition", by the "library", or by "none"."""
        return Counter(f.evidence["second"] for f in self.findings if "second" in f.evidence)

    @property
    def said(self) -> str:
        """Who says so, then the remark and the reading."""
        remark = " ".join(filter(None, (self.statement["remark"], self.statement.get("reading", ""))))
        own = f", {self.statement['origin']}" if self.statement["origin"] != CATALOGUE else ""
        return f"{self.statement['said']}{own}{f': {remark}' if remark else ''}"

    @property
    def witness(self) -> Mapping[str, Any] | None:
        """The case that refutes the statement, if there is one."""
        for finding in self.findings:
            if finding.status == Status.REFUTED and finding.states:
                return finding.evidence
        return None

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        data: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        data["findings"] = [
            {f.name: getattr(finding, f.name) for f in fields(finding)} for finding in self.findings
        ]
        return data | {"format": FORMAT}

    def to_json(self) -> str:
        """All of it as one JSON text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Verdict:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        ProofError
            If the text is no verdict of this format.
        """
        try:
            data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
            if data.pop("format") != FORMAT:
                raise KeyError("format")
            findings = tuple(Finding(**{**f, "status": Status(f["status"])}) for f in data.pop("findings"))
            lists = {name: tuple(data.pop(name)) for name in ("dropped", "reversed")}
            verdict = cls(**data | lists | {"status": Status(data["status"]), "findings": findings})
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ProofError(f"this is not a verdict in JSON of format {FORMAT}: {error!r}") from None
        return verdict

    def summary(self) -> str:
        """The verdict, who says so, then a line for each step, with the numbers of what refutes it."""
        changed = [f"without {name!r}" for name in self.dropped]
        changed += [f"with {name!r} reversed" for name in self.reversed]
        changed += [f"with {name!r} replaced by {text}" for name, text in self.replaced.items()]
        answer = f"{self.status}, {self.kind}" if self.kind else str(self.status)
        lines = [f"{self.id}{' ' + ', '.join(changed) if changed else ''}: {answer} ({self.scope})"]
        lines.append(f"  {self.said}")
        for k, finding in enumerate(self.findings, 1):
            how = "in words" if finding.claim["claim"] == "InWords" else str(finding.status)
            lines.append(f"  {k}. {finding.says} [{how}]" + (f" {finding.reason}" if finding.reason else ""))
            if told := told_witness(finding.claim, finding.evidence):
                lines.append(f"     {told}")
        if self.status == Status.UNKNOWN and self.broken:
            lines.append(f"  {self.reason}; the statement may hold all the same")
        elif self.status == Status.UNKNOWN and _without_cases(self.findings):
            lines.append(f"  {self.reason}")
        return "\n".join(lines)

    def to_latex(self) -> str:
        r"""The statement, and the proof or witness step by step, with every certificate as its identity.

        A fragment for amsmath and amsthm with the environments ``theorem`` (what is proved) and
        ``conjecture`` (all else).

        Examples
        --------
        >>> from proofs import conjecture, check
        >>> print(check(conjecture("x**2 + y**2 >= 2*x*y")).to_latex())
        \begin{theorem}[{conjecture: PROVED, general, by certificates only}]
        x**2 + y**2 $\ge$ 2*x*y
        (all real x, y)
        \end{theorem}
        \begin{proof}
        \begin{enumerate}
        \item x**2 + y**2 $\ge$ 2*x*y
        ...
        no term is negative and one is positive, which is impossible.
        \end{enumerate}
        \end{proof}
        <BLANKLINE>
        """
        from proofs.verdicts.latex import latex_of

        return latex_of(self.to_dict())

    def to_dataframe(self) -> pd.DataFrame:
        """One row per step: what it says, its status and why."""
        import pandas as pd

        rows = [(f.says, str(f.status), f.reason) for f in self.findings]
        index = pd.RangeIndex(1, len(rows) + 1, name="step")
        return pd.DataFrame(rows, columns=["says", "status", "reason"], index=index)

    def plot(self, ax: Axes | None = None) -> Axes:
        """A mark per step at its status."""
        from fairness.display.colours import NEUTRAL
        from fairness.display.drawing import given_axes

        ax = given_axes(ax)
        ax.set_yticks(range(len(Status)), [str(status) for status in Status])
        places = [list(Status).index(finding.status) for finding in self.findings]
        ax.plot(range(1, len(places) + 1), places, "o", color=NEUTRAL)
        ax.locator_params(axis="x", integer=True)
        ax.set(xlabel="step", title=f"{self.id}: {self.status}", ylim=(-0.5, len(Status) - 0.5))
        return ax

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything into one file, as :meth:`fairness.display.result.Result.save` does."""
        from fairness.display.storage import write

        write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Verdict:
        """Read what :meth:`save` wrote; nothing in it is executed, and :meth:`verify` checks the evidence."""
        from fairness.display.storage import read

        verdict = read(path)
        if not isinstance(verdict, cls):
            raise ProofError(f"{os.fspath(path)!r} holds a {type(verdict).__name__}, not a verdict")
        return verdict

    def _repr_html_(self) -> str:
        # No table of the library here: the checker knows verdicts, and knows no library.
        heading, *steps = self.summary().splitlines()
        lines = "".join(f'<div style="white-space:pre-wrap">{escape(step.strip())}</div>' for step in steps)
        return f"<div><strong>{escape(heading)}</strong>{lines}</div>"

    def __repr__(self) -> str:
        return self.summary()


CATALOGUE = "of the catalogue"
OWN = "of your own"


NEVER = "never"
"""Stands where values that meet the hypotheses would stand: this one of several cases does not occur."""


def overall(findings: Sequence[Finding]) -> Status:
    """Refuted by a witness against the statement itself; otherwise as good as the weakest step.

    A witness against a lemma breaks the proof and leaves the statement open; so does a step of which no case
    is known to occur, for then its hypotheses may contradict each other.
    """
    statuses = {f.status for f in findings}
    if any(f.status == Status.REFUTED and f.states for f in findings):
        return Status.REFUTED
    if not findings or statuses & {Status.REFUTED, Status.UNKNOWN} or _without_cases(findings):
        return Status.UNKNOWN
    return Status.SUPPORTED if Status.SUPPORTED in statuses else Status.PROVED


def _without_cases(findings: Sequence[Finding]) -> int | None:
    """Number of the first step, from 1, that never occurs in any of its cases, as far as is known."""
    for k, finding in enumerate(findings):
        number, of = finding.claim.get("case", (0, 0))
        met = [f.evidence.get("met") for f in findings[k : k + of]] if number == 1 else []
        if met and all(values in ({}, NEVER) for values in met):
            return k + 1
    return None


def kind_of(
    findings: Sequence[Finding], sizes: Mapping[str, int], *, ends: bool = False, read: bool = False
) -> str:
    """What a proof rests on, in full: "for the finite sizes named, with steps in words"; "" without.

    It is that of the steps on which the statement rests (:func:`_grounds`). Its range is finite where it is
    bound to ``sizes``, and where some of these are computed or enumerated and none in words leads beyond.
    Where a proof ``ends`` in its statement, each of the steps that state it does so by itself, or by what it
    cites. A reading is words, too, but leads nowhere beyond.
    """
    if overall(findings) != Status.PROVED:
        return ""
    grounds = _stated(findings) if ends else _grounds(findings)
    kinds = [f.evidence.get("kind") for f in grounds]
    beyond = any(f.claim["claim"] == "InWords" for f in grounds)
    words = read or beyond
    finite = bool(sizes) or (not beyond and ("computed" in kinds or "enumerated" in kinds))
    if "unsat" in kinds:
        told = [str(Kind.SOLVER), str(Kind.FINITE) if finite else "general"]
    elif finite:
        told = [str(Kind.FINITE)]
    else:
        return str(Kind.WORDS if words else Kind.GENERAL)
    return ", ".join([*told, "with steps in words"] if words else told)


def _grounds(findings: Sequence[Finding]) -> list[Finding]:
    """The steps on which the last one rests, and those that state the statement or a part of it.

    A chain rests on what it cites. Of other steps nothing says on which of those before they rest: on all.
    """
    found: set[int] = set()
    for k, finding in enumerate(findings):
        if finding.states or k == len(findings) - 1:
            found |= _cited(findings, k) if "cites" in finding.claim else set(range(k + 1))
    return [findings[k] for k in sorted(found)]


def _stated(findings: Sequence[Finding]) -> list[Finding]:
    """The certificates that state a statement or a part of it, and what they cite."""
    stated = [k for k, f in enumerate(findings) if f.states and f.claim.keys() & {"conclusion", "step"}]
    return [findings[k] for k in sorted(set().union(*(_cited(findings, k) for k in stated)))]


def _cited(findings: Sequence[Finding], number: int) -> set[int]:
    """Numbers of a step, of the steps before it whose claims it cites, and of those that these cite."""
    found, pending = set[int](), [number]
    while pending:
        k = pending.pop()
        found.add(k)
        claims = [cite["claim"] for cite in findings[k].claim.get("cites", [])]
        pending += [j for j in range(k) if j not in found and findings[j].claim in claims]
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which no name stands twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return data


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")
