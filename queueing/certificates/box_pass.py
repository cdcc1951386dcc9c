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
from queueing.certificates.arrival_phases import Moves
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
    lower: FloatArray  # (n_phases, n, longest side + 1): bounds of the powers, of x_i + kappa_i
    upper: FloatArray


class Claim(NamedTuple):
    """What a certificate says, of the classes with arrivals; states are in C order, the phase last."""

    moves: Moves
    mean_sizes: FloatArray  # (n,)
    outside: Outside
    functionals: IntArray  # (n_f, 4)
    delta: FloatArray  # (n_f,)
    shape: IntArray  # (n,)
    h: FloatArray  # (n_f, n_states * n_phases)
    v: FloatArray  # (n_states * n_phases,)


class Found(NamedTuple):
    """Extremes over a part of the box, and where they are."""

    highest: FloatArray  # (n_f,): upper bounds of f + Q(h + delta v)
    highest_at: IntArray  # (n_f,): index of the counts
    lowest: FloatArray  # (n_f,): lower bounds of f + Q(h - delta v)
    lowest_at: IntArray
    steps: FloatArray  # (n_f, n + 1): largest |h(y + e_i) - h(y)| on a face of another class; E of a phase
    excess: FloatArray  # (1,): largest v - V on a face
    excess_at: IntArray  # (1,)


def nothing_found(n_f: int, n: int) -> Found:
    """Before the first state."""
    places = [np.full(size, -1, dtype=np.int64) for size in (n_f, n_f, 1)]
    return Found(
        *(np.full(n_f, -np.inf), places[0], np.full(n_f, np.inf), places[1]),
        *(np.zeros((n_f, n + 1)), np.full(1, -np.inf), places[2]),
    )


@stored(intervals, **UNCOUNTED)
def outside_powers(
    scales: FloatArray,
    ahead: FloatArray,
    radius: float,
    exponent: float,
    lower: FloatArray,
    upper: FloatArray,
) -> None:
    """Fill the tables of :class:`Outside`; ``ahead`` (2, n_phases, n) are bounds of kappa."""
    for k in range(lower.shape[0]):
        for i in range(lower.shape[1]):
            least, most = ahead[0, k, i], ahead[1, k, i]
            for x in range(0 if most > 0 else 1, lower.shape[2]):
                low = high = float(x)
                if most > 0:
                    low, high = max(below(x + least), 0.0), above(x + most)
                low, high = below(below(low * scales[i]) / radius), above(above(high * scales[i]) / radius)
                lower[k, i, x], upper[k, i, x] = power_bounds(max(low, 0.0), high, exponent)


@helper()
def outside_value(v: Outside, counts: Any, raised: int, phase: int) -> tuple[float, float]:
    """Bounds of V(x) in a phase, or of V(x + e_i) for i = ``raised`` >= 0."""
    low = high = 0.0
    for i in range(len(counts)):
        x = counts[i] + (1 if i == raised else 0)
        low, high = below(low + v.lower[phase, i, x]), above(high + v.upper[phase, i, x])
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


@helper()
def _flow(
    claim: Claim,
    values: FloatArray,
    start: float,
    beyond: bool,
    place: tuple[int, int],
    counts: Any,
    stride: Any,
    down: FloatArray,
) -> tuple[float, float, float, float]:
    """``start`` + Q of some values in a state and a phase: most, least, and the sizes of their terms.

    Sums are not rounded outward yet. Arrivals at a face lead to V, from above, if ``beyond``; else they stay.
    """
    moves, shape, n = claim.moves, claim.shape, len(counts)
    phases, (s, k) = (len(moves.starts) - 1) // n, place
    here = s * phases + k
    most = least = most_size = least_size = start
    for i in range(n):
        first, last = moves.starts[k * n + i], moves.starts[k * n + i + 1]
        for e in range(first, last + (1 if counts[i] > 0 else 0)):
            if e == last:  # a job leaves
                low, high, after = down[0, i], down[1, i], values[here - stride[i] * phases]
            else:
                low, high, there = moves.low[e], moves.high[e], s
                if moves.arrives[e] == 1 and counts[i] < shape[i] - 1:
                    there += stride[i]
                after = values[there * phases + moves.targets[e]]
                if beyond and moves.arrives[e] == 1 and there == s:
                    after = outside_value(claim.outside, counts, i, moves.targets[e])[1]
            change = after - values[here]
            if change < 0:
                low, high = high, low
            most, most_size = most + high * change, most_size + abs(high * change)
            least, least_size = least + low * change, least_size + abs(low * change)
    return most, least, most_size, least_size


@helper()
def _note_steps(
    claim: Claim, f: int, k: int, s: int, counts: Any, stride: Any, margin: float, steps: FloatArray
) -> None:
    """Steps of h next to a state of a face, and what it turns with the phase."""
    moves, n = claim.moves, len(counts)
    phases = (len(moves.starts) - 1) // n
    here, faces, turn = s * phases + k, 0, 0.0
    for i in range(n):
        faces += counts[i] == claim.shape[i] - 1
    for i in range(n):
        if counts[i] < claim.shape[i] - 1 and faces > 0:
            change = claim.h[f, here + stride[i] * phases] - claim.h[f, here]
            steps[f, i] = max(steps[f, i], above(abs(change)))
        for e in range(moves.starts[k * n + i], moves.starts[k * n + i + 1]):
            turn += moves.high[e] * abs(claim.h[f, s * phases + moves.targets[e]] - claim.h[f, here])
    if phases > 1 and faces > 0:
        steps[f, n] = max(steps[f, n], above(turn + (margin * turn + TINY)))


@stored(intervals, interface, **UNCOUNTED)
def box_pass(
    tasks: Any,
    rates: Rates,
    claim: Claim,
    states: IntArray,
    guesses: FloatArray,
    found: Found,
    places: IntArray,
    space: FloatArray,
) -> None:
    """Go through the ``states`` from the first to before the second of these.

    ``tasks`` is a first-class function of the form told in :mod:`queueing.certificates.rates.interface`, and
    so are the ``guesses`` of these states, of length 0 where it wants none. What is found is merged into
    ``found``; NaN becomes infinite there. ``places`` (2, n) is work space, and so is ``space``: (4, n),
    followed by the family's own.
    """
    shape, v, delta, moves = claim.shape, claim.v, claim.delta, claim.moves
    mean_sizes, outside = claim.mean_sizes, claim.outside
    n, n_f = len(shape), len(delta)
    phases = (len(moves.starts) - 1) // n
    stride, counts = places[0], places[1]
    bounds, memory = space[: 4 * n].reshape((4, n)), space[4 * n :]
    lower, upper, down = bounds[0], bounds[1], bounds[2:]
    stride[n - 1] = 1
    for i in range(n - 2, -1, -1):
        stride[i] = stride[i + 1] * shape[i + 1]
    rest = states[0]
    for i in range(n):
        counts[i], rest = rest // stride[i], rest % stride[i]
    margin = (n + len(moves.targets) + 4) * 0.5 * ULP
    for s in range(states[0], states[1]):
        for j in range(guesses.shape[1]):
            memory[j] = guesses[s - states[0], j]
        tasks(rates, counts, lower, upper, memory)
        faces = 0
        for i in range(n):
            down[0, i] = below(max(lower[i], 0.0) / mean_sizes[i])
            down[1, i] = above(upper[i] / mean_sizes[i])
            faces += counts[i] == shape[i] - 1
        for k in range(phases):
            here = s * phases + k
            most, _, size, _ = _flow(claim, v, 0.0, True, (s, k), counts, stride, down)
            escape = above(most + (margin * size + TINY))
            if faces > 0:
                excess = above(v[here] - outside_value(outside, counts, -1, k)[0])
                if not excess <= found.excess[0]:
                    found.excess[0], found.excess_at[0] = excess if excess == excess else np.inf, s
            for f in range(n_f):
                own = value(claim.functionals[f], counts)
                most, least, most_size, least_size = _flow(
                    claim, claim.h[f], own, False, (s, k), counts, stride, down
                )
                if faces > 0:
                    _note_steps(claim, f, k, s, counts, stride, margin, found.steps)
                spent = above(delta[f] * escape)
                most = above(above(most + spent) + (margin * most_size + TINY))
                least = below(below(least - spent) - (margin * least_size + TINY))
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
