r"""Bottleneck-max fair (BMF) allocations of one pool: all of them, and the path that ends at one.

An allocation is BMF when it fits and every user holds the largest share of some full resource, its
bottleneck. For a given map from users to bottlenecks these conditions are linear, so that the allocations
of the map form a polytope; the vertices of all of them are listed by trying all square systems.

The path puts a cap t on everybody's tasks, as one more resource of which every task demands the same. While
nobody changes bottleneck the tasks are linear in t. A user changes bottleneck when its share meets the
largest of another active resource, or when a resource fills on which its share is the largest; then t goes
on, up or down, in the direction in which the new conditions hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import prod
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, shares_of, small_demands, solution, usage
from proofs.definitions.pools.filling import (
    beside_a_lie,
    is_bottleneck_max,
    is_feasible,
    pf_tasks,
    saturated,
    tasks_with,
)
from proofs.definitions.registry import Case, define, define_on_both, fractions

__all__: list[str] = []


@define_on_both
def complaint_free_is_bmf(demands: Any, capacities: Any, tasks: Any) -> dict[str, Any]:
    """Claim: if everybody has an n-th of some full resource, the tasks are bottleneck-max fair.

    Who has its entitlement of a full resource has no justified complaint: D. Dolev et al., "No justified
    complaints", ITCS 2012, arXiv:1106.2673.
    """
    a, c, x = fractions(demands), fractions(capacities), fractions(tasks)
    shares = [[t * part for part in row] for t, row in zip(x, shares_of(a, c), strict=True)]
    full = saturated(a, c, x)
    content = is_feasible(a, c, x) and all(any(row[j] * len(a) >= 1 for j in full) for row in shares)
    return {"shares": shares, "holds": not content or is_bottleneck_max(a, c, x)}


@define
def bmf_vertices(demands: Any, capacities: Any) -> Matrix:
    """Vertices of the polytopes whose union is the set of all BMF allocations, sorted."""
    a, c = fractions(demands), fractions(capacities)
    n, m = len(a), len(c)
    found = set()
    for full in product(range(m), repeat=n):
        # Rows of "row x <= right": what fits, and nobody holds more of the bottleneck of user i. These make
        # x > 0, since the largest share of a full resource is positive.
        rows = [([a[i][j] for i in range(n)], c[j]) for j in range(m)]
        rows += [
            ([a[k][full[i]] if p == k else -a[i][full[i]] if p == i else ZERO for p in range(n)], ZERO)
            for i in range(n)
            for k in range(n)
            if k != i
        ]
        for chosen in combinations(rows, n):
            x = solution([row for row, _ in chosen], [right for _, right in chosen])
            if x is not None and is_bottleneck_max(a, c, x):
                found.add(tuple(x))
    return [list(x) for x in sorted(found)]


@define_on_both
def bmf_fixed_points(sizes: Any) -> Iterator[Case]:
    """In all pools of n users and m resources with demands up to a largest (for each triple of these in
    ``sizes``) there is a BMF allocation, and each vertex of them is a fixed point of the map of levels.

    The levels are the largest shares of full resources, and 1 elsewhere; the map adds the room of a resource
    to its level and cuts off at 1 and below at 1/(2n).
    """
    for n, m, largest in sizes:
        for demands in combinations_with_replacement(small_demands(m, largest), n):
            found = bmf_vertices(demands, [1] * m)
            yield (
                {"demands": demands, "vertices": found},
                bool(found) and all(_is_fixed_point(fractions(demands), x) for x in found),
            )


def _is_fixed_point(a: Matrix, x: Row) -> bool:
    load = usage(a, x)
    largest = [max(v * row[j] for v, row in zip(x, a, strict=True)) for j in range(len(load))]
    levels = [h if used == 1 else ONE for h, used in zip(largest, load, strict=True)]
    moved = [
        min(ONE, max(Fraction(1, 2 * len(a)), t + 1 - used)) for t, used in zip(levels, load, strict=True)
    ]
    return levels == moved and x == [tasks_with(row, levels) for row in a]


@define_on_both
def bmf_lie(demands: Any, capacities: Any, liar: int, lie: Any) -> dict[str, Any]:
    """What one user gains under BMF by stating other demands, where both allocations are unique."""
    false = [lie if i == liar else row for i, row in enumerate(demands)]
    honest, given = bmf_vertices(demands, capacities), bmf_vertices(false, capacities)
    if len(honest) != 1 or len(given) != 1:
        return {"holds": True, "what": "there are several allocations"}
    return beside_a_lie(fractions(demands)[liar], fractions(lie), honest[0][liar], given[0][liar])


@define_on_both
def bmf_improved(demands: Any, capacities: Any, better: Any) -> dict[str, Any]:
    """Product of the tasks of the only BMF allocation, and of another that fits."""
    a, c, y = fractions(demands), fractions(capacities), fractions(better)
    found = bmf_vertices(demands, capacities)
    products = [prod(found[0], start=ONE), prod(y, start=ONE)]
    beaten = len(found) == 1 and is_feasible(a, c, y) and min(y) > 0 and products[1] > products[0]
    return {"BMF": found[0], "products": products, "holds": not beaten}


@define_on_both
def two_classes(largest: int, most: int) -> Iterator[Case]:
    """In every pool of two classes with demands 1 to ``largest`` and up to ``most`` jobs each PF is BMF.

    The allocation is 1/(n a) on the only full resource, or the one that fills both; both definitions hold.
    """
    sizes, ones = range(1, largest + 1), [ONE, ONE]
    for first, second in product(product(sizes, repeat=2), repeat=2):
        for counts in product(range(1, most + 1), repeat=2):
            rows = fractions([first] * counts[0] + [second] * counts[1])
            ratios = [sum((row[j] / row[1 - j] for row in rows), ZERO) for j in (0, 1)]
            full = [j for j in (0, 1) if ratios[j] >= len(rows)]
            loads = [
                [Fraction(k * d[j]) for k, d in zip(counts, (first, second), strict=True)] for j in (0, 1)
            ]
            both = solution(loads, ones) if len(full) == 2 else None
            per_class = both or [1 / (len(rows) * Fraction(demand[full[0]])) for demand in (first, second)]
            prices = solution(fractions([first, second]), [1 / v for v in per_class]) if both else None
            prices = prices or [Fraction(len(rows)) if j == full[0] else ZERO for j in (0, 1)]
            tasks = [per_class[0]] * counts[0] + [per_class[1]] * counts[1]
            holds = is_bottleneck_max(rows, ones, tasks) and pf_tasks(rows, ones, prices) == tasks
            yield {"demands": [first, second], "counts": counts, "tasks": per_class}, holds


@dataclass(frozen=True)
class _Piece:
    """Bottleneck of each user (the number of resources stands for the cap), and both ends of the piece."""

    owners: tuple[int, ...]
    caps: tuple[Fraction, Fraction]
    tasks: tuple[Row, Row]


@define
def bmf_path_end(demands: Any, capacities: Any) -> Row:
    """Tasks where the path ends."""
    a, c = fractions(demands), fractions(capacities)
    return _path(_normalized(a, c))[-1].tasks[1]


@define_on_both
def bmf_path_pieces(demands: Any, capacities: Any, capped: bool = True) -> Iterator[Case]:
    """Every piece of the path: its conditions hold at both ends, and it begins where the last ended.

    Then they hold on the whole piece, as all are linear. The last piece is the end, where nobody follows the
    cap. Without ``capped`` every piece is asked to end at a BMF allocation.
    """
    a, c = fractions(demands), fractions(capacities)
    b = _normalized(a, c)
    pieces = _path(b)
    for k, piece in enumerate(pieces):
        holds = all(
            is_capped_bmf(b, piece.owners, cap, u) for cap, u in zip(piece.caps, piece.tasks, strict=True)
        )
        before = pieces[k - 1] if k else None
        if before is None:
            holds &= all(o == len(c) for o in piece.owners)
        else:
            holds &= (before.caps[1], before.tasks[1]) == (piece.caps[0], piece.tasks[0])
        last = k == len(pieces) - 1
        if last or not capped:
            holds &= is_bottleneck_max(a, c, piece.tasks[1])
        yield {"bottlenecks": piece.owners, "caps": piece.caps, "tasks": piece.tasks}, holds


def _normalized(a: Matrix, c: Row) -> Matrix:
    """Shares of each resource per task; the last column is the cap."""
    return [[*row, ONE] for row in shares_of(a, c)]


@define
def is_capped_bmf(b: Matrix, owners: tuple[int, ...], cap: Fraction, u: Row) -> bool:
    """Whether all fits, under the cap too, and everybody has the largest share of its full owner."""
    n, m = len(b), len(b[0]) - 1
    *load, _ = usage(b, u)
    fits = min(u) >= 0 and max(load) <= 1 and max(u) <= cap
    return fits and all(
        u[i] == cap if j == m else load[j] == 1 and all(u[k] * b[k][j] <= u[i] * b[i][j] for k in range(n))
        for i, j in enumerate(owners)
    )


def _path(b: Matrix) -> list[_Piece]:
    """Pieces from a tiny cap to the end; demands must be in general position (one event at a time)."""
    n, m = len(b), len(b[0]) - 1
    owners, direction = (m,) * n, 1
    cap = 1 / (2 * max(usage(b, [ONE] * n)[:m]))
    pieces: list[_Piece] = []
    while m in owners:
        conditions, (u0, u1) = _line(b, owners)
        events = [
            (abs(end - cap), end, after)
            for (value, slope), after in conditions
            if slope * direction < 0 and (end := -value / slope) != cap
        ]
        _, end, changed = min(events)
        i, j = changed
        at_end = [v + end * w for v, w in zip(u0, u1, strict=True)]
        if i < 0:  # resource j fills: its largest share follows it
            i = max(range(n), key=lambda k: at_end[k] * b[k][j])
        at_begin = [v + cap * w for v, w in zip(u0, u1, strict=True)]
        pieces.append(_Piece(owners, (cap, end), (at_begin, at_end)))
        old, owners, cap = owners, tuple(j if k == i else o for k, o in enumerate(owners)), end
        if m not in owners:
            return [*pieces, _Piece(owners, (cap, cap), (at_end, at_end))]
        # Enter the new piece where the condition that is tight now, on what user i left, gets slack.
        conditions, _ = _line(b, owners)
        tight = [slope for (value, slope), (k, to) in conditions if value + slope * cap == 0]
        if len(tight) != 1 or not tight[0]:
            raise ValueError(f"two events at once at the cap {cap}, user {i} leaving {old[i]}")
        direction = 1 if tight[0] > 0 else -1
    return pieces


def _line(b: Matrix, owners: tuple[int, ...]) -> tuple[list[tuple[Row, tuple[int, int]]], tuple[Row, Row]]:
    """Of all conditions ">= 0", with who would go where, and of the tasks: values at cap 0, and slopes."""
    n, m = len(b), len(b[0]) - 1
    active = sorted(set(owners) - {m})
    matrix = [
        [sum((b[i][j] / b[i][k] for i in range(n) if owners[i] == k), ZERO) for k in active] for j in active
    ]
    at_cap = [-sum((b[i][j] for i in range(n) if owners[i] == m), ZERO) for j in active]
    value, slope = solution(matrix, [ONE] * len(active)), solution(matrix, at_cap)
    if value is None or slope is None:
        raise ValueError(f"the levels of the map {owners} are not determined")
    levels = {j: [v, s] for j, v, s in zip(active, value, slope, strict=True)} | {m: [ZERO, ONE]}
    u = [[part / b[i][owners[i]] for part in levels[owners[i]]] for i in range(n)]
    conditions = [
        ([f - b[i][j] * v for f, v in zip(levels[j], u[i], strict=True)], (i, j))
        for i in range(n)
        for j in levels
        if j != owners[i] and b[i][j]
    ]
    for j in range(m):
        if j not in levels:
            load = [sum((b[i][j] * u[i][part] for i in range(n)), ZERO) for part in (0, 1)]
            room = [1 - load[0], -load[1]]
            conditions.append((room, (-1, j)))
    return conditions, ([v for v, _ in u], [s for _, s in u])
