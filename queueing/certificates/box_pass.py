r"""One pass over the states of the box: what a checker must know of h and v, with outward rounding.

Sums are not rounded outward term by term. A sum of K products of a float and a difference of two, computed in
any order, is off by at most :math:`(K + 1) 2^{-53}` times the sum of the absolute values of its terms, up to
second order [1]_; :math:`(K + 3) 2^{-53}` times that sum is added, and :math:`10^{-300}`. A difference of two
floats has the sign of the exact one, so the end of the interval of a rate that makes a term largest is known.

References
----------
.. [1] N. J. Higham, "Accuracy and stability of numerical algorithms", 2nd edition, SIAM 2002, section 3.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.machine.compiling import UNCOUNTED, helper, stored
from fairness.model.problem import FloatArray
from queueing.certificates import intervals
from queueing.certificates.intervals import TINY, ULP, above, below, exp_bounds, power_bounds, root_bounds
from queueing.certificates.rates import interface
from queueing.certificates.rates.interface import Rates

__all__ = [
    "ALL",
    "AT_LEAST",
    "JOBS",
    "PRODUCTS",
    "Claim",
    "Found",
    "Outside",
    "box_pass",
    "nothing_found",
    "outside_powers",
    "outside_value",
    "value",
]

JOBS, PRODUCTS, AT_LEAST = range(3)
ALL = -1
"""In place of a class: the jobs of all classes."""


class Outside(NamedTuple):
    """V outside of the box: e^(theta T_A (S^(1/p) - 1)), where S is a sum of powers (b_i x_i/T_A)^p, or S."""

    exponent: float
    steepness: FloatArray  # (2,): bounds of theta T_A; zeros where V is S
    lower: FloatArray  # (n, longest side + 1): bounds of the powers
    upper: FloatArray


class Claim(NamedTuple):
    """What a certificate says, of the classes with arrivals; states are in C order."""

    arrival_rates: FloatArray  # (n,)
    mean_sizes: FloatArray  # (n,)
    outside: Outside
    functionals: IntArray  # (n_f, 4)
    delta: FloatArray  # (n_f,)
    shape: IntArray  # (n,)
    h: FloatArray  # (n_f, n_states)
    v: FloatArray  # (n_states,)


class Found(NamedTuple):
    """Extremes over a part of the box, and where they are."""

    highest: FloatArray  # (n_f,): upper bounds of f + Q(h + delta v)
    highest_at: IntArray  # (n_f,): index of the state
    lowest: FloatArray  # (n_f,): lower bounds of f + Q(h - delta v)
    lowest_at: IntArray
    steps: FloatArray  # (n_f, n): largest |h(y + e_i) - h(y)| on a face of another class
    excess: FloatArray  # (1,): largest v - V on a face
    excess_at: IntArray  # (1,)


def nothing_found(n_f: int, n: int) -> Found:
    """Before the first state."""
    places = [np.full(size, -1, dtype=np.int64) for size in (n_f, n_f, 1)]
    return Found(
        *(np.full(n_f, -np.inf), places[0], np.full(n_f, np.inf), places[1]),
        *(np.zeros((n_f, n)), np.full(1, -np.inf), places[2]),
    )


@stored(intervals, **UNCOUNTED)
def outside_powers(
    scales: FloatArray, radius: float, exponent: float, lower: FloatArray, upper: FloatArray
) -> None:
    """Fill the tables of :class:`Outside`."""
    for i in range(lower.shape[0]):
        for x in range(1, lower.shape[1]):
            product = x * scales[i]
            low, high = below(below(product) / radius), above(above(product) / radius)
            lower[i, x], upper[i, x] = power_bounds(low, high, exponent)


@helper()
def outside_value(v: Outside, counts: Any, raised: int) -> tuple[float, float]:
    """Bounds of V(x), or of V(x + e_i) for i = ``raised`` >= 0."""
    low = high = 0.0
    for i in range(len(counts)):
        x = counts[i] + (1 if i == raised else 0)
        low, high = below(low + v.lower[i, x]), above(high + v.upper[i, x])
    if v.steepness[1] == 0.0:
        return low, high
    low, high = root_bounds(max(low, 0.0), high, v.exponent)
    low, high = below(low - 1.0), above(high - 1.0)
    low = below(low * (v.steepness[0] if low >= 0 else v.steepness[1]))
    high = above(high * (v.steepness[1] if high >= 0 else v.steepness[0]))
    return exp_bounds(low)[0], exp_bounds(high)[1]


@helper()
def value(functional: Any, counts: Any) -> float:
    """The value of a functional, a whole number."""
    kind, first, second, level = functional[0], functional[1], functional[2], functional[3]
    y = z = 0
    for i in range(len(counts)):
        y += counts[i] if first in (ALL, i) else 0
        z += counts[i] if second in (ALL, i) else 0
    if kind == JOBS:
        return float(y)
    if kind == PRODUCTS:
        return float(y * z)
    return 1.0 if y >= level else 0.0


@stored(intervals, interface, **UNCOUNTED)
def box_pass(
    guess: Any,
    tasks: Any,
    rates: Rates,
    claim: Claim,
    states: IntArray,
    found: Found,
    places: IntArray,
    space: FloatArray,
) -> None:
    """Go through the ``states`` from the first to before the second of these.

    ``guess`` and ``tasks`` are first-class functions of the form told in
    :mod:`queueing.certificates.rates.interface`. What is found is merged into ``found``; NaN becomes infinite
    there. ``places`` (2, n) is work space, and so is ``space``: (4, n), followed by the family's own.
    """
    shape, h, v, delta = claim.shape, claim.h, claim.v, claim.delta
    arrival_rates, mean_sizes, outside = claim.arrival_rates, claim.mean_sizes, claim.outside
    n, n_f = len(shape), len(delta)
    stride, counts = places[0], places[1]
    bounds, memory = space[: 4 * n].reshape((4, n)), space[4 * n :]
    lower, upper, down_low, down_high = bounds[0], bounds[1], bounds[2], bounds[3]
    stride[n - 1] = 1
    for i in range(n - 2, -1, -1):
        stride[i] = stride[i + 1] * shape[i + 1]
    rest = states[0]
    for i in range(n):
        counts[i], rest = rest // stride[i], rest % stride[i]
    margin = (2 * n + 4) * 0.5 * ULP
    for s in range(states[0], states[1]):
        guess(rates, counts, memory)
        tasks(rates, counts, lower, upper, memory)
        faces = 0
        for i in range(n):
            down_low[i] = below(max(lower[i], 0.0) / mean_sizes[i])
            down_high[i] = above(upper[i] / mean_sizes[i])
            faces += counts[i] == shape[i] - 1
        # Q v, from above.
        flow = size = 0.0
        for i in range(n):
            if counts[i] < shape[i] - 1:
                change = v[s + stride[i]] - v[s]
            else:
                change = outside_value(outside, counts, i)[1] - v[s]
            term = arrival_rates[i] * change
            flow, size = flow + term, size + abs(term)
            if counts[i] > 0:
                change = v[s - stride[i]] - v[s]
                term = (down_high[i] if change > 0 else down_low[i]) * change
                flow, size = flow + term, size + abs(term)
        escape = above(flow + (margin * size + TINY))
        if faces > 0:
            excess = above(v[s] - outside_value(outside, counts, -1)[0])
            if not excess <= found.excess[0]:
                found.excess[0], found.excess_at[0] = excess if excess == excess else np.inf, s
        for f in range(n_f):
            most = least = most_size = least_size = value(claim.functionals[f], counts)
            for i in range(n):
                if counts[i] < shape[i] - 1:
                    change = h[f, s + stride[i]] - h[f, s]
                    term = arrival_rates[i] * change
                    most, most_size = most + term, most_size + abs(term)
                    least, least_size = least + term, least_size + abs(term)
                    if faces - (counts[i] == shape[i] - 1) > 0:
                        found.steps[f, i] = max(found.steps[f, i], above(abs(change)))
                if counts[i] > 0:
                    change = h[f, s - stride[i]] - h[f, s]
                    high, low = down_high[i] * change, down_low[i] * change
                    if change < 0:
                        high, low = low, high
                    most, most_size = most + high, most_size + abs(high)
                    least, least_size = least + low, least_size + abs(low)
            most = above(above(most + above(delta[f] * escape)) + (margin * most_size + TINY))
            least = below(below(least - above(delta[f] * escape)) - (margin * least_size + TINY))
            if not most <= found.highest[f]:
                found.highest[f] = most if most == most else np.inf
                found.highest_at[f] = s
            if not least >= found.lowest[f]:
                found.lowest[f] = least if least == least else -np.inf
                found.lowest_at[f] = s
        for i in range(n - 1, -1, -1):
            counts[i] += 1
            if counts[i] < shape[i]:
                break
            counts[i] = 0
