"""The uniformised chain of a system on a box, and one pass through its steps for all times.

What is summed, and why the error is as stated, is said in :mod:`queueing.chain.transient`.

Poisson probabilities have a bound on what is left out, as Fox and Glynn's [1]_: from the largest outwards by
the ratios mean/k, down to 1e-40 times the largest, then divided by their sum; what lies beyond is bounded by
geometric series. No factorial and no logarithm is computed, so the relative error is a few roundings per
ratio.

References
----------
.. [1] B. L. Fox and P. W. Glynn, "Computing Poisson probabilities", Communications of the ACM 31(4), 1988.
   DOI 10.1145/42404.42409.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray
from queueing.states.box import SMALLEST, marginal_laws

__all__ = ["BLOCK", "LAZY", "Moves", "Pass", "PoissonWeights", "pass_through", "steps"]

LAZY = 1.01
"""The uniform rate over the largest rate out of a state: above 1, so that the steps are aperiodic."""
BLOCK = 128
"""Steps between two looks at the steady state."""
MOST_CHANGES = 1e9
"""Largest mean number of steps whose weights are computed; the pass itself is limited by ``max_steps``."""
NOTHING = 1e-40
"""Poisson probabilities are computed down to this part of the largest one."""


class PoissonWeights:
    """Probabilities of a Poisson number N, those of k = ``first`` onwards, and which of them are used."""

    def __init__(self, mean: float, neglected: float) -> None:
        mode = math.floor(mean)
        # P(N >= mode + j) decays at least like exp(-j^2/(2 mean + 2 j/3)), below the mode like
        # exp(-j^2/(2 mean)): so many ratios lead to NOTHING.
        c = -math.log(NOTHING) + 1.0
        above = math.ceil(c / 3 + math.sqrt(c * c / 9 + 2 * c * (mean + 1))) + 1
        below = min(mode, math.ceil(math.sqrt(2 * c * (mean + 1))) + 1)
        right = np.cumprod(mean / np.arange(mode + 1.0, mode + above + 1))
        left = np.cumprod(np.arange(float(mode), mode - below, -1) / mean) if below else np.empty(0)
        self.first = mode - below
        values = np.concatenate([left[::-1], [1.0], right])
        values /= values.sum()
        self.values = values
        # The rest of both sides by geometric series.
        grow, fall = self.first / mean if mean > 0 else 0.0, mean / (mode + above + 1)
        outside = values[0] * grow / (1.0 - grow) + values[-1] * fall / (1.0 - fall)
        lower, upper = np.cumsum(values), np.cumsum(values[::-1])
        skip = int(np.searchsorted(lower, neglected / 2, side="right"))
        drop = int(np.searchsorted(upper, neglected / 2, side="right"))
        self.low, self.high = self.first + skip, self.first + len(values) - 1 - drop
        self.neglected = float(
            outside + (lower[skip - 1] if skip else 0.0) + (upper[drop - 1] if drop else 0.0)
        )
        self.above = np.append(upper[::-1][1:], 0.0)  # P(N > k)

    def block(self, k: int, weights: FloatArray, above: FloatArray) -> None:
        """P(N = j), where used, and P(N > j) for the numbers j = k, k + 1, ... of a block."""
        weights[:] = 0.0
        here, stop = max(k, self.low), min(k + len(weights), self.high + 1)
        if here < stop:
            weights[here - k : stop - k] = self.values[here - self.first : stop - self.first]
        number = np.arange(k, k + len(above)) - self.first
        inside = np.clip(number, 0, len(self.values) - 1)
        above[:] = np.where(number < 0, 1.0, np.where(number < len(self.values), self.above[inside], 0.0))
        above[number > self.high - self.first] = 0.0

    def rest(self, k: int) -> float:
        """P(k <= N), where used."""
        return float(self.values[max(k, self.low) - self.first : self.high + 1 - self.first].sum())

    def excess(self, k: int, order: int = 1) -> float:
        """E[(N - k)^+], or for order 2 E[(N - k)(N - k - 1)^+]/2, the sum of it over all larger k."""
        over = np.maximum(np.arange(len(self.values)) + (self.first - k), 0.0)
        return float(self.values @ (over if order == 1 else over * np.maximum(over - 1.0, 0.0) / 2.0))


@dataclass(frozen=True)
class Moves:
    """The uniformised chain: probabilities of the moves, on the axes with more than one state."""

    rate: float  # steps per unit of time
    shape: NDArray[np.int64]
    up: FloatArray  # (n,)
    down: FloatArray  # (n, n_states)
    stay: FloatArray  # (n_states,)

    @classmethod
    def of(cls, up: FloatArray, down: FloatArray, out: FloatArray) -> Moves:
        """From arrival rates (n,), death rates (n, *shape), overwritten, and rates out of the states."""
        rate = LAZY * float(out.max())
        pace = rate if rate > 0 else 1.0
        down /= pace
        shape = np.array(out.shape, dtype=np.int64)
        return cls(rate, shape, up / pace, down.reshape(len(down), -1), (1.0 - out / pace).ravel())


@dataclass(frozen=True)
class Pass:
    """What one pass has summed, for each time."""

    marginals: FloatArray  # (n_times, sum of shape)
    lost: FloatArray
    truncation: FloatArray
    reached: NDArray[np.bool_]
    n_steps: int
    steady: bool


def pass_through(
    law: FloatArray, moves: Moves, times: FloatArray, laws: FloatArray, tolerance: float, max_steps: int
) -> Pass:
    """Step through the chain once and add up for all times; ``laws`` (n_times or 0, n_states) is filled."""
    means = moves.rate * times
    if means.max() > MOST_CHANGES:
        raise ModelError(
            f"time {times.max():g} is {means.max():.3g} steps of the uniformised chain; weights are computed "
            f"up to {MOST_CHANGES:g}: take earlier times, or the stationary law"
        )
    weights = [PoissonWeights(float(mean), tolerance / 2) for mean in means]
    high = np.array([w.high for w in weights])
    ends = np.cumsum(moves.shape)
    faces, up = ends - 1, moves.up
    marginals, lost = np.zeros((len(times), int(ends[-1]))), np.zeros(len(times))
    truncation = np.array([w.neglected for w in weights])
    work, k, steady = np.empty_like(law), 0, False
    while k <= high.max() and k < max_steps:
        length = min(BLOCK, int(high.max()) + 1 - k, max_steps - k)
        now, above = np.empty((2, len(times), length))
        for w, row, tail in zip(weights, now, above, strict=True):
            w.block(k, row, tail)
        seen = np.zeros((length, marginals.shape[1]))
        steps(law, work, moves.up, moves.down, moves.stay, moves.shape, now, laws, seen)
        if length % 2:
            law, work = work, law
        k += length
        marginals += now @ seen
        lost += above @ (seen[:, faces] @ up)
        change = float(np.abs(law - work).sum())
        later = np.flatnonzero(high >= k)
        if len(later) and change * (means.max() - k) <= tolerance / 2:
            errors = [change * weights[t].excess(k) for t in later]
            steady = max(errors) <= tolerance / 2
        if steady:
            margin = np.concatenate(marginal_laws(law.reshape(moves.shape)))
            for t, error in zip(later, errors, strict=True):
                w = weights[t]
                marginals[t] += w.rest(k) * margin
                if len(laws):
                    laws[t] += w.rest(k) * law
                truncation[t] += error
                lost[t] += margin[faces] @ up * w.excess(k) + up.sum() * change * w.excess(k, 2)
            break
    for row, w in enumerate(weights):
        if w.high < k or not steady:
            lost[row] += up.sum() * w.excess(w.high + 1)
    reached = np.full(len(times), True) if steady else high < k
    return Pass(marginals, lost, truncation, reached, k, steady)


@stored(nogil=True, fastmath={"reassoc", "nsz", "contract"})
def steps(
    law: FloatArray,
    work: FloatArray,
    up: FloatArray,
    down: FloatArray,
    stay: FloatArray,
    shape: NDArray[np.int64],
    weights: FloatArray,
    laws: FloatArray,
    marginals: FloatArray,
) -> None:
    """Make len(marginals) steps, to and fro between ``law`` and ``work``; note the marginals before each.

    ``weights`` (n_times, n_steps) times the laws before the steps are added to ``laws``.
    """
    n = len(shape)
    length = shape[n - 1]
    rows = law.size // length
    base = marginals.shape[1] - length
    for step in range(len(marginals)):
        seen = marginals[step]
        for t in range(laws.shape[0]):
            weight = weights[t, step]
            if weight > 0:
                for s in range(law.size):
                    laws[t, s] += weight * law[s]
        for r in range(rows):
            s = r * length
            here = law[s : s + length]
            after = work[s : s + length]
            total = 0.0
            for y in range(length):
                total += here[y]
                seen[base + y] += here[y]
                after[y] = stay[s + y] * here[y]
            rate = up[n - 1]
            for y in range(length - 1):
                after[y + 1] += rate * here[y]
                after[y] += down[n - 1, s + y + 1] * here[y + 1]
            rest = r
            stride = length
            offset = base
            for i in range(n - 2, -1, -1):
                x = rest % shape[i]
                rest //= shape[i]
                offset -= shape[i]
                seen[offset + x] += total
                if x > 0:
                    rate = up[i]
                    for y in range(length):
                        after[y] += rate * law[s - stride + y]
                if x < shape[i] - 1:
                    for y in range(length):
                        after[y] += down[i, s + stride + y] * law[s + stride + y]
                stride *= shape[i]
            for y in range(length):
                # Subnormal numbers are slow.
                after[y] = after[y] if after[y] > SMALLEST else 0.0
        law, work = work, law
