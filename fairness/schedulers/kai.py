r"""Fair shares of NVIDIA's KAI Scheduler.

Each resource by itself [1]_: first every queue gets its *deserved* quota, or its request if that is less
(this may exceed the resource); what is left is divided among those who request more, the queues of higher
priority first, by their *over-quota weights*. With a factor k for the past, the weight of a queue in each
round is

.. math:: \max\bigl(0,\; w_i' + k\,(w_i' - u_i)\bigr), \qquad w_i' = w_i \Big/ \sum_j w_j,

where u is the part of the resource that it has used lately and the sum goes over unsatisfied queues [2]_.

The program divides over-quota resources in whole units, each round cut off after the point, and hands the
rest out one by one to those that lost most: across priorities, and without a look at what was requested.

A request for memory of a GPU counts as part of a GPU [3]_: while it waits, of the smallest in the cluster;
once it runs, of the one that it is on, rounded up to hundredths.

References
----------
.. [1] KAI Scheduler, ``pkg/scheduler/plugins/proportion/resource_division`` and ``docs/fairness/README.md``
   (commit 72de64f, 7 March 2026).
.. [2] ``docs/developer/designs/time-based-fairshare/time-based-fairshare.md`` (same commit).
.. [3] ``pkg/scheduler/api/node_info/gpu_sharing_node_info.go``, ``api/podgroup_info/allocation_info.go``
   (same commit).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import require
from fairness.schedulers.quantities import Numbers, largest, one_number, over, per_queue, quantities

__all__ = ["kai_allocatable", "kai_fair_shares", "kai_gpus", "kai_share"]

NO_SHARE_FACTOR = 1000
"""Share per unit of a resource of which a queue may hold nothing (``noFairShareDrfMultiplier``)."""


def kai_fair_shares(
    total: ArrayLike,
    requests: ArrayLike,
    *,
    deserved: ArrayLike = 0,
    maximum: ArrayLike = np.inf,
    weights: ArrayLike = 1,
    priorities: ArrayLike = 0,
    past: ArrayLike = 0,
    k: float = 0,
    as_coded: bool = False,
) -> Numbers:
    """Fair share of each queue in one resource (``SetResourcesShare``).

    Parameters
    ----------
    total : number, units of resource
    requests : array_like of shape (n_queues,), units of resource
    deserved, maximum : array_like of shape (n_queues,), units of resource
        Quota (infinite: all of the resource), and the most that a queue may hold.
    weights : array_like of shape (n_queues,)
        Over-quota weights; a queue of weight 0 gets nothing beyond its quota.
    priorities : array_like of shape (n_queues,)
    past : array_like of shape (n_queues,)
        Part of the resource that each queue used lately.
    k : float
        What the past counts.
    as_coded : bool
        False: the division of the definition. True: KAI's rounds in whole units; among queues that lost
        equally much in rounding, those that stand first get the rest.

    Returns
    -------
    ndarray of shape (n_queues,), units of resource

    Examples
    --------
    >>> kai_fair_shares(11, [10, 10], deserved=2, weights=[1, 4])
    array([3.4, 7.6])
    >>> kai_fair_shares(11, [10, 10], deserved=2, weights=[1, 4], as_coded=True)
    array([3., 8.])
    """
    amount, requests, deserved, maximum, weights, priorities, past, factor = quantities(
        endless=("requests", "deserved", "maximum"),
        signed=("priorities",),
        total=total,
        requests=requests,
        deserved=deserved,
        maximum=maximum,
        weights=weights,
        priorities=priorities,
        past=past,
        k=k,
    )
    whole, requests = one_number("total", amount), np.atleast_1d(requests)
    factor = one_number("k", factor)
    shape = requests.shape
    deserved, maximum, weights, priorities, past = (
        per_queue(name, values, shape, "requests")
        for name, values in (
            ("deserved", deserved),
            ("maximum", maximum),
            ("weights", weights),
            ("priorities", priorities),
            ("past", past),
        )
    )
    wanted = np.minimum(requests, maximum)
    shares = np.minimum(np.where(deserved < np.inf, deserved, whole), wanted)
    left = max(whole - shares.sum(), 0)
    lost: dict[int, Any] = {}
    rests = []
    for priority in sorted(set(priorities.tolist()), reverse=True):
        queues = np.flatnonzero(priorities == priority)
        left, lost = _divide(left, queues, shares, wanted, weights, past, factor, as_coded)
        rests.append(lost)
    for lost in rests:
        for i in sorted(lost, key=lambda i: (-lost[i], i)):
            given = min(1, left)
            shares[i], left = shares[i] + given, left - given
    return shares


def _divide(
    left: Any,
    queues: Any,
    shares: Numbers,
    wanted: Numbers,
    weights: Numbers,
    past: Numbers,
    k: Any,
    whole: bool,
) -> tuple[Any, dict[int, Any]]:
    """Divide what is left among queues of one priority; what remains, and what each lost in rounding."""
    lost: dict[int, Any] = {}
    again = left > 0
    while again:
        again = False
        asking = [i for i in queues.tolist() if wanted[i] > shares[i] and weights[i] > 0]
        by_weight = sum(weights[i] for i in asking)
        parts = {
            i: max(0, weights[i] / by_weight * (1 + k) - k * past[i]) if k else weights[i] for i in asking
        }
        by_part = sum(parts.values())
        if not by_part > 0:
            break
        amount = left
        for i in asking:
            part, missing = amount * parts[i] / by_part, wanted[i] - shares[i]
            if missing <= part:
                given = missing
                lost.pop(i, None)
                again = again or missing < part
            else:
                given = math.floor(part) if whole else part
                if whole and part > given:
                    lost[i] = part - given
            shares[i], left = shares[i] + given, max(left - given, 0)
        again = again and left > 0
    return left, lost if whole else {}


def kai_allocatable(
    fair_share: ArrayLike, *, deserved: ArrayLike = 0, maximum: ArrayLike = np.inf
) -> Numbers:
    """What a queue may hold: the larger of quota and fair share, at most its maximum.

    Parameters
    ----------
    fair_share, deserved, maximum : array_like, units of resource

    Returns
    -------
    ndarray

    Examples
    --------
    >>> kai_allocatable([2, 9, 16], deserved=[1, 8, 15], maximum=[3, 10, 15])
    array([ 2.,  9., 15.])
    """
    fair_share, deserved, maximum = quantities(
        endless=("deserved", "maximum"), fair_share=fair_share, deserved=deserved, maximum=maximum
    )
    return np.minimum(np.maximum(fair_share, deserved), maximum)


def kai_share(allocated: ArrayLike, allocatable: ArrayLike, total: ArrayLike = np.inf) -> Numbers:
    """Dominant share of a queue: the largest part of what it may hold that it holds.

    Parameters
    ----------
    allocated : array_like of shape (..., n_resources), units of resource
    allocatable : array_like of shape (..., n_resources), units of resource
        See :func:`kai_allocatable`; where infinite, the total counts; where 0, each unit counts 1000.
    total : array_like of shape (n_resources,), units of resource

    Returns
    -------
    ndarray of shape (...,)

    Examples
    --------
    >>> kai_share([5, 12, 19], [2, 9, 16])
    array(2.5)
    """
    allocated, allocatable, total = quantities(
        endless=("allocatable", "total"), allocated=allocated, allocatable=allocatable, total=total
    )
    allocatable = per_queue("allocatable", allocatable, allocated.shape, "allocated")
    total = per_queue("total", total, allocated.shape, "allocated")
    return largest(over(allocated, np.minimum(allocatable, total), allocated * NO_SHARE_FACTOR))


def kai_gpus(
    memory: ArrayLike, gpu_memory: ArrayLike, *, running: bool = True, as_coded: bool = False
) -> Numbers:
    """Part of a GPU that a request for GPU memory counts as.

    Parameters
    ----------
    memory : array_like, MiB
    gpu_memory : array_like, MiB
        Of the GPU that the task runs on, or of the smallest in the cluster while it waits; KAI rounds it down
        to hundreds.
    running : bool
        Parts of running tasks are rounded up to hundredths.
    as_coded : bool
        True: rounded up as floats, which may go one hundredth too far.

    Returns
    -------
    ndarray

    Examples
    --------
    A tenth of 80 GiB is 8192 of 81,900 MiB, and so a little more than a tenth:

    >>> kai_gpus([8190, 8192], 81920)
    array([0.1 , 0.11])
    """
    memory, gpu_memory = quantities(memory=memory, gpu_memory=gpu_memory)
    whole = np.asarray(gpu_memory // 100 * 100)
    require("gpu_memory", whole.astype(float), np.asarray(whole > 0, dtype=bool), "at least 100")
    if not running:
        return np.asarray(memory / whole)
    if as_coded:
        return np.ceil(memory.astype(float) / whole.astype(float) * 100) / 100
    # A quotient of whole numbers is rounded up exactly: -(-a // b).
    hundredths = -(-(memory * 100) // whole)
    return np.asarray(hundredths / (100 if memory.dtype != object else Fraction(100)))
