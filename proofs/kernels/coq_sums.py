"""Claims for sets of every size in Coq: index sets are lists, families functions, sums recursive.

The identity in which each sum is a variable is a theorem already (:mod:`proofs.kernels.theorems`). What is
left to show is that each sum of products of hypotheses is >= 0, or 0 for an equation, and equals the
polynomial in these variables (:mod:`proofs.kernels.coq_forms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from proofs.checking.general import summand
from proofs.checking.refutations import premises
from proofs.claims import NEGATION, Implication
from proofs.kernels.coq_forms import ONE, same_sum
from proofs.kernels.coq_names import Binders, Names, Unsupported
from proofs.kernels.identifiers import safe
from proofs.language.polynomials import polynomial
from proofs.language.relations import Relation, relation, variables_of
from proofs.language.sums import indices_in, plain_text, summed

__all__ = ["is_supported", "sums_theorem"]

Data = Mapping[str, Any]


@dataclass(frozen=True)
class _Cited:
    """Hypotheses and the negated conclusion, as a proof cites them at the elements at hand."""

    relations: Mapping[str, Relation]
    conclusion: Relation
    places: Mapping[str, int]
    names: Names

    def proof(self, name: str) -> str:
        """That the relation holds."""
        free = sorted(indices_in(self.relations[name]))
        return f"(H{self.places[name]} {self.names.elements(free)})" if free else f"H{self.places[name]}"

    def factor(self, name: str) -> tuple[str, str]:
        """A premise as a factor, and the proof that it is not negative."""
        if name == NEGATION:
            text, sign = f"({self.names.text(self.conclusion.left)})", self.conclusion.sign
            if sign == "==":
                return f"({text} * {text})", "(Rlt_le _ _ negated)"
            return f"(- {text})", "(Rlt_le _ _ negated)" if sign == ">=" else "negated"
        r, proof = self.relations[name], self.proof(name)
        text = f"({self.names.text(r.left)})"
        if r.sign == "!=":
            return f"({text} * {text})", f"(Rlt_le _ _ (square_of_nonzero _ {proof}))"
        return text, f"(Rlt_le _ _ {proof})" if r.strict else proof


def is_supported(claim: Data, evidence: Data) -> bool:
    """Whether :func:`sums_theorem` has a proof for these sums."""
    try:
        list(sums_theorem("name", claim, evidence, ("lemma", ()), ""))
    except Unsupported:
        return False
    return True


def sums_theorem(
    name: str, claim: Data, evidence: Data, lemma: tuple[str, tuple[str, ...]], negated: str
) -> Iterator[str]:
    """The theorem and its proof.

    Parameters
    ----------
    name : str
    claim, evidence : dict
        In plain data, of a :class:`proofs.SumSchema`.
    lemma : (str, tuple of str)
        Name of the identity, and its variables as the claim writes them.
    negated : str
        The tactic that assumes the opposite of the conclusion.

    Raises
    ------
    Unsupported
        If sums are nested in a way that this has no proof for.
    """
    implication = Implication(claim["hypotheses"], claim["conclusion"])
    relations, known = implication.relations, premises(implication)
    conclusion = relation(claim["conclusion"])
    binders = Binders.of({*lemma[1], *variables_of((*relations.values(), conclusion))})
    names = Names.of(binders)
    places = {key: k for k, key in enumerate(relations, 1)}
    cited = _Cited(relations, conclusion, places, names)
    yield f"Theorem {name} :"
    yield f"  forall {binders.text(names)},"
    for key, r in relations.items():
        each = names.each(sorted(indices_in(r)))
        yield f"  ({each}{names.relation(r)}) ->  (* {safe(key)} *)"
    yield f"  {names.relation(conclusion)}."
    yield "Proof."
    introduced = binders.introduced(names)
    yield f"  intros {' '.join([*introduced, *(f'H{k}' for k in places.values())])}."
    used = any(NEGATION in data.get("factors", ()) for data in evidence["sums"].values())
    if used:
        yield f"  {negated}"
    given = [f"H{places[key]}" for key, r in relations.items() if not indices_in(r)]
    for k, data in enumerate(evidence["sums"].values(), 1):
        yield from _sum(k, data, known, cited, names)
        given.append(f"S{k}")
    arguments = " ".join(f"({names.term(v)})" for v in lemma[1])
    applied = f"apply ({lemma[0]} {arguments})".replace(" )", ")")
    solved = " | ".join(f"same {one}" for one in given)
    tactic = f"{applied}; [{solved}]" if given else applied
    if used:
        yield f"  assert (claimed : {names.relation(conclusion)}) by ({tactic})."
        yield {"==": "  rewrite claimed in negated; lra.", "!=": "  exact (claimed negated)."}.get(
            conclusion.sign, "  lra."
        )
    else:
        yield f"  {tactic}."
    yield "Qed."


def _sum(k: int, data: Data, known: Mapping[str, Relation], cited: _Cited, names: Names) -> Iterator[str]:
    """That the sum is >= 0, or 0, and what it is in the variables of the identity."""
    p, _ = summand(known, data)
    if "equation" in data:
        cofactor, equation = polynomial(plain_text(data["cofactor"])), known[data["equation"]]
        text = f"({names.text(cofactor)}) * ({names.text(equation.left)})"
        proof = f"zero_multiple _ _ {cited.proof(data['equation'])}"
        lemma, compared, carried = "total_zero", "{} = 0", "eq_as"
    else:
        square = polynomial(plain_text(data["square"]))
        factors = [cited.factor(name) for name in data["factors"]]
        if square != ONE or not factors:
            factors.append((f"({names.text(square)})^2", "(pow2_ge_0 _)"))
        text, proof = factors[0]
        for factor, sign in factors[1:]:
            text, proof = f"{text} * {factor}", f"(Rmult_le_pos _ _ {proof} {sign})"
        lemma, compared, carried = "total_not_negative", "0 <= {}", "le_as"
    letters = sorted(indices_in(Relation(p, ">=")))
    opened = "".join(f"apply {lemma}; {names.intros([letter])}; " for letter in letters)
    result = reduce(summed, reversed(letters), p)
    total = names.total(letters, text)
    yield f"  assert (S{k} : {compared.format(total)})."
    yield f"  {{ {opened}exact ({proof}). }}"
    yield f"  assert (E{k} : {total} = {names.text(result)})."
    yield "  {"
    for line in same_sum(letters, text, p, names):
        yield f"    {line}"
    yield "  }"
    yield f"  apply {carried} with (2 := E{k}) in S{k}."
