"""What follows from the assumptions on the letters: points that meet them, signs, implications."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import sympy
from sympy.core.relational import Relational

from proofs.symbolic.decisions.deciding import Decision, decide
from proofs.symbolic.decisions.formulas import conjunction, holds, negated

__all__ = ["Ground"]

_KINDS = {"<": sympy.Gt, ">": sympy.Gt, "<=": sympy.Ge, ">=": sympy.Ge, "==": sympy.Eq, "!=": sympy.Ne}
_SMALL = [
    Fraction(v) for v in ("1", "2", "3", "1/2", "1/3", "1/4", "3/4", "3/2", "5", "7/8", "1/10", "0", "-1")
]

POINTS = 60
TRIES = 4000
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
        self._signs: dict[Any, int | None] = {}
        self._answers: dict[Any, Decision] = {}
        self.points: list[dict[str, Fraction]] = self._sampled()

    def _sampled(self) -> list[dict[str, Fraction]]:
        """Small rational points that meet the assumptions; integers among them, so that ties occur."""
        rng, found = random.Random(SEED), []
        names = [symbol.name for symbol in self.letters]
        for _ in range(TRIES):
            point = {name: rng.choice(_SMALL) for name in names}
            if all(holds(f, point) for f in self._formulas):
                found.append(point)
                if len(found) == POINTS:
                    break
        return found

    def with_letters(self, more: Iterable[Any]) -> Ground:
        """The ground with further letters, which are > 0."""
        symbols = tuple(more)
        positive = (sympy.Gt(symbol, 0, evaluate=False) for symbol in symbols)
        return Ground((*self.letters, *symbols), (*self.assumptions, *positive))

    def can(self, conditions: Iterable[Any], *, both: bool = False, time_limit: float = PATIENCE) -> Decision:
        """Whether the conditions can be met under the assumptions."""
        made = conjunction(conditions)
        key = (frozenset(made), both)
        if key not in self._answers:
            decision = decide((*self._formulas, *made), points=self.points, both=both, time_limit=time_limit)
            if decision.answer == "yes" and decision.point and "a point" not in decision.by:
                self._remember(decision.point)
            self._answers[key] = decision
        return self._answers[key]

    def _remember(self, point: dict[str, Any]) -> None:
        """A point that a solver found settles other questions too."""
        exact = {name: _fraction(value) for name, value in point.items()}
        if None in exact.values():
            return
        whole: dict[str, Any] = {symbol.name: exact.get(symbol.name, Fraction(1)) for symbol in self.letters}
        if all(holds(f, whole) for f in self._formulas):
            self.points.append(whole)

    def implies(self, condition: Any, given: Iterable[Any] = ()) -> bool:
        """Whether a relation is known to follow from the assumptions and the given relations."""
        (wanted,) = conjunction(condition)
        return self.can((*given, negated(wanted))).answer == "no"

    def sign(self, expression: Any, given: Iterable[Any] = ()) -> int | None:
        """1, -1 or 0 if a polynomial is known to be positive, negative or zero where the given holds."""
        expression, given = sympy.sympify(expression), tuple(given)
        if (expression, ()) not in self._signs:
            self._signs[expression, ()] = self._found_sign(expression, ())
        known = self._signs[expression, ()]
        if known is not None or not given:
            return known
        if (expression, given) not in self._signs:
            self._signs[expression, given] = self._found_sign(expression, given)
        return self._signs[expression, given]

    def _found_sign(self, expression: Any, given: tuple[Any, ...]) -> int | None:
        if expression.is_number:
            return int(sympy.sign(expression))
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
            return sympy.true if sign > 0 else self.tidy(sympy.Eq(roots, 0, evaluate=False), given)
        product = sympy.expand(sympy.prod(kept))
        if not ordered:
            sign = -1 if product.could_extract_minus_sign() else 1
        return kind(sympy.expand(sign * product), 0, evaluate=False)


def _fraction(value: Any) -> Fraction | None:
    if isinstance(value, Fraction):
        return value
    return Fraction(int(value.p), int(value.q)) if getattr(value, "is_Rational", False) else None
