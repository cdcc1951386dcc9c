r"""Balanced fairness a second time: from above, by multinomials, and in floating point by rows of a box.

The balance function is asked for at a state and asks for the states below it. Coefficients of :math:`(\sum_i
a_{ij}z_i)^k` are multinomial, so power series need no recursion. Means over all states are sums over a box,
row by row in floating point: all terms are positive, so that nothing cancels, and the box leaves out less
than 1e-9.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import factorial, prod
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, State, dot, moved, powers, shares_of, usage
from proofs.definitions.registry import define_again, fraction, fractions

__all__ = ["box_means"]

Frozen = tuple[tuple[Fraction, ...], ...]
Table = dict[State, Fraction]


def frozen(shares: Any) -> Frozen:
    """Shares by resource, hashable."""
    return tuple(tuple(column) for column in zip(*fractions(shares), strict=True))


@lru_cache(maxsize=65536)
def balance(columns: Frozen, x: State, largest: bool = True) -> Fraction:
    """The balance function at a state, from above."""
    if not any(x):
        return ONE
    below = [balance(columns, moved(x, i, -1), largest) if k else ZERO for i, k in enumerate(x)]
    sums = [dot(column, below) for column in columns]
    return max(sums) if largest else min(sums)


def multinomial(column: tuple[Fraction, ...], x: State) -> Fraction:
    """Coefficient of z^x in the sum over k of (column z)^k."""
    return factorial(sum(x)) // prod(map(factorial, x)) * powers(column, x)


def below(x: State) -> list[tuple[State, State]]:
    """All states up to x, and what is missing to x."""
    states = product(*(range(k + 1) for k in x))
    return [(y, tuple(k - j for j, k in zip(y, x, strict=True))) for y in states]


@lru_cache(maxsize=65536)
def series(columns: Frozen, x: State) -> Fraction:
    """Coefficient of z^x in the product of the geometric series of the columns."""
    first, rest = columns[0], columns[1:]
    if not rest:
        return multinomial(first, x)
    return sum((multinomial(first, y) * series(rest, z) for y, z in below(x)), ZERO)


@define_again
def balance_table(a: Matrix, size: int, largest: bool = True) -> Table:
    """The balance function, asked for at each state of the grid."""
    columns = frozen(a)
    return {x: balance(columns, x, largest) for x in product(range(size + 1), repeat=len(a))}


@define_again
def store_and_forward_table(a: Matrix, size: int) -> Table:
    """The power series by multinomials."""
    columns = frozen(a)
    return {x: series(columns, x) for x in product(range(size + 1), repeat=len(a))}


@define_again
def tables_behind(a: Matrix, size: int) -> list[Table]:
    """All states below each but itself, and the geometric series of the resource by multinomials."""
    columns, states = frozen(a), list(product(range(size + 1), repeat=len(a)))

    def behind(column: tuple[Fraction, ...], x: State) -> Fraction:
        pairs = ((y, z) for y, z in below(x) if any(z))
        return sum((balance(columns, y) * multinomial(column, z) for y, z in pairs), ZERO)

    return [{x: behind(column, x) for x in states} for column in columns]


@define_again
def product_coefficients(load: Row, total: int) -> Row:
    """The complete symmetric polynomials of the loads."""
    chosen = (combinations_with_replacement(load, k) for k in range(total + 1))
    return [sum((prod(factors, start=ONE) for factors in several), ZERO) for several in chosen]


@define_again
def balanced_bound(shares: Any, loads: Any) -> Row:
    """By the logarithmic derivative of the product of 1/(1 - load) in the load of each class."""
    a = fractions(shares)
    free = [1 - v for v in usage(a, fractions(loads))]
    return [max(row) - sum(row) + sum((v / f for v, f in zip(row, free, strict=True)), ZERO) for row in a]


def box_means(shares: Matrix, loads: Row, size: int) -> list[float]:
    """Mean durations over mean sizes of two classes with up to ``size`` jobs each, in floating point."""
    first, second = ([float(r * v) for v in row] for r, row in zip(loads, shares, strict=True))
    pairs = list(zip(first, second, strict=True))
    mass, jobs, more = 0.0, 0.0, 0.0
    row = [0.0] * (size + 1)
    for x in range(size + 1):
        left, fresh = 0.0, []
        for y, above in enumerate(row):
            left = max([p * above + q * left for p, q in pairs]) if x or y else 1.0
            fresh.append(left)
        row = fresh
        part = sum(row)
        mass += part
        jobs += x * part
        more += sum([y * v for y, v in enumerate(row)])
    return [jobs / mass / float(loads[0]), more / mass / float(loads[1])]


def _box(shares: Matrix, loads: Row) -> int:
    """A size beyond which less than 1e-9 of the jobs are: powers of the largest load below 1e-12."""
    busiest = max(usage(shares, loads))
    size = 1
    while float(busiest) ** size > 1e-12:
        size += 1
    return size


@define_again
def balanced_durations(shares: Any, loads: Any, total: int) -> list[str]:
    """By rows of a box."""
    a, rho = fractions(shares), fractions(loads)
    return [f"{v:.4f}" for v in box_means(a, rho, _box(a, rho))]


@define_again
def balanced_service(demands: Any, capacities: Any, loads: Any, total: int) -> list[str]:
    """By rows of a box."""
    a, rho = shares_of(fractions(demands), fractions(capacities)), fractions(loads)
    return [f"{1 / v:.4f}" for v in box_means(a, rho, _box(a, rho))]


@define_again(cases=lambda shares, direction, pairs, slope: len(pairs))
def balanced_heavy(case: Mapping[str, Any], shares: Any, direction: Any, pairs: Any, slope: Any) -> bool:
    """By rows of a box, to six digits."""
    a, r = fractions(shares), fraction(case["free"])
    rho = [(1 - r) * v for v in fractions(direction)]
    means = box_means(a, rho, _box(a, rho))
    gaps = [float(sum(row, ZERO)) - float(r) * v for row, v in zip(a, means, strict=True)]
    near = abs(max(gaps) - float(case["largest gap"])) < 2e-6
    return near and min(gaps) >= 0 and max(gaps) <= float(fraction(slope) * r)
