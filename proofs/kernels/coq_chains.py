"""Chains of earlier steps in Coq.

In each case of a chain Coq applies the theorems of the steps that are cited, in their order, with terms for
their variables; a rule among the hypotheses is applied as a theorem is. A hypothesis of theirs is one that is
known here, up to a multiple, once each sum with terms within has its normal form
(:mod:`proofs.kernels.coq_forms`): that is left to ``lra``, which takes each monomial for a variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proofs.checking.general import key_of
from proofs.kernels.coq_citations import (
    Citation,
    Equations,
    Fact,
    Lemma,
    Writer,
    is_cited_rule,
    letters_of_conclusion,
    rules_of,
    single_letters,
)
from proofs.kernels.coq_names import Binders, Names, Unsupported
from proofs.kernels.coq_rules import RuleForm
from proofs.kernels.identifiers import safe
from proofs.language.polynomials import polynomial
from proofs.language.relations import Relation, relation
from proofs.language.sums import indices_in, plain_text
from proofs.verdicts.verdict import Finding

__all__ = ["binders_of", "chain_theorem", "chains_in"]

Data = Mapping[str, Any]


def chains_in(findings: Sequence[Finding], known: Iterable[int]) -> dict[int, list[int | None]]:
    """The chains that have a theorem, each with the steps that it cites, by number; None is a rule.

    The steps ``known`` have a theorem; where it says that the claim is false, nothing follows from it.
    """
    there = [j for j in sorted(known) if findings[j].evidence.get("kind") != "assignment"]
    found: dict[int, list[int | None]] = {}
    for k, finding in enumerate(findings):
        if finding.evidence.get("kind") != "chained" or "first" in finding.claim:
            continue
        cited: list[int | None] = []
        for claim in (cite["claim"] for cite in finding.claim["cites"]):
            cited += [None] if is_cited_rule(claim) else [j for j in there if findings[j].claim == claim][:1]
        if len(cited) < len(finding.claim["cites"]):
            continue
        lemmas = [None if j is None else _unnamed(findings[j].claim) for j in cited]
        try:
            list(chain_theorem("name", finding.claim, lemmas))
        except Unsupported:
            continue
        found[k] = cited
        there.append(k)
    return found


def _unnamed(claim: Data) -> Lemma:
    return Lemma("lemma", Binders.of(_variables(claim)), claim)


def _relations(claim: Data) -> list[Relation]:
    texts = [*claim["hypotheses"].values(), claim["conclusion"], *claim.get("cases", ())]
    return [relation(text) for text in texts]


def _variables(claim: Data) -> set[str]:
    """Plain variables of a claim, without those that have all values in a rule of it."""
    used = set[str]().union(*(r.left.variables for r in _relations(claim)))
    for form in rules_of(claim):
        used |= form.variables
    return used


def binders_of(claim: Data, lemmas: Sequence[Lemma | None]) -> Binders:
    """What the theorem of a claim is said for; ``lemmas`` are the steps that a chain cites, or None."""
    used = _variables(claim)
    letters = {letter for form in rules_of(claim) for letter in form.letters}
    for cited, lemma in zip(claim.get("cites", ()), lemmas, strict=True):
        told = set(map(plain_text, cited["values"]))
        if lemma is None:
            used |= {*RuleForm.of(cited["claim"]["text"]).over} - told
        else:
            used |= {*Binders.of(_variables(lemma.claim)).variables} - told
            letters |= {*lemma.binders.sets}
        used = used.union(*(polynomial(plain_text(term)).variables for term in cited["values"].values()))
    return Binders.of(used, letters)


def chain_theorem(name: str, claim: Data, lemmas: Sequence[Lemma | None]) -> Iterator[str]:
    """The theorem of a chain and its proof from those of the steps that it cites; None stands for a rule.

    Raises
    ------
    Unsupported
        If there is no proof for a sum in it.
    """
    binders = binders_of(claim, lemmas)
    rules = {key: RuleForm.of(text) for key, text in claim.get("rules", {}).items()}
    held = {key: relation(text) for key, text in claim["hypotheses"].items()}
    goal = relation(claim["conclusion"])
    cases = [relation(text) for text in claim.get("cases", ())]
    names = _names(binders, claim, lemmas)
    at = {form: f"H{k}" for k, form in enumerate(rules.values(), len(held) + 1)}
    pairs = zip(claim["cites"], lemmas, strict=True)
    citations = [Citation.of(cited, lemma, at, names) for cited, lemma in pairs]
    writer = Writer(names, single_letters(claim), citations, at, Equations())
    yield f"Theorem {name} :"
    if bound := binders.text(names):
        yield f"  forall {bound},"
    said = {key: f"{names.each(sorted(indices_in(r)))}{names.relation(r)}" for key, r in held.items()}
    for key, r in held.items():
        told = f"({said[key]})" if indices_in(r) else said[key]
        yield f"  {told} ->  (* {safe(key)} *)"
    for key, form in rules.items():
        yield f"  ({names.each(form.each)}{form.text(names)}) ->  (* {safe(key)} *)"
    led = letters_of_conclusion(claim)
    yield f"  {names.each(led)}{names.relation(goal)}."
    yield "Proof."
    given = [f"H{k}" for k in range(1, len(held) + len(rules) + 1)]
    yield f"  intros {' '.join([*binders.introduced(names), *given])}."
    known = {
        key_of(r): Fact(place, tuple(sorted(indices_in(r))), said[key])
        for place, (key, r) in zip(given, held.items(), strict=False)
    }
    lines = list(writer.by_cases(cases, known, goal, "  "))
    yield from (f"  {line}" for line in writer.equations.lines)
    if singles := [letter for letter in led if letter in writer.single]:
        yield f"  {names.intros(singles)}."
    yield from lines
    yield "Qed."


def _names(binders: Binders, claim: Data, lemmas: Sequence[Lemma | None]) -> Names:
    """Names for all that the theorem is said for, and for the variables that have all values in a rule."""
    claims = [claim, *(lemma.claim for lemma in lemmas if lemma is not None)]
    forms = [form for one in claims for form in rules_of(one)]
    over = {name for form in forms for name in form.over}
    both = Binders.of({*binders.variables, *over}, binders.sets)
    return Names.of(both, over & {*binders.variables})
