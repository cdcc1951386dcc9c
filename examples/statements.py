"""Check every statement of the papers and write the table of verdicts.

python -m examples.statements --out out
"""

from __future__ import annotations

import json
import sys
from functools import partial

from examples.gallery import Check, Page, Table
from examples.reproduce import Source, command, records_of
from examples.stamp import ROOT, stamp
from proofs import EvidenceError, Verdict, check_all, verify
from proofs.catalogue import PAPERS, statements_of
from proofs.checks import confirmed

QUICK = 0.5
"""Seconds: evidence that took no longer to find is checked again in the short run, and all in the long one."""
LIMIT = 300.0
"""Seconds for each statement, on a new clone with kernels of the library compiled; what takes longer is UNKNOWN."""

INTRODUCTION = (
    "What the papers claim, and what is known about it: PROVED (general, by certificates only; general, with steps in words; for the finite sizes "
    "named; or by a solver without certificate; the evidence is checked again by a process without the prover), SUPPORTED (no counterexample in a "
    "stated search, or a numerical bound), REFUTED (with an exact witness against the statement itself) or UNKNOWN (with the reason). A step said to be in words is "
    "reasoned, not computed. python -m proofs ID shows the steps of one statement."
)


def page_of(paper: str, key: str, *, full: bool) -> Page:
    """Table of the statements on one paper; all of it in either size, and what is quick is checked again."""
    mine = {s.id: s for s in statements_of(paper)}
    result = check_all(list(mine), time_limit=LIMIT)
    rows = [
        (v.id, mine[v.id].place, mine[v.id].words, v.said, _status(v), kernel, _scope(v))
        for v, kernel in zip(result.verdicts, result.kernels, strict=True)
    ]
    again = [v for v in result.verdicts if full or v.seconds <= QUICK]
    checks = [_verified(v) for v in again]
    failing = [c for c in checks if c.agrees is False]
    whole = Check(
        "evidence, checked again without the prover",
        "it proves what it is said to prove",
        f"{len(checks) - len(failing)} of {len(checks)} verdicts verified"
        + (f"; {len(mine) - len(again)} that take longer are with --full" if len(again) < len(mine) else ""),
        not failing,
    )
    return Page(
        key,
        f"{key.removeprefix('statements_')}. {paper}",
        "; ".join(dict.fromkeys(s.source for s in mine.values())),
        ". ".join(result.totals()) + ".",
        None,
        {"verdicts": [json.loads(v.to_json()) for v in result.verdicts]},
        [whole, *failing],
        [
            Table(
                "statements and verdicts",
                ("id", "place", "statement", "who says so", "verdict", "kernel", "scope and evidence"),
                rows,
            )
        ],
    )


def _status(verdict: Verdict) -> str:
    return f"{verdict.status}, {verdict.kind}" if verdict.kind else str(verdict.status)


def _scope(verdict: Verdict) -> str:
    words = f"; {verdict.in_words} of {len(verdict.findings)} steps in words" if verdict.in_words else ""
    reason = f"; {verdict.reason}" if verdict.reason else ""
    methods = f"; computed steps confirmed {confirmed(m)}" if (m := verdict.second_methods) else ""
    return f"{verdict.scope}{words}{methods}{reason}; {verdict.seconds:.1f} s"


def _verified(verdict: Verdict) -> Check:
    try:
        verify(verdict)
    except EvidenceError as error:
        return Check(verdict.id, "evidence that proves it", str(error), False)
    return Check(verdict.id, "evidence that proves it", str(verdict.status), True)


PAGES = tuple(partial(page_of, paper, f"statements_{k}") for k, paper in enumerate(PAPERS, 1))

SOURCE = Source(
    "statements", "Statements and verdicts", INTRODUCTION, PAGES, (), slow=(*PAGES[:2], *PAGES[4:])
)


def reproduced() -> list[Verdict]:
    """What ``make reproduce`` found in the same sources; nothing if others did, or none."""
    pages = records_of(ROOT / "out" / SOURCE.stem, SOURCE, stamp()) or {}
    verdicts = [told for page in pages.values() for told in page["numbers"]["verdicts"]]
    return [Verdict.from_json(json.dumps(told)) for told in verdicts]


if __name__ == "__main__":
    sys.exit(command([SOURCE], "examples.statements"))
