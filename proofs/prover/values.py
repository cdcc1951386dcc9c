"""Values that meet relations, without a solver: some are chosen, the others follow from the equations.

Linear equations are solved for one variable after the other, which stands no more in the other relations. A
variable that alone is left in an equation, and linear there, has its value from it. Where there is none, the
next variable gets a small number that meets every relation in which nothing else is left, or one between the
bounds that these set. What leads nowhere is tried again with other choices and in another order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, inf, lcm
from typing import Self

from proofs.errors import ProofError
from proofs.language.polynomials import MOST_BITS, Monomial, Polynomial, polynomial
from proofs.language.relations import KEPT, Relation, signum, variables_of

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
    asked = [_Open.of(r) for r in left]
    for k in range(TRIES):
        rng = random.Random(k)
        found = _tried(asked, free if k % 2 == 0 else rng.sample(free, len(free)), rng)
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


class _Open:
    """A relation in which values are put: a polynomial with whole coefficients, compared with 0."""

    def __init__(self, terms: Mapping[Monomial, int], sign: str) -> None:
        self.terms, self.sign = terms, sign
        self.names = frozenset([name for monomial in terms for name, _ in monomial])

    @classmethod
    def of(cls, r: Relation) -> Self:
        """A multiple of the relation, which does as well."""
        common = lcm(*(c.denominator for c in r.left.terms.values()))
        return cls({m: c.numerator * (common // c.denominator) for m, c in r.left.terms.items()}, r.sign)

    @cached_property
    def end(self) -> Fraction | None:
        """Where it is 0, if it is linear in one variable and has no other."""
        (name, *others) = self.names
        slope = self.terms.get(((name, 1),))
        if others or slope is None or len(self.terms) > 1 + (() in self.terms):
            return None
        return Fraction(-self.terms.get((), 0), slope)

    @property
    def holds(self) -> bool:
        """Of constants."""
        return signum(self.terms.get((), 0)) in KEPT[self.sign]

    def holds_at(self, value: Fraction) -> bool:
        """With a value for the only variable."""
        over, under = value.numerator, value.denominator
        terms = [(monomial[0][1] if monomial else 0, c) for monomial, c in self.terms.items()]
        most = max([e for e, _ in terms])
        return signum(sum([c * over**e * under ** (most - e) for e, c in terms])) in KEPT[self.sign]

    def put(self, name: str, value: Fraction) -> _Open:
        """What is left with a value for one of its variables, times a power of its denominator."""
        powers = [dict(monomial).get(name, 0) for monomial in self.terms]
        over, under, most = value.numerator, value.denominator, max(powers)
        terms: dict[Monomial, int] = {}
        for (monomial, c), e in zip(self.terms.items(), powers, strict=True):
            rest = tuple(factor for factor in monomial if factor[0] != name) if e else monomial
            terms[rest] = terms.get(rest, 0) + c * over**e * under ** (most - e)
        common = gcd(*terms.values())
        return _Open({m: c // common for m, c in terms.items() if c}, self.sign)


def _tried(relations: Sequence[_Open], order: Sequence[str], rng: random.Random) -> Values | None:
    """One way through all variables; None at the first relation that fails."""
    found: Values = {}
    left = [r for r in relations if r.names]
    if not all(r.holds for r in relations if not r.names):
        return None
    while left:
        name, value = _solved(left) or _chosen(left, next(n for n in order if n not in found), rng)
        if value is None or _is_large(value.numerator, value.denominator):
            return None
        found[name] = value
        asked, left = left, []
        for r in asked:
            if name in r.names:
                r = r.put(name, value)
                if _is_large(*r.terms.values()) or not (r.names or r.holds):
                    return None
            if r.names:
                left.append(r)
    return found


def _is_large(*numbers: int) -> bool:
    """Whether one of them is too long for the coefficient of a polynomial."""
    return max(map(int.bit_length, numbers), default=0) > MOST_BITS


def _solved(relations: Iterable[_Open]) -> tuple[str, Fraction] | None:
    """The variable that is alone and linear in an equation, and its value."""
    for r in relations:
        if r.sign == "==" and r.end is not None:
            (name,) = r.names
            return name, r.end
    return None


def _chosen(relations: Iterable[_Open], name: str, rng: random.Random) -> tuple[str, Fraction | None]:
    """A value that meets all relations in which only this variable is left, None if none was found."""
    mine = [r for r in relations if r.names == {name}]
    ends = sorted({r.end for r in mine if r.end is not None})
    near = [(one + other) / 2 for one, other in pairwise(ends)]
    near += [end + step for end in ends for step in (0, 1, -1)]
    small = rng.sample(SMALL, len(SMALL))
    tries = (value for value in (*small, *near) if all(r.holds_at(value) for r in mine))
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
