"""Polynomials as tables from exponents to coefficients; those of one claim share the order of variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import gcd, lcm

from proofs.language.polynomials import Polynomial

__all__ = ["Exponents", "Table", "content", "degree", "monomials", "plus", "read", "times", "unit", "written"]

Exponents = tuple[int, ...]
Table = dict[Exponents, Fraction]


def read(p: Polynomial, names: Sequence[str]) -> Table:
    """The table of a polynomial."""
    place = {name: k for k, name in enumerate(names)}
    table: Table = {}
    for monomial, c in p.terms.items():
        exponents = [0] * len(names)
        for name, e in monomial:
            exponents[place[name]] = e
        table[tuple(exponents)] = c
    return table


def written(table: Table, names: Sequence[str]) -> Polynomial:
    """The polynomial of a table."""
    return Polynomial(
        {
            tuple(sorted((name, e) for name, e in zip(names, exponents, strict=True) if e)): c
            for exponents, c in table.items()
        }
    )


def unit(exponents: Exponents) -> Table:
    """A monomial."""
    return {exponents: Fraction(1)}


def times(p: Table, q: Table) -> Table:
    """The product."""
    if len(p) == 1:
        p, q = q, p
    if len(q) == 1:  # most are shifts by a monomial, where nothing meets
        ((b, d),) = q.items()
        return {tuple(map(int.__add__, a, b)): c if d == 1 else c * d for a, c in p.items() if c and d}
    found: Table = {}
    for a, c in p.items():
        for b, d in q.items():
            key, term = tuple(map(int.__add__, a, b)), c * d
            found[key] = found[key] + term if key in found else term
    return {key: c for key, c in found.items() if c}


def plus(p: Table, q: Table, factor: Fraction | int = 1) -> Table:
    """The sum of p and a multiple of q."""
    found = dict(p)
    for key, c in q.items():
        term = factor * c
        found[key] = found[key] + term if key in found else Fraction(term)
    return {key: c for key, c in found.items() if c}


def content(coefficients: Iterable[Fraction]) -> Fraction:
    """What divides all coefficients and leaves coprime integers."""
    known = list(coefficients)
    return Fraction(gcd(*(c.numerator for c in known)), lcm(*(c.denominator for c in known)))


def degree(p: Table) -> int:
    """Total degree; 0 of nothing."""
    return max(map(sum, p), default=0)


def monomials(n: int, most: int) -> list[Exponents]:
    """Exponents of all monomials in n variables up to a degree."""
    found = []
    for d in range(most + 1):
        for chosen in combinations_with_replacement(range(n), d):
            exponents = [0] * n
            for k in chosen:
                exponents[k] += 1
            found.append(tuple(exponents))
    return found
