"""Programs of growing degree for a claim, one for each grade that a positive term can have."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from proofs.checking.refutations import premises
from proofs.claims import Implication
from proofs.language.relations import variables_of
from proofs.prover.squares.gradings import Grading
from proofs.prover.squares.programs import Block, Program, pruned
from proofs.prover.squares.tables import Exponents, Table, degree, monomials, read, times, unit

__all__ = ["Premises", "programs"]

MOST_DEGREE = 14
MOST_PRODUCTS = 3000
"""Products of different premises."""
MOST_POSITIVE = 2000
"""Products of strict premises, which may repeat, that are tried as positive terms."""
MOST_MONOMIALS = 50_000
"""Products of premises times monomials, and multiples of an equation, that are looked at."""
MOST_UNKNOWNS = 8_000


@dataclass(frozen=True)
class Premises:
    """The premises of a claim as tables in one order of the variables, without those that say nothing."""

    names: tuple[str, ...]
    inequalities: Mapping[str, Table]
    equations: Mapping[str, Table]
    strict: tuple[str, ...]
    _products: dict[tuple[str, ...], Table] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, claim: Implication) -> Premises:
        """The premises of a claim."""
        known = {name: r for name, r in premises(claim).items() if r.left.terms}
        names = tuple(variables_of(known.values()))
        tables = {name: read(r.left, names) for name, r in known.items()}
        return cls(
            names,
            {name: tables[name] for name, r in known.items() if r.sign != "=="},
            {name: tables[name] for name, r in known.items() if r.sign == "=="},
            tuple(name for name, r in known.items() if r.strict),
        )

    def product(self, factors: tuple[str, ...]) -> Table:
        """The product of inequalities."""
        if factors not in self._products:
            self._products[factors] = (
                times(self.product(factors[:-1]), self.inequalities[factors[-1]])
                if factors
                else unit((0,) * len(self.names))
            )
        return self._products[factors]


def programs(known: Premises, deadline: float) -> Iterator[Program]:
    """Programs in which some positive term is left, by degree, until the deadline.

    None comes twice in a row for a grade.
    """
    grading = Grading([*known.inequalities.values(), *known.equations.values()], len(known.names))
    seen: dict[Exponents, object] = {}
    for most in range(1, MOST_DEGREE + 1):
        positive = _positive(known, grading, most)
        blocks = _blocks(known, grading, most, set(positive), deadline)
        cofactors = _cofactors(known, grading, most, set(positive))
        for grade, terms in positive.items():
            if time.monotonic() > deadline:
                return
            program = Program(
                (*terms, *blocks.get(grade, ())), tuple(cofactors.get(grade, ())), dict(known.equations)
            )
            if program.entries > MOST_UNKNOWNS:
                continue
            smaller = pruned(program, deadline)
            if smaller is None:
                continue
            what = [(b.factors, b.basis) for b in smaller.blocks], smaller.cofactors
            if seen.get(grade) != what:
                seen[grade] = what
                yield smaller


def _positive(known: Premises, grading: Grading, most: int) -> dict[Exponents, list[Block]]:
    """Products of strict premises up to a degree, by grade."""
    one = unit((0,) * len(known.names))
    found: dict[Exponents, list[Block]] = {}
    degrees = {name: degree(known.inequalities[name]) for name in known.strict}
    for factors in _up_to(degrees, most, combinations_with_replacement, MOST_POSITIVE):
        product = known.product(factors)
        grade = grading.grade(next(iter(product)))
        found.setdefault(grade, []).append(Block(factors, product, (one,), positive=True))
    return found


def _up_to(
    degrees: Mapping[str, int], most: int, choose: Callable[..., Iterable[tuple[str, ...]]], number: int
) -> list[tuple[str, ...]]:
    """Choices of premises up to a degree: all of a size or none, and no more than a number."""
    found: list[tuple[str, ...]] = []
    for size in range(most + len(degrees) + 1):
        here = []
        for factors in choose(degrees, size):
            if sum(degrees[name] for name in factors) <= most:
                here.append(factors)
                if len(found) + len(here) > number:
                    return found
        if not here:
            break
        found += here
    return found


def _blocks(
    known: Premises, grading: Grading, most: int, grades: set[Exponents], deadline: float
) -> dict[Exponents, list[Block]]:
    """Products times monomials that have one of the grades: those that can meet in a matrix stand in one.

    At the deadline what is missing is left out.
    """
    n = len(known.names)
    degrees = {name: degree(p) for name, p in known.inequalities.items()}
    leading = {name: np.array(next(iter(p)), dtype=np.int64) for name, p in known.inequalities.items()}
    groups: dict[int, list[tuple[str, ...]]] = {}
    for factors in _up_to(degrees, most, combinations, MOST_PRODUCTS):
        groups.setdefault((most - sum(degrees[name] for name in factors)) // 2, []).append(factors)
    found: dict[Exponents, list[Block]] = {}
    for half, group in groups.items():
        while comb(n + half, n) * len(group) > MOST_MONOMIALS:
            half -= 1
        roots = np.array(monomials(n, half), dtype=np.int64)
        starts = np.array([sum((leading[f] for f in fs), np.zeros(n, dtype=np.int64)) for fs in group])
        grades_of = grading.grades((starts[:, None, :] + 2 * roots[None, :, :]).reshape(-1, n))
        classes = [tuple(row) for row in grading.grades(roots).tolist()]
        met: dict[tuple[Exponents, int, Exponents], list[Exponents]] = {}
        for place, grade in _chosen(grades_of, grades):
            k, i = divmod(place, len(roots))
            met.setdefault((grade, k, classes[i]), []).append(tuple(roots[i].tolist()))
        for (grade, k, _), basis in met.items():
            if time.monotonic() > deadline:
                return found
            if basis != [(0,) * n] or not set(group[k]) <= set(known.strict) or not group[k]:
                block = Block(group[k], known.product(group[k]), tuple(unit(m) for m in basis))
                found.setdefault(grade, []).append(block)
    return found


def _cofactors(
    known: Premises, grading: Grading, most: int, grades: set[Exponents]
) -> dict[Exponents, list[tuple[str, Exponents]]]:
    """Multiples of the equations by monomials that have one of the grades."""
    n = len(known.names)
    found: dict[Exponents, list[tuple[str, Exponents]]] = {}
    for name, p in known.equations.items():
        reach = most - degree(p)
        while reach >= 0 and comb(n + reach, n) > MOST_MONOMIALS:
            reach -= 1
        if reach < 0:
            continue
        roots = monomials(n, reach)
        start = np.array(next(iter(p)), dtype=np.int64)
        grades_of = grading.grades(start + np.array(roots, dtype=np.int64))
        for place, grade in _chosen(grades_of, grades):
            found.setdefault(grade, []).append((name, roots[place]))
    return found


def _chosen(grades_of: NDArray[np.int64], grades: set[Exponents]) -> Iterator[tuple[int, Exponents]]:
    """Places of the rows that are one of the grades."""
    for place, row in enumerate(map(tuple, grades_of.tolist())):
        if row in grades:
            yield place, row
