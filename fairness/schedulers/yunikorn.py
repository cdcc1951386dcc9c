r"""Shares and orders of Apache YuniKorn.

Queues: the share of a queue is the largest, over the resources that it uses, of

.. math:: \frac{u_j}{g_j} \text{ if a guarantee } g_j \text{ is set, else } \frac{u_j}{f_j}
   \text{ with the fair maximum } f_j,

where a guarantee or maximum of 0 makes a share of 1 of whatever is used [1]_. Queues are sorted by it, ties
by priority, then by what is pending; or by priority first.

Applications: all shares of the cluster are sorted, and two applications compared from their largest shares
downwards; where one list ends, what is left of the other decides by its sign. A resource of which the cluster
has nothing enters as the bare amount, in its own unit [1]_.

References
----------
.. [1] Apache YuniKorn core, ``pkg/common/resources/resources.go`` and ``pkg/scheduler/objects/sorters.go``
   (commit be3bb48, 2 July 2026).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import ModelError
from fairness.schedulers.quantities import Numbers, largest, over, per_queue, quantities
from fairness.schedulers.shares import in_order

__all__ = [
    "yunikorn_compare",
    "yunikorn_fairness_ratio",
    "yunikorn_queue_order",
    "yunikorn_share",
    "yunikorn_shares",
]


def yunikorn_share(usage: ArrayLike, guaranteed: ArrayLike = np.nan, fair_max: ArrayLike = np.nan) -> Numbers:
    """Share of a queue: of its guarantee, where one is set, else of its fair maximum (``getFairShare``).

    Parameters
    ----------
    usage : array_like of shape (..., n_resources), units of resource
        Negative entries hold no share.
    guaranteed, fair_max : array_like of shape (..., n_resources), units of resource
        NaN where none is set; 0 or less is a guarantee of nothing, of which any use is a share of 1.

    Returns
    -------
    ndarray of shape (...,)

    Examples
    --------
    Half of the guaranteed memory, a tenth of the cores of the cluster:

    >>> yunikorn_share([100, 2500], [np.nan, 5000], [1000, 99999])
    array(0.5)
    """
    usage, guaranteed, fair_max = quantities(
        endless=("guaranteed", "fair_max"),
        missing=("guaranteed", "fair_max"),
        signed=("usage", "guaranteed", "fair_max"),
        usage=usage,
        guaranteed=guaranteed,
        fair_max=fair_max,
    )
    guaranteed = per_queue("guaranteed", guaranteed, usage.shape, "usage")
    fair_max = per_queue("fair_max", fair_max, usage.shape, "usage")
    unset = guaranteed != guaranteed  # NaN differs from itself, also among fractions
    of = np.where(unset, fair_max, guaranteed)
    shares = np.where(of == of, over(usage, np.where(of > 0, of, 0), 1), 0)
    return largest(shares)


def yunikorn_shares(usage: ArrayLike, total: ArrayLike = 0) -> Numbers:
    """All shares of an application, in increasing order (``GetShares``).

    Parameters
    ----------
    usage : array_like of shape (..., n_resources), units of resource; may be negative
    total : array_like of shape (n_resources,), units of resource
        Where it is 0, the share is the amount itself.

    Returns
    -------
    ndarray of shape (..., n_resources)

    Examples
    --------
    >>> yunikorn_shares([5, 10], [15, 0])
    array([ 0.33333333, 10.        ])
    """
    usage, total = quantities(signed=("usage", "total"), usage=usage, total=total)
    total = per_queue("total", total, usage.shape[-1:], "usage")
    return np.sort(over(usage, total, usage, usage), axis=-1)


def yunikorn_compare(left: ArrayLike, right: ArrayLike) -> int:
    """-1, 0 or 1 as the shares of the left are smaller, equal or larger (``compareShares``).

    Parameters
    ----------
    left, right : array_like of shape (n,) and (m,)
        Shares in increasing order, as :func:`yunikorn_shares` gives them.

    Returns
    -------
    int

    Examples
    --------
    >>> yunikorn_compare([0, 10], [5]), yunikorn_compare([10], [0, 10]), yunikorn_compare([-10, 10], [10])
    (1, 0, -1)
    """
    mine, other = quantities(endless=("left", "right"), signed=("left", "right"), left=left, right=right)
    for name, given in (("left", mine), ("right", other)):
        if given.ndim != 1:
            raise ModelError.of(name, f"must be a list of shares; got shape {given.shape}")
    for a, b in zip(mine[::-1], other[::-1], strict=False):
        if a != b:
            return 1 if a > b else -1
    common = min(len(mine), len(other))
    for rest, sign in ((mine, 1), (other, -1)):
        for share in rest[: len(rest) - common][::-1]:
            if share != 0:
                return sign if share > 0 else -sign
    return 0


def yunikorn_fairness_ratio(left: ArrayLike, right: ArrayLike, total: ArrayLike = 0) -> Any:
    """Largest share of the left over that of the right; 1 if both are 0 (``FairnessRatio``).

    Parameters
    ----------
    left, right : array_like of shape (n_resources,), units of resource
    total : array_like of shape (n_resources,), units of resource

    Returns
    -------
    number

    Examples
    --------
    >>> yunikorn_fairness_ratio([90], [1], [100])
    90.0
    """
    ours, theirs = (
        shares[-1].item() if shares.dtype != object else shares[-1]
        for shares in (yunikorn_shares(left, total), yunikorn_shares(right, total))
    )
    if theirs == 0:
        return 1 if ours == 0 else math.copysign(math.inf, ours)
    return ours / theirs


def yunikorn_queue_order(
    usage: ArrayLike,
    guaranteed: ArrayLike = np.nan,
    fair_max: ArrayLike = np.nan,
    *,
    priorities: ArrayLike = 0,
    pending: ArrayLike = 0,
    priority_first: bool = False,
) -> NDArray[np.intp]:
    """Queues in the order of the sort policy "fair": smallest share, ties by priority, then as given.

    Parameters
    ----------
    usage, guaranteed, fair_max
        As for :func:`yunikorn_share`, for queues along the first axis.
    priorities : array_like of shape (n_queues,)
        Higher ones go first among equal shares, or before all if ``priority_first``.
    pending : array_like of shape (n_queues, n_resources), units of resource
        Among equals, a queue goes first whose pending resources are nowhere less and somewhere more than
        those of all the queues that it passes.

    Returns
    -------
    ndarray of shape (n_queues,), int

    Examples
    --------
    >>> yunikorn_queue_order([[300], [200], [100]], [[500], [300], [200]])
    array([2, 0, 1])
    """
    shares = yunikorn_share(usage, guaranteed, fair_max)
    if shares.ndim != 1:
        raise ModelError.of("usage", "must have shape (n_queues, n_resources)")
    [first] = quantities(signed=("priorities",), priorities=priorities)
    first = -per_queue("priorities", first, shares.shape, "usage")
    [waits] = quantities(pending=pending)
    waits = waits if waits.ndim else np.broadcast_to(waits, (len(shares), 1))
    waits = per_queue("pending", waits, (len(shares), *waits.shape[1:]), "usage")
    keys = (first, shares) if priority_first else (shares, first)
    order = in_order(*keys).tolist()
    # Insertion, as a stable sort compares: pending resources are ordered in part only.
    for i in range(1, len(order)):
        k = i
        while k > 0 and _passes(waits, keys, order[k], order[k - 1]):
            order[k - 1], order[k] = order[k], order[k - 1]
            k -= 1
    return np.array(order, dtype=np.intp)


def _passes(waits: Numbers, keys: tuple[Numbers, ...], later: int, earlier: int) -> bool:
    if any(key[later] != key[earlier] for key in keys):
        return False
    more = waits[later] - waits[earlier]
    return bool((more >= 0).all() and (more > 0).any())
