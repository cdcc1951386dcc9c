"""Two pages made from :mod:`proofs`: which statements of the papers hold, and where a paper errs.

Every statement is checked when the pages are built, unless ``make reproduce`` has just done so with the same
sources, so that no page says what the evidence does not. What the source claims, what it denies itself, and
what only a reader might think, stands in the statement.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fairness.display.wording import many
from proofs.statement import Said
from proofs.verdicts.witnesses import told_witness

KINDS = {
    Said.CLAIMED: (
        "What a source says and a case contradicts",
        "Most of these are slips that leave the idea of the paper untouched, or depend on how a sentence is "
        "read; the last line of each entry says what is true instead.",
    ),
    Said.DENIED: (
        "What a source says does not hold, with a witness",
        "No errors: the authors say so themselves, often without an example. Here is one.",
    ),
    Said.READER: (
        "What a reader might think",
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
    from examples.statements import reproduced
    from proofs import check_all

    folder.mkdir(exist_ok=True)
    verdicts = reproduced() or check_all(n_jobs=2).verdicts
    errors.write_text(errors_page(verdicts), encoding="utf-8")
    table.write_text(statements_page(verdicts), encoding="utf-8")


def errors_page(verdicts: Any) -> str:
    """The refuted statements with their witnesses, sorted by what the source says."""
    from proofs.catalogue import statement_named

    refuted = {v.id: v for v in verdicts if v.witness is not None}
    lines = []
    for said, (title, words) in KINDS.items():
        lines += ["", f"## {title}", "", words]
        paper = ""
        for name in refuted:
            statement = statement_named(name)
            if statement.said != said:
                continue
            if statement.source != paper:
                paper = statement.source
                lines += ["", f"**{safe(paper)}**"]
            lines += ["", *_entry(statement, refuted[name])]
    return "\n".join(lines) + "\n"


def _entry(statement: Any, verdict: Any) -> list[str]:
    """One refuted statement: what is said, the witness, what is true."""
    finding = next(f for f in verdict.findings if f.evidence and f.status == verdict.status)
    told = told_witness(finding.claim, finding.evidence)
    lines = [
        f"{safe(statement.words)}",
        f": *{safe(statement.place)}*, `{statement.id}`",
        "",
        f"  Witness: {safe(finding.says)} ({safe(told)})",
    ]
    if statement.remark:
        lines += ["", f"  {safe(statement.remark)}"]
    return lines


def statements_page(verdicts: Any) -> str:
    """The statements by paper: words, place, who says so, remark, verdict and its kind, scope."""
    from proofs.catalogue import PAPERS, statements_of
    from proofs.checks import Report, confirmed

    report = Report(tuple(verdicts))
    known = {v.id: (v, kernel) for v, kernel in zip(report.verdicts, report.kernels, strict=True)}
    lines = [f"- {safe(line)}." for line in report.totals()]
    for paper in PAPERS:
        lines += ["", f"## {paper}", "", "| statement | who says so | verdict | kernel | scope |"]
        lines.append("|---|---|---|---|---|")
        for s in statements_of(paper):
            if s.id not in known:
                continue
            v, kernel = known[s.id]
            words = f"`{s.id}` {safe(s.words)} *({safe(s.place)})*"
            verdict = f"**{v.status}**" + (f", {safe(v.kind)}" if v.kind else "")
            scope = safe(v.scope) + (f"; {many(v.in_words, 'step')} in words" if v.in_words else "")
            if v.second_methods:
                scope += f"; computed: {confirmed(v.second_methods)}"
            cells = (words, safe(v.said), verdict, kernel, scope)
            lines.append(f"| {' | '.join(cells)} |".replace("\n", " "))
    return "\n".join(lines) + "\n"


def safe(text: str) -> str:
    """Text without what Markdown reads as markup, powers raised; what stands in backticks stays as it is."""
    return re.sub(MARKS, _mark, text)


MARKS = r"`[^`|]+`|\^(?:\(([^()]+)\)|(-?\w+))|[<>]=|\bepsilon\b|[\\*_|<>\[\]$^]"
"""Code, powers, signs that a keyboard lacks, and what Markdown would read as markup."""
SIGNS = {"<=": "≤", ">=": "≥", "epsilon": "ε"}


def _mark(found: re.Match[str]) -> str:
    if power := found[1] or found[2]:
        return f"<sup>{safe(power)}</sup>"
    return found[0] if found[0][0] == "`" else SIGNS.get(found[0], f"\\{found[0]}")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
