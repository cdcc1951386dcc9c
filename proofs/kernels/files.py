"""Source files by paper: one file loads the reals once for all its theorems."""

from __future__ import annotations

from collections.abc import Iterable

from proofs.catalogue import PAPERS, statements_of
from proofs.kernels.coq import to_coq
from proofs.kernels.theorems import exported_steps
from proofs.verdicts.verdict import CATALOGUE, Verdict

__all__ = ["source_files"]

OWN = "own"
"""File of statements that are of no paper."""


def source_files(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Texts by file name, a file for each paper: "psdsf.v", "drf.v"; "own.v" for statements of one's own.

    Parameters
    ----------
    verdicts : iterable of Verdict

    Returns
    -------
    dict of str to str
        Without files that would hold no theorem.

    Examples
    --------
    >>> from proofs import check_all
    >>> list(source_files(check_all(["drf-example", "br-feasible"]).verdicts))
    ['drf.v', 'bonald_roberts.v']
    """
    folders = {s.id: PAPERS[paper][0].partition(".")[0] for paper in PAPERS for s in statements_of(paper)}
    papers: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        own = verdict.statement["origin"] != CATALOGUE
        papers.setdefault(OWN if own else folders[verdict.id], []).append(verdict)
    return {f"{name}.v": to_coq(*of) for name, of in papers.items() if any(map(exported_steps, of))}
