"""The table of all statements: checked side by side, written for people and for machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed

from proofs.catalogue import statement_named, statements
from proofs.checks import check
from proofs.errors import ProofError
from proofs.verdict import Kind, Status, Verdict

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Report", "confirmed", "report"]


@dataclass(frozen=True, repr=False)
class Report:
    """Verdicts on many statements; made by :func:`report`.

    Attributes
    ----------
    verdicts : tuple of Verdict
    """

    verdicts: tuple[Verdict, ...]

    @property
    def counts(self) -> Counter[Status]:
        """How many statements have which status."""
        return Counter(v.status for v in self.verdicts)

    @property
    def kinds(self) -> Counter[Kind]:
        """How many proofs count under which kind."""
        return Counter(v.proof for v in self.verdicts if v.proof is not None)

    def verify(self) -> None:
        """Check all evidence again; raises EvidenceError where it fails."""
        for verdict in self.verdicts:
            verdict.verify()

    def to_dataframe(self) -> pd.DataFrame:
        """One row per statement: what it says, who says so, the verdict and what that rests on.

        ``second_method`` counts the computed steps by what confirms them beside the first definition: a
        second one, which is checked again, the library, or nothing.
        """
        import pandas as pd

        rows = []
        for v in self.verdicts:
            s = v.statement
            rows.append(
                {
                    "id": v.id,
                    "source": s["source"],
                    "place": s["place"],
                    "statement": s["words"],
                    "verdict": str(v.status),
                    "kind": v.kind,
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
        for v in self.verdicts:
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
                lines.append(f"      proof: {v.kind}")
            if v.second_methods:
                lines.append(f"      computed steps confirmed {confirmed(v.second_methods)}")
            if v.status == Status.UNKNOWN:
                lines.append(f"      why: {v.reason}")
        return "\n".join([*lines[1:], "", *self.totals()])

    def totals(self) -> list[str]:
        """How many statements have which status, the kinds of proof, and what confirms computed steps."""
        told = ", ".join(f"{n} {status}" for status, n in sorted(self.counts.items()))
        lines = [f"{len(self.verdicts)} statements: {told}"]
        if kinds := self.kinds:
            told = ", ".join(f"{kinds[kind]} {kind}" for kind in Kind if kinds[kind])
            lines.append(f"proofs, each under its weakest part: {told}")
        methods: Counter[str] = sum((v.second_methods for v in self.verdicts), Counter())
        if methods:
            lines.append(f"computed steps confirmed {confirmed(methods)}")
        return lines

    def _repr_html_(self) -> str:
        from fairness.display.notebook import notebook_html

        return notebook_html("statements of the papers", self.to_dataframe(), self.totals())

    def __repr__(self) -> str:
        return self.summary()


def confirmed(methods: Counter[str]) -> str:
    """What confirms computed steps: "by a second definition: 3; by nothing else: 1"."""
    words = {
        "definition": "a second definition",
        "library": "the library, when proved",
        "none": "nothing else",
    }
    return "; ".join(f"by {told}: {methods[name]}" for name, told in words.items() if methods[name])


def report(
    ids: Sequence[str] | None = None, *, deep: bool = False, time_limit: float = 60.0, n_jobs: int = 1
) -> Report:
    """Check many statements.

    Parameters
    ----------
    ids : sequence of str, optional
        By default all statements, in the order of their papers.
    deep : bool
        Take the larger sizes.
    time_limit : float, seconds
        For each statement.
    n_jobs : int
        Processes (of joblib); -1 for all cores.

    Raises
    ------
    ProofError
        If an id is unknown, there are 0 processes, or the time limit is not positive.
    """
    if n_jobs == 0:
        raise ProofError("n_jobs is a number of processes, or -1 for all cores; got 0")
    if not time_limit > 0:
        raise ProofError(f"time_limit is a number of seconds > 0; got {time_limit!r}")
    chosen = [s.id for s in statements()] if ids is None else [statement_named(name).id for name in ids]
    tasks: Any = (delayed(check)(name, deep=deep, time_limit=time_limit) for name in chosen)
    return Report(tuple(Parallel(n_jobs=n_jobs)(tasks)))
