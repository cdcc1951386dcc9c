r"""Drifts and loads a second time: the best of three candidates, walks along boundaries, and prices of
mixtures.

PF of two classes on two resources is one of three allocations, with the first resource full, the second, or
both; it is the one that fits and has the largest product :math:`\prod_i\varphi_i^{x_i}`, which is rational.
BMF of classes on two resources: every class names one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, powers, shares_of, solved, usage
from proofs.definitions.registry import define_again, fractions

__all__: list[str] = []


@define_again
def two_class_pf(a: Matrix, counts: Sequence[int]) -> Row:
    """The candidate that fits and has the largest product."""
    total = sum(counts)
    candidates = [[k / (total * row[j]) for k, row in zip(counts, a, strict=True)] for j in (0, 1)]
    both = _both_full(tuple(map(tuple, a)))
    candidates += [list(both)] if both is not None and min(both) > 0 else []
    fit = [t for t in candidates if max(usage(a, t)) <= 1]
    return max(fit, key=lambda t: powers(t, counts)) if len(fit) > 1 else fit[0]


@lru_cache(maxsize=64)
def _both_full(a: tuple[tuple[Fraction, ...], ...]) -> Row | None:
    return solved([list(column) for column in zip(*a, strict=True)], [ONE, ONE])


@define_again
def capacity_corners(shares: Any) -> Matrix:
    """Along the upper boundary from the left: the lowest line, then the next steeper one that it meets."""
    a = fractions(shares)
    end = min(1 / v for v in a[0] if v)
    lines = [(1 / w, v / w) for v, w in zip(*a, strict=True) if w]  # height at 0, and fall
    x, found = ZERO, [[ZERO, min(height for height, _ in lines)]]
    while x < end:
        height, fall = min((h - f * x, -f) for h, f in lines)
        fall = -fall
        meets = [x + (h - f * x - height) / (f - fall) for h, f in lines if f > fall]
        x = min([*meets, end])
        found.append([x, height - fall * (x - found[-1][0])])
    if found[-1][1]:
        found.append([end, ZERO])
    return sorted(found)


@define_again
def largest_mixes(demands: Any, capacities: Any, whole: bool = True) -> list[list[Any]]:
    """From many tasks of class 1 to few: whatever raises the tasks of class 2."""
    a, c = fractions(demands), fractions(capacities)
    if not whole:
        return capacity_corners(shares_of(a, c))
    found: list[list[Any]] = []
    best = -1
    for x in range(int(min(s / d for d, s in zip(a[0], c, strict=True) if d)), -1, -1):
        y = int(min((s - x * d) / e for d, e, s in zip(*a, c, strict=True) if e))
        if y > best:
            found.append([x, y])
            best = y
    return found[::-1]


@define_again
def mix_limit(demands: Any, capacities: Any, direction: Any, whole: bool = True) -> Fraction:
    """The least, over prices at which the direction is worth 1, of what the best mix is worth."""
    a, c, d = fractions(demands), fractions(capacities), fractions(direction)
    mixes = [fractions(mix) for mix in largest_mixes(demands, capacities, whole)]
    prices = {ZERO, ONE}
    for p, q in product(mixes, mixes):
        # Prices (s/d1, (1 - s)/d2) at which both mixes are worth the same.
        one, other = (p[0] - q[0]) / d[0], (p[1] - q[1]) / d[1]
        if one != other and 0 <= (s := other / (other - one)) <= 1:
            prices.add(s)
    worth = min(max(s * p / d[0] + (1 - s) * q / d[1] for p, q in mixes) for s in prices)
    return worth * max(u / s for u, s in zip(usage(a, d), c, strict=True))


@define_again
def two_resource_bmf(a: Matrix, counts: Row) -> Row:
    """Tasks of classes on two resources: each names one, whose largest share its jobs hold."""
    n = len(a)
    # Whoever demands relatively more of the first resource than one who names it names it, too.
    by_ratio = sorted(range(n), key=lambda i: a[i][0] / sum(a[i]))
    for split in range(n + 1):
        named = [int(i in by_ratio[:split]) for i in range(n)]
        if not all(row[j] for j, row in zip(named, a, strict=True)):
            continue
        used = sorted(set(named))
        classes = list(zip(counts, a, named, strict=True))
        loads = [
            [sum((k * row[j] / row[c] for k, row, own in classes if own == c), ZERO) for c in used]
            for j in used
        ]
        levels = solved(loads, [ONE] * len(used))
        if levels is None or min(levels) <= 0:
            continue
        jobs = [levels[used.index(j)] / row[j] for j, row in zip(named, a, strict=True)]
        highest = all(
            x * row[j] <= v for x, row in zip(jobs, a, strict=True) for j, v in zip(used, levels, strict=True)
        )
        tasks = [k * x for k, x in zip(counts, jobs, strict=True)]
        if highest and max(usage(a, tasks)) <= 1:
            return tasks
    raise ArithmeticError("no naming of resources is bottleneck-max fair")
