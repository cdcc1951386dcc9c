"""Claims for sets of every size in Coq: index sets are lists, families functions, sums recursive.

The identity in which each sum is a variable is a theorem already (:mod:`proofs.kernels.theorems`). What is
left to show is that each sum of products of hypotheses is >= 0, or 0 for an equation, and equals the
polynomial in these variables: sums are linear, and what does not depend on the index stands before the sum.
A product of two letters is summed over the later one first; where a sum is summed again, both are one over
pairs. The lemmas on sums that the proofs cite are in ``lemmas/sums.v``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from proofs.checking.general import summand
from proofs.checking.refutations import premises
from proofs.claims import NEGATION, Implication
from proofs.kernels.identifiers import COMPARED, identifiers, safe
from proofs.language.polynomials import Monomial, Polynomial, polynomial
from proofs.language.relations import Relation, relation, variables_of
from proofs.language.sums import indices_in, parted, plain_text, summand_of, summed

__all__ = ["is_supported", "sums_theorem"]

Data = Mapping[str, Any]
ONE = Polynomial({(): Fraction(1)})


class Unsupported(Exception):
    """A sum that this has no proof for: then the identity alone is exported."""


@dataclass(frozen=True)
class _Names:
    """Identifiers of families, scalars, sets ("set i") and their elements ("in i", "member i")."""

    given: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.given[name]

    def term(self, name: str) -> str:
        """A plain variable: a scalar, the member of a family, or a sum."""
        if name.startswith("sum_"):
            bound, factors = summand_of(name)
            return f"({self.total(sorted(bound), self.product(factors))})"
        letters = name.split("_")[1:]
        return f"({self[name]} {' '.join(self[f'in {i}'] for i in letters)})" if letters else self[name]

    def total(self, letters: list[str], text: str) -> str:
        """The sum over these letters, the first of them outermost."""
        for letter in reversed(letters):
            text = f"total {self[f'set {letter}']} (fun {self[f'in {letter}']} => {text})"
        return text

    def text(self, p: Polynomial) -> str:
        return re.sub(r"[A-Za-z]\w*", lambda name: self.term(name[0]), str(p).replace("**", "^"))

    def product(self, monomial: Monomial) -> str:
        return self.text(Polynomial({monomial: Fraction(1)}))

    def relation(self, r: Relation) -> str:
        return COMPARED[r.sign].format(self.text(r.left))

    def member(self, letter: str) -> str:
        """An element, and that it is one of the set."""
        return f"{self[f'in {letter}']}, In {self[f'in {letter}']} {self[f'set {letter}']}"

    def intros(self, letter: str) -> str:
        return f"intros {self[f'in {letter}']} {self[f'member {letter}']}"


@dataclass(frozen=True)
class _Cited:
    """Hypotheses and the negated conclusion, as a proof cites them at the elements at hand."""

    relations: Mapping[str, Relation]
    conclusion: Relation
    places: Mapping[str, int]
    names: _Names

    def proof(self, name: str) -> str:
        """That the relation holds."""
        free = sorted(indices_in(self.relations[name]))
        elements = " ".join(f"{self.names[f'in {i}']} {self.names[f'member {i}']}" for i in free)
        return f"(H{self.places[name]} {elements})" if free else f"H{self.places[name]}"

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
    names = _names({*lemma[1], *variables_of((*relations.values(), conclusion))})
    places = {key: k for k, key in enumerate(relations, 1)}
    cited = _Cited(relations, conclusion, places, names)
    plain = [name for name in names.given if " " not in name]
    sets = sorted(name.removeprefix("set ") for name in names.given if name.startswith("set "))
    scalars, families = [v for v in plain if "_" not in v], [v for v in plain if "_" in v]
    yield f"Theorem {name} :"
    bound = [f"({' '.join(names[f'set {i}'] for i in sets)} : list nat)"] if sets else []
    bound += [f"({' '.join(names[v] for v in scalars)} : R)"] if scalars else []
    bound += [f"({names[v]} : {'nat -> ' * v.count('_')}R)" for v in families]
    yield f"  forall {' '.join(bound)},"
    for key, r in relations.items():
        free = sorted(indices_in(r))
        each = "".join(
            f"forall {names[f'in {i}']}, In {names[f'in {i}']} {names[f'set {i}']} -> " for i in free
        )
        yield f"  ({each}{names.relation(r)}) ->  (* {safe(key)} *)"
    yield f"  {names.relation(conclusion)}."
    yield "Proof."
    introduced = [*(names[f"set {i}"] for i in sets), *(names[v] for v in (*scalars, *families))]
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


def _names(variables: set[str]) -> _Names:
    base: set[str] = set()
    letters: set[str] = set()
    for name in variables:
        for one in _base(name):
            base.add(one)
            letters.update(one.split("_")[1:])
        if name.startswith("sum_"):
            letters |= summand_of(name)[0]
    keys = [f"{word} {letter}" for letter in letters for word in ("set", "in", "member")]
    return _Names(identifiers([*base, *keys]))


def _base(name: str) -> set[str]:
    """The members and scalars of which a plain variable is made."""
    if not name.startswith("sum_"):
        return {name}
    return set().union(*(_base(factor) for factor, _ in summand_of(name)[1]))


def _sum(k: int, data: Data, known: Mapping[str, Relation], cited: _Cited, names: _Names) -> Iterator[str]:
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
    opened = "".join(f"apply {lemma}; {names.intros(letter)}; " for letter in letters)
    result = reduce(summed, reversed(letters), p)
    total = names.total(letters, text)
    yield f"  assert (S{k} : {compared.format(total)})."
    yield f"  {{ {opened}exact ({proof}). }}"
    yield f"  assert (E{k} : {total} = {names.text(result)})."
    yield "  {"
    for line in _equal(letters, text, p, names):
        yield f"    {line}"
    yield "  }"
    yield f"  apply {carried} with (2 := E{k}) in S{k}."


def _equal(letters: list[str], text: str, p: Polynomial, names: _Names) -> Iterator[str]:
    """Proof that the sum of a text over letters is that of the polynomial in plain variables."""
    letter, *inner = letters
    if not inner:
        yield from _level(letter, p, names)
        return
    result = reduce(summed, reversed(inner), p)
    yield f"transitivity ({names.total([letter], names.text(result))})."
    yield f"{{ apply total_ext; {names.intros(letter)}."
    for line in _equal(inner, text, p, names):
        yield f"  {line}"
    yield "}"
    yield from _level(letter, result, names)


def _level(letter: str, p: Polynomial, names: _Names) -> Iterator[str]:
    """Proof that the sum over one letter is linear in the monomials."""
    pieces = [(c, *parted(monomial, letter)) for monomial, c in p.ordered]
    if not pieces:
        raise Unsupported("a sum of nothing")
    parts = [(names.text(Polynomial({outer: c})), names.product(inner)) for c, outer, inner, _ in pieces]
    expanded = " + ".join(f"({outer}) * ({inner})" for outer, inner in parts)
    result = " + ".join(f"({outer}) * {names.total([letter], f'({inner})')}" for outer, inner in parts)
    yield f"transitivity ({names.total([letter], expanded)})."
    yield f"{{ apply total_ext; {names.intros(letter)}; field. }}"
    yield f"transitivity ({result})."
    yield "{ repeat rewrite total_plus; repeat rewrite total_scale; reflexivity. }"
    for *_, inner, variable in pieces:
        yield from _merged(letter, inner, variable, names)
    yield "field."


def _merged(letter: str, inner: Monomial, variable: str, names: _Names) -> Iterator[str]:
    """Where a sum is within the sum: both are one over pairs, in the order of their letters."""
    bound, factors = summand_of(variable)
    if bound == {letter} and factors == inner:
        return
    sums = [name for name, e in inner if name.startswith("sum_") and e == 1]
    others = bound - {letter}
    if len(sums) != 1 or len(others) != 1:
        raise Unsupported(f"a sum {variable}")
    (second,) = others
    if letter < second and inner == ((sums[0], 1),):
        return  # the sum over pairs, as it stands
    rest = names.product(tuple(factor for factor in inner if factor[0] != sums[0]))
    within = names.product(summand_of(sums[0])[1])
    here, there = (f"{names[f'set {one}']} (fun {names[f'in {one}']} => " for one in (letter, second))
    pair = f"({rest}) * ({within})"
    yield f"assert (M : total {here}{names.product(inner)}) = {names.term(variable)})."
    yield f"{{ transitivity (total {here}total {there}{pair})))."
    yield f"  {{ apply total_ext; {names.intros(letter)}."
    yield f"    transitivity (({rest}) * (total {there}{within}))); [ring | symmetry; apply total_scale]. }}"
    first = letter
    if letter > second:
        yield f"  transitivity (total {there}total {here}{pair})))."
        elements = f"{names[f'in {letter}']} {names[f'in {second}']}"
        sets = f"{names[f'set {letter}']} {names[f'set {second}']}"
        yield f"  {{ apply (total_exchange {sets} (fun {elements} => {pair})). }}"
        first, second = second, letter
    yield f"  apply total_ext; {names.intros(first)}; apply total_ext; {names.intros(second)}; ring. }}"
    yield "rewrite M; clear M."
