r"""Shares of Volcano: deserved resources, and the hierarchical DRF of its plugin drf.

*proportion* [1]_ divides each resource among queues by weight, none beyond its request or its capability (its
limit, or what the guarantees of the others leave), none below its guarantee; the *share* of a queue is the
largest part of its deserved resources that it holds, and the smallest share is served next. *capacity* takes
the deserved resources from the queue's specification instead; a queue without any has a share of 1.

*hdrf* [2]_ is the H-DRF of Bhattacharya et al. [3]_ for jobs at the leaves of a tree: a job is *saturated*
(blocked) if its request is met or it asks for a resource that is full, a node if all below it are. To find
the share of a node, the vectors of its unsaturated children that hold something are rescaled to the smallest
of their dominant shares over weights, those of saturated ones are not; the share is that of the sum, over
resources that are not full. The program departs from this in two places, see :func:`volcano_hdrf`.

References
----------
.. [1] Volcano, ``pkg/scheduler/plugins/proportion/proportion.go``, ``capacity/capacity.go`` and
   ``docs/design/fairshare.md`` (commit ed72c7c, 20 August 2026).
.. [2] Volcano, ``pkg/scheduler/plugins/drf/drf.go`` and ``docs/design/hdrf.md`` (same commit).
.. [3] A. A. Bhattacharya et al., "Hierarchical scheduling for diverse datacenter workloads", SoCC 2013,
   section 4.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import ModelError
from fairness.model.tree import Tree
from fairness.schedulers.division import weighted_division
from fairness.schedulers.quantities import Numbers, largest, over, per_queue, quantities

__all__ = ["VolcanoShares", "volcano_deserved", "volcano_hdrf", "volcano_share"]

SMALL = 0.1
"""Less than this of a resource is nothing (``minResource``)."""


def volcano_deserved(
    total: ArrayLike,
    weights: ArrayLike,
    requests: ArrayLike,
    *,
    guarantee: ArrayLike = 0,
    capability: ArrayLike = np.inf,
    as_coded: bool = False,
) -> Numbers:
    """Deserved resources of each queue (plugin proportion).

    Parameters
    ----------
    total : array_like of shape (n_resources,), units of resource
    weights : array_like of shape (n_queues,)
    requests : array_like of shape (n_queues, n_resources), units of resource
        What a queue holds and waits for.
    guarantee, capability : array_like of shape (n_queues, n_resources), units of resource
        Lower and upper limit; a guarantee is deserved also where it is not requested.
    as_coded : bool
        False: the division of the definition. True: the rounds of the program, which stop as soon as nothing
        is left to divide: deserved resources may then sum to more than the total. Units are those in which
        Volcano counts (thousandths of a core, bytes): less than a tenth of one is nothing.

    Returns
    -------
    ndarray of shape (n_queues, n_resources), units of resource

    Examples
    --------
    >>> volcano_deserved([16], [1, 3], [[15], [12]])
    array([[ 4.],
           [12.]])
    """
    total, weights, requests, guarantee, capability = quantities(
        endless=("requests", "capability"),
        total=total,
        weights=weights,
        requests=requests,
        guarantee=guarantee,
        capability=capability,
    )
    if requests.ndim != 2:
        raise ModelError.of("requests", f"must have shape (n_queues, n_resources); got {requests.shape}")
    total = per_queue("total", total, requests.shape[1:], "requests")
    weights = per_queue("weights", weights, requests.shape[:1], "requests")
    guarantee = per_queue("guarantee", guarantee, requests.shape, "requests")
    capability = per_queue("capability", capability, requests.shape, "requests")
    kept = guarantee.sum(axis=0)
    real = np.minimum(capability, np.maximum(total - kept, 0) + guarantee)
    if as_coded:
        return _rounds(*(array.astype(float) for array in (total, weights, requests, guarantee, real)))
    # The guarantee is the last word: max(min(divided, capability, request), guarantee).
    most = np.maximum(np.minimum(real, requests), guarantee)
    columns = [
        weighted_division(total[j], weights, minimum=guarantee[:, j], maximum=most[:, j])
        for j in range(len(total))
    ]
    return np.stack(columns, axis=1) if columns else requests


def _rounds(
    total: Numbers, weights: Numbers, requests: Numbers, guarantee: Numbers, real: Numbers
) -> Numbers:
    """Deserved resources as the rounds of the program leave them."""
    deserved = np.zeros_like(requests)
    asking = np.ones(len(weights), dtype=bool)
    left = total
    while weights[asking].sum() > 0:
        before = deserved[asking]
        grown = before + left * (weights[asking] / weights[asking].sum())[:, None]
        now = np.maximum(np.minimum(np.minimum(grown, real[asking]), requests[asking]), guarantee[asking])
        deserved[asking] = now
        done = (requests[asking] < now + SMALL).all(axis=1) | (now == before).all(axis=1)
        asking[np.flatnonzero(asking)[done]] = False
        rest = np.maximum(
            left + np.maximum(before - now, 0).sum(axis=0) - np.maximum(now - before, 0).sum(axis=0), 0
        )
        if (rest < SMALL).all() or (rest == left).all():
            break
        left = rest
    return deserved


def volcano_share(allocated: ArrayLike, deserved: ArrayLike, *, best_effort: float = 0) -> Numbers:
    """Largest part of its deserved resources that a queue holds (``updateQueueAttrShare``).

    Parameters
    ----------
    allocated, deserved : array_like of shape (..., n_resources), units of resource
        Of a resource of which it deserves nothing, any use is a share of 1.
    best_effort : float
        Share of a queue that deserves nothing at all: 1 in the plugin capacity; in proportion there is no
        such rule.

    Returns
    -------
    ndarray of shape (...,)

    Examples
    --------
    >>> volcano_share([[2, 8], [1, 0], [9, 9]], [[4, 10], [0, 5], [0, 0]], best_effort=1)
    array([0.8, 1. , 1. ])
    """
    allocated, deserved = quantities(allocated=allocated, deserved=deserved)
    deserved = per_queue("deserved", deserved, allocated.shape, "allocated")
    shares = largest(over(allocated, deserved, 1))
    return np.where((deserved > 0).any(axis=-1), shares, best_effort) if best_effort else shares


class VolcanoShares(NamedTuple):
    """Shares of the queues and jobs of a tree, and which of them are saturated.

    ``shares`` and ``saturated`` have shape (n_nodes,), ``job_shares`` and ``job_saturated`` (n_jobs,). Shares
    of nodes are not divided by their own weights; siblings are compared by share over weight, saturated ones
    last.
    """

    shares: Numbers
    saturated: NDArray[np.bool_]
    job_shares: Numbers
    job_saturated: NDArray[np.bool_]


def volcano_hdrf(
    tree: Tree, usage: ArrayLike, requests: ArrayLike, total: ArrayLike, *, as_coded: bool = False
) -> VolcanoShares:
    """H-DRF shares of all nodes of a tree of queues (plugin drf with ``enabledHierarchy``).

    Parameters
    ----------
    tree : Tree
        Its job classes are the jobs.
    usage, requests : array_like of shape (n_jobs, n_resources), units of resource
        What each job holds, and all that it asks for, what it holds included.
    total : array_like of shape (n_resources,), units of resource
    as_coded : bool
        False: the definition. True: as the program computes: the share of a node is taken over full resources
        too, and children are rescaled to the smallest share whatever their weights.

    Returns
    -------
    VolcanoShares

    Examples
    --------
    One child holds all CPU, its sibling half of the memory; their queue's share is a half, not 1:

    >>> tree = Tree(["root", "n1", "n2"], [-1, 0, 0], job_classes=["a", "b", "c"], class_nodes=[1, 2, 2])
    >>> volcano_hdrf(tree, [[0, 4], [9, 0], [0, 5]], [[0, 20], [20, 0], [0, 20]], [10, 10]).shares
    array([0.8, 0.4, 0.5])
    """
    held, wanted, capacity = quantities(endless=("requests",), usage=usage, requests=requests, total=total)
    n_jobs = len(tree.job_classes)
    if held.ndim != 2 or len(held) != n_jobs:
        raise ModelError.of("usage", f"must have shape ({n_jobs}, n_resources); got {held.shape}")
    wanted = per_queue("requests", wanted, held.shape, "usage")
    capacity = per_queue("total", capacity, held.shape[1:], "usage")
    full = held.sum(axis=0) >= capacity
    met = ((held > 0) & (wanted > 0) & (held >= wanted)).any(axis=1)
    job_saturated = np.asarray(met | ((wanted > 0) & full).any(axis=1), dtype=bool)
    job_shares = largest(over(held, capacity, 1))
    counted = np.ones_like(full) if as_coded else ~full
    vectors = np.zeros((tree.n_nodes, held.shape[1]), dtype=held.dtype)
    shares = np.zeros(tree.n_nodes, dtype=held.dtype)
    saturated = np.ones(tree.n_nodes, dtype=bool)
    weights = tree.weights.tolist()
    if held.dtype == object:
        weights = [Fraction(w) for w in weights]
    below: list[list[tuple[Any, Any, bool, Any]]] = [[] for _ in tree.names]
    for i, v in enumerate(tree.class_nodes.tolist()):
        below[v].append((job_shares[i], held[i], bool(job_saturated[i]), 1))
    for v in range(tree.n_nodes - 1, -1, -1):
        vectors[v] = _rescaled(below[v], vectors[v], as_coded)
        shares[v] = largest(over(vectors[v], capacity, 1)[counted])
        saturated[v] = all(blocked for _, _, blocked, _ in below[v])
        if v > 0:
            below[tree.parents[v]].append((shares[v], vectors[v], bool(saturated[v]), weights[v]))
    return VolcanoShares(shares, saturated, job_shares, job_saturated)


def _rescaled(children: list[tuple[Any, Any, bool, Any]], nothing: Numbers, as_coded: bool) -> Numbers:
    """Sum of the children's vectors, those that may grow rescaled to the smallest share among them."""
    growing = [(s, 1 if as_coded else w) for s, _, blocked, w in children if s > 0 and not blocked]
    least = min((s / w for s, w in growing), default=0)
    if as_coded:
        least = min(least, 1)
    found = nothing
    for share, vector, blocked, weight in children:
        if share > 0:
            scale = 1 if blocked else least * (1 if as_coded else weight) / share
            found = found + vector * scale
    return found
