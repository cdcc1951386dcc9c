"""Quotients of polynomials, multiplied out: ``x/a + 1/b`` has the numerator ``b*x + a`` over ``a*b``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from proofs.errors import ProofError
from proofs.language.polynomials import ARITHMETIC, Polynomial, polynomial, polynomial_of
from proofs.language.relations import Relation

__all__ = ["Quotient", "quotient", "sign_of"]

ONE = polynomial(1)


@dataclass(frozen=True)
class Quotient:
    """A polynomial over powers of polynomials that are not constant.

    Attributes
    ----------
    numerator : Polynomial
    divisors : dict of Polynomial to int
        Exponents, >= 1; 0 for what was divided by and cancelled, which must not be 0 all the same.
    """

    numerator: Polynomial
    divisors: Mapping[Polynomial, int]

    def __add__(self, other: Quotient) -> Quotient:
        common = _largest(self.divisors, other.divisors)
        return Quotient(_over(self, common) + _over(other, common), common)

    def __neg__(self) -> Quotient:
        return Quotient(-self.numerator, self.divisors)

    def __sub__(self, other: Quotient) -> Quotient:
        return self + -other

    def __mul__(self, other: Quotient) -> Quotient:
        names = [*self.divisors, *other.divisors]
        divisors = {d: self.divisors.get(d, 0) + other.divisors.get(d, 0) for d in names}
        return Quotient(self.numerator * other.numerator, divisors)

    def inverse(self) -> Quotient:
        """One over it; what it divides by must not be 0 still."""
        numerator = _over(Quotient(ONE, {}), self.divisors)
        kept = dict.fromkeys(self.divisors, 0)
        factor, divisors = _factors(self.numerator)
        for divisor, exponent in divisors.items():
            kept[divisor] = kept.get(divisor, 0) + exponent
        return Quotient(numerator * polynomial(1 / factor), kept)


def quotient(node: ast.expr, text: str) -> Quotient:
    """The quotient of polynomials that an expression of the text is.

    Raises
    ------
    ProofError
        If it is none, or divides by 0.
    """
    match node:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = _inverse(right, text)
            return quotient(left, text) * divisor
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            return ARITHMETIC[type(op)](quotient(left, text), quotient(right, text))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -quotient(operand, text)
        case ast.BinOp(left=left, op=ast.Pow(), right=power):
            exponent = polynomial_of(power, text).constant
            if exponent is None or exponent.denominator != 1:
                raise ProofError(
                    f"{text!r} holds {ast.unparse(node)!r}: powers are whole numbers; for a root, take a "
                    "variable and say which, as in r >= 0 and r**2 == x"
                )
            base = _inverse(left, text) if exponent < 0 else quotient(left, text)
            size = abs(exponent.numerator)
            return Quotient(base.numerator**size, {d: e * size for d, e in base.divisors.items()})
    return Quotient(polynomial_of(node, text), {})


def _inverse(node: ast.expr, text: str) -> Quotient:
    """One over the quotient that an expression is."""
    divisor = quotient(node, text)
    if not divisor.numerator.terms:
        raise ProofError(f"{text!r} divides by {ast.unparse(node)}, which is 0")
    return divisor.inverse()


def _factors(p: Polynomial) -> tuple[Fraction, dict[Polynomial, int]]:
    """A constant times powers: of the variables of a monomial, or one polynomial in coprime whole numbers."""
    if len(p.terms) == 1:
        ((monomial, factor),) = p.terms.items()
        return factor, {Polynomial({((name, 1),): Fraction(1)}): e for name, e in monomial}
    coefficients = [p.terms[monomial] for monomial in sorted(p.terms)]
    factor = Fraction(gcd(*(c.numerator for c in coefficients)), lcm(*(c.denominator for c in coefficients)))
    factor = -factor if coefficients[-1] < 0 else factor
    return factor, {p * polynomial(1 / factor): 1}


def _largest(first: Mapping[Polynomial, int], second: Mapping[Polynomial, int]) -> dict[Polynomial, int]:
    return {d: max(first.get(d, 0), second.get(d, 0)) for d in [*first, *second]}


def _over(given: Quotient, divisors: Mapping[Polynomial, int]) -> Polynomial:
    """The numerator that belongs to larger exponents."""
    numerator = given.numerator
    for divisor, exponent in divisors.items():
        numerator = numerator * divisor ** (exponent - given.divisors.get(divisor, 0))
    return numerator


def sign_of(p: Polynomial, known: Iterable[Relation]) -> str:
    """What relations say of the sign of a polynomial, each alone: one of > >= == <= < !=, or "".

    A relation tells it of the multiples of its own polynomial, plus a constant; then a sum of monomials has
    a sign where those of all variables in them fit together.
    """
    known = tuple(known)
    told = _direct(p, known)
    if told:
        return told
    letters = {name: _direct(Polynomial({((name, 1),): Fraction(1)}), known) for name in p.variables}
    signs = {_monomial(monomial, c, letters) for monomial, c in p.terms.items()}
    for strict, weak in ((">", ">="), ("<", "<=")):
        if signs <= {strict, weak, "=="}:
            return strict if strict in signs else weak
    return ""


def _direct(p: Polynomial, known: tuple[Relation, ...]) -> str:
    value = p.constant
    if value is not None:
        return ">" if value > 0 else "<" if value < 0 else "=="
    monomial = next(m for m in p.terms if m)
    told = set()
    for r in known:
        if monomial not in r.left.terms:
            continue
        factor = p.terms[monomial] / r.left.terms[monomial]
        rest = (p - polynomial(factor) * r.left).constant
        if rest is None or (r.sign == "!=" and rest):
            continue
        if r.sign in ("==", "!="):
            told.add(r.sign if not rest else ">" if rest > 0 else "<")
        elif factor > 0 and rest >= 0:
            told.add(">" if rest or r.strict else ">=")
        elif factor < 0 and rest <= 0:
            told.add("<" if rest or r.strict else "<=")
    for strict, weak in ((">", ">="), ("<", "<=")):
        if strict in told or told >= {weak, "!="}:
            return strict
    return next((sign for sign in ("!=", "==", ">=", "<=") if sign in told), "")


def _monomial(monomial: tuple[tuple[str, int], ...], c: Fraction, letters: Mapping[str, str]) -> str:
    """The sign of one term, from those of its variables."""
    positive, strict = c > 0, True
    for name, exponent in monomial:
        sign = letters[name]
        if sign == "==":
            return "=="
        strict = strict and sign in (">", "<", "!=")
        if exponent % 2:
            if sign in ("", "!="):
                return ""
            positive = positive == (sign in (">", ">="))
    return (">" if strict else ">=") if positive else ("<" if strict else "<=")
