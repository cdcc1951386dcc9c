r"""What they share: shares, elimination; second ones Cramer's rule, vertices, linear programs and max-min.

*Max-min by assignments.* Users i run tasks at the level of a resource that stops them, :math:`x_i =
r_i\ell_i`. If every user names such a resource, who names resource j has the level :math:`\theta_j`, and the
loads of the named resources are linear equations for these levels. Of all assignments one gives an allocation
in which all fits, and nobody on a named resource has a higher level than those who named it. It is the
max-min fair one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import gcd, lcm, prod
from typing import Any, Self

from proofs.definitions.registry import fractions

__all__ = [
    "Cluster",
    "determinant",
    "dot",
    "largest",
    "max_min",
    "moved",
    "possible",
    "powers",
    "runs",
    "shares_of",
    "small_demands",
    "solution",
    "solved",
    "totals",
    "usage",
    "vertices",
]

State = tuple[int, ...]
"""Jobs of each class."""
Row = list[Fraction]
Matrix = list[Row]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Cluster:
    """Users and servers as a claim gives them: what each definition reads, and nothing that it computes.

    Attributes
    ----------
    demands, capacities : matrix
        A row for each user, and for each server.
    weights : list of Fraction
    eligible : matrix of 0 and 1
        Where each user may run.
    """

    demands: Matrix
    capacities: Matrix
    weights: Row
    eligible: list[list[int]]

    @classmethod
    def of(cls, cluster: Any) -> Self:
        """Read the dict of a claim; weights are 1 and users may run everywhere where it says nothing."""
        d, c = fractions(cluster["demands"]), fractions(cluster["capacities"])
        weights = fractions(cluster.get("weights") or [1] * len(d))
        return cls(d, c, weights, [list(row) for row in cluster.get("eligible") or [[1] * len(c)] * len(d)])


def dot(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Sum of the products."""
    return sum((u * v for u, v in zip(first, second, strict=True)), ZERO)


def powers(values: Sequence[Fraction], counts: Sequence[int]) -> Fraction:
    """Product of the powers of the values, one for each count."""
    return prod((v**k for v, k in zip(values, counts, strict=True)), start=ONE)


def moved(x: State, i: int, step: int) -> State:
    """The state with so many jobs of class i more."""
    return (*x[:i], x[i] + step, *x[i + 1 :])


def usage(demands: Matrix, tasks: Sequence[Fraction]) -> Row:
    """Units of each resource that the tasks hold."""
    return [dot(tasks, column) for column in zip(*demands, strict=True)]


def shares_of(demands: Matrix, capacities: Row) -> Matrix:
    """Share of each resource that one task of each user holds."""
    return [[d / c for d, c in zip(row, capacities, strict=True)] for row in demands]


def small_demands(m: int, largest: int, least: int = 0) -> list[tuple[int, ...]]:
    """All whole demands of m resources between two numbers, but for those of nothing."""
    return [row for row in product(range(least, largest + 1), repeat=m) if any(row)]


def runs(demand: Row, bundle: Row) -> Fraction:
    """Tasks in a bundle: one over the largest part of the bundle that a task needs."""
    if any(d and not b for d, b in zip(demand, bundle, strict=True)):
        return ZERO
    return 1 / max(d / b for d, b in zip(demand, bundle, strict=True) if d)


def totals(placement: Matrix) -> Row:
    """Tasks of each user on all servers."""
    return [sum(row, ZERO) for row in placement]


def solution(rows: Matrix, right: Row) -> Row | None:
    """The only solution of as many linear equations as unknowns, or more, eliminated in integers; or None."""
    pending = [_whole([*row, r]) for row, r in zip(rows, right, strict=True)]
    solved: list[list[int]] = []
    for k in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in pending if row[k]), None)
        if pivot is None:
            return None
        pending.remove(pivot)
        for row in [*pending, *solved]:
            if row[k]:
                here, there = pivot[k], row[k]
                row[:] = [here * v - there * p for v, p in zip(row, pivot, strict=True)]
                common = gcd(*row) or 1
                row[:] = [v // common for v in row]
        solved.append(pivot)
    return (
        None
        if any(row[-1] for row in pending)
        else [Fraction(row[-1], row[k]) for k, row in enumerate(solved)]
    )


def _whole(row: Row) -> list[int]:
    """Integers of the same ratios."""
    common = lcm(*(v.denominator for v in row))
    return [v.numerator * (common // v.denominator) for v in row]


def determinant(rows: Matrix) -> Fraction:
    """By expansion along the first row."""
    if not rows:
        return ONE
    return sum(
        (
            (-1) ** k * v * determinant([row[:k] + row[k + 1 :] for row in rows[1:]])
            for k, v in enumerate(rows[0])
            if v
        ),
        ZERO,
    )


def solved(rows: Matrix, right: Row) -> Row | None:
    """Solution of a square system by Cramer's rule, None if the determinant is 0."""
    whole = determinant(rows)
    if not whole:
        return None
    return [
        determinant([[*row[:k], r, *row[k + 1 :]] for row, r in zip(rows, right, strict=True)]) / whole
        for k in range(len(rows))
    ]


def vertices(rows: Matrix, right: Row) -> list[Row]:
    """Vertices of all x >= 0 with rows x <= right."""
    n = len(rows[0])
    walls = [*zip(rows, right, strict=True)]
    walls += [([-ONE if k == i else ZERO for k in range(n)], ZERO) for i in range(n)]
    found = set()
    for chosen in combinations(walls, n):
        x = solved([row for row, _ in chosen], [r for _, r in chosen])
        if x is not None and all(dot(row, x) <= r for row, r in walls):
            found.add(tuple(x))
    return [list(x) for x in sorted(found)]


def max_min(demands: Matrix, capacities: Row, rates: Row) -> Row:
    """Tasks whose levels, tasks over rates, are max-min fair."""
    n = len(demands)
    for named in product(*[[j for j, d in enumerate(row) if d] for row in demands]):
        used = sorted(set(named))
        loads = [
            [sum((demands[i][j] * rates[i] for i in range(n) if named[i] == k), ZERO) for k in used]
            for j in used
        ]
        levels = solved(loads, [capacities[j] for j in used])
        if levels is None or min(levels) < 0:
            continue
        level = [levels[used.index(j)] for j in named]
        tasks = [v * r for v, r in zip(level, rates, strict=True)]
        if all(u <= c for u, c in zip(usage(demands, tasks), capacities, strict=True)) and all(
            level[k] <= level[i] for i in range(n) for k in range(n) if demands[k][named[i]] and rates[k]
        ):
            return tasks
    raise ArithmeticError("no assignment of users to resources is max-min fair")


class InfeasibleError(ArithmeticError):
    """No point meets the conditions of a linear program."""


def possible(rows: Matrix, right: Row) -> bool:
    """Whether some x >= 0 has rows x <= right."""
    try:
        largest([ZERO] * len(rows[0]), rows, right)
    except InfeasibleError:
        return False
    return True


def largest(gain: Row, rows: Matrix, right: Row) -> Fraction:
    """Largest gain x over x >= 0, rows x <= right, by dictionaries and the rule of the smallest index.

    The origin need not be feasible: a first phase drives out what is missing.
    """
    n, m = len(gain), len(rows)
    # A row tells a basic variable: constant, coefficients of those outside. Variable -1 is what is missing.
    outside = list(range(n))
    inside = list(range(n, n + m))
    table = [[r, *(-v for v in row)] for row, r in zip(rows, right, strict=True)]
    objective = [ZERO, *gain]
    if min(right) < 0:
        outside.append(-1)
        for row in table:
            row.append(ONE)
        missing = [ZERO] * (n + 1) + [-ONE]
        worst = min(range(m), key=lambda k: table[k][0])
        rows_of = [*table, [*objective, ZERO], missing]
        _pivot(rows_of, inside, outside, worst, n)
        _climb(rows_of, inside, outside, m)
        if rows_of[-1][0] != 0:
            raise InfeasibleError("the linear program has no feasible point")
        if -1 in inside:
            k = inside.index(-1)
            _pivot(rows_of, inside, outside, k, next(c for c, v in enumerate(rows_of[k][1:]) if v))
        column = outside.index(-1)
        outside.pop(column)
        for row in rows_of:
            row.pop(column + 1)
        table, objective = rows_of[:m], rows_of[m]
    rows_of = [*table, objective]
    _climb(rows_of, inside, outside, m)
    return rows_of[-1][0]


def _climb(table: Matrix, inside: list[int], outside: list[int], m: int) -> None:
    """Pivot until no coefficient of the last row is positive."""
    while True:
        rising = [c for c, v in enumerate(table[-1][1:]) if v > 0]
        if not rising:
            return
        column = min(rising, key=lambda c: outside[c])
        limits = [
            (-table[k][0] / table[k][column + 1], inside[k], k) for k in range(m) if table[k][column + 1] < 0
        ]
        if not limits:
            raise ArithmeticError("the linear program is unbounded")
        _pivot(table, inside, outside, min(limits)[2], column)


def _pivot(table: Matrix, inside: list[int], outside: list[int], k: int, column: int) -> None:
    """Exchange the basic variable of row k with the one of a column."""
    c = column + 1
    pivot = table[k][c]
    solved_row = [-v / pivot for v in table[k]]
    solved_row[c] = 1 / pivot
    for number, row in enumerate(table):
        if number != k and row[c]:
            factor = row[c]
            row[:] = [v + factor * s for v, s in zip(row, solved_row, strict=True)]
            row[c] = factor * solved_row[c]
    table[k][:] = solved_row
    inside[k], outside[column] = outside[column], inside[k]
