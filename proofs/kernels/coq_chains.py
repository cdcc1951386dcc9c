"""Chains of earlier steps in Coq, where neither they nor what they cite speak of families.

In each case of a chain Coq applies the theorems of the steps that are cited, in their order, with terms for
their variables. That a hypothesis of theirs is one that is known, both sides multiplied out, or follows from
it at once, is left to ``lra``, which takes each monomial for a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofs.checking.general import key_of
from proofs.kernels.identifiers import COMPARED, identifiers, safe
from proofs.language.polynomials import polynomial
from proofs.language.relations import Relation, relation, variables_of
from proofs.language.sums import substituted
from proofs.verdicts.verdict import Finding

__all__ = ["Lemma", "chain_theorem", "chain_variables", "is_plain", "plain_chains"]

Data = Mapping[str, Any]

CASES = {
    ">=": "destruct (Rle_or_lt 0 ({0})) as [{1} | {1}].",
    ">": "destruct (Rlt_or_le 0 ({0})) as [{1} | {1}].",
    "==": "destruct (Req_dec ({0}) 0) as [{1} | {1}].",
}
"""How Coq tells cases apart, the relation first."""


@dataclass(frozen=True)
class Lemma:
    """The theorem of a step: its name, its variables as they are written, and the claim."""

    name: str
    variables: tuple[str, ...]
    claim: Data


def is_plain(claim: Data) -> bool:
    """Whether no family, sequence or rule occurs in a chain, nor in what it cites."""
    texts = [*claim["hypotheses"].values(), claim["conclusion"], *claim.get("cases", ())]
    if "first" in claim or claim.get("rules"):
        return False
    for cited in claim["cites"]:
        if "hypotheses" not in cited["claim"] or cited["claim"].get("rules"):
            return False
        texts += [*cited["claim"]["hypotheses"].values(), cited["claim"]["conclusion"]]
        if any("[" in text for item in cited["values"].items() for text in item):
            return False
    return not any("_" in name for name in variables_of(map(relation, texts)))


def plain_chains(findings: Sequence[Finding]) -> dict[int, list[int]]:
    """The chains that have a theorem, with the numbers of the steps that they cite."""
    found: dict[int, list[int]] = {}
    for k, finding in enumerate(findings):
        if finding.evidence.get("kind") != "chained" or not is_plain(finding.claim):
            continue
        kinds = [j for j in range(k) if j in found or findings[j].evidence.get("kind") == "refutation"]
        cited = [
            next((j for j in kinds if findings[j].claim == cite["claim"]), None)
            for cite in finding.claim["cites"]
        ]
        if None not in cited:
            found[k] = [j for j in cited if j is not None]
    return found


def chain_variables(claim: Data) -> tuple[str, ...]:
    """The variables of the theorem of a chain, as they are written, in their order there."""
    texts = [*claim["hypotheses"].values(), claim["conclusion"], *claim.get("cases", ())]
    used = set(variables_of(map(relation, texts)))
    for cited in claim["cites"]:
        used |= set(variables_of(_read(cited["claim"]))) - set(cited["values"])
        used = used.union(*(polynomial(text).variables for text in cited["values"].values()))
    return tuple(identifiers(used))


def chain_theorem(name: str, claim: Data, lemmas: Sequence[Lemma]) -> Iterator[str]:
    """The theorem of a chain and its proof from those of the steps that it cites, one for each citation."""
    held = {key: relation(text) for key, text in claim["hypotheses"].items()}
    goal = relation(claim["conclusion"])
    cases = [relation(text) for text in claim.get("cases", ())]
    names = identifiers(chain_variables(claim))
    pairs = zip(claim["cites"], lemmas, strict=True)
    writer = _Writer(names, [_Citation(cited, lemma) for cited, lemma in pairs])
    yield f"Theorem {name} :"
    if names:
        yield f"  forall {' '.join(names.values())} : R,"
    for key, r in held.items():
        yield f"  {writer.relation(r)} ->  (* {safe(key)} *)"
    yield f"  {writer.relation(goal)}."
    yield "Proof."
    given = [f"H{k}" for k in range(1, len(held) + 1)]
    yield f"  intros {' '.join([*names.values(), *given])}."
    known = dict(zip(map(key_of, held.values()), given, strict=True))
    yield from writer.by_cases(cases, known, goal, "  ")
    yield "Qed."


@dataclass(frozen=True)
class _Citation:
    cited: Data
    lemma: Lemma

    @property
    def hypotheses(self) -> list[Relation]:
        """Those of the claim, with the terms."""
        texts = self.cited["claim"]["hypotheses"].values()
        return [relation(substituted(text, self.cited["values"])) for text in texts]

    @property
    def conclusion(self) -> Relation:
        return relation(substituted(self.cited["claim"]["conclusion"], self.cited["values"]))


@dataclass(frozen=True)
class _Writer:
    """Text of one chain."""

    names: Mapping[str, str]
    citations: Sequence[_Citation]

    def text(self, written: str) -> str:
        """A polynomial in the names of the theorem."""
        return re.sub(r"[A-Za-z]\w*", lambda found: self.names[found[0]], written.replace("**", "^"))

    def relation(self, r: Relation) -> str:
        return COMPARED[r.sign].format(self.text(str(r.left)))

    def by_cases(
        self, cases: Sequence[Relation], known: Mapping[str, str], goal: Relation, indent: str
    ) -> Iterator[str]:
        """The proof in all cases that are left."""
        if not cases:
            yield from self.leaf(dict(known), goal, indent)
            return
        r, name = cases[0], f"B{len(cases)}"
        # What is different from 0 is the second case of Coq, so that both change places.
        chosen = [r.negated, r] if r.sign == "!=" else [r, r.negated]
        sign = "==" if r.sign == "!=" else r.sign
        yield f"{indent}{CASES[sign].format(self.text(str(r.left)), name)}"
        for one in chosen:
            yield f"{indent}{{"
            yield from self.by_cases(cases[1:], {**known, key_of(one): name}, goal, f"{indent}  ")
            yield f"{indent}}}"

    def leaf(self, known: dict[str, str], goal: Relation, indent: str) -> Iterator[str]:
        """The citations of which all hypotheses are known, and the conclusion."""
        for number, citation in enumerate(self.citations, 1):
            proofs = [self.proof(r, known) for r in citation.hypotheses]
            if None in proofs:
                continue
            values = citation.cited["values"]
            terms = [values.get(v, v if v in self.names else "0") for v in citation.lemma.variables]
            given = [f"({self.text(str(polynomial(term)))})" for term in terms]
            given += [f"ltac:({proof})" for proof in proofs]
            yield f"{indent}assert (K{number} := {' '.join([citation.lemma.name, *given])})."
            conclusion = citation.conclusion
            if conclusion.impossible:
                yield f"{indent}exfalso; lra."
                return
            known[key_of(conclusion)] = f"K{number}"
        yield f"{indent}{self.proof(goal, known)}."

    @staticmethod
    def proof(r: Relation, known: Mapping[str, str]) -> str | None:
        """The tactic for a relation that is known, or follows from one at once; None if it does not."""
        same = [r, *(Relation(r.left, sign) for sign in (">", "==") if r.sign == ">=")]
        found = next((known[key_of(one)] for one in same if key_of(one) in known), None)
        if found is None:
            return "lra" if not r.left.variables and r.holds({}) else None
        return f"intro E1; apply {found}; lra" if r.sign == "!=" else "lra"


def _read(claim: Data) -> list[Relation]:
    return [relation(text) for text in (*claim["hypotheses"].values(), claim["conclusion"])]
