r"""Dominant shares: of a resource's total, over time, and who is next.

A queue holds the *share* :math:`u_j/C_j` of resource j; its *dominant share* is the largest of them, divided
by its weight [1]_:

.. math:: s = \frac1w \max_j m_j \frac{u_j}{C_j}.

Schedulers serve the queue of the smallest dominant share next. They differ in what they do about resources of
which there is nothing (Mesos and Armada leave them out; Volcano counts a share of 1, KAI 1000 per unit,
YuniKorn the bare amount), and in how they break ties: see the module of each.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011,
   section 4.2 (Algorithm 1) and 4.3 (weights).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import ModelError
from fairness.schedulers.quantities import Numbers, largest, over, per_queue, quantities

__all__ = ["cumulative_dominant_share", "dominant_share", "in_order", "share_order"]


def dominant_share(
    usage: ArrayLike, total: ArrayLike, weights: ArrayLike = 1, *, multipliers: ArrayLike = 1
) -> Numbers:
    """The largest share of a resource that each queue holds, divided by its weight.

    This is ``DRFSorter::calculateShare`` of Mesos and the cost of a queue in Armada; resources of which there
    is nothing are left out.

    Parameters
    ----------
    usage : array_like of shape (..., n_resources), units of resource
    total : array_like of shape (n_resources,), units of resource
    weights : array_like of shape (...,), default 1
        A queue of weight 0 that holds something has an infinite share.
    multipliers : array_like of shape (n_resources,), default 1
        How much a resource counts: 0 leaves it out (Mesos' ``fair_sharing_excluded_resource_names``), other
        numbers scale it (Armada's ``multiplier``).

    Returns
    -------
    ndarray of shape (...,)
        Floats; fractions if any argument holds one.

    Raises
    ------
    ModelError
        If a number is negative or missing, or shapes do not fit.

    Examples
    --------
    >>> dominant_share([[5, 5], [6, 6]], [100, 100], [1, 2])
    array([0.05, 0.03])
    >>> from fractions import Fraction as F
    >>> dominant_share([[F(1), F(4)]], [9, 18])
    array([Fraction(2, 9)], dtype=object)
    """
    usage, total, weights, multipliers = quantities(
        usage=usage, total=total, weights=weights, multipliers=multipliers
    )
    total = per_queue("total", total, usage.shape[-1:], "usage")
    multipliers = per_queue("multipliers", multipliers, usage.shape[-1:], "usage")
    weights = per_queue("weights", weights, usage.shape[:-1], "usage")
    return over(largest(multipliers * over(usage, total, 0)), weights, np.inf)


def cumulative_dominant_share(
    durations: ArrayLike,
    usage: ArrayLike,
    total: ArrayLike,
    weights: ArrayLike = 1,
    *,
    half_life: float = np.inf,
) -> Numbers:
    r"""Dominant share times time, of the past, with a half-life or without.

    Usage is constant on successive intervals; what lies t ago counts :math:`2^{-t/h}`:

    .. math:: S = \int_0^T s(t)\, 2^{-(T - t)/h}\, dt.

    Kueue (admission fair sharing) and KAI (time-based fairshare) order queues by such sums of the past.
    Divided by :math:`h/\ln 2`, the weight of an endless past, it is a moving average of the share.

    Parameters
    ----------
    durations : array_like of shape (n_intervals,), time
    usage : array_like of shape (n_intervals, ..., n_resources), units of resource
    total, weights
        As for :func:`dominant_share`.
    half_life : float, time
        Infinite: the past is never forgotten.

    Returns
    -------
    ndarray of shape (...,), time

    Examples
    --------
    One queue holds half of a resource for 2 hours, another all of it for the hour that follows:

    >>> cumulative_dominant_share([2, 1], [[[5], [0]], [[0], [10]]], [10])
    array([1., 1.])
    >>> cumulative_dominant_share([2, 1], [[[5], [0]], [[0], [10]]], [10], half_life=1).round(3)
    array([0.271, 0.721])
    """
    shares = dominant_share(usage, total, weights)
    [durations] = quantities(durations=durations)
    if durations.ndim != 1 or shares.ndim < 1 or len(durations) != len(shares):
        raise ModelError.of(
            "durations", f"has shape {durations.shape}; usage has {len(np.atleast_1d(shares))} intervals"
        )
    if not half_life > 0:
        raise ModelError.of("half_life", f"must be > 0; got {half_life!r}")
    if np.isinf(half_life):
        counted = durations
    else:
        ago = np.append(np.cumsum(durations[::-1].astype(float))[::-1], 0.0) / half_life
        # Integral of 2**(-t/h) over each interval, from its end to its start.
        counted = (np.exp2(-ago[1:]) - np.exp2(-ago[:-1])) * half_life / np.log(2)
    return np.asarray(np.tensordot(counted, shares, axes=(0, 0)))


def share_order(
    usage: ArrayLike,
    total: ArrayLike,
    weights: ArrayLike = 1,
    *,
    names: Sequence[str] | None = None,
) -> NDArray[np.intp]:
    """Queues in the order in which they are served next: smallest dominant share, ties by the next share.

    Shares are compared from the largest of each queue downwards (YuniKorn's ``compareShares``, YARN's
    ``DominantResourceFairnessComparator``); queues that are equal in all stand by name, or as given.

    Parameters
    ----------
    usage, total, weights
        As for :func:`dominant_share`, for queues along one axis.
    names : sequence of str, optional

    Returns
    -------
    ndarray of shape (n_queues,), int
        Indices, first the one that is next.

    Examples
    --------
    >>> share_order([[4, 1], [2, 4], [4, 0]], [8, 8])
    array([2, 0, 1])
    """
    usage, total, weights = quantities(usage=usage, total=total, weights=weights)
    if usage.ndim != 2:
        raise ModelError.of("usage", f"must have shape (n_queues, n_resources); got {usage.shape}")
    total = per_queue("total", total, usage.shape[-1:], "usage")
    weights = per_queue("weights", weights, usage.shape[:1], "usage")
    shares = over(over(usage, total, 0), weights[:, None], np.inf)
    return in_order(*np.sort(shares, axis=1)[:, ::-1].T, names=names)


def in_order(*keys: Any, names: Sequence[str] | None = None) -> NDArray[np.intp]:
    """Indices sorted by the first key, ties by the next ones, then by name, then as given."""
    n = len(keys[0])
    if names is not None and len(names) != n:
        raise ModelError.of("names", f"has {len(names)} names for {n} queues")
    columns = [np.asarray(key).tolist() for key in keys]
    rows = zip(*columns, names if names is not None else [""] * n, strict=True)
    return np.array([i for i, _ in sorted(enumerate(rows), key=lambda row: row[1])], dtype=np.intp)
