r"""Approximate prices of alpha-fair tasks in one state: a first guess for an enclosure, which nothing trusts.

In units where every capacity is 1, with the mass :math:`W_i = x_i w_i` of a class and its limit :math:`L_i`,
the tasks are :math:`\varphi_i = \min(L_i, W_i e_i^{-1/\alpha})` of the bills :math:`e = b P`, and the prices
minimise a convex function on :math:`P \ge 0` whose gradient is :math:`1 - u`, with the usages :math:`u_j =
\sum_i b_{ij} \varphi_i`, and whose Hessian is :math:`b^\top \mathrm{diag}(D)\, b`, :math:`D_i =
\varphi_i/(\alpha e_i)` below the limits and 0 at them. Newton's method on the priced resources starts from
the prices of a neighbouring state; where it fails, an interior point method starts anew.

This repeats, in short, what the policy's own engine does, so that a certificate is checked without that
engine.
"""

from __future__ import annotations

import numpy as np

from fairness.model.problem import FloatArray
from queueing.certificates.rates.interface import part
from queueing.certificates.rates.slack import slack_of, two_sum

__all__ = ["COLUMNS", "ROWS", "approximate_prices", "polish"]

COLUMNS = 7
"""Rows of the work space over resources: usages, active ones, steps, slacks, pivots and two more."""

ROWS = 8
"""Rows over classes: mass, limit and its second part, tasks and their second part, slope, and two more."""
TIGHT = 2.0**-100
"""Slack, as a part of its capacity, up to which a resource is full."""

_SHARP = 1e-14  # residual at which Newton's method stops
_FAIR = 1e-9  # residual from which a step more cannot help if the last one did not halve it
_STEPS = 15
_INTERIOR_STEPS = 80
_PASSES = 10  # most steps in twice the digits
_DEPENDENT = 1e-13  # a pivot that has lost as much to those before it is 0


@part
def _evaluate(
    shares: FloatArray,
    mass: FloatArray,
    cap: FloatArray,
    alpha: float,
    prices: FloatArray,
    tasks: FloatArray,
    slope: FloatArray,
    usage: FloatArray,
) -> bool:
    """Tasks at these prices, with their ``slope`` D and the ``usage``; False if a class finds all free."""
    usage[:] = 0.0
    for i in range(mass.size):
        tasks[i] = 0.0
        slope[i] = 0.0
        if mass[i] == 0:
            continue
        bill = 0.0
        for j in range(prices.size):
            bill += shares[i, j] * prices[j]
        if bill > 0:
            if alpha == 1.0:
                value = mass[i] / bill
            elif alpha == 2.0:
                value = mass[i] / np.sqrt(bill)
            else:
                value = mass[i] * bill ** (-1.0 / alpha)
        else:
            value = np.inf
        if value >= cap[i]:
            if cap[i] == np.inf:
                return False
            value = cap[i]
        else:
            slope[i] = value / (alpha * bill)
        tasks[i] = value
        for j in range(prices.size):
            usage[j] += shares[i, j] * value
    return True


@part
def _solve(
    shares: FloatArray,
    slope: FloatArray,
    chosen: FloatArray,
    extra: FloatArray,
    step: FloatArray,
    pivot: FloatArray,
    matrix: FloatArray,
) -> int:
    """Replace ``step`` by the solution of (b' D b + extra) step = step on the ``chosen`` resources.

    Where one depends on those before it, its entry is 0. Return the last such resource, or -1.
    """
    m = step.size
    dependent = -1
    for r in range(m):
        if chosen[r] == 0:
            step[r] = 0.0
            pivot[r] = np.inf
            continue
        for c in range(r + 1):
            if chosen[c] == 0:
                continue
            value = 0.0
            for i in range(slope.size):
                value += shares[i, r] * shares[i, c] * slope[i]
            if r == c:
                value += extra[r]
            whole = value
            for k in range(c):
                if chosen[k] > 0 and pivot[k] < np.inf:
                    value -= matrix[r, k] * matrix[c, k] * pivot[k]
            if r == c:
                if value > _DEPENDENT * whole:
                    pivot[r] = value
                else:
                    pivot[r] = np.inf
                    dependent = r
            else:
                matrix[r, c] = value / pivot[c] if pivot[c] < np.inf else 0.0
    for r in range(m):
        if pivot[r] < np.inf:
            for c in range(r):
                if pivot[c] < np.inf:
                    step[r] -= matrix[r, c] * step[c]
        else:
            step[r] = 0.0
    for r in range(m - 1, -1, -1):
        if pivot[r] < np.inf:
            step[r] /= pivot[r]
            for k in range(r + 1, m):
                if pivot[k] < np.inf:
                    step[r] -= matrix[k, r] * step[k]
    return dependent


@part
def _price_the_free(
    shares: FloatArray, mass: FloatArray, cap: FloatArray, alpha: float, prices: FloatArray
) -> None:
    """Give a class that finds all free the price at which its scarcest resource would be its own."""
    for i in range(mass.size):
        if mass[i] == 0 or cap[i] < np.inf:
            continue
        bill, scarce = 0.0, 0
        for j in range(prices.size):
            bill += shares[i, j] * prices[j]
            if shares[i, j] > shares[i, scarce]:
                scarce = j
        if bill == 0:
            prices[scarce] = (mass[i] * shares[i, scarce]) ** alpha / shares[i, scarce]


@part
def _newton(
    shares: FloatArray,
    mass: FloatArray,
    cap: FloatArray,
    alpha: float,
    prices: FloatArray,
    tasks: FloatArray,
    slope: FloatArray,
    columns: FloatArray,
    matrix: FloatArray,
) -> bool:
    """Newton's method from ``prices``; whether it arrived."""
    m = prices.size
    usage, active, step, zero, pivot = columns[0], columns[1], columns[2], columns[3], columns[4]
    zero[:] = 0.0
    before = np.inf
    for _ in range(_STEPS):
        if not _evaluate(shares, mass, cap, alpha, prices, tasks, slope, usage):
            _price_the_free(shares, mass, cap, alpha, prices)
            before = np.inf
            continue
        residual = 0.0
        for j in range(m):
            over = usage[j] - 1.0
            active[j] = 1.0 if prices[j] > 0 or over > _SHARP else 0.0
            residual = max(residual, abs(over) if prices[j] > 0 else over)
        if residual <= _SHARP or (residual <= _FAIR and residual >= 0.5 * before):
            return True
        before = residual
        again = True
        while again:
            for j in range(m):
                step[j] = usage[j] - 1.0
                if prices[j] > 0 and usage[j] > 0.1:
                    step[j] = usage[j] * np.log(usage[j])  # one resource by itself is then solved at once
            _solve(shares, slope, active, zero, step, pivot, matrix)
            again = False
            for j in range(m):
                if active[j] > 0 and prices[j] == 0 and step[j] < 0:
                    active[j] = 0.0
                    again = True
        length, blocking = 1.0, -1
        for j in range(m):
            if prices[j] > 0 and prices[j] < -length * step[j]:
                length = prices[j] / -step[j]
                blocking = j
        for j in range(m):
            if length == 1.0 and abs(step[j]) < prices[j]:
                prices[j] *= np.exp(step[j] / prices[j])
            else:
                prices[j] += length * step[j]
            if not prices[j] > 0 or j == blocking:
                prices[j] = 0.0
        if length < 1.0:
            before = np.inf
    return False


@part
def _interior(
    shares: FloatArray,
    mass: FloatArray,
    cap: FloatArray,
    alpha: float,
    prices: FloatArray,
    tasks: FloatArray,
    slope: FloatArray,
    columns: FloatArray,
    matrix: FloatArray,
) -> None:
    """Prices from nothing: slacks s = 1 - u and P s = tau, with tau falling to 0."""
    m = prices.size
    usage, every, step, slack, pivot = columns[0], columns[1], columns[2], columns[3], columns[4]
    extra = columns[5]
    every[:] = 1.0
    prices[:] = 1.0
    for _ in range(60):  # all prices equal, and so high that the fullest resource is half full
        _evaluate(shares, mass, cap, alpha, prices, tasks, slope, usage)
        fullest = 0.0
        for j in range(m):
            fullest = max(fullest, usage[j])
        if 0.25 <= fullest <= 0.75 or fullest == 0:
            break
        for j in range(m):
            prices[j] *= (2.0 * fullest) ** alpha
    for j in range(m):
        slack[j] = max(1.0 - usage[j], 0.1)
    for _ in range(_INTERIOR_STEPS):
        gap, total = 0.0, 0.0
        for j in range(m):
            gap += prices[j] * slack[j]
            total += prices[j]
        worst = 0.0
        for j in range(m):
            worst = max(worst, abs(1.0 - usage[j] - slack[j]))
        if gap <= 1e-13 * total and worst <= 1e-10:
            break
        target = 0.1 * gap / m if worst < 0.5 else gap / m
        for j in range(m):
            extra[j] = slack[j] / prices[j]
            step[j] = usage[j] + slack[j] - 1.0 + (target - prices[j] * slack[j]) / prices[j]
        _solve(shares, slope, every, extra, step, pivot, matrix)
        length = 1.0
        for j in range(m):
            change = (target - prices[j] * slack[j] - slack[j] * step[j]) / prices[j]
            usage[j] = change
            if step[j] < 0:
                length = min(length, -0.9 * prices[j] / step[j])
            if change < 0:
                length = min(length, -0.9 * slack[j] / change)
        for j in range(m):
            prices[j] += length * step[j]
            slack[j] += length * usage[j]
        _evaluate(shares, mass, cap, alpha, prices, tasks, slope, usage)
    total = 0.0
    for j in range(m):
        total += prices[j]
    for j in range(m):
        if prices[j] < slack[j] * total:
            prices[j] = 0.0


@part
def approximate_prices(
    shares: FloatArray,
    mass: FloatArray,
    cap: FloatArray,
    alpha: float,
    prices: FloatArray,
    tasks: FloatArray,
    slope: FloatArray,
    columns: FloatArray,
    matrix: FloatArray,
) -> None:
    """Improve ``prices`` (n_resources,), in units where capacities are 1, and set ``tasks`` and ``slope``.

    ``columns`` (COLUMNS, n_resources) and ``matrix`` (n_resources, n_resources) are work space.
    """
    if _newton(shares, mass, cap, alpha, prices, tasks, slope, columns, matrix):
        return
    _interior(shares, mass, cap, alpha, prices, tasks, slope, columns, matrix)
    _newton(shares, mass, cap, alpha, prices, tasks, slope, columns, matrix)


@part
def polish(
    demands: FloatArray,
    capacities: FloatArray,
    shares: FloatArray,
    alpha: float,
    prices: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    matrix: FloatArray,
) -> float:
    """Fill priced resources to twice the digits; return the largest relative excess over a capacity."""
    n, m = demands.shape
    mass, cap, cap_low, high, low, slope = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    gap, active, step, zero, pivot = columns[0], columns[1], columns[2], columns[3], columns[4]
    keep, null = columns[5], columns[6]
    zero[:] = 0.0
    for j in range(m):
        active[j] = 1.0 if prices[j] > 0 else 0.0
    for i in range(n):
        low[i] = cap_low[i] if high[i] > 0 and slope[i] == 0 else 0.0
    excess = np.inf
    for _ in range(_PASSES):
        worst, over, entering = 0.0, 0.0, -1
        excess = 0.0
        for j in range(m):
            gap[j] = slack_of(demands, capacities[j], j, high, low)[0] / capacities[j]
            excess = max(excess, -gap[j])
            if active[j] > 0:
                worst = max(worst, abs(gap[j]))
            elif -gap[j] > over:
                over, entering = -gap[j], j
        if worst <= TIGHT and over <= TIGHT:
            break
        if worst <= TIGHT:
            active[entering] = 1.0
        for j in range(m):
            step[j] = gap[j]
        dependent = _solve(shares, slope, active, zero, step, pivot, matrix)
        if dependent >= 0:
            # Prices are exchanged along the direction that no class notices, until one is 0.
            for j in range(m):
                keep[j] = active[j]
                null[j] = 0.0
                if active[j] > 0 and pivot[j] < np.inf:
                    for i in range(n):
                        null[j] -= shares[i, j] * shares[i, dependent] * slope[i]
                else:
                    keep[j] = 0.0
            _solve(shares, slope, keep, zero, null, pivot, matrix)
            null[dependent] = 1.0
            contradiction = 0.0
            for j in range(m):
                contradiction += null[j] * gap[j]
            if abs(contradiction) > TIGHT:
                sign = -1.0 if contradiction > 0 else 1.0
                length, leaving, freed = np.inf, -1, -1
                for j in range(m):
                    if active[j] > 0 and sign * null[j] < -1e-9 and prices[j] < -length * sign * null[j]:
                        length, leaving = -prices[j] / (sign * null[j]), j
                # A class at its limit pays less for it the more it pays for resources.
                for i in range(n):
                    if high[i] == 0 or slope[i] > 0:
                        continue
                    bill, rise = 0.0, 0.0
                    for j in range(m):
                        bill += shares[i, j] * prices[j]
                        rise += shares[i, j] * sign * null[j]
                    value = (mass[i] / high[i]) ** alpha
                    if rise > 0 and max(value - bill, 0.0) < length * rise:
                        length, leaving, freed = max(value - bill, 0.0) / rise, -1, i
                if length == np.inf:
                    break
                for j in range(m):
                    if active[j] > 0:
                        prices[j] = max(prices[j] + sign * length * null[j], 0.0)
                if freed >= 0:
                    slope[freed] = high[freed] / (alpha * (mass[freed] / high[freed]) ** alpha)
                else:
                    prices[leaving] = 0.0
                    active[leaving] = 0.0
                continue
        for i in range(n):
            if slope[i] == 0:
                continue
            change = 0.0
            for j in range(m):
                change += shares[i, j] * step[j]
            high[i], low[i] = two_sum(high[i], low[i] + slope[i] * change)
            if high[i] > cap[i] or (high[i] == cap[i] and low[i] > cap_low[i]):
                high[i], low[i], slope[i] = cap[i], cap_low[i], 0.0
        for j in range(m):
            if active[j] > 0:
                prices[j] -= step[j]
                if not prices[j] > 0:
                    prices[j] = 0.0
                    active[j] = 0.0
    return excess
