r"""Certificates without hints: products of premises times sums of squares, by growing degree.

Of every program (:mod:`~proofs.prover.squares.premise_products`) first the squares of monomials, and of sums
and differences of two of them, are tried by a linear program, which gives short identities; then a
semidefinite program, whose solution is rounded. Whatever is found is accepted only if the checker accepts it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations
from math import inf
from typing import Any

from proofs.claims import Implication
from proofs.language.polynomials import Polynomial
from proofs.prover.combinations import accepted, solve
from proofs.prover.squares.premise_products import Premises, programs
from proofs.prover.squares.programs import Program
from proofs.prover.squares.rounding import Identity, Square, rounded
from proofs.prover.squares.semidefinite import faces, interior
from proofs.prover.squares.tables import Table, content, plus, times, unit, written

__all__ = ["find_squares"]

MOST_COLUMNS = 12_000
"""Of a linear program."""
MOST_ENTRIES = 4_000
"""Unknowns of a semidefinite program."""
ROOM = 1e-5
"""A least eigenvalue that leaves room for rounding."""
MOST_FACES = 6
"""How often a face of a face is taken."""


def find_squares(claim: Implication, deadline: float = inf) -> dict[str, Any] | None:
    """Evidence with sums of squares, or None if there is none of moderate size; None too at the deadline.

    The deadline is a time of the monotonic clock. Without Clarabel only linear programs are solved.
    """
    known, with_matrices = Premises.of(claim), find_spec("clarabel") is not None
    for program in programs(known, deadline):
        identity = _by_pairs(program, (), deadline)
        if identity is None and with_matrices and any(len(b.basis) > 1 for b in program.blocks):
            identity = _by_matrices(program, deadline)
        evidence = None if identity is None else accepted(claim, *_written(known, program, identity))
        if evidence is not None:
            return evidence
    return None


def _by_pairs(program: Program, more: Sequence[Square], deadline: float) -> Identity | None:
    """An identity of squares of the basis, of sums and differences of two of it, and of what is given."""
    if sum(len(b.basis) ** 2 for b in program.blocks) + len(program.cofactors) > MOST_COLUMNS:
        return None
    squares: list[Square] = [(factors, Fraction(1), s) for factors, _, s in more]
    products = {b.factors: b.product for b in program.blocks}
    columns = [times(products[factors], times(s, s)) for factors, _, s in squares]
    positive = [False] * len(squares)
    for block in program.blocks:
        if time.monotonic() > deadline:
            return None
        pairs = [plus(p, q, sign) for p, q in combinations(block.basis, 2) for sign in (1, -1)]
        for s in (*block.basis, *pairs):
            squares.append((block.factors, Fraction(1), s))
            columns.append(times(block.product, times(s, s)))
            positive.append(block.positive)
    found = solve([*columns, *program.multiples], len(columns), positive, deadline)
    if found is None:
        return None
    used = [(factors, c, s) for (factors, _, s), c in zip(squares, found, strict=False) if c]
    return used, found[len(columns) :]


def _by_matrices(program: Program, deadline: float) -> Identity | None:
    """An identity by semidefinite programming, on smaller faces of the cone as long as there is no room."""
    pending = [(program, 0)]
    while pending:
        here, depth = pending.pop()
        if here.entries > MOST_ENTRIES or time.monotonic() > deadline:
            continue
        point = interior(here, deadline)
        if point is None:
            continue
        if point.least > ROOM:
            identity = rounded(here, point.values, deadline)
            if identity is not None:
                return _on(program, here, _shorter(here, identity, deadline))
        elif point.least > -ROOM and depth < MOST_FACES:
            pending += [(face, depth + 1) for face in reversed(faces(here, point.matrices, deadline))]
    return None


def _on(program: Program, face: Program, identity: Identity) -> Identity:
    """The identity of a face, with the cofactors of the whole program."""
    values = dict(zip(face.cofactors, identity[1], strict=True))
    return identity[0], [values.get(place, Fraction(0)) for place in program.cofactors]


def _shorter(program: Program, identity: Identity, deadline: float) -> Identity:
    """The identity, or one that uses fewer of its squares or simpler ones."""
    other = _by_pairs(program, identity[0], deadline)
    return min((identity, other), key=_size) if other else identity


def _size(identity: Identity) -> int:
    return sum(len(str(c)) + sum(len(str(v)) for v in s.values()) for _, c, s in identity[0])


def _written(
    known: Premises, program: Program, identity: Identity
) -> tuple[list[tuple[Fraction, Sequence[str], str]], dict[str, str]]:
    """Terms and cofactors of the identity as texts, with coprime whole numbers as coefficients."""
    squares, values = identity
    cofactors: dict[str, Table] = {}
    for (name, m), value in zip(program.cofactors, values, strict=True):
        if value:
            cofactors[name] = plus(cofactors.get(name, {}), unit(m), value)
    numbers = [c for _, c, _ in squares] + [v for q in cofactors.values() for v in q.values()]
    whole = content(numbers)
    return [(c / whole, factors, _text(written(s, known.names))) for factors, c, s in squares], {
        name: str(written({m: v / whole for m, v in q.items()}, known.names)) for name, q in cofactors.items()
    }


def _text(p: Polynomial) -> str:
    """The polynomial or its negative, which have the same square: the one that begins without a minus."""
    return min(str(p), str(-p), key=lambda text: text.startswith("-"))
