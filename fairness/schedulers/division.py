r"""One resource divided by weights between minima and maxima.

YARN, KAI, Volcano and Armada divide each resource by itself. They look for one level R such that

.. math:: x_i = \min(\max(R\,w_i,\; m_i),\; M_i), \qquad \sum_i x_i = C,

the weighted max-min fair division with a minimum and a maximum per queue (the words of [1]_: queues whose
minimum exceeds R w are given their minimum, those whose maximum lies below are given that, all others R w).
The level is found exactly: the sum grows along R in straight pieces between the points m_i/w_i and M_i/w_i.

Minima that exceed the resource together are all given, and exceed it; where the maxima do not fill it,
something remains. A queue of weight 0 gets its minimum.

References
----------
.. [1] Apache Hadoop, ``ComputeFairShares.computeSharesInternal`` (commit 3c22fd7).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.schedulers.quantities import Numbers, one_number, per_queue, quantities

__all__ = ["weighted_division"]


def weighted_division(
    total: ArrayLike,
    weights: ArrayLike,
    *,
    minimum: ArrayLike = 0,
    maximum: ArrayLike = np.inf,
) -> Numbers:
    """Weighted max-min fair division of one resource, exactly.

    Parameters
    ----------
    total : float, units of resource
    weights : array_like of shape (n_queues,)
    minimum, maximum : array_like of shape (n_queues,), units of resource
        A minimum above the maximum counts as the maximum.

    Returns
    -------
    ndarray of shape (n_queues,), units of resource
        Floats; fractions if any argument holds one.

    Raises
    ------
    ModelError
        If a number is negative or missing, a weight or the total infinite, or shapes do not fit.

    Examples
    --------
    >>> weighted_division(45, [2, 1, 1, 0.5], maximum=[10, 11, 30, 20])
    array([10., 11., 16.,  8.])
    """
    amount, weights, minimum, maximum = quantities(
        endless=("maximum",), total=total, weights=weights, minimum=minimum, maximum=maximum
    )
    weights = np.atleast_1d(weights)
    minimum = per_queue("minimum", minimum, weights.shape, "weights")
    maximum = per_queue("maximum", maximum, weights.shape, "weights")
    least = np.minimum(minimum, maximum)
    weighted = weights > 0
    level = _level(
        one_number("total", amount),
        weights[weighted],
        least[weighted],
        maximum[weighted],
        least[~weighted].sum(),
    )
    grown = np.where(weighted, weights, 0) * level if level < np.inf else np.where(weighted, maximum, 0)
    return np.minimum(np.maximum(grown, least), maximum)


def _level(total: Any, weights: Numbers, least: Numbers, maximum: Numbers, taken: Any) -> Any:
    """R at which the queues hold ``total - taken``; infinite if they never do, 0 if their minima do."""
    spare = total - taken - least.sum()
    if not spare > 0:
        return 0
    n = len(weights)
    points = np.concatenate([least / weights, maximum / weights])
    growing, grown = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    level: Any = 0
    slope: Any = 0
    for k in np.argsort(points, kind="stable").tolist():
        step = (points[k] - level) * slope if slope > 0 else 0
        if points[k] == np.inf or step >= spare:
            break
        spare, level = spare - step, points[k]
        if k < n:
            growing[k] = True
            slope = slope + weights[k]
        else:
            growing[k - n], grown[k - n] = False, True
            slope = slope - weights[k - n]
    if not growing.any():
        return np.inf
    # The level once more, from sums that no rounding of the walk has touched.
    held = taken + maximum[grown].sum() + least[~(growing | grown)].sum()
    return (total - held) / weights[growing].sum()
