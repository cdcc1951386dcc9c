r"""Finding the identity that :mod:`proofs.checking.refutations` checks, by linear programming.

Candidate terms are products of up to ``degree`` premises, alone or times the squares that a claim hints at or
that two variables make; equations are multiplied by all monomials that fit below the largest degree. That the
coefficients of all monomials vanish is a system of linear equations in the unknown :math:`c_t \ge 0` and the
coefficients of the cofactors. A linear program in floating point tells which unknowns to use; with these
alone the system is solved over the rationals, and the result is accepted only if the checker accepts it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import comb, inf
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array

from proofs.checking.refutations import check_refutation, premises
from proofs.claims import Implication
from proofs.errors import EvidenceError, ProofError
from proofs.language.polynomials import Monomial, Polynomial, polynomial, times
from proofs.language.relations import Relation, variables_of
from proofs.prover.elimination import eliminated, follow
from proofs.prover.values import nearest

__all__ = ["accepted", "find_refutation", "solve"]

MOST_COLUMNS = 20_000
MOST_SQUARED = 8
"""Squares of sums and differences are tried for so many variables at most."""

Term = tuple[tuple[str, ...], str]


def find_refutation(claim: Implication, degree: int, deadline: float = inf) -> dict[str, Any] | None:
    """Evidence with products of up to ``degree`` premises, or None; None too when the deadline passes.

    The deadline is a time of the monotonic clock.
    """
    known = premises(claim)
    terms = _terms(claim, known, degree)
    squares = {text: polynomial(text) for text in {text for _, text in terms}}
    products: dict[Term, Polynomial] = {((), text): s * s for text, s in squares.items()}

    def product(factors: tuple[str, ...], text: str) -> Polynomial:
        """Of premises and a square, from that of all but the last premise."""
        if (factors, text) not in products:
            products[factors, text] = product(factors[:-1], text) * known[factors[-1]].left
        return products[factors, text]

    columns = []
    for term in terms:
        if time.monotonic() > deadline:
            return None
        try:
            columns.append(product(*term))
        except ProofError:  # too large to multiply out
            return None
    reach = max((c.degree for c in columns), default=0)
    names = variables_of(known.values())
    room = {name: max(reach - r.left.degree, 0) for name, r in known.items() if r.sign == "=="}
    # Counted before they are written down, which may take more memory than there is.
    if len(columns) + sum(comb(len(names) + d, d) for d in room.values()) > MOST_COLUMNS:
        return None
    cofactors = [(name, m) for name, d in room.items() for m in _monomials(names, d)]
    tables = [c.terms for c in columns]
    tables += [{times(m, k): c for k, c in known[name].left.terms.items()} for name, m in cofactors]
    strict = [
        bool(squares[text].constant) and all(known[name].strict for name in factors)
        for factors, text in terms
    ]
    solution = solve(tables, len(terms), strict, deadline)
    if solution is None:
        return None
    used = ((c, *term) for term, c in zip(terms, solution, strict=False) if c)
    return accepted(claim, used, _collected(cofactors, solution[len(terms) :]))


def accepted(
    claim: Implication, terms: Iterable[tuple[Fraction, Sequence[str], str]], cofactors: dict[str, str]
) -> dict[str, Any] | None:
    """Evidence with these coefficients, factors and squares, if the checker accepts it."""
    evidence = {
        "kind": "refutation",
        "terms": [{"coefficient": c, "factors": list(names), "square": s} for c, names, s in terms],
        "cofactors": cofactors,
    }
    try:
        check_refutation(claim, evidence)
    except (EvidenceError, ProofError):
        return None
    return evidence


def _terms(claim: Implication, known: dict[str, Relation], degree: int) -> list[Term]:
    names = [name for name, r in known.items() if r.sign != "=="]
    products = [p for d in range(degree + 1) for p in combinations_with_replacement(names, d)]
    terms: list[Term] = [(product, "1") for product in products]
    variables = variables_of(known.values())
    if degree >= 2 and len(variables) <= MOST_SQUARED:
        squares = [*variables, *(f"{a} {s} {b}" for a, b in combinations(variables, 2) for s in "+-")]
        terms += [(p, s) for p in products if len(p) <= 1 for s in squares]
    usable = (hint for hint in claim.hints if set(hint[0]) <= set(known))
    return terms + [hint for hint in usable if hint not in terms]


def _monomials(names: Sequence[str], degree: int) -> list[Monomial]:
    """All in variables that are in the order of the alphabet."""
    choices = (combinations_with_replacement(names, d) for d in range(degree + 1))
    return [tuple(Counter(choice).items()) for several in choices for choice in several]


def solve(
    columns: Sequence[Mapping[Any, Fraction]], n_terms: int, strict: Sequence[bool], deadline: float
) -> list[Fraction] | None:
    """Exact coefficients with which the columns add up to 0, the first ``n_terms`` of them >= 0.

    Columns are tables from monomials to coefficients. The coefficients of the strict columns add up to 1.
    None if there are none such, or none were found before the deadline.
    """
    left = deadline - time.monotonic()
    if not any(strict) or left <= 0:
        return None
    rows = {m: k for k, m in enumerate(sorted({m for c in columns for m in c}))}
    entries = [(rows[m], j, c) for j, column in enumerate(columns) for m, c in column.items()]
    entries += [(len(rows), j, Fraction(1)) for j, here in enumerate(strict) if here]
    i, j, values = zip(*entries, strict=True)
    rounded = [nearest(v) for v in values]
    if max(map(abs, rounded)) == inf:
        return None
    matrix = csc_array((rounded, (i, j)), shape=(len(rows) + 1, len(columns)))
    right = np.zeros(len(rows) + 1)
    right[-1] = 1.0
    free = len(columns) - n_terms
    found = linprog(
        np.r_[np.ones(n_terms), np.zeros(free)],
        A_eq=matrix,
        b_eq=right,
        bounds=[(0, None)] * n_terms + [(None, None)] * free,
        method="highs-ds",
        options={"time_limit": left},
    )
    if found.status != 0:
        return None
    # Those that are not used stay 0.
    used = set(np.flatnonzero(np.abs(found.x) > 1e-9).tolist())
    equations: dict[object, dict[int, Fraction]] = {len(rows): {}}
    for row, place, value in entries:
        if place in used:
            equations.setdefault(row, {})[place] = value
    pivots = eliminated(equations, {len(rows): Fraction(1)}, deadline)
    if pivots is None:
        return None
    solution = [Fraction(0)] * len(columns)
    follow(pivots, solution)
    return solution if min(solution[:n_terms]) >= 0 else None


def _collected(cofactors: list[tuple[str, Monomial]], values: Sequence[Fraction]) -> dict[str, str]:
    total: dict[str, Polynomial] = {}
    for (name, monomial), value in zip(cofactors, values, strict=True):
        if value:
            total[name] = total.get(name, Polynomial({})) + Polynomial({monomial: value})
    return {name: str(p) for name, p in total.items()}
