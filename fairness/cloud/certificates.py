"""Evidence at cloud scale: two passes over the entries, apart from the solvers."""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import FloatArray, frozen
from fairness.cloud.engines import sums as summing
from fairness.cloud.engines.sums import add
from fairness.cloud.model.demands import Rows, SparseDemands
from fairness.machine.compiling import stored

__all__ = ["residuals", "unexplained_on"]


def residuals(
    demands: SparseDemands, growth: FloatArray, levels: FloatArray, epsilon: float = 0.0
) -> tuple[float, float]:
    """How far an allocation is from extended DRF, or from DC-DRF with this epsilon.

    No resource may be overfull, and every tenant needs a resource with at most epsilon free on which its
    level is the largest.

    Parameters
    ----------
    demands : SparseDemands
    growth : ndarray of shape (n_tenants,)
        Tasks per unit of level.
    levels : ndarray of shape (n_tenants,)
    epsilon : float

    Returns
    -------
    overfull : float
        Part by which a resource is overfull; 0 if none is.
    unexplained : float
        The worst tenant's smallest, over the resources that it demands, of the larger of two: what is free
        beyond epsilon, and how far its level is below the highest. Infinite if a level is no number >= 0.
    """
    overfull, unexplained = unexplained_on(demands, growth, levels, epsilon)
    return overfull, float(unexplained.max())


def unexplained_on(
    demands: SparseDemands, growth: FloatArray, levels: FloatArray, epsilon: float = 0.0
) -> tuple[float, FloatArray]:
    """How overfull a resource is, and for each tenant the best explanation of its level on these resources.

    Of :func:`residuals`; infinite for a tenant that demands none of these.
    """
    # Read-only, as the arrays of results are: arrays that can be written would be one more type to compile.
    rows = demands.starts, demands.columns, demands.values, frozen(growth.view())
    best = np.full(len(levels), np.inf)
    return float(_residuals(rows, frozen(levels.view()), float(epsilon), demands.n_resources, best)), best


@stored(summing, nogil=True)
def _residuals(rows: Rows, levels: FloatArray, epsilon: float, n_resources: int, bests: FloatArray) -> float:
    """By how much a resource is overfull; sets what the levels of tenants lack to be explained."""
    starts, columns, values, growth = rows
    # Compensated: a plain sum of a million equal shares is off by 1e-11.
    sums, highest = np.zeros((n_resources, 2)), np.zeros(n_resources)
    for i in range(len(levels)):
        if not 0.0 <= levels[i] < np.inf:
            return np.inf
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            add(sums, r, 0, growth[i] * levels[i] * values[e])
            highest[r] = max(highest[r], levels[i])
    left = 1.0 - (sums[:, 0] + sums[:, 1])
    overfull = 0.0
    for r in range(n_resources):
        overfull = max(overfull, -left[r])
    for i in range(len(levels)):
        best = np.inf
        for e in range(starts[i], starts[i + 1]):
            r = columns[e]
            short = 1.0 - levels[i] / highest[r] if highest[r] > 0 else 0.0
            best = min(best, max(short, left[r] - epsilon))
        bests[i] = best
    return overfull
