"""Texts of sums and of families of relations; in a family @ stands for the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proofs.claims import Chained, Implication, SumSchema
from proofs.language.sums import substituted

__all__ = ["conditions", "each", "signs", "total"]


def total(term: str, indices: Iterable[int | str]) -> str:
    """Sum of a term over indices: "x1*a1 + x2*a2" of "x@*a@"."""
    return " + ".join(term.replace("@", str(k)) for k in indices) or "0"


def each(name: str, text: str, indices: Iterable[int | str]) -> dict[str, str]:
    """Relations "name 1", "name 2", ..."""
    return {f"{name} {k}": text.replace("@", str(k)) for k in indices}


def signs(positive: str = "", not_negative: str = "") -> dict[str, str]:
    """Hypotheses on the signs of variables, which keep witnesses against mutants sensible."""
    known = {f"sign of {v}": f"{v} > 0" for v in positive.split()}
    return known | {f"sign of {v}": f"{v} >= 0" for v in not_negative.split()}


def conditions(
    claim: Implication | SumSchema | Chained, terms: Mapping[str, str], *known: str, where: str = ""
) -> dict[str, str]:
    """Hypotheses of a claim that is cited with terms, for a chain; without those that are known already."""
    return {
        f"{name}{where}": substituted(text, terms)
        for name, text in claim.hypotheses.items()
        if name not in known
    }
