r"""What a problem, arrival rates and mean sizes alone fix, whatever the policy, the laws and the processes.

The load of a class is :math:`\rho_i = \lambda_i\sigma_i` tasks; the load of a resource is
:math:`\varrho_j = \sum_i \rho_i a_{ij}` units. A stationary law under an optimal policy exists if and only if
:math:`\varrho_j < C_j` for every resource [1]_.

On a cluster the one load that matters is the least part u of all servers on which some placement carries the
mean tasks :math:`\rho` (:mod:`queueing.model.cluster_load`): below 1 some policy is stable, above 1 none is
[2]_. Servers are then taken to divide each resource by itself; one that serves a single class at a time can
do no more, so a policy of time division, like any policy that wastes capacity, may be unstable already at a
load below 1.

By Little's law the mean duration is :math:`E[x_i]/\lambda_i`, and the mean service rate, the mean number
of running tasks of an active job, is :math:`\gamma_i = \rho_i/E[x_i]`.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
.. [2] S. T. Maguluri, R. Srikant and L. Ying, "Stochastic models of load balancing and scheduling in cloud
   computing clusters", INFOCOM 2012. DOI 10.1109/INFCOM.2012.6195815.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import frozen, model_array, require_whole
from fairness.errors import ModelError, UnstableError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.cluster_load import LoadEvidence, geometric_ratios, relative_load
from queueing.model.laws import Law

__all__ = ["ClassLoads", "binding_resources"]


class ClassLoads:
    """A problem with the rates and the sizes of its classes: base of systems."""

    # Problem | Cluster; what needs one of them asks for it by require_pool or is answered here for both.
    problem: Any
    arrival_rates: FloatArray
    sizes: tuple[Law, ...]

    @property
    def n_classes(self) -> int:
        """Number of job classes."""
        return self.problem.n_classes

    @property
    def is_cluster(self) -> bool:
        """Whether the problem is a Cluster, and not one pool."""
        return isinstance(self.problem, Cluster)

    @property
    def blocked(self) -> NDArray[np.bool_]:
        """Classes that can never run, (n_classes,); on a cluster there are none."""
        return np.zeros(self.n_classes, bool) if self.is_cluster else self.problem.blocked

    @property
    def limits(self) -> FloatArray:
        """Most tasks of one job, (n_classes,); infinite on a cluster, whose model has no limits."""
        return np.full(self.n_classes, np.inf) if self.is_cluster else self.problem.limits

    @property
    def most_tasks(self) -> FloatArray:
        """Most tasks that one job can run with everything to itself, whatever the policy, (n_classes,)."""
        if self.is_cluster:
            return self.problem.gamma.sum(axis=1)
        largest = self.problem.task_shares.max(axis=1)
        free = np.divide(1.0, largest, out=np.full(self.n_classes, np.inf), where=largest > 0)
        return np.minimum(self.limits, free)

    def class_index(self, job_class: int | str) -> int:
        """Index >= 0 of a job class that is given by its name, or by an index; -1 is that of the last."""
        names: tuple[str, ...] = self.problem.job_classes
        if isinstance(job_class, str):
            if job_class not in names:
                raise ModelError.of(
                    "job_class", f"{job_class!r} is unknown; the classes are {', '.join(names)}"
                )
            return names.index(job_class)
        n = len(names)
        return require_whole("job_class", job_class, -n, n - 1, " (an index), or a name") % n

    def require_pool(self, what: str, instead: str = "stationary, transient or simulate") -> Problem:
        """The problem, if it is one pool; ModelError, in the name of ``what``, if it is a Cluster."""
        if not isinstance(self.problem, Problem):
            raise ModelError(
                f"{what} needs one pool of resources (a Problem); this system is a Cluster: use {instead} "
                "with a cluster policy, for example PSDSF()"
            )
        return self.problem

    @cached_property
    def mean_sizes(self) -> FloatArray:
        """Means of the laws of the sizes, task-time per job; shape (n_classes,)."""
        return frozen(np.array([law.mean for law in self.sizes]))

    @cached_property
    def loads(self) -> FloatArray:
        """Class loads rho = lambda * sigma, tasks; shape (n_classes,)."""
        return self.arrival_rates * self.mean_sizes

    @cached_property
    def resource_loads(self) -> FloatArray:
        """Resource loads rho a, resource units, on a cluster of all servers together; (n_resources,).

        Raises
        ------
        ModelError
            On a cluster with given gamma: what a task holds then depends on its server.
        """
        if self.is_cluster and self.problem.given_gamma is not None:
            raise ModelError.of(
                "gamma",
                "is given, so a task holds other amounts on other servers and resources have no load "
                "of their own; see load_evidence for a placement that carries the loads",
            )
        return self.loads @ self.problem.demands

    @cached_property
    def load_evidence(self) -> LoadEvidence:
        """On a cluster: a placement that carries the loads, and prices that prove that no better one exists.

        Raises
        ------
        ModelError
            If the system is one pool.
        NotConvergedError
            If placement and prices leave a relative gap of more than 1e-9.
        """
        if not self.is_cluster:
            raise ModelError("load_evidence is for a Cluster; the loads of a pool are its relative_loads")
        return relative_load(self.problem, self.loads)

    def geometric_ratios(self, free: float) -> FloatArray:
        """Ratios of geometric counts on a cluster, (n_classes,): where a search for its law may begin.

        At most 1 - ``free``: next to load 1 a ratio rounds to 1.
        """
        return np.minimum(geometric_ratios(self.load_evidence, self.problem), 1.0 - free)

    @property
    def load_names(self) -> tuple[str, ...]:
        """What the entries of relative_loads belong to: the resources of a pool, "servers" for a cluster."""
        return ("servers",) if self.is_cluster else self.problem.resources

    @cached_property
    def relative_loads(self) -> FloatArray:
        """Resource loads over capacities, (n_resources,); infinite where a capacity of 0 is demanded.

        For a cluster the least part of all servers that carries the loads, shape (1,).
        """
        if self.is_cluster:
            return np.array([self.load_evidence.relative_load])
        loads, capacities = self.resource_loads, self.problem.capacities
        empty = np.where(loads > 0, np.inf, 0.0)
        return np.divide(loads, capacities, out=empty, where=capacities > 0)

    @property
    def overloaded(self) -> NDArray[np.bool_]:
        """Entries of relative_loads >= 1, (n_resources,) or (1,): with any, there is no stationary law."""
        return self.relative_loads >= 1

    def require_stable(self) -> None:
        """Raise UnstableError, naming what is overloaded, unless every relative load is below 1."""
        over = np.flatnonzero(self.overloaded)
        if not len(over):
            return
        if self.is_cluster:
            raise UnstableError(
                "no stationary law: no placement carries the loads on less than all of the servers (load "
                f"{self.relative_loads[0]:.6g}); reduce arrival_rates or mean_sizes, or add servers"
            )
        names = ", ".join(f"{self.load_names[j]!r} (load {self.relative_loads[j]:.6g})" for j in over)
        raise UnstableError(
            f"no stationary law: the load must be below 1 on every resource, but is not on {names}; "
            "reduce arrival_rates or mean_sizes, or raise the capacities"
        )

    def mean_durations(self, mean_jobs: ArrayLike) -> FloatArray:
        """Mean durations E[x_i]/lambda_i by Little's law, (n_classes,); NaN where no job arrives."""
        return self._ratio(self._mean_jobs(mean_jobs), self.arrival_rates)

    def service_rates(self, mean_jobs: ArrayLike) -> FloatArray:
        """Mean service rates rho_i/E[x_i], tasks per active job, (n_classes,); NaN where no job arrives."""
        return self._ratio(self.loads, self._mean_jobs(mean_jobs))

    def _mean_jobs(self, mean_jobs: ArrayLike) -> FloatArray:
        return model_array("mean_jobs", mean_jobs, self.problem, "job_classes")

    def _ratio(self, top: FloatArray, bottom: FloatArray) -> FloatArray:
        live = self.arrival_rates > 0
        return np.divide(
            top, bottom, out=np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan), where=live
        )


def binding_resources(shares: NDArray[Any]) -> NDArray[np.intp]:
    """Indices of the columns of ``shares`` (n_classes, n_resources) that no other column dominates.

    A resource of which every class uses no more than of another one never binds alone. Of equal columns the
    first is kept; entries are floats, or fractions.
    """
    kept: list[int] = []
    for j in np.argsort(-shares.sum(axis=0), kind="stable"):
        if shares[:, j].any() and not any((shares[:, j] <= shares[:, k]).all() for k in kept):
            kept.append(int(j))
    return np.array(sorted(kept), dtype=np.intp)
