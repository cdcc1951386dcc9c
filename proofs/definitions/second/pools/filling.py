r"""One pool a second time: max-min fairness by assignments, PF by what no allocation beats, BMF by levels.

PF: tasks x that fit are optimal if and only if :math:`\sum_i y_i/x_i \le n` for all y that fit, which is
asked of the vertices. BMF: users name a full resource and hold its level, :math:`x_i = \theta_j/a_{ij}`; what
remains are linear conditions on the levels.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, dot, max_min, solved, usage, vertices
from proofs.definitions.registry import define_again, fractions

__all__ = ["pf_tasks"]


def is_pf(a: Matrix, c: Row, tasks: Row) -> bool:
    """Whether no allocation that fits has a larger sum of ratios to the tasks."""
    if min(tasks) <= 0 or any(u > c_j for u, c_j in zip(usage(a, tasks), c, strict=True)):
        return False
    corners = vertices([list(column) for column in zip(*a, strict=True)], c)
    best = max(sum((y / x for y, x in zip(corner, tasks, strict=True)), ZERO) for corner in corners)
    return best == len(a)


@define_again
def is_bottleneck_max(a: Matrix, c: Row, tasks: Row) -> bool:
    """Whether all fits and no user is beaten on every resource that is full."""
    load = usage(a, tasks)
    full = [j for j, u in enumerate(load) if u == c[j]]
    beaten = [
        all(any(x * row[j] < y * other[j] for y, other in zip(tasks, a, strict=True)) for j in full)
        for x, row in zip(tasks, a, strict=True)
    ]
    return min(tasks) > 0 and all(u <= c_j for u, c_j in zip(load, c, strict=True)) and not any(beaten)


def bmf_points(a: Matrix, c: Row) -> list[Row]:
    """Vertices of the BMF allocations of each assignment of users to full resources."""
    found = set()
    n, m = len(a), len(c)
    for named in product(*[[j for j in range(m) if row[j]] for row in a]):
        used = sorted(set(named))
        # Tasks are linear in the levels: row i holds the coefficients of x_i.
        tasks_of = [[(1 / a[i][named[i]]) * (j == named[i]) for j in used] for i in range(n)]
        loads = [
            [sum((a[i][j] * tasks_of[i][k] for i in range(n)), ZERO) for k in range(len(used))]
            for j in range(m)
        ]
        walls = [(loads[j], c[j]) for j in range(m)]
        walls += [
            ([a[i][j] * v - (used[k] == j) for k, v in enumerate(tasks_of[i])], ZERO)
            for j in used
            for i in range(n)
        ]
        for chosen in combinations(walls, len(used)):
            levels = solved([row for row, _ in chosen], [r for _, r in chosen])
            if levels is not None and min(levels) > 0:
                x = usage([list(column) for column in zip(*tasks_of, strict=True)], levels)
                if all(v == c[j] for j, v in enumerate(usage(a, x)) if j in used) and is_bottleneck_max(
                    a, c, x
                ):
                    found.add(tuple(x))
    return [list(x) for x in sorted(found)]


@define_again
def used(demands: Any, tasks: Any) -> Row:
    """Units of each resource, user by user."""
    total = [ZERO] * len(demands[0])
    for row, x in zip(fractions(demands), fractions(tasks), strict=True):
        total = [u + x * d for u, d in zip(total, row, strict=True)]
    return total


@define_again
def filled(demands: Matrix, capacities: Row, rates: Row) -> Row:
    """Tasks whose levels are max-min fair, by assignments."""
    return max_min(demands, capacities, rates)


@define_again
def pf_tasks(demands: Any, capacities: Any, prices: Any) -> Row | None:
    """One over the costs of tasks, if nothing that fits is better and the prices are worth n together."""
    a, c, p = fractions(demands), fractions(capacities), fractions(prices)
    tasks = [1 / cost for cost in usage([list(column) for column in zip(*a, strict=True)], p)]
    worth = dot(p, c)
    return tasks if min(p) >= 0 and worth == len(a) and is_pf(a, c, tasks) else None


@define_again
def bmf_vertices(demands: Any, capacities: Any) -> Matrix:
    """Vertices of all BMF allocations, by levels."""
    return bmf_points(fractions(demands), fractions(capacities))


@define_again
def bmf_path_end(demands: Any, capacities: Any) -> Row:
    """The only BMF allocation, where there is only one."""
    [only] = bmf_points(fractions(demands), fractions(capacities))
    return only


@define_again
def is_capped_bmf(b: Matrix, owners: tuple[int, ...], cap: Fraction, u: Row) -> bool:
    """By the largest share of each resource; the last column, of the cap, has to be full where it owns."""
    held = [[x * part for part in row] for x, row in zip(u, b, strict=True)]
    largest = [max(column) for column in zip(*held, strict=True)]
    room = [*([ONE] * (len(largest) - 1)), cap]
    load = [*usage(b, u)[:-1], largest[-1]]
    fits = all(x >= 0 for x in u) and all(v <= r for v, r in zip(load, room, strict=True))
    return fits and all(load[j] == room[j] and held[i][j] == largest[j] for i, j in enumerate(owners))
