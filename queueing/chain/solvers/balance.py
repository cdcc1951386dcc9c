r"""Evidence for a law on a box: how far it is from balance, and what rounding alone does to its means.

The chain gains a job of class i at the rate ``up[i]``, constant or per state, and loses one at rate
``down[i]`` of shape ``shape``; what would leave the box does not happen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairness.model.problem import FloatArray
from queueing.states.box import mean_counts, sides

__all__ = ["EPSILON", "balance_residual", "rounding_error"]

EPSILON = float(np.finfo(float).eps)


def rounding_error(marginals: Sequence[FloatArray], eliminated: int = 0) -> float:
    """Relative error of the means by the rounding of rates and laws, after so many states were eliminated.

    A mean such as u/(1 - u) changes by 1/(1 - u) = 1 + (mean) times the relative change of a rate; roundings
    of an elimination add up like a random walk, and, far less, all in one direction along the longest axis.
    The factors are from measurement.
    """
    jobs = float(mean_counts(marginals).sum())
    longest = max(map(len, marginals), default=0) if eliminated else 0
    return 4.0 * EPSILON * (4.0 + jobs + math.sqrt(eliminated) + longest / 10)


def balance_residual(up: FloatArray, down: FloatArray, law: FloatArray) -> float:
    """Sum of |inflow - outflow| over the sum of all flows; ``up`` per class, or per class and state."""
    if not len(up):
        return 0.0
    surplus, total = np.zeros(law.shape), 0.0
    for i, rate in enumerate(up):
        low, high = sides(i)
        births = (rate[low] if rate.ndim else rate) * law[low]
        deaths = down[i][high] * law[high]
        total += float(births.sum() + deaths.sum())
        births -= deaths
        surplus[high] += births
        surplus[low] -= births
    return float(np.abs(surplus).sum() / total)
