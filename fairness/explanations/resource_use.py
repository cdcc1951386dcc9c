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
from fairness.results.any_allocation import AnyAllocation

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
    totals : ndarray of shape (n_classes, n_resources), resource units
        What a class holds of the resources of all servers, also where these are divided in time.
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
    totals: FloatArray
    capacities: FloatArray
    full: NDArray[np.bool_]
    in_time: bool = False

    def place(self, server: int, resource: int) -> str:
        """A place in words: the resource, or the resource and its server."""
        host, name = self.servers[server], self.resources[resource]
        if not host:
            return name
        return f"the {TIME} of {host}" if self.in_time else f"{name} on {host}"


def holdings(allocation: AnyAllocation) -> Holdings:
    """Who holds what in an allocation.

    Examples
    --------
    >>> from fairness import DRF, Problem, allocate
    >>> holdings(allocate(Problem([[1, 4], [3, 1]], [9, 18]), DRF())).units[:, 0]
    array([[ 3., 12.],
           [ 6.,  2.]])
    """
    model, held = allocation.model, allocation.placed[:, :, None]
    parts, capacities = held * model.server_shares, model.server_capacities
    units = held * model.demands[:, None, :] if model.given_gamma is None else parts * capacities
    totals = units.sum(axis=1)
    if getattr(allocation, "division", "resource") == "time":
        alone = np.where(model.runs, model.gamma, 1.0)[:, :, None]
        parts = np.where(model.runs[:, :, None], held / alone, 0.0)
        full, whole = parts.sum(axis=0) >= 1.0 - SATURATION, np.ones((model.n_servers, 1))
        places = (model.job_classes, model.server_names, (TIME,), model.runs[:, :, None])
        return Holdings(*places, parts, parts, totals, whole, full, in_time=True)
    full = allocation.saturated.reshape(capacities.shape)
    places = (model.job_classes, model.server_names, model.resources, model.needs)
    return Holdings(*places, parts, units, totals, capacities, full)
