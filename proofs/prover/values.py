"""Values that meet relations, without a solver: some are chosen, the others follow from the equations.

Linear equations are solved for one variable after the other, which stands no more in the other relations. A
variable that alone is left in an equation, and linear there, has its value from it. Where there is none, the
next variable gets a small number that meets every relation in which nothing else is left, or one between the
bounds that these set. What leads nowhere is tried again with other choices and in another order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf

from proofs.errors import ProofError
from proofs.language.polynomials import MOST_BITS, Polynomial, polynomial
from proofs.language.relations import Relation, variables_of

__all__ = ["SMALL", "nearest", "values_meeting"]

SMALL = [Fraction(v) for v in (0, 1, 2, 3, -1, 4, 5, "1/2", "1/3", "3/2", "2/3")]
TRIES = 200
SECONDS = 1.0
"""At most, for all tries."""

Values = dict[str, Fraction]


def nearest(value: Fraction) -> float:
    """The nearest float; infinite where none is near."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def values_meeting(relations: Sequence[Relation], deadline: float) -> Values | None:
    """A value for each variable of the relations, so that all hold; None if none was found.

    Examples
    --------
    >>> from proofs.language.relations import relation
    >>> values_meeting([relation("x*y == 6"), relation("7*x >= 20"), relation("y < x")], float("inf"))
    {'x': Fraction(5, 1), 'y': Fraction(6, 5)}
    """
    asked = tuple(relations)
    if asked not in _SOUGHT:
        deadline = min(deadline, time.monotonic() + SECONDS)
        found = _sought(asked, deadline)
        if found is None and time.monotonic() > deadline:
            return None
        _SOUGHT[asked] = found
    kept = _SOUGHT[asked]
    return None if kept is None else dict(kept)


_SOUGHT: dict[tuple[Relation, ...], Values | None] = {}
"""What was found in this process: steps that differ in what they cite have the same hypotheses."""


def _sought(relations: Sequence[Relation], deadline: float) -> Values | None:
    names = variables_of(relations)
    try:
        left, solved = _without_linear_equations(relations)
    except ProofError:  # too large to multiply out
        return None
    free = list(dict.fromkeys(name for r in left for name in _names(r.left)))
    for k in range(TRIES):
        rng = random.Random(k)
        found = _tried(left, free if k % 2 == 0 else rng.sample(free, len(free)), rng)
        if found is not None:
            found = dict.fromkeys(names, Fraction(0)) | found
            for name, value in reversed(solved):
                found[name] = value.at(found)
            return found
        if time.monotonic() > deadline:
            break
    return None


def _without_linear_equations(
    relations: Sequence[Relation],
) -> tuple[list[Relation], list[tuple[str, Polynomial]]]:
    """The other relations with what the linear equations say put in, and what they say, one by one."""
    left, solved = list(relations), list[tuple[str, Polynomial]]()
    while (line := next((r for r in left if r.sign == "==" and r.left.degree == 1), None)) is not None:
        name = min(line.left.variables)
        factor = line.left.terms[((name, 1),)]
        value = polynomial(-1 / factor) * (line.left - polynomial(factor) * polynomial(name))
        left = [Relation(_put(r.left, name, value), r.sign) for r in left if r is not line]
        solved.append((name, value))
    return left, solved


def _names(p: Polynomial) -> Iterator[str]:
    return (name for monomial, _ in p.ordered for name, _ in monomial)


def _tried(relations: Sequence[Relation], order: Sequence[str], rng: random.Random) -> Values | None:
    """One way through all variables; None at the first relation that fails."""
    found: Values = {}
    left = list(relations)
    while True:
        open_ = [r for r in left if r.left.variables]
        if not all(r.holds({}) for r in left if not r.left.variables):
            return None
        if not open_:
            return found
        name, value = _solved(open_) or _chosen(open_, next(n for n in order if n not in found), rng)
        if value is None or max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
            return None
        found[name] = value
        try:
            left = [
                r if name not in r.left.variables else Relation(r.left.put(name, value), r.sign)
                for r in open_
            ]
        except ProofError:  # too large to multiply out
            return None


def _solved(relations: Iterable[Relation]) -> tuple[str, Fraction] | None:
    """The variable that is alone and linear in an equation, and its value."""
    for r in relations:
        if r.sign == "==" and r.left.degree == 1 and len(r.left.variables) == 1:
            (name,) = r.left.variables
            return name, -r.left.at({name: 0}) / r.left.terms[((name, 1),)]
    return None


def _chosen(relations: Iterable[Relation], name: str, rng: random.Random) -> tuple[str, Fraction | None]:
    """A value that meets all relations in which only this variable is left, None if none was found."""
    mine = [r for r in relations if r.left.variables == {name}]
    bounds = [-r.left.at({name: 0}) / r.left.terms[((name, 1),)] for r in mine if r.left.degree == 1]
    ends = sorted(set(bounds))
    near = [(one + other) / 2 for one, other in pairwise(ends)]
    near += [end + step for end in ends for step in (0, 1, -1)]
    small = rng.sample(SMALL, len(SMALL))
    tries = (value for value in (*small, *near) if all(r.holds({name: value}) for r in mine))
    return name, next(tries, None)


def _put(p: Polynomial, name: str, value: Polynomial) -> Polynomial:
    """The polynomial with another for a variable."""
    if name not in p.variables:
        return p
    total = Polynomial({})
    for monomial, c in p.terms.items():
        rest = Polynomial({tuple(factor for factor in monomial if factor[0] != name): c})
        total += rest * value ** dict(monomial).get(name, 0)
    return total
