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
from proofs.verdict import Status, Verdict

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Report", "report"]


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

    def verify(self) -> None:
        """Check all evidence again; raises EvidenceError where it fails."""
        for verdict in self.verdicts:
            verdict.verify()

    def to_dataframe(self) -> pd.DataFrame:
        """One row per statement: source, place, statement, verdict, scope, steps in words, seconds."""
        import pandas as pd

        rows = []
        for v in self.verdicts:
            s = statement_named(v.id)
            rows.append((v.id, s.source, s.place, s.words, str(v.status), v.scope, v.in_words, v.seconds))
        names = ["id", "source", "place", "statement", "verdict", "scope", "steps_in_words", "seconds"]
        return pd.DataFrame(rows, columns=names).set_index("id")

    def to_json(self) -> str:
        """The verdicts with all evidence as one JSON list."""
        return json.dumps([json.loads(v.to_json()) for v in self.verdicts], indent=1, ensure_ascii=False)

    def summary(self) -> str:
        """The table as text, a statement per block."""
        lines = []
        source = ""
        for v in self.verdicts:
            s = statement_named(v.id)
            if s.source != source:
                source = s.source
                lines += ["", source]
            lines.append(f"  {v.id:<34} {v.status:<9} {v.seconds:6.1f} s  {s.place}")
            lines.append(f"      {s.words}")
            words = f"; {v.in_words} of {len(v.findings)} steps in words" if v.in_words else ""
            lines.append(f"      scope: {v.scope}{words}")
            if v.status == Status.UNKNOWN:
                lines.append(f"      why: {v.reason}")
        told = ", ".join(f"{n} {status}" for status, n in sorted(self.counts.items()))
        told_only = sum(v.status == Status.PROVED and v.in_words > 0 for v in self.verdicts)
        lines += ["", f"{len(self.verdicts)} statements: {told}"]
        if told_only:
            lines.append(f"proofs with steps in words, which no machine has checked: {told_only}")
        return "\n".join(lines[1:])

    def _repr_html_(self) -> str:
        from fairness.notebook import notebook_html

        last = self.summary().split("\n\n")[-1]
        return notebook_html("statements of the papers", self.to_dataframe(), last.splitlines())

    def __repr__(self) -> str:
        return self.summary()


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
