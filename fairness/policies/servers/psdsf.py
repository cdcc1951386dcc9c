r"""Per-server dominant-share fairness (PS-DSF) on a cluster.

With effective weights :math:`\varphi_n` and virtual dominant shares :math:`s_{ni} = x_n/\gamma_{ni}` (the
total of a class, over what it could run alone on server i), an allocation is PS-DSF if no class can gain,
feasibly, without a loss of some class p and server i with :math:`s_{pi}/\varphi_p \le s_{ni}/\varphi_n`
[1]_ (definition 5). Servers are divided resource by resource (RDM, eq. 9) or in time (TDM, eq. 10).

* *Resource division*: theorem 1 of [1]_ is the certificate. The allocation need not be Pareto efficient, nor
  unique: there can be a continuum, and which one is found depends on the order in which servers are
  swept (totals changed with the order in 1 of 100 random clusters of up to 6 classes and 4 servers, in one or
  two of five with 25 classes and 6 servers). Two methods: water-filling (``engines.resource_division``) and
  Algorithm I as printed (``engines.algorithm_one``), whose sweeps need not end.
* *Time division*: theorem 2 is the certificate. It is the equilibrium of a linear Fisher market
  (``engines.market``): totals are unique, Pareto efficient and envy-free.

References
----------
.. [1] J. Khamse-Ashari, I. Lambadaris, G. Kesidis, B. Urgaonkar and Y. Zhao, "Per-server dominant-share
   fairness (PS-DSF): a multi-resource fair allocation mechanism for heterogeneous servers", ICC 2017.
   arXiv:1611.00404.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, require_choice, require_whole
from fairness.errors import ModelError, NotConvergedError
from fairness.evidence.clusters import resource_division_certificate
from fairness.model.cluster import Cluster
from fairness.model.division import check_division
from fairness.policies.servers.engines.algorithm_one import algorithm_one
from fairness.policies.servers.engines.market import time_division
from fairness.policies.servers.engines.resource_division import Divisions, resource_division
from fairness.protocol.cluster_policy import ClusterPolicy, ClusterSolution
from fairness.protocol.family import Family
from fairness.protocol.following import Follower

__all__ = ["PSDSF"]

METHODS = ("filling", "algorithm-1")


@dataclass(frozen=True)
class PSDSF(ClusterPolicy):
    """Per-server dominant-share fairness.

    Parameters
    ----------
    division : {"resource", "time"}
        Whether each resource of a server is divided by itself, or the server serves one class at a time.
    method : {"filling", "algorithm-1"}
        For resource division: water-filling server by server, or the paper's algorithm as printed.
    server_order : tuple of int, optional
        Order in which servers are swept under resource division; matters where the allocation is not unique.
    max_sweeps : int
        Most sweeps over all servers; water-filling makes up to three attempts of so many.

    Examples
    --------
    >>> from fairness import Cluster
    >>> demands, capacities = [[1, 2, 10], [1, 2, 1], [0.5, 1, 0]], [[9, 12, 100], [12, 12, 0]]
    >>> PSDSF()(Cluster(demands, capacities, weights=[1, 1, 2]), [1, 1, 1]).sum(axis=1)
    array([ 3.,  3., 12.])
    """

    division: str = "resource"
    method: str = "filling"
    server_order: tuple[int, ...] | None = None
    max_sweeps: int = 20_000

    batches = "compiled"

    def __post_init__(self) -> None:
        check_division(self.division)
        require_choice("method", self.method, METHODS)
        if self.division == "time" and (self.method != "filling" or self.server_order is not None):
            raise ModelError(
                "method and server_order are for resource division; leave them out with division='time'"
            )
        require_whole("max_sweeps", self.max_sweeps, 1)
        if self.server_order is not None:
            try:
                order = tuple(index(i) for i in self.server_order)
            except TypeError:
                raise ModelError.of(
                    "server_order", f"must be a tuple of server numbers; got {self.server_order!r}"
                ) from None
            object.__setattr__(self, "server_order", order)

    @property
    def name(self) -> str:  # type: ignore[override]
        """PS-DSF with its division, rdm or tdm, and with the method if it is not the default."""
        if self.division == "time":
            return "PS-DSF tdm"
        return "PS-DSF rdm" if self.method == "filling" else "PS-DSF rdm, Algorithm I"

    @property
    def family(self) -> Family:
        """Per-server dominant shares, with resources or time divided."""
        return Family("per-server dominant share", {"division": self.division})

    def solve(self, cluster: Cluster, counts: ArrayLike | None = None) -> ClusterSolution:
        """Placement and certificate for one vector of counts."""
        x = cluster.check_state(counts)
        if self.division == "time":
            placement, prices, details = time_division(cluster, x * cluster.weights)
            return ClusterSolution(placement, details["certificate"], prices=prices, details=details)
        placement, details = self._divided(cluster, x)
        certificate = resource_division_certificate(cluster, x, placement)
        if not certificate.holds:
            raise NotConvergedError(
                f"{self.name} ended where Theorem 1 does not hold (residual {certificate.residual:.1e})",
                best=placement,
                residual=certificate.residual,
            )
        return ClusterSolution(placement, certificate, details={"certificate": certificate, **details})

    def placements(self, cluster: Cluster, states: FloatArray) -> FloatArray:
        """Placements alone; with divided resources without certificates."""
        if self.division == "time":
            return super().placements(cluster, states)
        if self.method == "algorithm-1":
            answers = [self._divided(cluster, state)[0] for state in states]
            return np.array(answers).reshape(-1, *cluster.gamma.shape)
        return Divisions(cluster, self._order(cluster), self.max_sweeps).of(states * cluster.weights)

    def _divided(self, cluster: Cluster, counts: FloatArray) -> tuple[FloatArray, dict[str, Any]]:
        """Placement and details under resource division."""
        solve = algorithm_one if self.method == "algorithm-1" else resource_division
        order = self._order(cluster)
        return solve(cluster, counts * cluster.weights, server_order=order, max_sweeps=self.max_sweeps)

    def _order(self, cluster: Cluster) -> tuple[int, ...] | None:
        """The order of the servers, if it is one."""
        order = self.server_order
        if order is not None and sorted(order) != list(range(cluster.n_servers)):
            raise ModelError.of(
                "server_order", f"must list the servers 0..{cluster.n_servers - 1} once; got {order}"
            )
        return order

    def follow(self, problem: Cluster) -> Follower:
        """One state after the other."""
        if self.division == "resource" and self.method == "filling":
            divisions = Divisions(problem, self._order(problem), self.max_sweeps)
            return lambda counts: divisions.of((counts * problem.weights)[None])[0].sum(axis=1)
        return lambda counts: self.placements(problem, counts[None])[0].sum(axis=1)
