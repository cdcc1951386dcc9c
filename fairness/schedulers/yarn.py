r"""Fair shares and orders of Apache Hadoop YARN: the Fair Scheduler and the Capacity Scheduler.

*Fair Scheduler* [1]_. Each resource by itself is divided by weights between min and max shares
(:mod:`fairness.schedulers.division`). Who is next: queues below their min share first, those by the ratio of
usage to min share; then the others by the ratio of usage to weight; ties by start time, then name. The policy
"fair" looks at memory alone; the policy "DRF" at each queue's resources from its dominant one downwards, and
calls a queue needy where it is below its min share *of its dominant resource*.

*Capacity Scheduler* [2]_. The *used capacity* of a queue is what it uses over what its absolute capacity
guarantees. Queues below 1 go before those at 1 and above; among those of the same side the higher priority
first; then the smaller used capacity, then the larger absolute capacity. Queues without capacity are last.

References
----------
.. [1] Apache Hadoop, ``ComputeFairShares`` (commit 3c22fd7), ``FairSharePolicy`` (0815704) and
   ``DominantResourceFairnessPolicy`` (ee91492).
.. [2] Apache Hadoop, ``PriorityUtilizationQueueOrderingPolicy`` (commit ee91492).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import ModelError
from fairness.schedulers.division import weighted_division
from fairness.schedulers.quantities import Numbers, largest, over, per_queue, quantities
from fairness.schedulers.shares import in_order

__all__ = [
    "yarn_capacity_order",
    "yarn_drf_order",
    "yarn_fair_order",
    "yarn_fair_shares",
    "yarn_used_capacity",
]

ITERATIONS = 25
"""``COMPUTE_FAIR_SHARES_ITERATIONS``: halvings of the interval in which the level is sought."""
LARGEST = 2**63 - 1


def yarn_fair_shares(
    total: ArrayLike,
    weights: ArrayLike,
    *,
    minimum: ArrayLike = 0,
    maximum: ArrayLike = np.inf,
    as_coded: bool = False,
) -> Numbers:
    """Fair share of each queue in one resource (``ComputeFairShares``).

    Parameters
    ----------
    total : number, units of resource
    weights : array_like of shape (n_queues,)
    minimum, maximum : array_like of shape (n_queues,), units of resource
        Min and max shares.
    as_coded : bool
        False: the division of the definition, exactly. True: what YARN computes, whole numbers from 25
        halvings, cut off after the point; they may sum to more or to less than the total.

    Returns
    -------
    ndarray of shape (n_queues,), units of resource

    Examples
    --------
    >>> yarn_fair_shares(40, [1, 1, 1])
    array([13.33333333, 13.33333333, 13.33333333])
    >>> yarn_fair_shares(40, [1, 1, 1], as_coded=True)
    array([14., 14., 14.])
    """
    shares = weighted_division(total, weights, minimum=minimum, maximum=maximum)
    if not as_coded:
        return shares
    amount, parts, least, most = quantities(
        endless=("maximum",), total=total, weights=weights, minimum=minimum, maximum=maximum
    )
    parts = parts.astype(np.float32).astype(float)  # getWeight() is a float of Java, the level a double
    # Resources of YARN are whole numbers.
    least = np.floor(per_queue("minimum", least, shares.shape, "weights").astype(float))
    most = np.floor(per_queue("maximum", most, shares.shape, "weights").astype(float))
    most = np.minimum(most, float(LARGEST))
    fixed = (most <= 0) | (parts <= 0)
    given = np.where(most <= 0, 0, least)
    if fixed.all():
        return given
    at_most = min(int(most[~fixed].sum()), LARGEST)
    wanted = min(at_most, max(int(amount) - int(given[fixed].sum()), 0))

    def cut(level: float) -> NDArray[np.float64]:
        return np.floor(np.minimum(np.maximum(parts[~fixed] * level, least[~fixed]), most[~fixed]))

    right = 1.0
    while cut(right).sum() < wanted:
        right *= 2
    left = 0.0
    for _ in range(ITERATIONS):
        middle = (left + right) / 2
        used = cut(middle).sum()
        if used < wanted:
            left = middle
        else:
            right = middle
            if used == wanted:
                break
    given[~fixed] = cut(right)
    return given


def yarn_fair_order(
    usage: ArrayLike,
    weights: ArrayLike = 1,
    *,
    minimum: ArrayLike = 0,
    demand: ArrayLike = np.inf,
    start_times: ArrayLike = 0,
    names: Sequence[str] | None = None,
) -> NDArray[np.intp]:
    """Queues or applications in the order of the policy "fair", which looks at memory alone.

    Parameters
    ----------
    usage : array_like of shape (n_queues,), memory
    weights : array_like of shape (n_queues,)
        Those of weight 0 go after all others, and among themselves by usage.
    minimum, demand : array_like of shape (n_queues,), memory
        Min share, of which no more than the demand counts; who demands nothing goes last.
    start_times : array_like of shape (n_queues,)
    names : sequence of str, optional

    Returns
    -------
    ndarray of shape (n_queues,), int

    Examples
    --------
    The example of the policy's documentation: 50 of 100 is further below than 8 of 10.

    >>> yarn_fair_order([8, 50], minimum=[10, 100])
    array([1, 0])
    """
    usage, weights, minimum, demand, start_times = quantities(
        endless=("demand",),
        signed=("start_times",),
        usage=usage,
        weights=weights,
        minimum=minimum,
        demand=demand,
        start_times=start_times,
    )
    weights, minimum, demand, start_times = (
        per_queue(name, values, usage.shape, "usage")
        for name, values in (
            ("weights", weights),
            ("minimum", minimum),
            ("demand", demand),
            ("start_times", start_times),
        )
    )
    least = np.minimum(minimum, demand)
    needy = usage < least
    ratio = np.where(needy, usage / np.maximum(least, 1), over(usage, weights, usage))
    return in_order(demand == 0, ~needy, ~needy & (weights == 0), ratio, start_times, names=names)


def yarn_drf_order(
    usage: ArrayLike,
    cluster: ArrayLike,
    weights: ArrayLike = 1,
    *,
    minimum: ArrayLike = 0,
    start_times: ArrayLike = 0,
    names: Sequence[str] | None = None,
) -> NDArray[np.intp]:
    """Queues or applications in the order of the policy "DRF".

    Parameters
    ----------
    usage : array_like of shape (n_queues, n_resources), units of resource
    cluster : array_like of shape (n_resources,), units of resource
    weights : array_like of shape (n_queues,)
        Weight 0 loses out to all others, as the policy's comment says.
    minimum : array_like of shape (n_queues, n_resources), units of resource
        Min shares; of a resource without one a queue is infinitely above its min share.
    start_times : array_like of shape (n_queues,)
    names : sequence of str, optional

    Returns
    -------
    ndarray of shape (n_queues,), int

    Examples
    --------
    The second queue's dominant resource, the first, is below its min share:

    >>> yarn_drf_order([[4000, 3], [2000, 5]], [8000, 8], minimum=[[0, 0], [0, 6]])
    array([1, 0])
    """
    usage, cluster, weights, minimum, start_times = quantities(
        signed=("start_times",),
        usage=usage,
        cluster=cluster,
        weights=weights,
        minimum=minimum,
        start_times=start_times,
    )
    if usage.ndim != 2:
        raise ModelError.of("usage", f"must have shape (n_queues, n_resources); got {usage.shape}")
    cluster = per_queue("cluster", cluster, usage.shape[1:], "usage")
    weights = per_queue("weights", weights, usage.shape[:1], "usage")
    minimum = per_queue("minimum", minimum, usage.shape, "usage")
    start_times = per_queue("start_times", start_times, usage.shape[:1], "usage")
    ratios = over(usage, cluster, np.inf)
    from_dominant = np.argsort(-ratios, axis=1, kind="stable")
    rows = np.arange(len(usage))
    dominant = from_dominant[:, 0]
    needy = usage[rows, dominant] < minimum[rows, dominant]
    of_minimum = over(usage, minimum, np.inf, np.inf)
    of_weight = over(ratios, weights[:, None], np.inf, np.inf)
    # A queue of weight 0 loses out also while it uses nothing; 0/0 would be a tie with everyone.
    compared = np.where(needy[:, None], of_minimum, np.where(weights[:, None] > 0, of_weight, np.inf))
    columns = np.take_along_axis(compared, from_dominant, axis=1).T
    return in_order(~needy, *columns, start_times, names=names)


def yarn_used_capacity(usage: ArrayLike, cluster: ArrayLike, absolute_capacity: ArrayLike) -> Numbers:
    """Used over guaranteed: the dominant share of each queue over its absolute capacity.

    Parameters
    ----------
    usage : array_like of shape (..., n_resources), units of resource
    cluster : array_like of shape (n_resources,), units of resource
    absolute_capacity : array_like of shape (...,)
        Guaranteed part of the cluster; products along the path of the queue.

    Returns
    -------
    ndarray of shape (...,)
        0 where the queue has no capacity, as YARN reports it.

    Examples
    --------
    >>> yarn_used_capacity([[30, 2], [10, 9]], [100, 10], [0.5, 0.75])
    array([0.6, 1.2])
    """
    usage, cluster, capacity = quantities(usage=usage, cluster=cluster, absolute_capacity=absolute_capacity)
    cluster = per_queue("cluster", cluster, usage.shape[-1:], "usage")
    capacity = per_queue("absolute_capacity", capacity, usage.shape[:-1], "usage")
    return over(largest(over(usage, cluster, 0)), capacity, 0)


def yarn_capacity_order(
    used_capacity: ArrayLike,
    absolute_capacity: ArrayLike,
    *,
    priorities: ArrayLike = 0,
    absolute_used: ArrayLike = 0,
    accessible: Sequence[bool] | bool = True,
) -> NDArray[np.intp]:
    """Queues in the order of the Capacity Scheduler's policies "utilization" and "priority-utilization".

    Parameters
    ----------
    used_capacity, absolute_capacity : array_like of shape (n_queues,)
        See :func:`yarn_used_capacity`.
    priorities : array_like of shape (n_queues,)
        All equal: the policy "utilization".
    absolute_used : array_like of shape (n_queues,)
        Part of the cluster that is used, by which queues without capacity are compared.
    accessible : bool or sequence of bool
        Queues that may use the partition go first.

    Returns
    -------
    ndarray of shape (n_queues,), int

    Examples
    --------
    >>> yarn_capacity_order([0.1, 1.2], [0.2, 0.3], priorities=[1, 2])
    array([0, 1])
    """
    used, capacity, priority, of_cluster = quantities(
        signed=("priorities",),
        used_capacity=used_capacity,
        absolute_capacity=absolute_capacity,
        priorities=priorities,
        absolute_used=absolute_used,
    )
    shape = used.shape
    capacity = per_queue("absolute_capacity", capacity, shape, "used_capacity")
    priority = per_queue("priorities", priority, shape, "used_capacity")
    of_cluster = per_queue("absolute_used", of_cluster, shape, "used_capacity")
    allowed: Any = per_queue("accessible", np.asarray(accessible), shape, "used_capacity")
    compared = np.where(capacity > 0, used, of_cluster)
    return in_order(~allowed, capacity == 0, compared >= 1, -priority, compared, -capacity)
