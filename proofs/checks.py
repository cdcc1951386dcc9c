"""Asking whether a statement holds, and the table of many: checked side by side, for people and machines."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from fairness.arguments.validation import require_workers
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.machine.backends import stream
from fairness.machine.bars import bar
from proofs.catalogue import as_read, statement_named, statements
from proofs.checking.verdicts import verify
from proofs.endings import shortfall
from proofs.errors import EvidenceError, ProofError
from proofs.kernels import exported_steps
from proofs.statement import Statement, reread
from proofs.verdicts.verdict import CATALOGUE, Kind, Status, Verdict, kind_of, overall
from proofs.verdicts.witnesses import told_witness

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Report", "check", "check_all", "confirmed"]


def check(
    statement: str | Statement,
    *,
    drop: Sequence[str] = (),
    reverse: Sequence[str] = (),
    replace: Mapping[str, str] | None = None,
    deep: bool = False,
    time_limit: float = 60.0,
    **sizes: int,
) -> Verdict:
    """Whether a statement holds, with evidence.

    Parameters
    ----------
    statement : str or Statement
        Id of a statement of the catalogue (:func:`proofs.statements`), or one of your own.
    drop, reverse : sequence of str
        Hypotheses, by name, to leave out or to turn round.
    replace : dict of str to str, optional
        Hypotheses to give another relation, such as ``{"demand": "a >= 0"}``.
    deep : bool
        Take the larger sizes.
    time_limit : float, seconds
        For the whole statement; what is not settled by then is UNKNOWN. It is looked at between the cases of
        a step: a single computation is not interrupted.
    **sizes : int
        Sizes of the statement, such as ``n=3``.

    Returns
    -------
    Verdict

    Raises
    ------
    ProofError
        If the id, a size or a hypothesis is unknown, a size is out of scope, or the time limit is not
        positive.

    Examples
    --------
    >>> check("br-feasible").status
    <Status.PROVED: 'PROVED'>
    >>> check("br-feasible", drop=["capacity"]).status
    <Status.REFUTED: 'REFUTED'>

    A lemma that fails is no witness against the statement:

    >>> check("psdsf-sharing-incentive-two-users", drop=["own"]).reason
    'this proof breaks at step 3, against which there is a witness'
    """
    _refuse_no_time(time_limit)
    from proofs.prover import settle

    asked = reread(statement_named(statement) if isinstance(statement, str) else statement)
    question = asked.question(sizes, drop, reverse, replace, deep)
    begin = time.monotonic()
    data = asked.to_dict(own=not as_read(asked))
    unread = "own" if data["origin"] != CATALOGUE else "changed" if question.changed else ""
    findings = []
    for step in asked.ask(question):
        left = max(0.0, time_limit - (time.monotonic() - begin))
        findings.append(settle(step, left, unread))
    return Verdict(
        id=asked.id,
        status=overall(findings),
        kind=kind_of(
            findings,
            asked.bounds(question),
            ends=not unread and not shortfall(asked),
            read=bool(asked.reading),
        ),
        scope=asked.scope_of(question),
        statement=data,
        sizes=dict(question.sizes),
        dropped=tuple(drop),
        reversed=tuple(reverse),
        replaced=dict(replace or {}),
        findings=tuple(findings),
        seconds=time.monotonic() - begin,
    )


def _refuse_no_time(time_limit: float) -> None:
    if not time_limit > 0:
        raise ProofError(f"time_limit is a number of seconds > 0; got {time_limit!r}")


@dataclass(frozen=True, repr=False)
class Report(Result):
    """Verdicts on many statements; made by :func:`check_all`.

    Attributes
    ----------
    verdicts : tuple of Verdict
    """

    verdicts: tuple[Verdict, ...]

    @property
    def counts(self) -> Counter[Status]:
        """How many statements have which status."""
        return Counter(v.status for v in self.verdicts)

    @cached_property
    def exported(self) -> tuple[int, ...]:
        """How many steps of each statement :mod:`proofs.kernels` writes as theorems for Coq."""
        return tuple(map(exported_steps, self.verdicts))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The same beside the number of all steps: "coq 5/7"."""
        pairs = zip(self.exported, self.verdicts, strict=True)
        return tuple(f"coq {exported}/{len(v.findings)}" for exported, v in pairs)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """What is unknown although no reason is given, which would be a mistake of the prover."""
        return tuple(
            f"{v.id}: unknown, and nobody says why"
            for v in self.verdicts
            if v.status == Status.UNKNOWN and not v.reason
        )

    @property
    def kinds(self) -> Counter[Kind]:
        """How many proofs count under which kind."""
        return Counter(v.proof for v in self.verdicts if v.proof is not None)

    def verify(self, *own: Statement) -> None:
        """Check all evidence again; raises EvidenceError where it fails.

        Statements of your own are needed for it: verdicts do not hold the function of their steps. Several
        may have one id, as conjectures have by default: a verdict is that of one of them.
        """
        for verdict in self.verdicts:
            mine = [statement for statement in own if statement.id == verdict.id]
            for k, statement in enumerate(mine or [None], 1):
                try:
                    verify(verdict, statement)
                    break
                except (EvidenceError, ProofError):
                    if k >= len(mine):
                        raise

    def to_dataframe(self) -> pd.DataFrame:
        """One row per statement: what it says, who says so, the verdict and what that rests on.

        ``kernel`` counts the steps that :mod:`proofs.kernels` writes as theorems for Coq: "coq 5/7".
        ``second_method`` counts the computed steps by what confirms them beside the first definition: a
        second one, which is checked again, the library, or nothing.
        """
        import pandas as pd

        rows = []
        for v, kernel in zip(self.verdicts, self.kernels, strict=True):
            s = v.statement
            rows.append(
                {
                    "id": v.id,
                    "source": s["source"],
                    "place": s["place"],
                    "statement": s["words"],
                    "verdict": str(v.status),
                    "kind": v.kind,
                    "kernel": kernel,
                    "said": s["said"],
                    "scope": v.scope,
                    "steps_in_words": v.in_words,
                    "second_method": confirmed(v.second_methods),
                    "remark": s["remark"],
                    "seconds": v.seconds,
                }
            )
        return pd.DataFrame(rows).set_index("id")

    def to_json(self) -> str:
        """The verdicts with all evidence as one JSON list."""
        return json.dumps([json.loads(v.to_json()) for v in self.verdicts], indent=1, ensure_ascii=False)

    def summary(self) -> str:
        """The table as text, a statement per block."""
        lines = []
        source = ""
        for v, kernel in zip(self.verdicts, self.kernels, strict=True):
            s = v.statement
            if s["source"] != source:
                source = s["source"]
                lines += ["", source]
            lines.append(f"  {v.id:<34} {v.status:<9} {v.seconds:6.1f} s  {s['place']}")
            lines.append(f"      {s['words']}")
            words = f"; {v.in_words} of {len(v.findings)} steps in words" if v.in_words else ""
            lines.append(f"      {v.said}")
            lines.append(f"      scope: {v.scope}{words}")
            if v.kind:
                lines.append(f"      proof: {v.kind}; kernel: {kernel}")
            if v.second_methods:
                lines.append(f"      computed steps confirmed {confirmed(v.second_methods)}")
            for finding in v.findings:
                if told := told_witness(finding.claim, finding.evidence):
                    lines.append(f"      witness: {told}")
            if v.status == Status.UNKNOWN:
                lines.append(f"      why: {v.reason}")
        return "\n".join([*lines[1:], "", *self.totals()])

    def totals(self) -> list[str]:
        """How many statements have which status, the kinds of proof, and what confirms their steps."""
        told = ", ".join(f"{n} {status}" for status, n in sorted(self.counts.items()))
        lines = [f"{len(self.verdicts)} statements: {told}"]
        if kinds := self.kinds:
            told = "; ".join(f"{kinds[kind]} {kind}" for kind in Kind if kinds[kind])
            lines.append(f"Kinds of proof, each by its weakest part: {told}")
        steps = sum(len(v.findings) for v in self.verdicts)
        exported = sum(self.exported)
        lines.append(f"Steps written as theorems for a proof kernel (Coq): {exported} of {steps}")
        methods: Counter[str] = sum((v.second_methods for v in self.verdicts), Counter())
        if methods:
            lines.append(f"Computed steps confirmed {confirmed(methods)}")
        return lines

    def _repr_html_(self) -> str:
        from fairness.display.notebook import notebook_html

        return notebook_html("statements of the papers", self.to_dataframe(), self.totals())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: how many statements have which status."""
        counts = [self.counts[status] for status in Status]
        return bars(ax, [str(status) for status in Status], counts, ylabel="statements")


def confirmed(methods: Counter[str]) -> str:
    """What confirms computed steps: "by a second definition: 3; by nothing else: 1"."""
    words = {
        "definition": "a second definition",
        "library": "the library, when proved",
        "none": "nothing else",
    }
    return "; ".join(f"by {told}: {methods[name]}" for name, told in words.items() if methods[name])


def check_all(
    asked: Sequence[str | Statement] | None = None,
    *,
    deep: bool = False,
    time_limit: float = 60.0,
    n_jobs: int = 1,
    progress: bool = False,
    **changes: Any,
) -> Report:
    """Check many statements, each by :func:`check`.

    Parameters
    ----------
    asked : sequence of str or Statement, optional
        By default all statements of the catalogue, in the order of their papers.
    deep : bool
        Take the larger sizes.
    time_limit : float, seconds
        For each statement.
    n_jobs : int
        Processes (of joblib, or what ``joblib.parallel_config`` says); -1 for all cores. Own statements are
        checked in this one.
    progress : bool
        Show a bar on standard error, if that is a terminal.
    **changes
        Sizes and changed hypotheses, as :func:`check` takes them; they need a single statement.

    Returns
    -------
    Report

    Raises
    ------
    ProofError
        If an id is unknown, there are 0 processes, the time limit is not positive, or a change is given for
        another number of statements than one.

    Examples
    --------
    >>> check_all(["br-feasible", "br-mmf-scale-invariant"]).totals()[0]
    '2 statements: 1 PROVED, 1 REFUTED'
    """
    require_workers(n_jobs)
    _refuse_no_time(time_limit)
    chosen = statements() if asked is None else asked
    known = [statement_named(one) if isinstance(one, str) else one for one in chosen]
    if changes and len(known) != 1:
        raise ProofError(f"sizes and changed hypotheses need the id of one statement; got {len(known)}")
    own = not all(as_read(reread(one)) for one in known)
    names: Any = known if own else [one.id for one in known]
    checked = partial(check, deep=deep, time_limit=time_limit, **changes)
    found = stream(checked, ((one,) for one in names), 1 if own or len(known) == 1 else n_jobs)
    shown = bar(found, what="prove", unit="statement", total=len(known), shown=bool(progress))
    return Report(tuple(verdict for _, verdict in sorted(shown, key=lambda one: one[0])))
