"""Who holds how much of which resource where: one reading of pools and of clusters.

A place is a resource of a server; a pool is one server without a name. Where servers are divided in time, the
only resource of a server is its time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import FloatArray
from fairness.evidence.pools import SATURATION
from fairness.results.allocation import Allocation
from fairness.results.cluster_allocation import ClusterAllocation

__all__ = ["TIME", "Holdings", "holdings"]

TIME = "time"
"""What a server has where it is divided in time."""


@dataclass(frozen=True, eq=False)
class Holdings:
    """An allocation by class, server and resource.

    Attributes
    ----------
    job_classes, servers, resources : tuple of str
        The only server of a pool is called "".
    demanded : ndarray of bool, shape (n_classes, n_servers, n_resources)
        Where a class may run and needs the resource.
    parts : ndarray of shape (n_classes, n_servers, n_resources)
        Part of each resource that a class holds.
    units : ndarray of shape (n_classes, n_servers, n_resources), resource units
    capacities : ndarray of shape (n_servers, n_resources), resource units
    full : ndarray of bool, shape (n_servers, n_resources)
    in_time : bool
        Whether servers are divided in time.
    """

    job_classes: tuple[str, ...]
    servers: tuple[str, ...]
    resources: tuple[str, ...]
    demanded: NDArray[np.bool_]
    parts: FloatArray
    units: FloatArray
    capacities: FloatArray
    full: NDArray[np.bool_]
    in_time: bool = False

    def place(self, server: int, resource: int) -> str:
        """A place in words: the resource, or the resource and its server."""
        host, name = self.servers[server], self.resources[resource]
        if not host:
            return name
        return f"the {TIME} of {host}" if self.in_time else f"{name} on {host}"


def holdings(allocation: Allocation | ClusterAllocation) -> Holdings:
    """Who holds what in an allocation.

    Examples
    --------
    >>> from fairness import DRF, Problem, allocate
    >>> holdings(allocate(Problem([[1, 4], [3, 1]], [9, 18]), DRF())).units[:, 0]
    array([[ 3., 12.],
           [ 6.,  2.]])
    """
    if isinstance(allocation, Allocation):
        pool = allocation.problem
        return Holdings(
            pool.job_classes,
            ("",),
            pool.resources,
            pool.demands[:, None, :] > 0,
            (allocation.tasks[:, None] * pool.task_shares)[:, None, :],
            (allocation.tasks[:, None] * pool.demands)[:, None, :],
            pool.capacities[None],
            allocation.saturated[None],
        )
    cluster = allocation.cluster
    if allocation.division == "time":
        gamma = np.where(cluster.eligible, cluster.gamma, 1.0)
        parts = np.where(cluster.eligible, allocation.placement / gamma, 0.0)[:, :, None]
        return Holdings(
            cluster.job_classes,
            cluster.servers,
            (TIME,),
            cluster.eligible[:, :, None],
            parts,
            parts,
            np.ones((cluster.n_servers, 1)),
            parts.sum(axis=0) >= 1.0 - SATURATION,
            in_time=True,
        )
    parts = allocation.placement[:, :, None] * cluster.task_shares
    return Holdings(
        cluster.job_classes,
        cluster.servers,
        cluster.resources,
        cluster.task_shares > 0,
        parts,
        parts * cluster.capacities,
        cluster.capacities,
        allocation.saturated,
    )
