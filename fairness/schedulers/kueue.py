r"""Shares of Kueue: what a queue borrows, over what it could, per mille.

ClusterQueues and Cohorts are nodes of a tree with a *nominal quota*, a *lending limit* and a *borrowing
limit* for each quota (a flavour of a resource) [1]_. A node keeps :math:`\max(q - \text{lending limit}, 0)`
for itself; the rest of its subtree quota q adds to that of its parent, and its use beyond what it keeps is
use of its parent. With b the use beyond the quota, summed over the flavours of a resource where it is
positive, and l all that the parent could have of that resource if nobody used any (within its borrowing
limits), the share is

.. math:: s = \frac{1000}{w} \max_{r:\, l_r > 0} \frac{b_r}{l_r}.

Nothing borrowed is a share of 0; borrowing with weight 0 is an infinite one. Workloads are admitted from the
smallest share (counted with the workload) and preempted from the largest. *Admission fair sharing* [2]_
orders by a moving average of the past instead.

References
----------
.. [1] Kueue, KEP-1714 "Fair Sharing", ``pkg/cache/scheduler/fair_sharing.go`` and ``resource_node.go``, and
   ``pkg/scheduler/preemption/fairsharing`` (commit ff69552, 22 August 2026).
.. [2] Kueue, KEP-4136, ``pkg/util/admissionfairsharing`` (same commit).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import require_choice, require_number
from fairness.errors import ModelError
from fairness.model.tree_arguments import checked_parents
from fairness.schedulers.quantities import Numbers, over, per_queue, quantities
from fairness.schedulers.shares import in_order

__all__ = [
    "KueueShares",
    "kueue_admission_usage",
    "kueue_consumed",
    "kueue_order",
    "kueue_preempts",
    "kueue_shares",
]

PER_MILLE = 1000
LARGEST = 2**63 - 1
"""The status of a queue of weight 0 that borrows (``math.MaxInt64``)."""
STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


class KueueShares(NamedTuple):
    """Shares of all nodes of a cohort tree, each of shape (n_nodes,).

    ``shares`` are weighted, ``ratios`` are not; ``dominant`` is the resource that makes the ratio, -1 for
    none; ``borrowing`` says whether the node uses more than its quota of anything.
    """

    shares: Numbers
    ratios: Numbers
    dominant: NDArray[np.intp]
    borrowing: NDArray[np.bool_]


def kueue_shares(
    parents: Sequence[int],
    nominal: ArrayLike,
    usage: ArrayLike,
    *,
    lending_limits: ArrayLike = np.inf,
    borrowing_limits: ArrayLike = np.inf,
    weights: ArrayLike = 1,
    resource_of: Sequence[int] | None = None,
    as_coded: bool = False,
) -> KueueShares:
    """Share value of every ClusterQueue and Cohort (``dominantResourceShare``).

    Parameters
    ----------
    parents : sequence of int, shape (n_nodes,)
        Node above each, before it in the list; -1 for the root, which has a share of 0.
    nominal : array_like of shape (n_nodes, n_quotas), units of resource
        Quota of each node itself, without those below it.
    usage : array_like of shape (n_nodes, n_quotas), units of resource
        Of ClusterQueues; what cohorts use follows from those below them.
    lending_limits, borrowing_limits : array_like of shape (n_nodes, n_quotas), units of resource
        Infinite where none is set.
    weights : array_like of shape (n_nodes,)
    resource_of : sequence of int, shape (n_quotas,), optional
        Resource of each quota; by default each quota is a resource, of one flavour.
    as_coded : bool
        True: the field ``status.fairSharing.weightedShare``, rounded up to whole numbers, with 2**63 - 1 for
        infinity. Kueue compares the exact values.

    Returns
    -------
    KueueShares

    Raises
    ------
    ModelError
        If the tree is none, a number is negative or missing, or shapes do not fit.

    Examples
    --------
    A queue of quota 5 uses 7; with the other queue's 5 there are 10 in the cohort:

    >>> kueue_shares([-1, 0, 0], [[0], [5], [5]], [[0], [7], [0]], weights=[1, 2, 1]).shares
    array([  0., 100.,   0.])
    """
    quota, used, lending, borrowing, weights = quantities(
        endless=("lending_limits", "borrowing_limits"),
        nominal=nominal,
        usage=usage,
        lending_limits=lending_limits,
        borrowing_limits=borrowing_limits,
        weights=weights,
    )
    if quota.ndim != 2:
        raise ModelError.of("nominal", f"must have shape (n_nodes, n_quotas); got {quota.shape}")
    n_nodes, n_quotas = quota.shape
    above = checked_parents(tuple(f"node {v}" for v in range(n_nodes)), parents).tolist()
    used, lending, borrowing = (
        per_queue(name, values, quota.shape, "nominal")
        for name, values in (
            ("usage", used),
            ("lending_limits", lending),
            ("borrowing_limits", borrowing),
        )
    )
    weights = per_queue("weights", weights, (n_nodes,), "nominal")
    resource = np.arange(n_quotas) if resource_of is None else np.asarray(resource_of)
    if resource.shape != (n_quotas,) or (n_quotas and resource.min() < 0):
        raise ModelError.of("resource_of", f"must have {n_quotas} entries >= 0, one a quota")
    quota, used, kept = _accumulated(above, quota, used, lending)
    could = np.array(quota)
    for v in range(1, n_nodes):
        could[v] = np.minimum(quota[v] + borrowing[v], kept[v] + could[above[v]])
    ratios = np.zeros_like(weights)
    dominant = np.full(n_nodes, -1)
    beyond = np.maximum(used - quota, 0)
    of_resource = np.equal.outer(np.arange(int(resource.max(initial=-1)) + 1), resource)
    for v in range(1, n_nodes):
        borrowed = np.array([beyond[v][own].sum() for own in of_resource])
        lendable = np.array([could[above[v]][own].sum() for own in of_resource])
        shares = over(PER_MILLE * borrowed, lendable, 0)
        if len(shares) and shares.max() > 0:
            dominant[v] = int(shares.argmax())
            ratios[v] = shares[dominant[v]]
    shares = over(ratios, weights, np.inf)
    if as_coded:
        shares = np.array([LARGEST if s == np.inf else int(np.ceil(s)) for s in shares], dtype=object)
    is_borrowing = (beyond > 0).any(axis=1)
    is_borrowing[0] = False
    return KueueShares(shares, ratios, dominant, is_borrowing)


def _accumulated(
    above: list[int], quota: Numbers, used: Numbers, lending: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Quota and use of whole subtrees, and what each node keeps for itself."""
    quota, used = np.array(quota), np.array(used)
    kept = np.zeros_like(quota)
    for v in range(len(above) - 1, 0, -1):
        kept[v] = np.maximum(quota[v] - lending[v], 0)
        quota[above[v]] += quota[v] - kept[v]
        used[above[v]] += np.maximum(used[v] - kept[v], 0)
    return quota, used, kept


def kueue_order(
    shares: ArrayLike, ratios: ArrayLike, *, priorities: ArrayLike = 0, times: ArrayLike = 0
) -> NDArray[np.intp]:
    """Siblings in the order in which Kueue admits from them.

    Parameters
    ----------
    shares, ratios : array_like of shape (n,)
        Weighted and unweighted, of :func:`kueue_shares`, counted with the workload that is to be admitted.
        Infinite shares are compared by their ratios.
    priorities, times : array_like of shape (n,)
        Of the workloads: among equal shares, higher priority first, then the older one.

    Returns
    -------
    ndarray of shape (n,), int

    Examples
    --------
    >>> kueue_order([float("inf"), 200, float("inf"), 200], [30, 100, 20, 200], times=[1, 2, 3, 1])
    array([3, 1, 2, 0])
    """
    shares, ratios, priorities, times = quantities(
        endless=("shares",),
        signed=("priorities", "times"),
        shares=shares,
        ratios=ratios,
        priorities=priorities,
        times=times,
    )
    ratios = per_queue("ratios", ratios, shares.shape, "shares")
    priorities = per_queue("priorities", priorities, shares.shape, "shares")
    times = per_queue("times", times, shares.shape, "shares")
    return in_order(shares, np.where(shares == np.inf, ratios, 0), -priorities, times)


def kueue_preempts(
    preemptor: float, target_before: float, target_after: float, *, strategy: str = STRATEGIES[0]
) -> bool:
    """Whether a queue may preempt a workload of another one, by their shares.

    Parameters
    ----------
    preemptor : number
        Share of the preempting queue, with the incoming workload.
    target_before, target_after : number
        Share of the other queue, with the workload that would be preempted and without it. Of two queues of
        weight 0, hand over the ratios instead.
    strategy : {"LessThanOrEqualToFinalShare", "LessThanInitialShare"}
        Rule S2-a and S2-b of KEP-1714.

    Returns
    -------
    bool

    Examples
    --------
    >>> kueue_preempts(200, 400, 200), kueue_preempts(300, 400, 200)
    (True, False)
    >>> kueue_preempts(300, 400, 200, strategy="LessThanInitialShare")
    True
    """
    own, before, after = quantities(
        endless=("preemptor", "target_before", "target_after"),
        preemptor=preemptor,
        target_before=target_before,
        target_after=target_after,
    )
    if require_choice("strategy", strategy, STRATEGIES) == STRATEGIES[0]:
        return bool(own <= after)
    return bool(own < before)


def kueue_consumed(consumed: ArrayLike, usage: ArrayLike, elapsed: float, half_life: float) -> Numbers:
    r"""Consumed resources of a LocalQueue after another interval (``CalculateDecayedConsumed``).

    A moving average: :math:`(1 - \alpha)` times the old plus :math:`\alpha` times the present use, with
    :math:`\alpha = 1 - 2^{-\text{elapsed}/\text{half-life}}`.

    Parameters
    ----------
    consumed, usage : array_like of shape (..., n_resources), units of resource
    elapsed, half_life : float, time
        A half-life of 0 keeps the old: Kueue then tracks no present use.

    Returns
    -------
    ndarray of shape (..., n_resources), units of resource

    Examples
    --------
    >>> kueue_consumed([1], [2], elapsed=168, half_life=168)
    array([1.5])
    """
    old, new = quantities(consumed=consumed, usage=usage)
    passed = require_number("elapsed", elapsed, least=0)
    half = require_number("half_life", half_life, least=0)
    alpha = 1 - 0.5 ** (passed / half) if half > 0 else 0.0
    return old * (1 - alpha) + new * alpha


def kueue_admission_usage(
    consumed: ArrayLike, penalty: ArrayLike = 0, *, weights: ArrayLike = 1, resource_weights: ArrayLike = 1
) -> Numbers:
    """What LocalQueues are ordered by in admission fair sharing, smallest first (``CalculateUsage``).

    Parameters
    ----------
    consumed, penalty : array_like of shape (..., n_resources), units of resource
        Of the past, and of workloads that were just admitted.
    weights : array_like of shape (...,)
        Weight 0 makes it infinite, also without any use.
    resource_weights : array_like of shape (n_resources,), per unit of resource

    Returns
    -------
    ndarray of shape (...,)

    Examples
    --------
    >>> kueue_admission_usage([[4, 2], [2, 0]], weights=[1, 2], resource_weights=[1, 5])
    array([14.,  1.])
    """
    consumed, penalty, weights, resource_weights = quantities(
        consumed=consumed, penalty=penalty, weights=weights, resource_weights=resource_weights
    )
    weights = per_queue("weights", weights, consumed.shape[:-1], "consumed")
    return over(((consumed + penalty) * resource_weights).sum(axis=-1), weights, np.inf, np.inf)
