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


def dot(first: Sequence[Fraction | int], second: Sequence[Fraction | int]) -> Fraction:
    """Sum of the products, in integers over one denominator."""
    over, under = 0, 1
    for u, v in zip(first, second, strict=True):
        part = u.denominator * v.denominator
        over, under = over * part + u.numerator * v.numerator * under, under * part
    return Fraction(over, under)


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


def determinant(rows: list[list[int]]) -> int:
    """By expansion along the first row."""
    if not rows:
        return 1
    return sum(
        (-1) ** k * v * determinant([row[:k] + row[k + 1 :] for row in rows[1:]])
        for k, v in enumerate(rows[0])
        if v
    )


def solved(rows: Matrix, right: Row) -> Row | None:
    """Solution of a square system by Cramer's rule in integers, None if the determinant is 0."""
    known = [_whole([*row, r]) for row, r in zip(rows, right, strict=True)]
    whole = determinant([row[:-1] for row in known])
    if not whole:
        return None
    return [
        Fraction(determinant([[*row[:k], row[-1], *row[k + 1 : -1]] for row in known]), whole)
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
    speeds = [
        [d * rate for d, rate in zip(column, rates, strict=True)] for column in zip(*demands, strict=True)
    ]
    for named in product(*[[j for j, d in enumerate(row) if d] for row in demands]):
        used = sorted(set(named))
        loads = [[dot(speeds[j], [other == k for other in named]) for k in used] for j in used]
        levels = solved(loads, [capacities[j] for j in used])
        if levels is None or min(levels) < 0:
            continue
        level = [levels[used.index(j)] for j in named]
        if all(dot(level, row) <= c for row, c in zip(speeds, capacities, strict=True)) and all(
            level[k] <= level[i] for i in range(n) for k in range(n) if speeds[named[i]][k]
        ):
            return [v * r for v, r in zip(level, rates, strict=True)]
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
    scale = lcm(*(v.denominator for v in gain))
    walls = (_whole([*row, r]) for row, r in zip(rows, right, strict=True))
    table = [[r, *(-v for v in row)] for *row, r in walls]
    objective = [0, *(int(v * scale) for v in gain)]
    program = _Dictionary([*table, objective], list(range(n, n + m)), list(range(n)))
    if min(right) < 0:
        program.outside.append(MISSING)
        for row in table:
            row.append(1)
        objective.append(0)
        program.rows.append([0] * (n + 1) + [-1])
        program.pivot(min(range(m), key=lambda k: table[k][0]), n)
        program.climb()
        if program.rows[-1][0]:
            raise InfeasibleError("the linear program has no feasible point")
        if MISSING in program.inside:
            k = program.inside.index(MISSING)
            program.pivot(k, next(c for c, v in enumerate(program.rows[k][1:]) if v))
        column = program.outside.index(MISSING)
        program.outside.pop(column)
        program.rows.pop()
        for row in program.rows:
            row.pop(column + 1)
    program.climb()
    return Fraction(program.rows[-1][0], program.whole * scale)


MISSING = -1
"""The variable that is added to all rows where the origin is not feasible."""


@dataclass
class _Dictionary:
    """Rows that tell the variables inside by a constant and those outside, then gains; all over ``whole``.

    Variables and gains may have been multiplied by positive numbers, so that the rows begin as integers. They
    stay integers, which are determinants: all can be divided by the pivot before (J. Edmonds, "Systems of
    distinct representatives and linear algebra", 1967).
    """

    rows: list[list[int]]
    inside: list[int]
    outside: list[int]
    whole: int = 1

    def climb(self) -> None:
        """Pivot until no coefficient of the last row is positive."""
        while rising := [c for c, v in enumerate(self.rows[-1][1:]) if v > 0]:
            column = min(rising, key=lambda c: self.outside[c])
            limits = [
                (Fraction(row[0], -row[column + 1]), i, k)
                for k, (i, row) in enumerate(zip(self.inside, self.rows, strict=False))
                if row[column + 1] < 0
            ]
            if not limits:
                raise ArithmeticError("the linear program is unbounded")
            self.pivot(min(limits)[2], column)

    def pivot(self, k: int, column: int) -> None:
        """Exchange the variable of row k with the one of a column."""
        c, told = column + 1, self.rows[k]
        pivot, sign = abs(told[c]), 1 if told[c] > 0 else -1
        for row in self.rows:
            if row is not told:
                factor = sign * row[c]
                row[:] = [(v * pivot - factor * t) // self.whole for v, t in zip(row, told, strict=True)]
                row[c] = factor
        told[:] = [-sign * t for t in told]
        told[c] = sign * self.whole
        self.whole = pivot
        self.inside[k], self.outside[column] = self.outside[column], self.inside[k]
