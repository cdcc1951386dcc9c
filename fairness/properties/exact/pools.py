r"""Exact allocations of one pool, from the definitions.

*Filling* is that of :mod:`fairness.filling.fractions`.

*Bottleneck max fairness.* The hint shows which resources are full and who has the largest share of which;
these equations are solved over the rationals, and the definition is then checked: every class has the largest
weighted share of a full resource.

*Alpha-fairness* is irrational in general and is enclosed. With :math:`g_i(\varphi) = (w_i/\varphi)^\alpha`
the allocation :math:`\varphi^*` is the feasible point with

.. math::

   \sum_i g_i(\varphi^*_i)(\varphi_i - \varphi^*_i) \le 0 \quad\text{for all feasible } \varphi. \tag{1}

Let :math:`\hat\varphi > 0` be feasible and :math:`p \ge 0` prices of whole resources under which every task
costs at least its marginal utility, :math:`\sum_j p_j b_{ij} \ge g_i(\hat\varphi_i)`. Then the money for all
resources bounds what the allocation is worth at these marginal utilities:

.. math::

   \sum_i g_i(\hat\varphi_i)\varphi^*_i \le \sum_j p_j \sum_i b_{ij}\varphi^*_i \le \sum_j p_j. \tag{2}

Each :math:`g_i` falls, and on :math:`(0, M_i]`, where :math:`M_i` is the number of tasks of class i alone, it
falls at least at the rate :math:`\mu_i = \alpha w_i^\alpha M_i^{-\alpha-1}`. By the mean value theorem,
(1) at :math:`\varphi = \hat\varphi`, and (2),

.. math::

   \sum_i \mu_i(\hat\varphi_i - \varphi^*_i)^2
   \le \sum_i \bigl(g_i(\hat\varphi_i) - g_i(\varphi^*_i)\bigr)(\varphi^*_i - \hat\varphi_i)
   \le \sum_i g_i(\hat\varphi_i)(\varphi^*_i - \hat\varphi_i)
   \le \sum_j p_j - \sum_i g_i(\hat\varphi_i)\hat\varphi_i .

So the gap :math:`\Delta` on the right, a rational number if alpha is an integer, gives
:math:`|\hat\varphi_i - \varphi^*_i| \le \sqrt{\Delta/\mu_i}`. The point and the prices are those of the hint,
polished by Newton's method in 60 decimal digits; that they are good need not be trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
from scipy.optimize import nnls

from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairness.exact.linear_algebra import dot, reduced
from fairness.filling.fractions import fill, growth_rates
from fairness.properties.exact.rational import NEAR, Enclosure, RationalModel, Row, Unproved, solve

__all__ = ["alpha_fair", "bottleneck_max", "filling", "radii"]

DIGITS = 60
"""Digits of Newton's method; the square root of the gap keeps half of them."""

SHARP = Fraction(1, 10**20)
"""Relative radius that is good enough."""


def filling(
    model: RationalModel, growth: str, resource_weights: Sequence[Sequence[Any]] | None = None
) -> Enclosure:
    """Exact progressive filling of a pool, of which a job ``growth`` grows alike."""
    shares = [rows[0] for rows in model.shares]
    tasks = fill(shares, growth_rates(growth, shares, model.weights, resource_weights))
    return Enclosure.at(tasks, "progressive filling, event by event, in fractions")


def bottleneck_max(model: RationalModel, hint: FloatArray) -> Enclosure | Unproved:
    """The bottleneck-max fair allocation next to the hint."""
    live = _live(model)
    shares, weights = [rows[0] for rows in model.shares], model.weights
    floats = np.array([[float(v) for v in row] for row in shares])
    used = hint @ floats
    # Weighted shares of one job, (n_classes, n_resources).
    held = floats * (hint / np.array([float(w) for w in weights]))[:, None]
    equations = []
    for j in np.flatnonzero(used >= 1 - NEAR):
        equations.append(([shares[i][j] for i in live], Fraction(1)))
        top = [i for i in live if held[i, j] >= (1 - NEAR) * held[:, j].max()]
        for one, other in pairwise(top):
            row = [Fraction(0) for _ in live]
            row[live.index(one)] = shares[one][j] / weights[one]
            row[live.index(other)] = -shares[other][j] / weights[other]
            equations.append((row, Fraction(0)))
    found = solve(equations, [float(hint[i]) for i in live])
    if found is None:
        return Unproved("the hint shows full resources and largest shares that contradict each other")
    tasks = [Fraction(0) for _ in weights]
    for i, value in zip(live, found, strict=True):
        tasks[i] = value
    complaint = model.misfit([[v] for v in tasks]) or _no_bottleneck(model, tasks)
    if complaint:
        told = ", ".join(map(str, tasks))
        return Unproved(f"the fractions ({told}) near the hint are not bottleneck-max fair: {complaint}")
    return Enclosure.at(tasks, "every class has the largest weighted share of a full resource")


def _no_bottleneck(model: RationalModel, tasks: Row) -> str | None:
    used = model.usage([[v] for v in tasks])[0]
    full = [j for j, part in enumerate(used) if part == 1]
    live = _live(model)
    held = {i: [tasks[i] * b / model.weights[i] for b in model.shares[i][0]] for i in live}
    largest = {j: max(held[i][j] for i in live) for j in full}
    for i in live:
        if not any(model.shares[i][0][j] > 0 and held[i][j] == largest[j] for j in full):
            return f"class {i + 1} has the largest share of no full resource"
    return None


def alpha_fair(model: RationalModel, alpha: int, hint: FloatArray) -> Enclosure | Unproved:
    """Bounds on the alpha-fair allocation for an integer alpha >= 1."""
    live = _live(model)
    shares = [model.shares[i][0] for i in live]
    weights = [model.weights[i] for i in live]
    if not all(hint[i] > 0 for i in live):
        return Unproved("the hint gives nothing to a class that can run")
    best: tuple[Row, Row] | None = None
    # A price that is 0 up to rounding may have to be left out to leave a regular system.
    for floor in (0.0, NEAR):
        with localcontext() as context:
            context.prec = DIGITS
            try:
                tasks, prices = _newton(shares, weights, alpha, [float(hint[i]) for i in live], floor)
            except (ArithmeticError, ValueError, RuntimeError):  # a singular system, or no prices
                continue
        exact = _exact(shares, weights, alpha, tasks, prices)
        if exact is not None:
            point = [exact[live.index(i)] if i in live else Fraction(0) for i in range(len(hint))]
            how = (
                "fractions with prices at which every task costs its marginal utility, of full resources only"
            )
            return Enclosure.at(point, how)
        bounds = radii(model, alpha, tasks, prices)
        if best is None or max(bounds) < max(best[1]):
            best = tasks, bounds
        if max(r / v for v, r in zip(*best, strict=True)) < SHARP:
            break
    if best is None:
        return Unproved("Newton's method fails from this hint")
    lower, upper = ([Fraction(0) for _ in hint] for _ in range(2))
    for i, value, radius in zip(live, *best, strict=True):
        lower[i], upper[i] = max(Fraction(0), _rounded(value - radius, -1)), _rounded(value + radius, 1)
    width = max(float(r / v) for v, r in zip(*best, strict=True))
    how = f"a feasible point and prices whose gap bounds the relative distance by {width:.0e}"
    return Enclosure(np.array(lower, dtype=object), np.array(upper, dtype=object), how)


def _newton(shares: list[Row], weights: Row, alpha: int, hint: list[float], floor: float) -> tuple[Row, Row]:
    """Tasks, scaled into the pool, and prices, scaled above the marginal utilities."""
    b = [[_decimal(v) for v in row] for row in shares]
    w = [_decimal(v) for v in weights]
    floats = np.array([[float(v) for v in row] for row in shares])
    used = np.array(hint) @ floats
    marginal = np.array([(float(v) / x) ** alpha for v, x in zip(weights, hint, strict=True)])
    full = np.flatnonzero(used >= 1 - NEAR)
    if full.size == 0 or not np.isfinite(marginal).all():
        raise ArithmeticError("nothing is full, or alpha is too large for floats")
    # A basic solution: the columns with a positive price are independent.
    found = nnls(floats[:, full] / marginal[:, None], np.ones(len(hint)))[0]
    active = [int(j) for j, p in zip(full, found, strict=True) if p > floor * found.max(initial=0.0)]
    p = [Decimal(float(v)) for v in found[found > floor * found.max(initial=0.0)]]
    power = Decimal(-1) / alpha
    rows = range(len(b))
    for _ in range(6):
        cost = [sum(b[i][j] * q for j, q in zip(active, p, strict=True)) for i in rows]
        tasks = [w[i] * Decimal(cost[i]) ** power for i in rows]
        # Raising price k lowers the tasks of class i at the rate tasks * b_ik / (alpha * cost).
        slope = [tasks[i] / (alpha * Decimal(cost[i])) for i in rows]
        matrix = [[sum(slope[i] * b[i][j] * b[i][k] for i in rows) for k in active] for j in active]
        excess = [sum(tasks[i] * b[i][j] for i in rows) - 1 for j in active]
        system = [[Decimal(v) for v in (*row, right)] for row, right in zip(matrix, excess, strict=True)]
        steps, pivots = reduced(system, len(system))
        if len(pivots) < len(system):
            raise ArithmeticError("the equations of the prices are singular")
        p = [q + step[-1] for q, step in zip(p, steps, strict=True)]
    prices = [Fraction(0) for _ in shares[0]]
    for j, q in zip(active, p, strict=True):
        prices[j] = max(Fraction(0), Fraction(q))
    point = [Fraction(v) for v in tasks]
    over = max(_used(shares, point))
    point = [x / max(over, Fraction(1)) for x in point]
    bills = zip(_marginal(weights, point, alpha), _costs(shares, prices), strict=True)
    lift = max(g / cost for g, cost in bills)
    return point, [q * lift for q in prices]


def radii(model: RationalModel, alpha: int, tasks: Row, prices: Row) -> Row:
    """Bounds on the distance from a point to the alpha-fair allocation, for the classes that can run.

    Parameters
    ----------
    tasks : list
        Feasible and positive, one entry per class that can run.
    prices : list, (n_resources,)
        Prices >= 0 of whole resources at which every task costs at least its marginal utility.

    Raises
    ------
    ModelError
        If the point or the prices are not as said, so that nothing is proved.
    """
    live = _live(model)
    shares = [model.shares[i][0] for i in live]
    weights = [model.weights[i] for i in live]
    marginal = _marginal(weights, tasks, alpha)
    used = _used(shares, tasks)
    fits = all(v <= 1 for v in used) and all(q >= 0 for q in prices)
    dear = all(cost >= g for cost, g in zip(_costs(shares, prices), marginal, strict=True))
    if not (fits and dear):
        raise ModelError.of(
            "tasks", "must fit, prices be >= 0 and every task cost at least its marginal utility"
        )
    gap = sum(prices) - dot(marginal, tasks)
    alone = [model.gamma[i][0] for i in live]
    curvature = [alpha * w**alpha / top ** (alpha + 1) for w, top in zip(weights, alone, strict=True)]
    return [_root(gap / mu) for mu in curvature]


def _exact(shares: list[Row], weights: Row, alpha: int, tasks: Row, prices: Row) -> Row | None:
    """Simple fractions next to the point if the gap is exactly 0 there."""
    guess = [x.limit_denominator(10**9) for x in tasks]
    if any(abs(g - x) > x / 10**30 for g, x in zip(guess, tasks, strict=True)) or min(guess) <= 0:
        return None
    active = [j for j, q in enumerate(prices) if q > 0]
    marginal = _marginal(weights, guess, alpha)
    equations = [([row[j] for j in active], g) for row, g in zip(shares, marginal, strict=True)]
    found = solve(equations, [float(prices[j]) for j in active])
    used = _used(shares, guess)
    if found is None or min(found) < 0 or max(used) > 1 or any(used[j] != 1 for j in active):
        return None
    return guess


def _marginal(weights: Row, tasks: Row, alpha: int) -> Row:
    return [(w / x) ** alpha for w, x in zip(weights, tasks, strict=True)]


def _used(shares: list[Row], tasks: Row) -> Row:
    return [dot(tasks, column) for column in zip(*shares, strict=True)]


def _costs(shares: list[Row], prices: Row) -> Row:
    return [dot(row, prices) for row in shares]


def _root(value: Fraction) -> Fraction:
    """A rational number at least as large as the square root, by less than the number over 10^30."""
    if value <= 0:
        return Fraction(0)
    scale = 10**DIGITS
    return Fraction(
        isqrt(value.numerator * value.denominator * scale) + 1, value.denominator * 10 ** (DIGITS // 2)
    )


def _rounded(value: Fraction, direction: int) -> Fraction:
    """The number rounded outwards to about 25 digits."""
    unit = 10**25 * (1 + int(1 / value)) if value > 0 else 1
    down = value.numerator * unit // value.denominator
    return Fraction(down if direction < 0 else down + 1, unit)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _live(model: RationalModel) -> list[int]:
    return [i for i, alone in enumerate(model.gamma) if alone[0] > 0]
