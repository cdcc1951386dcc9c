r"""Jobs that come and go: the balance function, its stationary measure, and the drift of the fluid limit.

Classes i with loads :math:`\rho_i` (arrival rate times mean size) share resources of capacity 1; one task of
class i holds :math:`a_{ij}` of resource j. Balanced fairness is defined by

.. math:: \Phi(0) = 1, \quad \Phi(x) = \max_j \sum_i a_{ij}\Phi(x - e_i), \quad
          \varphi_i(x) = \Phi(x - e_i)/\Phi(x), \quad \pi(x) = \pi(0)\,\Phi(x)\prod_i\rho_i^{x_i}.

Means over all states are enclosed: the totals up to some number are added in whole multiples of
:math:`10^{-40}`, once rounded down and once up, and what is left out is bounded by the store-and-forward law:
the states with k jobs weigh no more than the coefficient of :math:`z^k` in
:math:`\prod_j (1 - z\varrho_j)^{-1}`, and of these the sum and the mean are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Any

from proofs.definitions.exact import ONE, ZERO, Matrix, Row, State, dot, moved, powers, shares_of, usage
from proofs.definitions.registry import Case, define, define_on_both, fraction, fractions

__all__ = ["balance_table", "balanced_enclosure", "four_digits", "store_and_forward_table"]

Table = dict[State, Fraction]
GRAIN = 10**40


def grid(n: int, size: int) -> list[State]:
    """All states of n classes with at most ``size`` jobs of each, fewer jobs in total first."""
    return sorted(product(range(size + 1), repeat=n), key=sum)


def pulled(values: Table, weights: Row, x: State) -> Fraction:
    """Sum over the classes of the weight times the value at one job less, 0 outside."""
    return sum((w * values[moved(x, i, -1)] for i, w in enumerate(weights) if x[i]), ZERO)


def column(a: Matrix, j: int) -> Row:
    """What one task of each class holds of resource j."""
    return [row[j] for row in a]


@define
def balance_table(a: Matrix, size: int, largest: bool = True) -> Table:
    """Balance function on a grid; with ``largest`` False the smallest of the sums instead of the largest."""
    chosen = max if largest else min
    table: Table = {}
    for x in grid(len(a), size):
        table[x] = chosen(pulled(table, column(a, j), x) for j in range(len(a[0]))) if sum(x) else ONE
    return table


@define
def store_and_forward_table(a: Matrix, size: int) -> Table:
    """Coefficients of the product over the resources of 1/(1 - load), a power series in the loads."""
    states = grid(len(a), size)
    table = {x: ONE if not sum(x) else ZERO for x in states}
    for j in range(len(a[0])):
        for x in states:
            table[x] += pulled(table, column(a, j), x)
    return table


@define
def tables_behind(a: Matrix, size: int) -> list[Table]:
    """For each resource the coefficients of the sum of the measure times load/(1 - load) of the resource."""
    table, m = balance_table(a, size), len(a[0])
    behind: list[Table] = [{} for _ in range(m)]
    for x in grid(len(a), size):
        for j in range(m):
            behind[j][x] = pulled(table, column(a, j), x) + pulled(behind[j], column(a, j), x)
    return behind


@define
def product_coefficients(load: Row, total: int) -> Row:
    """Coefficients of the product of 1/(1 - z load) up to the power ``total``."""
    series = [ONE] + [ZERO] * total
    for r in load:
        for k in range(1, total + 1):
            series[k] += r * series[k - 1]
    return series


def with_one_full(a: Matrix, x: Sequence[Fraction | int]) -> Row | None:
    """Equal shares, by job, of one of two resources, if the other suffices; None if neither does."""
    for j in (0, 1):
        if not all(row[j] for row in a):
            continue
        tasks = [n / (sum(x) * row[j]) for n, row in zip(x, a, strict=True)]
        if dot(tasks, column(a, 1 - j)) <= 1:
            return tasks
    return None


@define
def two_class_pf(a: Matrix, x: State) -> Row:
    """Proportional fairness of two classes on two resources: one resource is full, or both are."""
    if (alone := with_one_full(a, x)) is not None:
        return alone
    (a11, a12), (a21, a22) = a
    det = a11 * a22 - a12 * a21
    return [(a22 - a21) / det, (a11 - a12) / det]


@define_on_both
def balance_equations(shares: Any, loads: Any, sizes: Any, size: int, balanced: bool) -> Iterator[Case]:
    """At each state of a grid, what flows in is what flows out, per class and in total.

    Balanced fairness, or with ``balanced`` False proportional fairness under the same measure.
    """
    a, rho, sigma = fractions(shares), fractions(loads), fractions(sizes)
    table = balance_table(a, size + 1)

    def rate(x: State, i: int) -> Fraction:
        if not x[i]:
            return ZERO
        return (table[moved(x, i, -1)] / table[x] if balanced else two_class_pf(a, x)[i]) / sigma[i]

    measure = {x: table[x] * powers(rho, x) for x in table}
    classes = range(len(a))
    for x in grid(len(a), size):
        below, above = ([moved(x, i, step) for i in classes] for step in (-1, 1))
        into = sum((rho[i] / sigma[i] * measure[below[i]] for i in classes if x[i]), ZERO)
        into += sum((rate(above[i], i) * measure[above[i]] for i in classes), ZERO)
        out = measure[x] * sum((rho[i] / sigma[i] + rate(x, i) for i in classes), ZERO)
        own = [rho[i] / sigma[i] * measure[below[i]] == rate(x, i) * measure[x] for i in classes if x[i]]
        yield {"counts": x}, into == out and all(own)


@define_on_both
def balanced_usage(shares: Any, size: int, largest: bool) -> Iterator[Case]:
    """At each state but the empty one the tasks fit, and some resource is full."""
    a = fractions(shares)
    table = balance_table(a, size, largest)
    for x in grid(len(a), size)[1:]:
        used = [pulled(table, column(a, j), x) / table[x] for j in range(len(a[0]))]
        yield {"counts": x, "usage": used}, max(used) == 1


@define_on_both
def balance_below_others(shares: Any, size: int) -> Iterator[Case]:
    """The store-and-forward function fits too, and is nowhere below the balance function."""
    a = fractions(shares)
    table, other = balance_table(a, size), store_and_forward_table(a, size)
    for x in grid(len(a), size):
        fits = all(other[x] >= pulled(other, column(a, j), x) for j in range(len(a[0])))
        yield {"counts": x, "value": table[x], "other": other[x]}, fits and table[x] <= other[x]


@define_on_both
def mass_of_totals(shares: Any, loads: Any, total: int) -> Iterator[Case]:
    """States with k jobs weigh at least the k-th power of the largest load and at most the coefficient."""
    a, rho = fractions(shares), fractions(loads)
    table, load = balance_table(a, total), usage(a, rho)
    most = product_coefficients(load, total)
    for k in range(total + 1):
        mass = sum((p * powers(rho, x) for x, p in table.items() if sum(x) == k), ZERO)
        yield {"jobs": k, "mass": mass}, max(load) ** k <= mass <= most[k]


@define_on_both
def duration_terms(shares: Any, size: int, largest: bool) -> Iterator[Case]:
    r"""The bound on durations, coefficient by coefficient of the power series in the loads.

    :math:`(x_i + 1)\Phi(x + e_i) \le \max_j a_{ij}\,\Phi(x) + \sum_j a_{ij} K_j(x)`, where :math:`K_j`
    are the coefficients of :math:`G\varrho_j/(1 - \varrho_j)`; with ``largest`` False the smallest share
    stands in place of the largest.
    """
    a = fractions(shares)
    table, behind = balance_table(a, size + 1), tables_behind(a, size)
    for x in grid(len(a), size):
        for i, row in enumerate(a):
            alone = max(row) if largest else min(row)
            left = (x[i] + 1) * table[moved(x, i, 1)]
            right = alone * table[x] + dot(row, [coefficients[x] for coefficients in behind])
            yield {"counts": x, "class": i, "left": left, "right": right}, left <= right


@define
def balanced_bound(shares: Any, loads: Any) -> Row:
    """The bound on mean durations over mean sizes under balanced fairness."""
    a, rho = fractions(shares), fractions(loads)
    waits = [r / (1 - r) for r in usage(a, rho)]
    return [max(row) + dot(row, waits) for row in a]


def balanced_enclosure(a: Matrix, rho: Row, total: int) -> list[tuple[Fraction, Fraction]]:
    """Bounds of mean durations over mean sizes under balanced fairness, by states of up to ``total`` jobs."""
    gains = [[r * s for s in row] for r, row in zip(rho, a, strict=True)]
    low_mass, low_jobs = _rounded_sums(gains, total, up=False)
    high_mass, high_jobs = _rounded_sums(gains, total, up=True)
    load = usage(a, rho)
    inside = product_coefficients(load, total)
    whole = prod((1 / (1 - r) for r in load), start=ONE)
    mass_left = whole - sum(inside, ZERO)
    jobs_left = whole * sum((r / (1 - r) for r in load), ZERO) - sum(
        (k * c for k, c in enumerate(inside)), ZERO
    )
    return [
        (down / (high_mass + mass_left) / r, (up + jobs_left) / low_mass / r)
        for down, up, r in zip(low_jobs, high_jobs, rho, strict=True)
    ]


def _rounded_sums(gains: Matrix, total: int, *, up: bool) -> tuple[Fraction, Row]:
    """Sum of the measure and its first moments over states of two classes, rounded down, or up."""
    scale = lcm(*(g.denominator for row in gains for g in row))
    first, second = ([int(g * scale) for g in row] for row in gains)
    columns = list(zip(first, second, strict=True))
    more = scale - 1 if up else 0
    mass, jobs = 0, [0, 0]
    layer = [GRAIN]
    for k in range(total + 1):
        # The layer lists the states with k jobs, by the number of jobs of the first class.
        mass += sum(layer)
        moment = sum([c * p for c, p in enumerate(layer)])
        jobs[0] += moment
        jobs[1] += k * sum(layer) - moment
        pairs = list(zip([0, *layer], [*layer, 0], strict=True))
        loads = ([u * p + v * q for p, q in pairs] for u, v in columns)
        layer = [(max(several) + more) // scale for several in zip(*loads, strict=True)]
    return Fraction(mass, GRAIN), [Fraction(n, GRAIN) for n in jobs]


@define
def balanced_durations(shares: Any, loads: Any, total: int) -> list[str]:
    """Mean durations over mean sizes under balanced fairness of two classes, rounded to four digits.

    Both ends of the enclosure must round to the same text; otherwise the text says so.
    """
    a, rho = fractions(shares), fractions(loads)
    return [four_digits(low, high) for low, high in balanced_enclosure(a, rho, total)]


@define
def balanced_service(demands: Any, capacities: Any, loads: Any, total: int) -> list[str]:
    """Mean numbers of running tasks of a job under balanced fairness of two classes, to four digits."""
    a, c, rho = fractions(demands), fractions(capacities), fractions(loads)
    ends = balanced_enclosure(shares_of(a, c), rho, total)
    return [four_digits(1 / high, 1 / low) for low, high in ends]


def four_digits(low: Fraction, high: Fraction) -> str:
    """An enclosure to four digits; where its ends are different texts it says so."""
    ends = [(20_000 * v.numerator + v.denominator) // (2 * v.denominator) for v in (low, high)]
    if ends[0] != ends[1]:
        return f"between {float(low)!r} and {float(high)!r}"
    return f"{ends[0] // 10_000}.{ends[0] % 10_000:04d}"


@define
def balanced_heavy(shares: Any, direction: Any, pairs: Any, slope: Any) -> Iterator[Case]:
    """Near load 1 the durations times the free share r are within ``slope`` r of the sum of the shares.

    ``direction`` are loads with which both resources are full; ``pairs`` lists r and the jobs in total of the
    enclosure.
    """
    a, rho, width = fractions(shares), fractions(direction), fraction(slope)
    for free, total in pairs:
        r = fraction(free)
        ends = balanced_enclosure(a, [(1 - r) * p for p in rho], total)
        gaps = [sum(row, ZERO) - r * end for row, pair in zip(a, ends, strict=True) for end in pair]
        yield {"free": r, "largest gap": f"{float(max(gaps)):.6f}"}, min(gaps) >= 0 and max(gaps) <= width * r
