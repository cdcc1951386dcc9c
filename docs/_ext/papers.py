"""Two pages made from :mod:`proofs`: which statements of the papers hold, and where a paper errs.

Every statement is checked when the pages are built, so that no page says what the evidence does not. A
refuted statement must be sorted by a person (``KINDS``) into what the source claims, what it denies itself,
and what only a reader might think: one that is not sorted is a warning, hence an error of the build.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.util import logging

logger = logging.getLogger(__name__)

CLAIMED = [
    "psdsf-all-drf-properties",
    "psdsf-tsf-sharing-incentive",
    "psdsf-cpu-full-under-any-mechanism",
    "psdsf-memory-full",
    "psdsf-greater-cpu-use",
    "drf-dominant-resources-swapped",
    "drf-machines-within-one-task",
    "tdrf-exchange-t3",
    "tdrf-exchange-t4",
    "tdrf-exchange-one-rule",
    "tdrf-claim-constraint-of-example",
    "tdrf-claim-optimum-is-4-1",
    "tdrf-claim-nobody-starves",
    "tdrf-claim-pareto-efficient",
    "tdrf-claim-stops-when-nobody-fits",
    "tdrf-claim-sharing-incentive",
    "tdrf-claim-dynamic-sharing-incentive",
    "tdrf-claim-strategy-proof-in-time",
    "tdrf-claim-strategy-proof-in-contributions",
    "tdrf-claim-longer-stay-gets-more",
    "tdrf-claim-contributions-fit",
    "tdrf-claim-demands-are-positive",
]
DENIED = [
    "br-mmf-scale-invariant",
    "br-pf-strategy-proof",
    "br-bmf-strategy-proof",
    "psdsf-resource-pareto",
    "psdsf-resource-strategy-proof",
    "psdsf-c-drfh-bottleneck-fair",
    "psdsf-tsf-bottleneck-fair",
    "drf-table-asset-si",
    "drf-table-ceei-sp",
    "drf-table-asset-bottleneck",
    "drf-table-ceei-population",
    "drf-table-asset-resource",
    "drf-table-ceei-resource",
    "drf-table-drf-resource",
    "dcdrf-tenant-loss",
]
READER = [
    "br-pf-is-bmf",
    "br-bmf-not-by-pf",
    "psdsf-definition-5-for-totals",
    "psdsf-resource-unique",
    "psdsf-time-slots-strategy-proof",
    "psdsf-fluid-stability",
    "edrf-strategyproof-helper",
    "edrf-minmax-envy-other",
    "edrf-lowest-share-incentive",
    "dcdrf-lie",
    "dcdrf-lemma-3-1-printed",
    "dcdrf-lemma-3-1-updated",
    "dcdrf-lemma-3-2-per-demand",
]
KINDS = {
    "What a source says and a case contradicts": (
        CLAIMED,
        "Most of these are slips that leave the idea of the paper untouched, or depend on how a sentence is "
        "read; the last line of each entry says what is true instead.",
    ),
    "What a source says does not hold, with a witness": (
        DENIED,
        "No errors: the authors say so themselves, often without an example. Here is one.",
    ),
    "What a reader might think": (
        READER,
        "Not claimed by the source, or only under assumptions that are easily overlooked.",
    ),
}


def write(app: Any, config: Any) -> None:
    """Write both pages below ``generated/``, unless they are newer than all of :mod:`proofs`."""
    source = Path(app.srcdir)
    folder = source / "generated"
    errors, table = folder / "errors.md", folder / "statements.md"
    inputs = [Path(__file__), *(source.parent / "proofs").rglob("*.py")]
    newest = max(path.stat().st_mtime for path in inputs)
    if all(page.exists() and page.stat().st_mtime > newest for page in (errors, table)):
        return
    from proofs.report import report

    folder.mkdir(exist_ok=True)
    verdicts = report(n_jobs=2).verdicts
    errors.write_text(errors_page(verdicts), encoding="utf-8")
    table.write_text(statements_page(verdicts), encoding="utf-8")


def errors_page(verdicts: Any) -> str:
    """The refuted statements with their witnesses, sorted by what the source says."""
    from proofs.catalogue import statement_named

    refuted = {v.id: v for v in verdicts if v.witness is not None}
    sorted_ids = {name for ids, _ in KINDS.values() for name in ids}
    for name in sorted(sorted_ids ^ set(refuted)):
        what = "is not sorted" if name in refuted else "is sorted but not refuted"
        logger.warning("docs/_ext/papers.py: %s %s", name, what)
    lines = []
    for title, (ids, words) in KINDS.items():
        lines += ["", f"## {title}", "", words]
        paper = ""
        for name in (n for n in refuted if n in ids):
            statement = statement_named(name)
            if statement.source != paper:
                paper = statement.source
                lines += ["", f"**{_safe(paper)}**"]
            lines += ["", *_entry(statement, refuted[name])]
    return "\n".join(lines) + "\n"


def _entry(statement: Any, verdict: Any) -> list[str]:
    """One refuted statement: what is said, the witness, what is true."""
    finding = next(f for f in verdict.findings if f.evidence and f.status == verdict.status)
    values = {k: v for k, v in finding.evidence.get("values", {}).items() if k != "holds"}
    told = "; ".join(f"{name}: {_number(value)}" for name, value in values.items())
    lines = [
        f"{_safe(statement.words)}",
        f": *{_safe(statement.place)}*, `{statement.id}`",
        "",
        f"  Witness: {_safe(finding.says)} ({_safe(told)})",
    ]
    if statement.remark:
        lines += ["", f"  {_safe(statement.remark)}"]
    return lines


def statements_page(verdicts: Any) -> str:
    """All statements by paper: words, place, verdict, scope."""
    from collections import Counter

    from proofs.catalogue import PAPERS, statements_of

    known = {v.id: v for v in verdicts}
    counts = Counter(str(v.status) for v in verdicts)
    told = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
    lines = [f"{len(known)} statements: {told}."]
    for paper in PAPERS:
        lines += ["", f"## {paper}", "", "| statement | verdict | scope |", "|---|---|---|"]
        for s in statements_of(paper):
            v = known[s.id]
            words = f"`{s.id}` {_safe(s.words)} *({_safe(s.place)})*"
            scope = _safe(v.scope) + (f"; {v.in_words} steps in words" if v.in_words else "")
            lines.append(f"| {words} | {v.status} | {scope} |".replace("\n", " "))
    return "\n".join(lines) + "\n"


def _number(value: Any) -> str:
    """Nested lists of numbers in parentheses."""
    if isinstance(value, Mapping):
        return "; ".join(f"{k} {_number(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return f"({', '.join(_number(v) for v in value)})"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _safe(text: str) -> str:
    """Text without characters that Markdown reads as markup."""
    for character in "\\*_|<>[]$^":
        text = text.replace(character, f"\\{character}")
    return text


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
