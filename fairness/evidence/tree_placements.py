r"""Evidence for placements under a tree of queues: which classes the servers stop, by prices.

On a cluster a class is *blocked* when no placement gives it more while the others keep theirs. Prices
:math:`\lambda_{ir} \ge 0` of the resources of the servers prove that: a task of class n costs at least
:math:`\mu_n = \min_i \sum_r \lambda_{ir} b_{nir}` over the servers where it may run, so for any placement

.. math:: \sum_n \mu_n x'_n \le \sum_{i,r} \lambda_{ir}.

Of tasks x a class can therefore grow, while nobody loses, by no more than
:math:`(\sum_{i,r} \lambda_{ir} - \sum_p \mu_p x_p)/\mu_n`. All else is the definition of
:mod:`fairness.evidence.trees`, with the resources of the whole cluster: shares are those of the summed
capacities, and a resource is full when all of it is in use.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, float_array
from fairness.errors import ModelError
from fairness.evidence.clusters import placement_residual
from fairness.evidence.pools import Certificate
from fairness.evidence.trees import hierarchy_certificate
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = ["growth_bounds", "hierarchy_placement_certificate", "pooled", "worth_of_tasks"]


def pooled(cluster: Problem | Cluster) -> Problem:
    """The pool of all servers together; a pool is that already.

    Examples
    --------
    >>> pooled(Cluster([[1]], [[2], [3]])).capacities
    array([5.])
    """
    if isinstance(cluster, Problem):
        return cluster
    return Problem(
        cluster.demands,
        cluster.total_capacities,
        weights=cluster.weights,
        job_classes=cluster.job_classes,
        resources=cluster.resources,
    )


def worth_of_tasks(cluster: Cluster, prices: FloatArray) -> FloatArray:
    """What a task of each class costs at least, (n_classes,), by prices (n_servers, n_resources).

    Examples
    --------
    >>> import numpy as np
    >>> worth_of_tasks(Cluster([[1]], [[2], [4]]), np.array([[1.0], [1.0]]))
    array([0.25])
    """
    bills = np.einsum("nir,ir->ni", cluster.task_shares, prices)
    worth: FloatArray = np.min(bills, axis=1, initial=np.inf, where=cluster.eligible)
    return worth


def growth_bounds(cluster: Cluster, stages: FloatArray, prices: Sequence[FloatArray]) -> FloatArray:
    """How much each class can grow while nobody loses, as a part of its tasks alone on the cluster, at most.

    Parameters
    ----------
    cluster : Cluster
    stages : ndarray of shape (n_stages, n_classes), tasks
    prices : sequence of ndarrays of shape (n_servers, n_resources), >= 0

    Returns
    -------
    ndarray of shape (n_stages, n_classes)
        The least of what the prices prove; 1 where they prove nothing.

    Examples
    --------
    >>> import numpy as np
    >>> growth_bounds(Cluster([[1]], [[2], [4]]), np.array([[0.0], [6.0]]), [np.array([[1.0], [2.0]])])
    array([[1.],
           [0.]])
    """
    alone = cluster.gamma.sum(axis=1)
    bounds = np.ones(stages.shape)
    for price in prices:
        worth = worth_of_tasks(cluster, price)
        gap = np.maximum(price.sum() - stages @ worth, 0.0)
        whole = np.broadcast_to(worth * alone, bounds.shape)
        part = np.divide(gap[:, None], whole, out=np.ones_like(bounds), where=whole > 0)
        bounds = np.minimum(bounds, part)
    return bounds


def hierarchy_placement_certificate(
    cluster: Cluster,
    tree: Tree,
    counts: ArrayLike | None,
    placement: ArrayLike,
    stages: ArrayLike,
    prices: Sequence[ArrayLike],
    *,
    growth: ArrayLike | None = None,
    held: ArrayLike | None = None,
    naive: bool = False,
) -> Certificate:
    """Certify that a placement is that of hierarchical filling.

    Parameters
    ----------
    cluster : Cluster
    tree : Tree
    counts : array_like of shape (n_classes,), jobs
    placement : array_like of shape (n_classes, n_servers), tasks
    stages : array_like of shape (n_stages + 1, n_classes), tasks
        Of each class on all servers: at the start, and at each moment when a class was blocked or a resource
        closed.
    prices : sequence of array_like, shape (n_servers, n_resources) each, >= 0
        Those that prove who was blocked.
    growth, held, naive
        As in :func:`fairness.evidence.trees.hierarchy_certificate`.

    Raises
    ------
    ModelError
        If a shape is wrong, a price is negative or not finite, or the tree does not fit.

    Examples
    --------
    >>> tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b", "c"], class_nodes=[1, 2, 2])
    >>> cluster = Cluster([[1], [1], [1]], [[2], [2]], job_classes=["a", "b", "c"])
    >>> stages, prices = [[0, 0, 0], [2, 1, 1]], [[[1], [1]]]
    >>> hierarchy_placement_certificate(
    ...     cluster, tree, None, [[2, 0], [0, 1], [0, 1]], stages, prices).holds
    True
    """
    x = cluster.check_state(counts)
    rows = float_array("stages", stages, ndim=2)
    placed = float_array("placement", placement, ndim=2)
    if placed.shape != cluster.gamma.shape or rows.shape[1] != cluster.n_classes or not len(rows):
        raise ModelError(
            f"placement and stages must have the shapes {cluster.gamma.shape} and (n, {cluster.n_classes}); "
            f"got {placed.shape} and {rows.shape}"
        )
    shape = (cluster.n_servers, cluster.n_resources)
    told = [float_array("prices", price, ndim=2) for price in prices]
    for k, price in enumerate(told):
        if price.shape != shape or not np.isfinite(price).all() or (price < 0).any():
            raise ModelError.of("prices", f"must be finite, >= 0 and of shape {shape}", k)
    of_tree = hierarchy_certificate(
        pooled(cluster),
        tree,
        x,
        rows,
        growth=growth,
        held=held,
        naive=naive,
        room=growth_bounds(cluster, rows, told),
    )
    totals, alone = placed.sum(axis=1), cluster.gamma.sum(axis=1)
    off = float(np.max(np.abs(totals - rows[-1]) / alone, initial=0.0))
    residual = max(of_tree.residual, placement_residual(cluster, x, placed), off)
    return Certificate(f"{of_tree.claim}, on the servers by prices", residual)
