"""What follows from the assumptions on the letters: points that meet them, signs, implications."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice
from numbers import Rational
from typing import Any

import sympy
from sympy.core.relational import Relational

from proofs.language.relations import Relation, variables_of
from proofs.symbolic.decisions.deciding import Decision, decide
from proofs.symbolic.decisions.formulas import (
    Formula,
    above_zero,
    conjunction,
    equals_zero,
    exact,
    holds,
    negated,
    relation_of,
    relations_in,
    true_by,
)

__all__ = ["Ground"]

_KINDS = {"<": sympy.Gt, ">": sympy.Gt, "<=": sympy.Ge, ">=": sympy.Ge, "==": sympy.Eq, "!=": sympy.Ne}
_SMALL = [
    Fraction(v) for v in ("1", "2", "3", "1/2", "1/3", "1/4", "3/4", "3/2", "5", "7/8", "1/10", "0", "-1")
]

POINTS = 60
TRIES = 3000
SEED = 17
PATIENCE = 3.0
"""Seconds for each question."""


class Ground:
    """Letters and what is assumed about them; answers are kept.

    Parameters
    ----------
    letters : tuple of sympy symbols
    assumptions : tuple of sympy relationals, polynomial
    """

    def __init__(self, letters: tuple[Any, ...], assumptions: tuple[Any, ...]) -> None:
        self.letters = letters
        self.assumptions = assumptions
        self._formulas = conjunction(assumptions)
        self._positive = {name for f in self._formulas if (name := _positive(f)) is not None}
        self._signs: dict[Any, int | None] = {}
        self._answers: dict[Any, Decision] = {}
        self._truths: dict[Relation, list[bool]] = {}
        self.points: list[dict[str, Fraction]] = self._sampled()

    def _sampled(self) -> list[dict[str, Fraction]]:
        """Small rational points that meet the assumptions; integers among them, so that ties occur."""
        rng, choices = random.Random(SEED), {}
        for symbol in self.letters:
            own = [f for f in self._formulas if _names([f]) == {symbol.name}]
            choices[symbol.name] = [v for v in _SMALL if all(holds(f, {symbol.name: v}) for f in own)]
        if not all(choices.values()):
            return []
        shared = ("and", tuple(f for f in self._formulas if len(_names([f])) > 1))
        drawn = ({name: rng.choice(values) for name, values in choices.items()} for _ in range(TRIES))
        return list(islice((point for point in drawn if holds(shared, point)), POINTS))

    def fresh(self, name: str) -> Any:
        """A symbol that is none of the letters, of this name or, if it is taken, with ``_`` behind it."""
        taken = {symbol.name for symbol in self.letters}
        while name in taken:
            name += "_"
        return sympy.Symbol(name, real=True)

    def with_letters(self, more: Iterable[Any]) -> Ground:
        """The ground with further letters, which are > 0."""
        symbols = tuple(more)
        positive = (above_zero(symbol) for symbol in symbols)
        return Ground((*self.letters, *symbols), (*self.assumptions, *positive))

    def can(self, conditions: Iterable[Any], *, both: bool = False, time_limit: float = PATIENCE) -> Decision:
        """Whether the conditions can be met under the assumptions."""
        made = conjunction(conditions)
        key = (frozenset(made), both)
        if key not in self._answers:
            self._answers[key] = self._tried(made) or self._decided(made, both, time_limit)
        return self._answers[key]

    def excludes(self, conditions: Iterable[Any]) -> bool:
        """Whether the conditions are known not to be met together under the assumptions."""
        return self.can(conditions).answer == "no"

    def _tried(self, made: tuple[Formula, ...]) -> Decision | None:
        """Yes, if a known point meets the conditions."""
        if _names(made) <= {symbol.name for symbol in self.letters}:
            for k, point in enumerate(self.points):
                if all(true_by(f, partial(self._true, k)) for f in made):
                    return Decision("yes", point, ("a point",))
        return None

    def _true(self, k: int, r: Relation) -> bool:
        """Whether a relation holds at the k-th point; what is known is kept."""
        truths = self._truths.setdefault(r, [])
        while len(truths) <= k:
            truths.append(r.holds(self.points[len(truths)]))
        return truths[k]

    def _decided(self, made: tuple[Formula, ...], both: bool, time_limit: float) -> Decision:
        """The answer by table or solvers; assumptions on letters that have no part in it are left out."""
        names, used, rest = _names(made), list[Formula](), list(self._formulas)
        while near := [f for f in rest if not self.points or not names.isdisjoint(_names([f]))]:
            used += near
            rest = [f for f in rest if f not in near]
            names |= _names(near)
        decision = decide((*used, *made), both=both, time_limit=time_limit)
        if decision.point is None:
            return decision
        # What is left out is met at any known point.
        whole = {**(self.points[0] if self.points else {}), **decision.point}
        known = {name: exact(value) for name, value in whole.items() if isinstance(value, Rational)}
        mine = [symbol.name for symbol in self.letters]
        if known.keys() >= set(mine):
            self.points.append({name: known[name] for name in mine})
        return replace(decision, point=whole)

    def met(self, conditions: Iterable[Any]) -> tuple[Any, ...] | None:
        """The conditions once each, without what is true; None if they are known not to be met together."""
        made = tuple(dict.fromkeys(c for c in conditions if c != sympy.true))
        return None if sympy.false in made or self.excludes(made) else made

    def implies(self, condition: Any, given: Iterable[Any] = ()) -> bool:
        """Whether a relation is known to follow from the assumptions and the given relations."""
        (wanted,) = conjunction(condition)
        return self.excludes((*given, negated(wanted)))

    def knows(self, relational: Any, given: Iterable[Any] = ()) -> bool:
        """Whether a relation of quotients is known to hold where the given relations do."""
        given = tuple(given)
        tidy = self.tidy(relational, given)
        return bool(tidy == sympy.true or (tidy != sympy.false and self.implies(tidy, given)))

    def sign(self, expression: Any, given: Iterable[Any] = ()) -> int | None:
        """1, -1 or 0 if a polynomial is known to be positive, negative or zero where the given holds."""
        expression, given = sympy.sympify(expression), tuple(given)
        known = self._sign(expression, ())
        return known if known is not None or not given else self._sign(expression, given)

    def _sign(self, expression: Any, given: tuple[Any, ...]) -> int | None:
        """The sign, which is kept."""
        if (expression, given) not in self._signs:
            self._signs[expression, given] = self._found_sign(expression, given)
        return self._signs[expression, given]

    def _found_sign(self, expression: Any, given: tuple[Any, ...]) -> int | None:
        if expression.is_number:
            return int(sympy.sign(expression))
        terms = relation_of(above_zero(expression)).left.terms  # of p*q for a quotient p/q
        if {name for monomial in terms for name, _ in monomial} <= self._positive:
            signs = {1 if c > 0 else -1 for c in terms.values()}
            if len(signs) == 1:
                return signs.pop()
        for sign, made in ((1, sympy.Gt), (-1, sympy.Lt), (0, sympy.Eq)):
            if self.implies(made(expression, 0, evaluate=False), given):
                return sign
        return None

    def tidy(self, relational: Any, given: Iterable[Any] = ()) -> Any:
        """The same relation on this ground as simply as it can be said: p > 0, p >= 0 or p == 0.

        Denominators are multiplied out by their sign, factors of known sign are cancelled, numbers are
        divided out; true and false come back as such. Signs are those where the given relations hold.
        """
        if not isinstance(relational, Relational):
            return relational
        kind, given = _KINDS[relational.rel_op], tuple(given)
        left = relational.lhs - relational.rhs
        top, bottom = sympy.fraction(sympy.together(-left if relational.rel_op in ("<", "<=") else left))
        if sympy.expand(top) == 0:
            return kind(0, 0)
        constant, factors = sympy.factor_list(top)
        divisor, divisors = sympy.factor_list(bottom)
        sign, kept, ordered = sympy.sign(constant * divisor), [], kind in (sympy.Gt, sympy.Ge)
        for factor, power in (*factors, *((f, -k) for f, k in divisors)):
            known = self.sign(factor, given)
            if known is not None:
                sign *= known ** abs(power)
            elif power > 0:
                # An even power is positive only where the factor is not 0.
                kept.append(factor ** (2 - power % 2) if ordered else factor)
            elif ordered and power % 2:
                kept.append(factor)
        if not kept or sign == 0:
            return kind(sign, 0)
        if kind is sympy.Ge and all(part.is_Pow for part in kept):
            # Squares: never negative, and at most 0 only where one of them is 0.
            roots = sympy.prod(part.base for part in kept)
            return sympy.true if sign > 0 else self.tidy(equals_zero(roots), given)
        product = sympy.expand(sympy.prod(kept))
        if not ordered:
            sign = -1 if product.could_extract_minus_sign() else 1
        return kind(sympy.expand(sign * product), 0, evaluate=False)


def _names(formulas: Iterable[Formula]) -> set[str]:
    return set(variables_of(relations_in(formulas)))


def _positive(formula: Formula) -> str | None:
    """The letter of an assumption such as a > 0 or a >= 1, which says that it is positive."""
    if not isinstance(formula, Relation) or formula.left.degree != 1 or len(formula.left.variables) != 1:
        return None
    (name,) = formula.left.variables
    at_zero = formula.left.at({name: 0})
    rising = formula.left.at({name: 1}) > at_zero
    excluded = at_zero <= 0 if formula.sign == ">" else at_zero < 0
    return name if formula.sign in (">", ">=") and rising and excluded else None
