r"""Prices of two resources under proportional fairness.

With prices q and M - q of the two whole resources, :math:`0 < q < M = \sum_i m_i`, the tasks
:math:`\varphi_i = m_i/b_i(q)` with the bills :math:`b_i(q) = q c_{i1} + (M - q) c_{i2}` fill both resources
exactly at the minimum of the convex function

.. math:: h(q) = -\sum_i m_i \log b_i(q), \qquad
   h'(q) = -\sum_i m_i \frac{c_{i1} - c_{i2}}{b_i(q)} = \sum_i \varphi_i c_{i2} - \sum_i \varphi_i c_{i1},

for the bills sum to :math:`M = q \sum_i \varphi_i c_{i1} + (M - q) \sum_i \varphi_i c_{i2}`: where the two
sums are equal, both are 1. The numerator of h' over the positive denominator :math:`\prod_i b_i` is a
polynomial :math:`G(q)` of degree n - 1, and the root that counts is where it turns from - to + between 0 and
M. There is one exactly when :math:`G(0) < 0 < G(M)`, and only one, because h is convex.

For :math:`G = A q^2 + B q + D` that is the root with :math:`2 A q + B = \sqrt{B^2 - 4 A D}`,

.. math:: q = \frac{\sqrt{B^2 - 4 A D} - B}{2 A} = \frac{-2 D}{B + \sqrt{B^2 - 4 A D}},

the second form also where A = 0: its denominator is positive, as D < 0, and B > 0 where A <= 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import sympy

from proofs.symbolic.decisions.assumptions import Ground
from proofs.symbolic.decisions.formulas import above_zero, at_least_zero, equals_zero
from proofs.symbolic.policies.simplifying import simplest

__all__ = ["TwoPrices"]

_S = sympy.Dummy("s", positive=True)


class TwoPrices:
    """Groups of classes that share two resources, both with a price.

    Parameters
    ----------
    ground : Ground
    rows : sequence of pairs
        c_i1 and c_i2 of each group.
    masses : sequence of expressions
    given : tuple of relationals
    """

    def __init__(
        self, ground: Ground, rows: Sequence[Sequence[Any]], masses: Sequence[Any], given: tuple[Any, ...]
    ) -> None:
        self.ground = ground
        self.q = ground.fresh("q")
        self.total = sympy.cancel(sympy.Add(*masses))
        bills = [self.q * row[0] + (self.total - self.q) * row[1] for row in rows]
        self.totals = [m / bill for m, bill in zip(masses, bills, strict=True)]
        self.prices = [self.q, self.total - self.q]
        slope = sympy.Add(
            *(
                -m * (row[0] - row[1]) * sympy.Mul(*(b for k, b in enumerate(bills) if k != i))
                for i, (m, row) in enumerate(zip(masses, rows, strict=True))
            )
        )
        top, bottom = sympy.fraction(sympy.cancel(slope))
        # Cleared of positive denominators and of common factors of the coefficients.
        common = sympy.gcd_list(sympy.Poly(top, self.q).all_coeffs())
        sign = ground.sign(common / bottom, given)
        self.polynomial = sympy.Poly(sympy.cancel(sign * top / common) if sign else top * bottom, self.q)
        self.degree = self.polynomial.degree()
        self.conditions = tuple(
            ground.tidy(above_zero(value), given)
            for value in (-self.polynomial.eval(0), sympy.cancel(self.polynomial.eval(self.total)))
        )
        self.held = tuple(c for c in (*given, *self.conditions) if c != sympy.true)

    @cached_property
    def coefficients(self) -> tuple[Any, Any, Any]:
        """A, B and D of the polynomial A q**2 + B q + D."""
        a, b, d = (self.polynomial.coeff_monomial(self.q**k) for k in (2, 1, 0))
        return a, b, d

    @property
    def _linear_root(self) -> Any:
        """-D/B, the root where A is 0."""
        _, b, d = self.coefficients
        return -d / b

    @cached_property
    def _root_parts(self) -> tuple[Any, Any]:
        """Factors k > 0 and r with k sqrt(r) = sqrt(B**2 - 4 A D)."""
        a, b, d = self.coefficients
        constant, factors = sympy.factor_list(b**2 - 4 * a * d)
        # Of the number, what is a square: sqrt(12) = 2 sqrt(3), and sqrt(3/4) = sqrt(12)/4.
        numerator, denominator = sympy.fraction(constant)
        before, inside = 1 / denominator, sympy.Integer(1)
        for factor, power in (*sympy.factorint(numerator * denominator).items(), *factors):
            sign = self.ground.sign(factor, self.held)
            outer = power // 2 if sign else 0
            before *= (sign * factor) ** outer if sign else 1
            inside *= factor ** (power - 2 * outer)
        return before, sympy.expand(inside)

    def explicit(self, expression: Any) -> Any:
        """A quotient of polynomials of q with the root put in, without a root below where that is safe."""
        if not expression.has(self.q):
            return simplest(expression)
        a, b, d = self.coefficients
        if a == 0:
            return simplest(expression.xreplace({self.q: self._linear_root}))
        before, inside = self._root_parts
        quotient = sympy.cancel(expression.xreplace({self.q: -2 * d / (b + before * _S)}))
        top, under = (_on_root(side, inside) for side in sympy.fraction(quotient))
        # (t + v s)/(x + y s), and the same with x**2 - y**2 r below.
        (t, v), (x, y) = top, under
        parts = [sympy.cancel(p / (x**2 - y**2 * inside)) for p in (t * x - v * y * inside, v * x - t * y)]
        bottom = sympy.lcm_list([sympy.fraction(part)[1] for part in parts])
        root = sympy.sqrt(inside)
        if self.ground.sign(bottom, self.held):
            first, second = (sympy.factor(sympy.cancel(part * bottom)) for part in parts)
            return (first + second * root) / sympy.factor(bottom)
        common = sympy.gcd_list([t, v, x, y])
        t, v, x, y = (sympy.factor(sympy.cancel(part / common)) for part in (t, v, x, y))
        return (t + v * root) / (x + y * root)

    def vanishes(self, expression: Any, conditions: Sequence[Any]) -> bool:
        """Whether a quotient of polynomials of q is known to be 0 at the root where the conditions hold."""
        top, _ = sympy.fraction(sympy.together(expression))
        if sympy.rem(sympy.Poly(top, self.q), self.polynomial).is_zero:
            return True
        if not any(c.rel_op == "==" for c in conditions):
            return False
        root = equals_zero(self.polynomial.as_expr())
        below = above_zero(self.total - self.q)
        inner = self.ground.with_letters([self.q])
        return inner.implies(equals_zero(top), (*conditions, root, below))

    def cases(self, left: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """Conditions, one tuple per case, for both prices > 0 and what is left of other resources >= 0."""
        if sympy.false in self.conditions or self.ground.excludes(self.held):
            return
        found: list[tuple[Any, ...]] = [self.held]
        for expression in left:
            found = [
                kept
                for conditions in found
                for more in self._not_negative(expression)
                if (kept := self.ground.met((*conditions, *more))) is not None
            ]
        yield from found

    def _not_negative(self, expression: Any) -> Iterator[tuple[Any, ...]]:
        """When a quotient of polynomials of q with positive denominator is >= 0 at the root: cases."""
        top, under = sympy.fraction(sympy.together(expression))
        tidy = self.ground.tidy
        inner = self.ground.with_letters([self.q])
        within = (*self.held, above_zero(self.total - self.q))
        sign = inner.sign(under, within)
        polynomial = sympy.Poly(sign * top, self.q)
        if self.degree == 1:
            yield (tidy(at_least_zero(polynomial.eval(self._linear_root)), self.held),)
            return
        leading = self.coefficients[0]
        if polynomial.degree() < 2 or self.ground.sign(leading, self.held):
            yield from self._at_root(polynomial, self.held)
            return
        root = equals_zero(self.polynomial.as_expr())
        if inner.implies(at_least_zero(polynomial.as_expr()), (*within, root)):
            yield ()
            return
        # Where A = 0 nothing can be divided by the polynomial; its root is -D/B there.
        for kind in (sympy.Gt, sympy.Lt, sympy.Eq):
            case = tidy(kind(leading, 0, evaluate=False), self.held)
            held = (*self.held, case)
            if self.ground.excludes(held):
                continue
            if kind is not sympy.Eq:
                yield from ((case, *more) for more in self._at_root(polynomial, held))
                continue
            yield case, tidy(at_least_zero(polynomial.eval(self._linear_root)), held)

    def _at_root(self, polynomial: Any, given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """When a polynomial of q is >= 0 at the root: cases; where it is divided, A is not 0."""
        tidy = self.ground.tidy
        rest = sympy.rem(polynomial, self.polynomial)
        # At the root the sign of slope*q + constant counts: q beyond or before where it is 0.
        slope, constant = (sympy.cancel(rest.coeff_monomial(self.q**k)) for k in (1, 0))
        if slope == 0:
            yield (tidy(at_least_zero(constant), given),)
            return
        border = sympy.cancel(-constant / slope)
        there = sympy.cancel(self.polynomial.eval(border))
        inside = [above_zero(border), above_zero(self.total - border)]
        for side in (1, -1):
            turned = tidy(above_zero(side * slope), given)
            if turned == sympy.false:
                continue
            held = (*given, turned) if turned != sympy.true else given
            outside = -border if side > 0 else border - self.total
            yield turned, tidy(at_least_zero(outside), held)
            within = [*inside, at_least_zero(-side * there)]
            yield (turned, *(tidy(relation, held) for relation in within))
        level = tidy(equals_zero(slope), given)
        yield level, tidy(at_least_zero(constant), given)


def _on_root(polynomial: Any, inside: Any) -> tuple[Any, Any]:
    """Coefficients t and v with polynomial(s) = t + v s, where s**2 is what stands under the root."""
    rest = sympy.rem(sympy.Poly(polynomial, _S), sympy.Poly(_S**2 - inside, _S))
    return rest.coeff_monomial(1), rest.coeff_monomial(_S)
