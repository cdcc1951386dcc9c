"""Texts of sums and of families of relations; in a family @ stands for the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proofs.claims import Chained, Implication, SumSchema
from proofs.language.sums import substituted
from proofs.statement import Question

__all__ = ["Lemma", "each", "signs", "together", "total"]


def total(term: str, indices: Iterable[int | str]) -> str:
    """Sum of a term over indices: "x1*a1 + x2*a2" of "x@*a@"."""
    return " + ".join(term.replace("@", str(k)) for k in indices) or "0"


def each(name: str, text: str, indices: Iterable[int | str]) -> dict[str, str]:
    """Relations "name 1", "name 2", ..."""
    return {f"{name} {k}": text.replace("@", str(k)) for k in indices}


def signs(positive: str = "", not_negative: str = "") -> dict[str, str]:
    """Hypotheses on the signs of variables, or of families such as x[i]; they keep witnesses sensible."""
    known = {f"sign of {v.split('[')[0]}": f"{v} > 0" for v in positive.split()}
    return known | {f"sign of {v.split('[')[0]}": f"{v} >= 0" for v in not_negative.split()}


@dataclass(frozen=True)
class Lemma:
    """An earlier claim that is cited with terms, and the names of those of its hypotheses that are proved.

    ``where`` stands behind the names of the others, which otherwise two lemmas might share.
    """

    claim: Implication | SumSchema | Chained
    terms: Mapping[str, str] = field(default_factory=dict)
    proved: tuple[str, ...] = ()
    where: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        """What else it asks for, with the terms."""
        return {
            f"{name}{self.where}": substituted(text, self.terms)
            for name, text in self.claim.hypotheses.items()
            if name not in self.proved
        }


def together(question: Question, conclusion: str, *lemmas: Lemma, **more: str) -> Chained:
    """What lemmas give one after another, under all that they ask for; ``more`` are hypotheses besides."""
    fixed: dict[str, str] = {}
    for lemma in lemmas:
        fixed |= lemma.conditions
    cites = ((lemma.claim, lemma.terms) for lemma in lemmas)
    return question.follows(more, conclusion, *cites, fixed=fixed)
