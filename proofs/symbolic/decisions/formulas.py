"""Relations of sympy as those of :mod:`proofs.language.relations`, which checker and solvers understand.

A formula is a relation, or a pair ("and" | "or", formulas).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from sympy.core.relational import Relational

from fairness.errors import ModelError
from proofs.language.polynomials import Polynomial
from proofs.language.relations import KEPT, Relation, compared

__all__ = [
    "Formula",
    "above_zero",
    "at_least_zero",
    "conjunction",
    "divisor_of",
    "dot",
    "equals_zero",
    "exact",
    "holds",
    "holds_by_signs",
    "is_rational",
    "negated",
    "numerator_of",
    "poly_of",
    "polynomial_of",
    "relation_of",
    "relations_in",
    "true_by",
]

Formula = Relation | tuple[str, tuple[Any, ...]]


def above_zero(value: Any) -> Any:
    """The relation value > 0 as it stands: sympy decides nothing of it and turns nothing round."""
    return sympy.Gt(value, 0, evaluate=False)


def at_least_zero(value: Any) -> Any:
    """The relation value >= 0 as it stands."""
    return sympy.Ge(value, 0, evaluate=False)


def equals_zero(value: Any) -> Any:
    """The relation value == 0 as it stands."""
    return sympy.Eq(value, 0, evaluate=False)


def dot(first: Iterable[Any], second: Iterable[Any]) -> Any:
    """Sum of the products."""
    return sympy.Add(*(u * v for u, v in zip(first, second, strict=True)))


def numerator_of(expression: Any) -> Any:
    """What stands above the line when an expression is one quotient."""
    return sympy.fraction(sympy.together(expression))[0]


def divisor_of(expression: Any) -> Any:
    """What stands below the line when an expression is one quotient."""
    return sympy.fraction(sympy.together(expression))[1]


def is_rational(expression: Any) -> bool:
    """Whether an expression is a quotient of polynomials over the rationals: no root, of a number either."""
    return all(power.exp.is_Integer for power in expression.atoms(sympy.Pow))


def polynomial_of(expression: Any) -> Polynomial:
    """An expression of sympy as a polynomial over the rationals, its variables named as its letters.

    Raises
    ------
    ModelError
        If it is no such polynomial.
    """
    letters = sorted(expression.free_symbols, key=lambda symbol: symbol.name)
    try:
        terms = sympy.Poly(expression, *letters, domain="QQ").terms() if letters else [((), expression)]
        return Polynomial(
            {
                tuple((s.name, e) for s, e in zip(letters, powers, strict=True) if e): exact(c)
                for powers, c in terms
                if c != 0
            }
        )
    except (sympy.PolynomialError, sympy.CoercionFailed, AttributeError, TypeError):
        raise ModelError(
            f"{expression} is no polynomial over the rationals; multiply denominators out and take "
            "fractions for irrational numbers"
        ) from None


@lru_cache(maxsize=10_000)
def relation_of(relational: Any) -> Relation:
    """A relational of sympy between polynomials or quotients of them.

    A quotient p/q is compared with 0 as p*q, which has its sign wherever q is not 0.
    """
    if relational in (sympy.true, sympy.false):
        return Relation(Polynomial({}), "==" if relational == sympy.true else "!=")
    if not isinstance(relational, Relational):
        raise ModelError(f"{relational!r} is no relation")
    sign = relational.rel_op
    top, bottom = sympy.fraction(sympy.together(relational.lhs - relational.rhs))
    left = top if bottom.is_number and bottom > 0 else top if sign in ("==", "!=") else top * bottom
    return compared(polynomial_of(left), sign)


def conjunction(conditions: Any) -> tuple[Formula, ...]:
    """What is to hold together: relations, Boolean expressions of sympy or formulas, as formulas."""
    if isinstance(conditions, Relation | Relational) or not isinstance(conditions, Iterable):
        conditions = (conditions,)
    return tuple(_formula(condition) for condition in conditions)


def _formula(condition: Any, positive: bool = True) -> Formula:
    if isinstance(condition, Relation):
        return condition if positive else condition.negated
    if isinstance(condition, tuple):
        name, parts = condition
        turned = name if positive else "and" if name == "or" else "or"
        return turned, tuple(_formula(part, positive) for part in parts)
    if isinstance(condition, sympy.Not):
        return _formula(condition.args[0], not positive)
    if isinstance(condition, sympy.And | sympy.Or):
        name = "and" if isinstance(condition, sympy.And) == positive else "or"
        return name, tuple(_formula(part, positive) for part in condition.args)
    made = relation_of(condition)
    return made if positive else made.negated


def negated(formula: Formula) -> Formula:
    """The formula that holds exactly where this one does not."""
    return _formula(formula, positive=False)


def relations_in(formulas: Iterable[Formula]) -> list[Relation]:
    """All relations of some formulas."""
    found: list[Relation] = []
    for formula in formulas:
        found += [formula] if isinstance(formula, Relation) else relations_in(formula[1])
    return found


def true_by(formula: Formula, truth: Callable[[Relation], bool]) -> bool:
    """Whether a formula holds by what its relations say."""
    if isinstance(formula, Relation):
        return truth(formula)
    every = all if formula[0] == "and" else any
    return every(true_by(part, truth) for part in formula[1])


def holds(formula: Formula, values: Mapping[str, Fraction | int]) -> bool:
    """Whether a formula holds at a point."""
    return true_by(formula, lambda r: r.holds(values))


def holds_by_signs(formula: Formula, sign: Callable[[Polynomial], int]) -> bool:
    """Whether a formula holds where its polynomials have these signs: -1, 0 or 1."""
    return true_by(formula, lambda r: sign(r.left) in KEPT[r.sign])


def poly_of(p: Polynomial, *letters: Any) -> Any:
    """A polynomial as one of sympy in these letters, over the rationals."""
    terms = {
        tuple(dict(m).get(one.name, 0) for one in letters): sympy.Rational(c) for m, c in p.terms.items()
    }
    return sympy.Poly.from_dict(terms or {(0,) * len(letters): 0}, *letters, domain="QQ")


def exact(number: Any) -> Fraction:
    """A rational number, of sympy or any other, as a fraction."""
    return Fraction(int(number.numerator), int(number.denominator))
