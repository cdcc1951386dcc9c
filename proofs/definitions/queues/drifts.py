r"""Drifts of the fluid limit, loads that fit, and what whole tasks lose of them.

With unit mean sizes the drift at the counts x is the load minus the tasks that run: :math:`\rho -
\varphi(x)`. There are two resources of capacity 1, so that demands are shares, unless capacities are given.

Proportional fairness is simulated to be compared with balanced fairness. With L the generator of the chain,
:math:`g + Lh` has the mean of g, the function of the state that is wanted, and varies less for a good h. In
the example all rates are constant but near the axes; a quadratic h makes :math:`g + Lh` constant where they
are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import sqrt
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, shares_of, small_demands, usage
from proofs.definitions.pools.filling import drf_tasks, filled
from proofs.definitions.queues.balance import balanced_enclosure, two_class_pf, with_one_full
from proofs.definitions.registry import Case, define, define_on_both, fractions

__all__ = ["capacity_corners", "two_resource_bmf"]


@define_on_both
def fluid_drift(policy: str, shares: Any, loads: Any, counts: Any) -> Row:
    """Drift of two classes on two resources under "PF" or "DRF"; both classes have jobs."""
    a, rho, x = fractions(shares), fractions(loads), [int(c) for c in counts]
    tasks = two_class_pf(a, (x[0], x[1])) if policy == "PF" else drf_tasks(a, [1, 1], x)
    return [r - t for r, t in zip(rho, tasks, strict=True)]


@define
def capacity_corners(shares: Any) -> Matrix:
    """Corners, other than 0, of the loads of two classes that no resource is overloaded by, sorted."""
    a = fractions(shares)
    rows = [([row[j] for row in a], ONE) for j in range(len(a[0]))]
    rows += [([-ONE, ZERO], ZERO), ([ZERO, -ONE], ZERO)]
    found = set()
    for ((p, q), r), ((s, t), u) in combinations(rows, 2):
        det = p * t - q * s
        if not det:
            continue
        point = ((r * t - q * u) / det, (p * u - r * s) / det)
        if any(point) and all(f * point[0] + g * point[1] <= h for (f, g), h in rows):
            found.add(point)
    return [list(point) for point in sorted(found)]


@define
def largest_mixes(demands: Any, capacities: Any, whole: bool = True) -> list[list[Any]]:
    """Whole numbers of tasks of two classes that fit and to which none can be added, sorted.

    With ``whole`` False tasks are divisible: the corners instead.
    """
    a, c = fractions(demands), fractions(capacities)
    if not whole:
        return capacity_corners(shares_of(a, c))
    most = [int(min(s / d for d, s in zip(row, c, strict=True) if d)) for row in a]

    def fits(x: tuple[int, int]) -> bool:
        return all(x[0] * d + x[1] * e <= s for d, e, s in zip(*a, c, strict=True))

    return [
        list(x)
        for x in product(range(most[0] + 1), range(most[1] + 1))
        if fits(x) and not fits((x[0] + 1, x[1])) and not fits((x[0], x[1] + 1))
    ]


@define
def mix_limit(demands: Any, capacities: Any, direction: Any, whole: bool = True) -> Fraction:
    """Largest load of the busiest resource, in a direction, that mixtures of the largest mixes carry."""
    a, c, d = fractions(demands), fractions(capacities), fractions(direction)
    mixes = largest_mixes(demands, capacities, whole)
    best = ZERO
    for p, q in product(mixes, mixes):
        # Along the segment from p to q the smaller of the two ratios to the direction is largest at an end
        # or where both are equal.
        slopes = [(v - u) / r for u, v, r in zip(p, q, d, strict=True)]
        steps = [ZERO, ONE]
        if slopes[0] != slopes[1]:
            steps.append((p[1] / d[1] - p[0] / d[0]) / (slopes[0] - slopes[1]))
        for s in (s for s in steps if 0 <= s <= 1):
            best = max(best, min(u / r + s * g for u, g, r in zip(p, slopes, d, strict=True)))
    return best * max(u / s for u, s in zip(usage(a, d), c, strict=True))


@define
def two_resource_bmf(a: Matrix, x: Row) -> Row:
    """Bottleneck-max fairness of classes on two resources: per job min(t1/a_i1, t2/a_i2) if both are full.

    Of levels only those count that belong to a demand. With t2 = 1 the usages are linear in t1 between the
    ratios a_i1/a_i2, and beyond them.
    """
    if (alone := with_one_full(a, x)) is not None:
        return alone

    def at(t: Fraction) -> tuple[Row, Fraction, Fraction]:
        tasks = [
            n * min(s / d for s, d in zip((t, ONE), row, strict=True) if d)
            for n, row in zip(x, a, strict=True)
        ]
        used = usage(a, tasks)
        return tasks, used[0], used[0] - used[1]

    ratios = sorted({row[0] / row[1] for row in a if row[1]})
    while at(ratios[-1])[2] < 0:  # some demand the first resource alone, and get more
        ratios.append(2 * ratios[-1] + 1)
    low = max(t for t in ratios if at(t)[2] <= 0)
    high = min(t for t in ratios if at(t)[2] >= 0)
    if low != high:
        below, above = at(low)[2], at(high)[2]
        low += (high - low) * below / (below - above)
    tasks, used, _ = at(low)
    return [v / used for v in tasks]


@define_on_both
def bmf_square_drift(a: Matrix, rho: Row, x: Row) -> Fraction:
    """Drift of the sum of x_i^2/(2 rho_i) under bottleneck-max fairness."""
    present = [i for i, n in enumerate(x) if n]
    tasks = two_resource_bmf([a[i] for i in present], [x[i] for i in present])
    return sum((x[i] * (rho[i] - t) / rho[i] for i, t in zip(present, tasks, strict=True)), ZERO)


@define_on_both
def filling_keeps_up(families: Any) -> Iterator[Case]:
    """Every class runs at least its part of the maximum times its load over the load of the busiest resource.

    With the growth r of progressive filling per job (one over the dominant share, or 1) the maximum is
    V = max r x/rho. Each family lists classes, resources, the largest demand and the most jobs of a class;
    loads are in all proportions of 1 and 2.
    """
    for n, m, largest, most in families:
        rows = small_demands(m, largest)
        for shares, counts in product(product(rows, repeat=n), product(range(most + 1), repeat=n)):
            if not any(counts):
                continue
            for growth in ([Fraction(1, max(row)) for row in shares], [ONE] * n):
                tasks = filled_with_jobs(
                    fractions(shares), [r * x for r, x in zip(growth, counts, strict=True)]
                )
                for loads in product((1, 2), repeat=n):
                    case = {
                        "shares": shares,
                        "counts": counts,
                        "growth": growth,
                        "loads": loads,
                        "tasks": tasks,
                    }
                    yield case, _keeps_up(shares, counts, growth, loads, tasks)


@define_on_both
def filled_with_jobs(shares: Matrix, rates: Row) -> Row:
    """Progressive filling of the classes that have jobs; the others run nothing."""
    present = [i for i, r in enumerate(rates) if r]
    found = filled([shares[i] for i in present], [ONE] * len(shares[0]), [rates[i] for i in present])
    tasks = [ZERO] * len(rates)
    for i, x in zip(present, found, strict=True):
        tasks[i] = x
    return tasks


def _keeps_up(shares: Any, counts: Any, growth: Row, loads: Any, tasks: Row) -> bool:
    busiest = max(usage(shares, loads))
    levels = [r * x / rho for r, x, rho in zip(growth, counts, loads, strict=True)]
    scale = busiest * max(levels)
    return all(t * scale >= v * rho for t, v, rho in zip(tasks, levels, loads, strict=True))


@define_on_both
def bmf_drift(rng: random.Random, classes: int, load: Any) -> Case:
    """A random system of classes on two resources with that load, at random counts: the drift is negative."""
    n = rng.randint(2, classes)
    a = [[Fraction(rng.choice((1, 2, 3, 4, 8, 16))) for _ in range(2)] for _ in range(n)]
    x = [Fraction(rng.choice((0, 1, 2, 3, 5, 10, 20, 50))) for _ in range(n)]
    if not any(x):
        x[0] = ONE
    rho = [Fraction(rng.randint(1, 30) ** 2) for _ in range(n)]
    scale = Fraction(load) / max(usage(a, rho))
    rho = [scale * r for r in rho]
    return {"shares": a, "loads": rho, "counts": x}, bmf_square_drift(a, rho, x) < 0


@define_on_both
def bmf_drift_at(shares: Any, loads: Any, counts: Any) -> dict[str, Any]:
    """Drift of the sum of x_i^2/(2 rho_i) under bottleneck-max fairness; the property: it is negative."""
    a, rho, x = fractions(shares), fractions(loads), fractions(counts)
    drift = bmf_square_drift(a, rho, x)
    return {"load": max(usage(a, rho)), "drift": drift, "holds": drift < 0}


@define
def heavy_gap(rng: random.Random, events: int, factor: str, bound: bool = True) -> Case:
    """Mean durations of PF (simulated) and of balanced fairness (enclosed) in the example at a random load.

    Times the free share r they differ by at most ``factor`` times the square root of r, three standard errors
    included.
    """
    r = Fraction(rng.randint(5, 20), 100)
    rho = Fraction(10, 11) * (1 - r)
    shares = [[ONE, Fraction(1, 10)], [Fraction(1, 10), ONE]]
    ((low, high), _) = balanced_enclosure(shares, [rho, rho], int(22 / r))
    duration, error = _simulated_pf(rng, float(rho), events)
    gap = float(r) * abs(duration - float((low + high) / 2))
    noise = float(r) * (3 * error + float(high - low))
    case = {
        "free": r,
        "balanced": f"{float(low):.3f}",
        "PF": f"{duration:.3f}",
        "standard error": f"{error:.3f}",
    }
    return case, gap + noise <= float(Fraction(factor)) * sqrt(r) if bound else gap == 0


def _simulated_pf(rng: random.Random, rho: float, events: int) -> tuple[float, float]:
    """Mean duration in the example with two equal loads, and its standard error from 20 batches."""
    free = 10 / 11 - rho
    x, sums, batches = [0, 0], [0.0, 0.0], []
    for k in range(events):
        n, m = x
        if 10 * m < n or 10 * n < m:
            total = n + m
            out = (n / total, 10 * m / total) if n > m else (10 * n / total, m / total)
        else:
            out = (10 / 11, 10 / 11) if n else (0.0, 0.0)
        rate = 2 * rho + out[0] + out[1]
        # h = (n^2 + m^2)/(4 free) + linear: in the cone n + m over 2, plus L h, is rho/free plus a constant.
        value = (n + m) / 2
        for count, leaving in ((n, out[0]), (m, out[1])):
            linear = rho - leaving
            value += (2 * count * linear + rho + leaving) / (4 * free) + linear / (4 * free)
        sums[0] += value / rate
        sums[1] += 1 / rate
        u = rng.random() * rate
        if u < 2 * rho:
            x[u < rho] += 1
        else:
            x[u - 2 * rho >= out[0]] -= 1
        if (k + 1) % (events // 20) == 0:
            batches.append(sums[0] / sums[1] / rho)
            sums = [0.0, 0.0]
    mean = sum(batches) / len(batches)
    spread = sum((b - mean) ** 2 for b in batches) / (len(batches) - 1)
    return mean, sqrt(spread / len(batches))
