"""The numbers of a pool that a certificate speaks about, looked at once more before they are believed.

A certificate may come from a file, whose objects no constructor has seen. Classes without arrivals are left
out: there are never any jobs of them. A cluster is a pool whose resources are the facets of the totals that
its servers can run (:mod:`queueing.certificates.facets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.errors import ModelError
from fairness.exact.outward import outward
from fairness.exact.server_rows import as_fractions
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.certificates.arrival_phases import ArrivalPhases
from queueing.certificates.errors import CertificateError
from queueing.certificates.facets import cluster_facets
from queueing.certificates.intervals import Interval, largest, smallest, total
from queueing.model.class_loads import binding_resources
from queueing.model.system import System

__all__ = ["Pool"]

SMALLEST, LARGEST = 1e-50, 1e50
"""Numbers of a system that is checked: products and quotients of a few of them are floats."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Classes with arrivals, and the resources that they share; every float is meant exactly.

    Attributes
    ----------
    classes : ndarray of shape (n,)
        Their indices in the system.
    problem : Problem or Cluster
        That of the system.
    demands : ndarray of shape (n, m), resource units per task
    demands_above : ndarray of shape (n, m), resource units per task
        The same for a pool. Facets of a cluster that are no floats lie between ``demands``, rounded down, and
        these, rounded up.
    capacities : ndarray of shape (m,), resource units
    weights, limits : ndarray of shape (n,)
    arrival_rates : ndarray of shape (n,), jobs per unit of time
    mean_sizes : ndarray of shape (n,), task-time per job
    resources : ndarray of shape (m,)
        Indices in the system of the resources that these classes demand; others are left out.
    phases : ArrivalPhases
        Of the arrivals.
    """

    classes: NDArray[np.int64]
    problem: Problem | Cluster
    demands: FloatArray
    demands_above: FloatArray
    capacities: FloatArray
    weights: FloatArray
    limits: FloatArray
    arrival_rates: FloatArray
    mean_sizes: FloatArray
    resources: NDArray[np.int64]
    phases: ArrivalPhases

    @classmethod
    def of(cls, system: Any, divides_time: bool = False, phased: bool = False) -> Pool:
        """The pool of a system with exponential sizes and Poisson arrivals, or ``phased`` ones.

        The servers of a cluster divide their resources, or their time.

        Raises
        ------
        CertificateError
            If it is none, or a number is out of place.
        """
        if not isinstance(system, System) or not isinstance(system.problem, (Problem, Cluster)):
            raise CertificateError("data", "the system must be a System with a Problem or a Cluster")
        problem = system.problem
        n = len(problem.demands)
        rates = _numbers("arrival_rates", system.arrival_rates, (n,))
        try:
            if not phased:
                system.require_poisson("a certificate")
            system.require_exponential("a certificate")
            phases = ArrivalPhases.of(system)
        except ValueError as error:
            raise CertificateError("data", str(error)) from None
        live = np.flatnonzero(rates > 0)
        if not len(live):
            raise CertificateError("data", "no class has arrivals")
        below, above, capacities = _resources(problem, divides_time)
        demands = _numbers("demands", below, below.shape)[live]
        if not demands.any(axis=1).all():
            raise CertificateError("data", "a class with arrivals demands no resource")
        used = np.flatnonzero(demands.any(axis=0))
        pool = cls(
            classes=live,
            problem=problem,
            demands=np.ascontiguousarray(demands[:, used]),
            demands_above=np.ascontiguousarray(above[live][:, used]),
            capacities=_numbers("capacities", capacities, below.shape[1:])[used],
            weights=_numbers("weights", problem.weights, (n,))[live],
            limits=_numbers("limits", system.limits, (n,), endless=True)[live],
            arrival_rates=rates[live],
            mean_sizes=_numbers("mean_sizes", np.array([law.mean for law in system.sizes]), (n,))[live],
            resources=used,
            phases=phases,
        )
        for name in ("weights", "limits", "mean_sizes"):
            if not (getattr(pool, name) > 0).all():
                raise CertificateError("data", f"{name} of classes with arrivals must be > 0")
        if not (pool.capacities > 0).all():
            raise CertificateError("data", "a class with arrivals demands a resource of capacity 0")
        if not pool.load.high < 1:
            raise CertificateError("data", f"the load {pool.load.high} is not below 1")
        return pool

    @property
    def n(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def shares(self) -> list[list[Fraction]]:
        """Shares of the resources that a task of each class holds, as fractions of the floats."""
        capacities = [Fraction(c) for c in self.capacities]
        return [[Fraction(a) / c for a, c in zip(row, capacities, strict=True)] for row in self.demands]

    def binding(self, classes: Sequence[int]) -> list[int]:
        """Resources that some of the classes demand and that no other one dominates; exactly."""
        return binding_resources(np.array([self.shares[i] for i in classes], dtype=object)).tolist()

    @cached_property
    def loads(self) -> tuple[Interval, ...]:
        """rho_i = lambda_i sigma_i, tasks."""
        return tuple(
            Interval.of(rate) * float(size)
            for rate, size in zip(self.arrival_rates, self.mean_sizes, strict=True)
        )

    @cached_property
    def load(self) -> Interval:
        """Largest relative load of a resource."""
        return largest(
            total(rho * a for rho, a in zip(self.loads, column, strict=True) if a.high > 0) / float(capacity)
            for column, capacity in zip(zip(*self._demanded, strict=True), self.capacities, strict=True)
        )

    @cached_property
    def most_tasks(self) -> tuple[Interval, ...]:
        """Most tasks that a class can ever run, min_j C_j/a_ij."""
        return tuple(
            smallest(
                Interval.of(capacity) / a
                for capacity, a in zip(self.capacities, row, strict=True)
                if a.high > 0
            )
            for row in self._demanded
        )

    @property
    def _demanded(self) -> list[list[Interval]]:
        """What a task takes of each resource."""
        return [
            [Interval(float(low), float(high)) for low, high in zip(row, more, strict=True)]
            for row, more in zip(self.demands, self.demands_above, strict=True)
        ]


def _resources(problem: Problem | Cluster, divides_time: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Demands, rounded down and up where they are no floats, and capacities."""
    if np.ndim(problem.demands) != 2:
        raise CertificateError("data", f"demands must have 2 dimensions; got {np.ndim(problem.demands)}")
    if isinstance(problem, Problem):
        return problem.demands, problem.demands, problem.capacities
    exact = [np.array(rows, dtype=float) for rows in as_fractions(problem)]
    if any((a != b).any() for a, b in zip(exact, (problem.demands, problem.capacities), strict=False)):
        raise CertificateError("data", "the cluster's fractions are not those of its floats")
    try:
        facets = cluster_facets(problem, divides_time)
    except ModelError as error:
        raise CertificateError("data", str(error)) from None
    if max(max(*normal, offset) for normal, offset in facets) <= 2**53:
        normals = np.array([normal for normal, _ in facets], dtype=float).T
        return normals, normals, np.array([offset for _, offset in facets], dtype=float)
    low, high = outward([[Fraction(v, offset) for v in normal] for normal, offset in facets])
    return low.T, high.T, np.ones(len(facets))


def _numbers(name: str, values: Any, shape: tuple[int, ...], *, endless: bool = False) -> FloatArray:
    """An array of floats that are 0 or of a size whose products and quotients are floats."""
    array = np.asarray(values)
    if array.dtype != np.float64 or array.shape != shape:
        raise CertificateError("data", f"{name} must be floats of shape {shape}; got {array.shape}")
    fine = (array == 0) | ((array >= SMALLEST) & (array <= LARGEST)) | (endless & (array == np.inf))
    if not fine.all():
        raise CertificateError(
            "data",
            f"{name} holds {array[~fine].ravel()[0]}; numbers must be 0 or from {SMALLEST:g} to {LARGEST:g}",
        )
    return np.ascontiguousarray(array)
