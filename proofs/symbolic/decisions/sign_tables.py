"""Sign tables in one letter: exact, without a solver.

The real roots of all polynomials cut the line into points and open intervals; on each of these every
polynomial has one sign. At a root the sign of a polynomial is 0 if a factor of it vanishes there, else that
of the neighbouring interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import sympy

from proofs.language.polynomials import Polynomial
from proofs.language.relations import signum
from proofs.symbolic.decisions.formulas import Formula, exact, holds_by_signs, poly_of, relations_in

__all__ = ["SignTable", "sign_table", "simple_between"]


@dataclass(frozen=True)
class SignTable:
    """Pieces of the line, from left to right: interval, root, interval, root, ..., interval.

    Attributes
    ----------
    letter : str
    roots : tuple
        Real roots of the polynomials in ascending order, rational or algebraic numbers of sympy.
    samples : tuple of Fraction
        One rational point of each interval; one more than roots.
    signs : dict
        For every polynomial, its sign on each of the 2*len(roots) + 1 pieces.
    """

    letter: str
    roots: tuple[Any, ...]
    samples: tuple[Fraction, ...]
    signs: dict[Polynomial, tuple[int, ...]]

    def holds(self, formula: Formula) -> tuple[bool, ...]:
        """On which pieces a formula of these polynomials holds."""
        pieces = range(2 * len(self.roots) + 1)
        return tuple(holds_by_signs(formula, partial(self._sign, piece)) for piece in pieces)

    def _sign(self, piece: int, polynomial: Polynomial) -> int:
        return self.signs[polynomial][piece]

    def point(self, piece: int) -> Any:
        """A point of a piece: the root itself, or the rational sample."""
        if piece % 2:
            return self.roots[piece // 2]
        return sympy.Rational(self.samples[piece // 2])


def sign_table(formulas: Iterable[Formula], letter: str) -> SignTable:
    """The table of all polynomials of some formulas in at most one letter.

    Parameters
    ----------
    formulas : iterable of Formula
    letter : str
        The only variable of their polynomials.

    Examples
    --------
    >>> from proofs.language.relations import relation
    >>> table = sign_table([relation("a**2 <= 2"), relation("a > 0")], "a")
    >>> table.roots
    (-sqrt(2), 0, sqrt(2))
    >>> table.holds(("and", (relation("a**2 <= 2"), relation("a > 0"))))
    (False, False, False, False, True, True, False)
    """
    polynomials = {r.left for r in relations_in(formulas)}
    symbol = sympy.Symbol(letter, real=True)
    factored = {p: _factored(p, symbol) for p in polynomials}
    irreducible = sorted({f for _, factors in factored.values() for f, _ in factors}, key=str)
    product = sympy.prod([f.as_expr() for f in irreducible], start=sympy.Integer(1))
    roots: list[Any] = []
    ends: list[tuple[Fraction, Fraction]] = []
    owners: list[Any] = []
    if irreducible:
        whole = sympy.Poly(product, symbol)
        for low, high in _isolated(whole):
            owner = next(f for f in irreducible if f.count_roots(low, high))
            ends.append((exact(low), exact(high)))
            owners.append(owner)
            k = sum(o == owner for o in owners) - 1
            roots.append(_root(owner, k))
    samples = _samples(ends)
    signs = {}
    for p, (constant, factors) in factored.items():
        in_gaps = [signum(p.at({letter: sample})) for sample in samples]
        own = {f for f, _ in factors}
        row = [in_gaps[0]]
        for k, owner in enumerate(owners):
            row += [0 if owner in own or constant == 0 else in_gaps[k], in_gaps[k + 1]]
        signs[p] = tuple(row)
    return SignTable(letter, tuple(roots), samples, signs)


def _factored(p: Polynomial, symbol: Any) -> tuple[Any, list[tuple[Any, int]]]:
    constant, factors = poly_of(p, symbol).factor_list()
    return constant, [(f, k) for f, k in factors if f.degree()]


def _isolated(whole: Any) -> list[tuple[Any, Any]]:
    """Intervals around the real roots, apart from each other: between two there is room for a sample."""
    eps = sympy.Rational(1, 8)
    while True:
        found = [interval for interval, _ in whole.intervals(eps=eps)]
        if all(one[1] < other[0] for one, other in pairwise(found)):
            return found
        eps /= 16


def _samples(ends: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, ...]:
    """A rational point of each gap, a small one where it can be."""
    if not ends:
        return (Fraction(1),)
    inner = [simple_between(one[1], other[0]) for one, other in pairwise(ends)]
    return (Fraction(-((-ends[0][0]) // 1)) - 1, *inner, Fraction(ends[-1][1] // 1) + 1)


def simple_between(low: Fraction, high: Fraction) -> Fraction:
    """A rational number with a small denominator between two others."""
    middle, most = (low + high) / 2, 1
    while True:
        simple = middle.limit_denominator(most)
        if low < simple < high:
            return simple
        most *= 2


def _root(factor: Any, k: int) -> Any:
    """The k-th real root of an irreducible polynomial, in radicals where it is quadratic."""
    if factor.degree() > 2:
        return sympy.rootof(factor.as_expr(), factor.gen, k, radicals=False)
    return sorted(sympy.roots(factor, multiple=True), key=lambda root: root.evalf(50))[k]
