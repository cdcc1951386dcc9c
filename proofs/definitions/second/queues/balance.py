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

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, dot, powers, shares_of, usage
from proofs.definitions.registry import define_again, fraction, fractions

__all__ = ["box_means"]

Frozen = tuple[tuple[Fraction, ...], ...]
State = tuple[int, ...]


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


def moved(x: State, i: int, step: int) -> State:
    """A state with so many jobs of class i more."""
    return (*x[:i], x[i] + step, *x[i + 1 :])


@define_again(cases=lambda shares, loads, sizes, size, balanced: (size + 1) ** len(shares))
def balance_equations(
    case: Mapping[str, Any], shares: Any, loads: Any, sizes: Any, size: int, balanced: bool
) -> bool:
    """Each class goes down as often as it comes up, across every face of the state."""
    if not balanced:
        raise NotImplementedError("the second definition knows balanced fairness only")
    columns, rho, x = frozen(shares), fractions(loads), tuple(case["counts"])
    for i, (r, sigma) in enumerate(zip(rho, fractions(sizes), strict=True)):
        up = moved(x, i, 1)
        # From x to x + e_i and back; the tasks at x + e_i are the ratio of the balance functions.
        served = balance(columns, x) / balance(columns, up) / sigma
        here, there = (balance(columns, y) * powers(rho, y) for y in (x, up))
        if r / sigma * here != served * there:
            return False
    return True


@define_again(cases=lambda shares, size, largest: (size + 1) ** len(shares) - 1)
def balanced_usage(case: Mapping[str, Any], shares: Any, size: int, largest: bool) -> bool:
    """Tasks as ratios from above, and the fullest resource."""
    columns, x = frozen(shares), tuple(case["counts"])
    tasks = [
        balance(columns, moved(x, i, -1), largest) / balance(columns, x, largest) if k else ZERO
        for i, k in enumerate(x)
    ]
    used = usage(fractions(shares), tasks)
    return used == fractions(case["usage"]) and max(used) == 1


@define_again(cases=lambda shares, size: (size + 1) ** len(shares))
def balance_below_others(case: Mapping[str, Any], shares: Any, size: int) -> bool:
    """From above, and the power series by multinomials."""
    columns, x = frozen(shares), tuple(case["counts"])
    value, other = balance(columns, x), series(columns, x)
    needs = [
        sum((v * series(columns, moved(x, i, -1)) for i, v in enumerate(column) if x[i]), ZERO)
        for column in columns
    ]
    told = [fraction(case["value"]), fraction(case["other"])]
    return told == [value, other] and value <= other and max(needs) <= other


@define_again(cases=lambda shares, loads, total: total + 1)
def mass_of_totals(case: Mapping[str, Any], shares: Any, loads: Any, total: int) -> bool:
    """From above; the coefficient is the complete symmetric polynomial of the loads."""
    columns, rho, k = frozen(shares), fractions(loads), case["jobs"]
    states = [x for x in product(range(k + 1), repeat=len(rho)) if sum(x) == k]
    mass = sum((balance(columns, x) * powers(rho, x) for x in states), ZERO)
    load = [dot(rho, column) for column in columns]
    most = sum((prod(chosen, start=ONE) for chosen in combinations_with_replacement(load, k)), ZERO)
    return mass == fraction(case["mass"]) and max(load) ** k <= mass <= most


@define_again(cases=lambda shares, size, largest: (size + 1) ** len(shares) * len(shares))
def duration_terms(case: Mapping[str, Any], shares: Any, size: int, largest: bool) -> bool:
    """From above, and geometric series of one resource by multinomials."""
    columns, x, i = frozen(shares), tuple(case["counts"]), case["class"]
    up = moved(x, i, 1)
    own = [column[i] for column in columns]
    # Coefficients of the balance series times load/(1 - load): all states below x, but x itself.
    behind = [
        sum((balance(columns, y) * multinomial(column, z) for y, z in below(x) if any(z)), ZERO)
        for column in columns
    ]
    left = (x[i] + 1) * balance(columns, up)
    right = (max(own) if largest else min(own)) * balance(columns, x)
    right += dot(own, behind)
    return [fraction(case["left"]), fraction(case["right"])] == [left, right] and right - left >= 0


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
