"""Poisson probabilities for uniformisation, with a bound on what is left out, as Fox and Glynn do.

From the largest outwards by the ratios mean/k, down to 1e-40 times the largest, then divided by their sum;
what lies beyond is bounded by geometric series. No factorial and no logarithm is computed, so the relative
error is a few roundings per ratio.

References
----------
B. L. Fox and P. W. Glynn, "Computing Poisson probabilities", Communications of the ACM 31(4), 1988.
DOI 10.1145/42404.42409.
"""

from __future__ import annotations

import math

import numpy as np

from fairness.arguments.validation import FloatArray

__all__ = ["PoissonWeights"]

NOTHING = 1e-40
"""Weights are computed down to this part of the largest one."""


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
