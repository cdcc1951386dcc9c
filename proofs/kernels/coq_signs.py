"""The sign of each term and of their sum in Coq, as proof terms."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from fractions import Fraction

from proofs.kernels.identifiers import COMPARED
from proofs.kernels.theorems import Multiple, Product, Theorem
from proofs.language.polynomials import Polynomial
from proofs.language.relations import Relation

__all__ = ["Signed", "compared", "signed_terms", "stated", "sum_is_positive", "wrapped"]

PRODUCTS = ("(Rmult_lt_0_compat _ _ {} {})", "(Rmult_le_pos _ _ {} {})")
"""That a product is positive, and that it is not negative."""
SUMS = ("(Rplus_lt_le_0_compat _ _ {} {})", "(Rplus_le_le_0_compat _ _ {} {})")
"""That a sum is positive because its first term is, and that it is not negative."""
WEAKER = "(Rlt_le _ _ {})"
"""That what is positive is not negative."""


@dataclass(frozen=True)
class Signed:
    """A term: its text, whether it is positive, and the proof of its sign from the premises."""

    text: str
    strict: bool
    proof: str


def stated(r: Relation) -> str:
    """A relation between a polynomial and 0."""
    return COMPARED[r.sign].format(_text(r.left))


def compared(text: str, *, strict: bool) -> str:
    """That what the text says is positive, or not negative."""
    return COMPARED[">" if strict else ">="].format(text)


def signed_terms(theorem: Theorem) -> list[Signed]:
    """The terms of a theorem; hypotheses are called H1, H2, ..., and the negated conclusion ``negated``."""
    return [
        _multiple(theorem, term) if isinstance(term, Multiple) else _product(theorem, term)
        for term in theorem.terms
    ]


def sum_is_positive(terms: list[Signed]) -> str:
    """Proof that t1 + (t2 + (t3 + ...)) is positive, from T1, T2, T3, ... on the terms, T1 being strict."""
    if len(terms) == 1:
        return "T1"
    names = [WEAKER.format(f"T{k}") if t.strict else f"T{k}" for k, t in enumerate(terms, 1)]
    rest = names[-1]
    for name in reversed(names[1:-1]):
        rest = SUMS[1].format(name, rest)
    return SUMS[0].format("T1", rest)


def _multiple(theorem: Theorem, term: Multiple) -> Signed:
    text = f"({_text(term.cofactor)}) * ({_text(theorem.hypothesis(term.equation).left)})"
    return Signed(text, False, f"(multiple_of_zero _ _ {_name(term.equation)})")


def _product(theorem: Theorem, term: Product) -> Signed:
    factors = [_factor(theorem, number, strict=term.strict) for number in term.factors]
    if term.square is not None:
        factors.append((f"({_text(term.square)})^2", "(pow2_ge_0 _)"))
    if term.coefficient != 1 or not factors:
        number = str(term.coefficient)
        factors.insert(0, (number, f"(ltac:(lra) : {compared(number, strict=term.strict)})"))
    text, proof = factors[0]
    for factor, sign in factors[1:]:
        text, proof = f"{text} * {factor}", PRODUCTS[not term.strict].format(proof, sign)
    return Signed(text, term.strict, proof)


def _factor(theorem: Theorem, number: int, *, strict: bool) -> tuple[str, str]:
    """A premise as a factor: its text, and the proof of its sign."""
    positive = theorem.positive(number)
    proof = WEAKER.format(_name(number)) if positive and not strict else _name(number)
    return _factor_text(theorem, number), proof


def _factor_text(theorem: Theorem, number: int) -> str:
    """The left side of a premise, as far as it is no equation: what differs from 0 is squared."""
    r = theorem.hypothesis(number)
    text = f"({_text(r.left)})"
    if r.sign == ("==" if number < 0 else "!="):
        return f"({text} * {text})"
    return f"(- {text})" if number < 0 else text


def _name(number: int) -> str:
    return "negated" if number < 0 else f"H{number + 1}"


def _text(p: Polynomial | Fraction) -> str:
    """A polynomial or a number in Coq."""
    return str(p).replace("**", "^")


def wrapped(*paragraphs: str) -> list[str]:
    """Lines of comments."""
    return [line for text in paragraphs for line in textwrap.wrap(text, 100)]
