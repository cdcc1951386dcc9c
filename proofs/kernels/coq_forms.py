"""Sums in Coq brought to their normal form, and terms put in for the variables that are summed.

Sums are linear, and what does not depend on the index stands before the sum. A product of several letters is
summed over the latest one first; where a sum is summed again, both are one over all of their letters. The
lemmas that these proofs cite are in ``lemmas/sums.v``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from proofs.kernels.coq_names import Names, Unsupported
from proofs.kernels.identifiers import COMPARED
from proofs.language.polynomials import Monomial, Polynomial, polynomial
from proofs.language.relations import Relation
from proofs.language.sums import indices_in, parted, summand_of, summed

__all__ = ["ONE", "Terms", "same_sum"]

ONE = Polynomial({(): Fraction(1)})


@dataclass(frozen=True)
class Terms:
    """Terms that stand for plain variables of a claim, x_i for x[i], as polynomials in other ones.

    What the claim says of them, as Coq reads it from its theorem (:meth:`text`), has each sum of the claim
    with terms within; its normal form (:meth:`put`) is another text, and :meth:`sums_in` tells which sums
    are to be rewritten from the one to the other.
    """

    names: Names
    values: Mapping[str, Polynomial]

    def put(self, p: Polynomial) -> Polynomial:
        """The normal form."""
        total = Polynomial({})
        for monomial, c in p.terms.items():
            total += Polynomial({(): c}) * self._product(monomial)
        return total

    def relation(self, r: Relation) -> Relation:
        """The normal form of a relation."""
        return Relation(self.put(r.left), r.sign)

    def _product(self, monomial: Monomial) -> Polynomial:
        result = ONE
        for name, e in monomial:
            result = result * self.of(name) ** e
        return result

    def of(self, name: str) -> Polynomial:
        """The normal form of one variable."""
        if not name.startswith("sum_"):
            return self.values.get(name, polynomial(name))
        bound, factors = summand_of(name)
        return reduce(summed, sorted(bound, reverse=True), self._product(factors))

    def text(self, p: Polynomial) -> str:
        """The claim's own polynomial with terms in it, as it stands in the theorem."""
        return re.sub(r"[A-Za-z]\w*", lambda name: self._term(name[0]), str(p).replace("**", "^"))

    def stated(self, r: Relation) -> str:
        """A relation of the claim with terms in it, as it stands in the theorem."""
        return COMPARED[r.sign].format(self.text(r.left))

    def _term(self, name: str) -> str:
        if name.startswith("sum_"):
            return f"({self.names.total(sorted(summand_of(name)[0]), self.text(self.summand(name)))})"
        if name not in self.values:
            return self.names.variable(name)
        told = self.names.text(self.values[name])
        return told if _is_variable(self.values[name]) else f"({told})"

    def given(self, name: str) -> str:
        """The term for a variable of the theorem, a function for a family; 0 for what is not known here."""
        letters = name.split("_")[1:]
        head = f"fun {' '.join(self.names.given.get(f'in {i}', '_') for i in letters)} => " if letters else ""
        if name in self.values:
            return f"({head}{self.names.text(self.values[name])})"
        return self.names[name] if name in self.names.given else f"({head}0)"

    def letters_in(self, p: Polynomial) -> frozenset[str]:
        """Letters that stand for elements at hand in the text of a polynomial."""
        return frozenset[str]().union(*map(self.letters_of, p.variables))

    def letters_of(self, name: str) -> frozenset[str]:
        """The same of one variable."""
        if name.startswith("sum_"):
            return self.letters_in(self.summand(name)) - summand_of(name)[0]
        return indices_in(Relation(self.values.get(name, polynomial(name)), ">="))

    def summand(self, name: str) -> Polynomial:
        """What a variable that is a sum sums, in the variables of the claim."""
        return Polynomial({summand_of(name)[1]: Fraction(1)})

    def sums_in(self, p: Polynomial) -> list[str]:
        """The sums of a polynomial whose text is not their normal form, in order."""
        sums = sorted(name for name in p.variables if name.startswith("sum_"))
        return [name for name in sums if len({*self.equation(name)}) == 2]

    def equation(self, name: str) -> tuple[str, str]:
        """The text of a sum with terms in it, and its normal form."""
        return self._term(name), self.names.text(self.of(name))

    def proof(self, name: str, within: Iterable[str]) -> Iterator[str]:
        """The proof of this equation, where the equations ``within`` rewrite the sums that are summed."""
        bound, factors = summand_of(name)
        text = self.text(self.summand(name))
        yield from same_sum(sorted(bound), text, self._product(factors), self.names, within)


def _is_variable(p: Polynomial) -> bool:
    return len(p.variables) == 1 and p == polynomial(*p.variables)


def same_sum(
    letters: list[str], text: str, p: Polynomial, names: Names, within: Iterable[str] = ()
) -> Iterator[str]:
    """Proof that the sum of a text over letters is that of the polynomial in plain variables.

    The equations ``within`` are rewritten in the text first.

    Raises
    ------
    Unsupported
        If sums are nested in a way that this has no proof for.
    """
    letter, *inner = letters
    if not inner:
        yield from _level(letter, p, names, within)
        return
    result = reduce(summed, reversed(inner), p)
    yield f"transitivity ({names.total([letter], names.text(result))})."
    yield f"{{ apply total_ext; {names.intros([letter])}."
    for line in same_sum(inner, text, p, names, within):
        yield f"  {line}"
    yield "}"
    yield from _level(letter, result, names, ())


def _level(letter: str, p: Polynomial, names: Names, within: Iterable[str]) -> Iterator[str]:
    """Proof that the sum over one letter is linear in the monomials."""
    pieces = [(c, *parted(monomial, letter)) for monomial, c in p.ordered]
    told = "".join(f"{one}; " for one in within)
    if not pieces:
        yield f"apply total_zero; {names.intros([letter])}; {told}field."
        return
    parts = [(names.text(Polynomial({outer: c})), names.product(inner)) for c, outer, inner, _ in pieces]
    expanded = " + ".join(f"({outer}) * ({inner})" for outer, inner in parts)
    result = " + ".join(f"({outer}) * {names.total([letter], f'({inner})')}" for outer, inner in parts)
    yield f"transitivity ({names.total([letter], expanded)})."
    yield f"{{ apply total_ext; {names.intros([letter])}; {told}field. }}"
    yield f"transitivity ({result})."
    yield "{ repeat rewrite total_plus; repeat rewrite total_scale; reflexivity. }"
    for inner, variable in {inner: variable for *_, inner, variable in pieces}.items():
        yield from _merged(letter, inner, variable, names)
    yield "field."


def _merged(letter: str, inner: Monomial, variable: str, names: Names) -> Iterator[str]:
    """Where a sum is within the sum: both are one over all of their letters, in order."""
    bound, factors = summand_of(variable)
    if bound == {letter} and factors == inner:
        return
    sums = [name for name, e in inner if name.startswith("sum_") and e == 1]
    others = sorted(bound - {letter})
    if len(sums) != 1 or not others:
        raise Unsupported(f"a sum {variable}")
    if letter < others[0] and inner == ((sums[0], 1),):
        return  # the sum over all of them, as it stands
    rest = names.product(tuple(factor for factor in inner if factor[0] != sums[0]))
    within = names.product(summand_of(sums[0])[1])
    pair = f"({rest}) * ({within})"
    yield f"assert (M : {names.total([letter], names.product(inner))} = {names.term(variable)})."
    yield f"{{ transitivity ({names.total([letter, *others], pair)})."
    yield f"  {{ apply total_ext; {names.intros([letter])}."
    yield f"    transitivity (({rest}) * ({names.total(others, within)})); [ring |]."
    for k, other in enumerate(others, 1):
        scaled = names.total([other], f"({rest}) * ({names.total(others[k:], within)})")
        yield f"    transitivity ({scaled}); [symmetry; apply total_scale |]."
        yield f"    apply total_ext; {names.intros([other])}."
    yield "    reflexivity. }"
    while others and others[0] < letter:
        first, *others = others
        sets, elements = (f"{names[f'{word} {letter}']} {names[f'{word} {first}']}" for word in ("set", "in"))
        yield f"  transitivity ({names.total([first, letter, *others], pair)})."
        yield f"  {{ apply (total_exchange {sets} (fun {elements} => {names.total(others, pair)})). }}"
        yield f"  apply total_ext; {names.intros([first])}."
    for one in (letter, *others):
        yield f"  apply total_ext; {names.intros([one])}."
    yield "  ring. }"
    yield "rewrite M; clear M."
