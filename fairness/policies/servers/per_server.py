"""DRF on every server by itself: the baseline that knows nothing of the other servers.

Each server is a pool of its own, shared by dominant resource fairness among the classes with jobs that may
run there [1]_. A class that could do well elsewhere keeps its part of a server on which others depend: on two
servers with 12 units of one resource and 2 of another, either way around, this loses 40 % of the tasks that
looking at both servers gives [2]_.

References
----------
.. [1] A. Ghodsi et al., "Dominant resource fairness: fair allocation of multiple resource types", NSDI 2011.
.. [2] W. Wang, B. Liang and B. Li, "Multi-resource fair allocation in heterogeneous cloud computing systems",
   IEEE Transactions on Parallel and Distributed Systems 26(10), 2015. DOI 10.1109/TPDS.2014.2362139.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from fairness.arguments.validation import FloatArray, IntArray
from fairness.evidence.pools import Certificate
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.policies.maxmin import DRF
from fairness.protocol.cluster_policy import ClusterPolicy, ClusterSolution
from fairness.protocol.family import Family
from fairness.protocol.following import Follower

__all__ = ["PerServerDRF"]


@dataclass(frozen=True)
class PerServerDRF(ClusterPolicy):
    """Weighted DRF on every server by itself, among the classes that may run there.

    The details of a solution hold ``levels``, shape (n_classes, n_servers): the weighted dominant share of
    one job on each server, 0 where it cannot run.

    Examples
    --------
    >>> from fairness import Cluster, allocate
    >>> cluster = Cluster([[1, 5], [5, 1]], [[10, 60], [60, 10]])
    >>> allocate(cluster, PerServerDRF()).placement
    array([[5., 1.],
           [1., 5.]])
    """

    name = "DRF per server"
    batches = "compiled"
    family = Family("filling per server", {"growth": "dominant"})

    def solve(self, cluster: Cluster, counts: ArrayLike | None = None) -> ClusterSolution:
        """Placement and evidence for one vector of counts (all 1 when None)."""
        x, (users, server, pool) = cluster.check_state(counts), _servers_as_one_pool(cluster)
        solution = DRF().solve(pool, x[users])
        placement, levels = np.zeros_like(cluster.gamma), np.zeros_like(cluster.gamma)
        placement[users, server], levels[users, server] = solution.tasks, solution.levels
        claim = "on every server each class has a full resource of which its level is the largest"
        return ClusterSolution(
            placement, Certificate(claim, solution.certificate.residual), details={"levels": levels}
        )

    def placements(self, cluster: Cluster, states: FloatArray) -> FloatArray:
        """Placements alone."""
        users, server, pool = _servers_as_one_pool(cluster)
        answers = np.zeros((len(states), *cluster.gamma.shape))
        answers[:, users, server] = DRF()(pool, states[:, users])
        return answers

    def follow(self, problem: Cluster) -> Follower:
        """One state after the other."""
        users, _, pool = _servers_as_one_pool(problem)
        drf, n = DRF().follow(pool), problem.n_classes

        def answer(counts: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(users, drf(counts[users]), n), dtype=float)

        return answer


def _servers_as_one_pool(cluster: Cluster) -> tuple[IntArray, IntArray, Problem]:
    """Class and server of each pair that may run, and a pool in which each pair is a class.

    Its resources are those of all servers. As pairs on two servers have none in common, filling it fills each
    server by itself.
    """
    users, server = np.nonzero(cluster.eligible)
    shares = cluster.task_shares[users, server]
    n_pairs, m = shares.shape
    resources = server[:, None] * m + np.arange(m)
    rows = shares.ravel(), resources.ravel(), np.arange(0, shares.size + 1, m)
    demands = csr_array(rows, shape=(n_pairs, cluster.n_servers * m))
    pool = Problem(demands, np.ones(demands.shape[1]), weights=cluster.weights[users])
    return users, server, pool
