r"""The pairs (class, server) of a placement on divided servers, and how far they are from Theorem 1.

Theorem 1 [1]_: a placement with divided resources is PS-DSF if and only if every class has a bottleneck
(eq. 12) on every server where it may run. Water-filling asks this after each attempt; the certificate that an
answer carries is computed apart (:mod:`fairness.evidence.clusters`).

References
----------
.. [1] J. Khamse-Ashari, I. Lambadaris, G. Kesidis, B. Urgaonkar and Y. Zhao, "Per-server dominant-share
   fairness (PS-DSF): a multi-resource fair allocation mechanism for heterogeneous servers", ICC 2017.
   arXiv:1611.00404.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import FloatArray, IntArray
from fairness.machine.compiling import helper, stored
from fairness.model.cluster import Cluster

__all__ = ["ServerPairs", "residual_of"]


class ServerPairs(NamedTuple):
    """The pairs (class, server) that may hold tasks, server by server, and what they hold.

    Attributes
    ----------
    start : ndarray of shape (n_servers + 1,)
        Server i has the pairs start[i] to start[i + 1] - 1.
    job_class, server : ndarray of shape (n_pairs,)
    pace : ndarray of shape (n_pairs,), tasks
        Effective weight times gamma: tasks in all at level 1.
    shares : ndarray of shape (n_pairs, n_resources)
        Share of a resource that one task holds.
    tasks : ndarray of shape (n_pairs,)
        Tasks that the pair holds.
    totals : ndarray of shape (n_classes,)
        Tasks of the class on all servers.
    stop : ndarray of shape (n_pairs,)
        Resource that stopped the class when the server was filled last.
    """

    start: IntArray
    job_class: IntArray
    server: IntArray
    pace: FloatArray
    shares: FloatArray
    tasks: FloatArray
    totals: FloatArray
    stop: IntArray

    @classmethod
    def of(cls, cluster: Cluster, weights: FloatArray, placement: FloatArray | None = None) -> ServerPairs:
        """Pairs of the classes of positive effective weight, holding a placement (default: nothing)."""
        usable = cluster.eligible & (weights > 0)[:, None]
        # Contiguous, or kernels would be compiled once more for strided arrays.
        server, job_class = (np.ascontiguousarray(places) for places in np.nonzero(usable.T))
        held = np.zeros(len(server)) if placement is None else placement[job_class, server]
        return cls(
            start=np.searchsorted(server, np.arange(cluster.n_servers + 1)),
            job_class=job_class,
            server=server,
            pace=weights[job_class] * cluster.gamma[job_class, server],
            shares=np.ascontiguousarray(cluster.task_shares[job_class, server]),
            tasks=held,
            totals=np.bincount(job_class, held, cluster.n_classes).astype(float),
            stop=np.full(len(server), -1),
        )

    @property
    def placement(self) -> FloatArray:
        """Tasks held as a matrix (n_classes, n_servers)."""
        result = np.zeros((len(self.totals), len(self.start) - 1))
        result[self.job_class, self.server] = self.tasks
        return result

    def copied(self) -> ServerPairs:
        """The same pairs, holding the same; sweeps change what they hold."""
        return self._replace(tasks=self.tasks.copy(), totals=self.totals.copy(), stop=self.stop.copy())

    def hold(self, tasks: FloatArray) -> None:
        """Replace what the pairs hold."""
        self.tasks[:] = tasks
        self.totals[:] = np.bincount(self.job_class, tasks, len(self.totals))

    @property
    def theorem_one_residual(self) -> float:
        """How far the pairs are from Theorem 1: 0 where every class has its bottlenecks.

        A resource is off from being a bottleneck of a class by its free part, or by how far the class stands
        below one that holds the resource: by its level, or by the part held, whichever is less.
        """
        return float(_residual.small(10 * self.shares.size)(self))


@stored(nogil=True)
def _residual(pairs: ServerPairs) -> float:
    return residual_of(pairs)


@helper(nogil=True)
def residual_of(pairs: ServerPairs) -> float:
    """Of :attr:`ServerPairs.theorem_one_residual`, for kernels of other files."""
    start, job_class, _, pace, shares, tasks, totals, _ = pairs
    worst = 0.0
    m = shares.shape[1]
    free = np.empty(m)
    holders = np.empty(len(tasks), np.int64)
    for i in range(len(start) - 1):
        n_holders = 0
        free[:] = 1.0
        for k in range(start[i], start[i + 1]):
            if not 0.0 <= tasks[k] < np.inf:
                return np.inf
            if tasks[k] > 0:
                holders[n_holders] = k
                n_holders += 1
                for r in range(m):
                    free[r] -= tasks[k] * shares[k, r]
        for r in range(m):
            worst = max(worst, -free[r])
        for k in range(start[i], start[i + 1]):
            level, least = totals[job_class[k]] / pace[k], np.inf
            for r in range(m):
                if shares[k, r] > 0:
                    off = max(free[r], 0.0)
                    for other in holders[:n_holders]:
                        above = totals[job_class[other]] / pace[other]  # [1] eq. (12)
                        held = tasks[other] * shares[other, r]
                        if above > level and held > off:
                            off = max(off, min(1.0 - level / above, held))
                    least = min(least, off)
            worst = max(worst, least)
    return worst
