r"""What is unknown in an identity, and what can be said about it before it is solved.

A :class:`Block` is a product of premises times an unknown sum of squares :math:`z^\top Q z` with
:math:`Q \succeq 0`; :math:`z` are monomials, and combinations of them once a face was found. Equations have
unknown cofactors. An identity says that the coefficients of all monomials vanish, and that those of the
positive terms add up to 1.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from proofs.prover.squares.tables import Exponents, Table, times, unit

__all__ = ["Block", "Program", "pruned"]


@dataclass(frozen=True)
class Block:
    """A product of premises with the polynomials whose squares, and products, it may be multiplied by.

    Attributes
    ----------
    factors : tuple of str
        Names of the premises.
    product : Table
    basis : tuple of Table
    positive : bool
        Whether it is a product of strict premises times a constant, whose coefficient is the unknown.
    """

    factors: tuple[str, ...]
    product: Table
    basis: tuple[Table, ...]
    positive: bool = False

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """Places of the upper triangle of its matrix, column by column."""
        return ((p, q) for q in range(len(self.basis)) for p in range(q + 1))

    @cached_property
    def columns(self) -> list[Table]:
        """What each entry of the upper triangle adds to the identity."""
        times_product = [times(self.product, b) for b in self.basis]
        found = []
        for p, q in self.pairs:
            column = times(times_product[p], self.basis[q])
            found.append(column if p == q else {m: 2 * c for m, c in column.items()})
        return found


@dataclass(frozen=True)
class Program:
    """Blocks, and the monomials that may stand in the cofactors of the equations."""

    blocks: tuple[Block, ...]
    cofactors: tuple[tuple[str, Exponents], ...]
    equations: dict[str, Table]

    @property
    def entries(self) -> int:
        """How many unknowns there are."""
        return sum(len(b.basis) * (len(b.basis) + 1) // 2 for b in self.blocks) + len(self.cofactors)

    @cached_property
    def multiples(self) -> list[Table]:
        """What the coefficient of each monomial in a cofactor adds to the identity."""
        return [times(self.equations[name], unit(m)) for name, m in self.cofactors]


def pruned(program: Program, deadline: float = inf) -> Program | None:
    """The program without what must be 0, or None if no positive term remains or the deadline passes.

    A monomial that occurs in squares only, always with the same sign, cannot cancel: these squares are 0. For
    sums of squares alone, this leaves half of the Newton polytope [1]_.

    References
    ----------
    .. [1] B. Reznick, "Extremal PSD forms with few terms", Duke Mathematical Journal 45(2), 1978, theorem 1.
    """
    while time.monotonic() <= deadline:
        signs, free, touched = _signs(program)
        stuck = {m for m, found in signs.items() if len(found) == 1 and m not in free}
        kept = []
        for block in program.blocks:
            squares = (c for (p, q), c in zip(block.pairs, block.columns, strict=True) if p == q)
            basis = tuple(b for b, c in zip(block.basis, squares, strict=True) if not stuck & c.keys())
            if basis:
                kept.append(block if len(basis) == len(block.basis) else replace(block, basis=basis))
        cofactors = tuple(
            (name, m)
            for (name, m), multiple in zip(program.cofactors, program.multiples, strict=True)
            if all(touched[key] > 1 for key in multiple)
        )
        if not any(block.positive for block in kept):
            return None
        smaller = Program(tuple(kept), cofactors, program.equations)
        if smaller.entries == program.entries:
            return smaller
        program = smaller
    return None


def _signs(program: Program) -> tuple[dict[Exponents, set[bool]], set[Exponents], dict[Exponents, int]]:
    """By monomial: signs in squares, whether it is in anything of either sign, number of occurrences."""
    signs: dict[Exponents, set[bool]] = {}
    free: set[Exponents] = set()
    touched: dict[Exponents, int] = {}
    for block in program.blocks:
        for (p, q), column in zip(block.pairs, block.columns, strict=True):
            for m, c in column.items():
                touched[m] = touched.get(m, 0) + 1
                if p == q:
                    signs.setdefault(m, set()).add(c > 0)
                else:
                    free.add(m)
    for multiple in program.multiples:
        for m in multiple:
            touched[m] = touched.get(m, 0) + 1
            free.add(m)
    return signs, free, touched
