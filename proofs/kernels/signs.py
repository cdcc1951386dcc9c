"""The sign of each term and of their sum, as proof terms: the same in every language, but for its words."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from fractions import Fraction

from proofs.kernels.theorems import Multiple, Product, Theorem
from proofs.language.polynomials import Polynomial
from proofs.language.relations import Relation

__all__ = ["Language", "Signed", "factor_text", "signed_terms", "sum_is_positive", "text_of", "wrapped"]


@dataclass(frozen=True)
class Language:
    """How a language writes relations and cites its lemmas; {} are the places of texts and proofs.

    Attributes
    ----------
    relations : dict of str to str
        By sign, of a polynomial to 0.
    number : str
        Proof of ``0 < {0}`` or ``0 <= {0}``, where the relation is {1}.
    weaker : str
        ``0 <= a`` from a proof of ``0 < a``.
    square : str
        ``0 <= a^2``.
    products, sums : tuple of str
        Proof that a product, a sum is positive (of a sum: because the first one is), and that it is not
        negative.
    multiple : str
        ``0 <= q * e`` from a proof of ``e = 0``.
    """

    relations: dict[str, str]
    number: str
    weaker: str
    square: str
    products: tuple[str, str]
    sums: tuple[str, str]
    multiple: str

    def relation(self, r: Relation) -> str:
        """A relation between a polynomial and 0."""
        return self.relations[r.sign].format(text_of(r.left))

    def compared(self, text: str, *, strict: bool) -> str:
        """That what the text says is positive, or not negative."""
        return self.relations[">" if strict else ">="].format(text)


@dataclass(frozen=True)
class Signed:
    """A term: its text, whether it is positive, and the proof of its sign from the premises."""

    text: str
    strict: bool
    proof: str


def signed_terms(theorem: Theorem, language: Language) -> list[Signed]:
    """The terms of a theorem; hypotheses are called H1, H2, ..., and the negated conclusion ``negated``."""
    return [
        _multiple(theorem, term, language)
        if isinstance(term, Multiple)
        else _product(theorem, term, language)
        for term in theorem.terms
    ]


def sum_is_positive(terms: list[Signed], language: Language) -> str:
    """Proof that t1 + (t2 + (t3 + ...)) is positive, from T1, T2, T3, ... on the terms, T1 being strict."""
    if len(terms) == 1:
        return "T1"
    names = [language.weaker.format(f"T{k}") if t.strict else f"T{k}" for k, t in enumerate(terms, 1)]
    rest = names[-1]
    for name in reversed(names[1:-1]):
        rest = language.sums[1].format(name, rest)
    return language.sums[0].format("T1", rest)


def _multiple(theorem: Theorem, term: Multiple, language: Language) -> Signed:
    text = f"({text_of(term.cofactor)}) * ({text_of(theorem.hypothesis(term.equation).left)})"
    return Signed(text, False, language.multiple.format(_name(term.equation)))


def _product(theorem: Theorem, term: Product, language: Language) -> Signed:
    factors = [_factor(theorem, number, language, strict=term.strict) for number in term.factors]
    if term.square is not None:
        factors.append((f"({text_of(term.square)})^2", language.square))
    if term.coefficient != 1 or not factors:
        number = str(term.coefficient)
        compared = language.compared(number, strict=term.strict)
        factors.insert(0, (number, language.number.format(number, compared)))
    text, proof = factors[0]
    for factor, sign in factors[1:]:
        text, proof = f"{text} * {factor}", language.products[not term.strict].format(proof, sign)
    return Signed(text, term.strict, proof)


def _factor(theorem: Theorem, number: int, language: Language, *, strict: bool) -> tuple[str, str]:
    """A premise as a factor: its text, and the proof of its sign."""
    positive = theorem.positive(number)
    proof = language.weaker.format(_name(number)) if positive and not strict else _name(number)
    return factor_text(theorem, number), proof


def factor_text(theorem: Theorem, number: int) -> str:
    """The left side of a premise, as far as it is no equation: what differs from 0 is squared."""
    r = theorem.hypothesis(number)
    text = f"({text_of(r.left)})"
    if r.sign == ("==" if number < 0 else "!="):
        return f"({text} * {text})"
    return f"(- {text})" if number < 0 else text


def _name(number: int) -> str:
    return "negated" if number < 0 else f"H{number + 1}"


def text_of(p: Polynomial | Fraction) -> str:
    """A polynomial or a number, as both languages write it."""
    return str(p).replace("**", "^")


def wrapped(*paragraphs: str) -> list[str]:
    """Lines of comments."""
    return [line for text in paragraphs for line in textwrap.wrap(text, 100)]
