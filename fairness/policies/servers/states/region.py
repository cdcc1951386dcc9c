r"""The totals that a cluster can run, as arrays that kernels read.

Totals :math:`X` are possible if some placement has them:

.. math:: P = \Bigl\{X \ge 0 : X_n \le \textstyle\sum_i x_{ni},\;
   \sum_n x_{ni} b_{nir} \le 1,\; x \ge 0\Bigr\} .

Units take out what can differ by decades: a total is measured in the tasks :math:`\Gamma_n` of the class
alone on the whole cluster, :math:`z_n = X_n/\Gamma_n \le 1`, and what a pair of class and server holds in the
tasks :math:`\gamma_{ni}` alone there. Servers that are equal to every class count as one of a *kind* with
their capacities together, and a resource of a kind that never fills up before another one is left out: P
stays the same.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.model.cluster import Cluster

__all__ = ["Region", "region_of"]

_KNOWN: WeakKeyDictionary[Cluster, Region] = WeakKeyDictionary()
"""Regions by cluster: to make one takes longer than to fill a state of it."""


class Region(NamedTuple):
    """Pairs of a class and a kind of servers, and the rows of the resources that can fill up.

    Attributes
    ----------
    start : ndarray of shape (n_classes + 1,)
        Class n has the pairs start[n] to start[n + 1] - 1.
    job_class : ndarray of shape (n_pairs,)
    first, last : ndarray of shape (n_pairs,)
        Resources of the kind have the rows first to last - 1.
    use : ndarray of shape (n_pairs, largest number of rows of a kind)
        Part of the resource in use where the class has all that it can get there; the largest is 1.
    part : ndarray of shape (n_pairs,)
        Part of the tasks of the class alone on the cluster that it can run on this kind; they sum to 1.
    alone : ndarray of shape (n_classes,), tasks
        Tasks of the class alone on the whole cluster.
    n_rows : int
    """

    start: IntArray
    job_class: IntArray
    first: IntArray
    last: IntArray
    use: FloatArray
    part: FloatArray
    alone: FloatArray
    n_rows: int


def region_of(cluster: Cluster) -> Region:
    """The region of a cluster, made once."""
    if cluster not in _KNOWN:
        _KNOWN[cluster] = _region(cluster)
    return _KNOWN[cluster]


def _region(cluster: Cluster) -> Region:
    kinds, servers = np.unique(cluster.task_shares.swapaxes(0, 1), axis=0, return_counts=True)
    gamma = np.zeros(kinds.shape[:2])
    np.divide(1.0, kinds.max(axis=2), out=gamma, where=kinds.any(axis=2))
    use = kinds * gamma[:, :, None]
    rows = [_binding(part) for part in use]
    first = np.concatenate([[0], np.cumsum([len(kept) for kept in rows])])
    # Contiguous whatever the shape: the kernel is compiled for one layout.
    job_class, kind = (np.ascontiguousarray(places) for places in np.nonzero(gamma.T > 0))
    listed = np.zeros((len(kind), max(len(kept) for kept in rows)))
    for q, (n, k) in enumerate(zip(job_class, kind, strict=True)):
        listed[q, : len(rows[k])] = use[k, n, rows[k]]
    tasks = (gamma * servers[:, None]).T
    alone = tasks.sum(axis=1)
    return Region(
        start=np.searchsorted(job_class, np.arange(cluster.n_classes + 1)),
        job_class=job_class,
        first=first[kind],
        last=first[kind + 1],
        use=listed,
        part=(tasks / alone[:, None])[job_class, kind],
        alone=alone,
        n_rows=int(first[-1]),
    )


def _binding(use: FloatArray) -> IntArray:
    """Resources, of those in use (n_classes, n_resources), that may be full while no other one is."""
    kept: list[int] = []
    for r in range(use.shape[1]):
        others = [s for s in range(use.shape[1]) if s != r]
        implied = any(
            (use[:, r] <= use[:, s]).all() and (s < r or (use[:, r] < use[:, s]).any()) for s in others
        )
        if use[:, r].any() and not implied:
            kept.append(r)
    return np.array(kept, dtype=np.int64)
