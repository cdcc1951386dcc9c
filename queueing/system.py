r"""A pool under random traffic.

Jobs of class :math:`i` arrive at rate :math:`\lambda_i` with mean size :math:`\sigma_i`. The size of a
job is the time it would take to run its tasks one after the other (task-time). With
:math:`\varphi_i(x)` tasks of class :math:`i` running in state :math:`x`, jobs of the class leave at rate
:math:`\varphi_i(x)/\sigma_i`. The load of a class is :math:`\rho_i = \lambda_i\sigma_i` tasks; the load of
a resource is :math:`\varrho_j = \sum_i \rho_i a_{ij}` units. A stationary law under an optimal policy
exists if and only if :math:`\varrho_j < C_j` for every resource [1]_.

By Little's law the mean duration is :math:`E[x_i]/\lambda_i`, and the mean service rate, the mean number
of running tasks of an active job, is :math:`\gamma_i = \rho_i/E[x_i]`.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.errors import ModelError, UnstableError
from fairness.problem import FloatArray, Problem
from fairness.validation import float_array

__all__ = ["System"]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class System:
    """A problem with Poisson arrivals and mean job sizes.

    Parameters
    ----------
    problem : Problem
    arrival_rates : array_like of shape (n_classes,), jobs per unit of time
        >= 0; 0 switches a class off.
    mean_sizes : array_like of shape (n_classes,) or float, task-time per job
        > 0. Default: 1.

    Raises
    ------
    ModelError
        If a shape or sign is wrong.

    Examples
    --------
    >>> pool = Problem([[10, 1], [1, 10]], [10, 10], resources=["cpu", "ram"])
    >>> system = System(pool, arrival_rates=[0.5, 0.5])
    >>> system.loads, system.relative_loads
    (array([0.5, 0.5]), array([0.55, 0.55]))
    """

    problem: Problem
    arrival_rates: FloatArray
    mean_sizes: FloatArray

    def __init__(self, problem: Problem, arrival_rates: ArrayLike, mean_sizes: ArrayLike = 1.0) -> None:
        rates = _per_class("arrival_rates", arrival_rates, problem)
        sizes = _sizes(mean_sizes, problem)
        rates.flags.writeable = sizes.flags.writeable = False
        object.__setattr__(self, "problem", problem)
        object.__setattr__(self, "arrival_rates", rates)
        object.__setattr__(self, "mean_sizes", sizes)

    @classmethod
    def with_load(cls, problem: Problem, mix: ArrayLike, load: float, mean_sizes: ArrayLike = 1.0) -> System:
        """System with class loads proportional to ``mix`` and relative load ``load`` on the busiest resource.

        Examples
        --------
        >>> System.with_load(Problem([[10, 1], [1, 10]], [10, 10]), mix=[3, 1], load=0.93).loads
        array([0.9, 0.3])
        """
        sizes = _sizes(mean_sizes, problem)
        shape = cls(problem, _per_class("mix", mix, problem))
        busiest = float(shape.relative_loads.max())
        if not 0 < busiest < np.inf:
            raise ModelError(
                f"mix {np.asarray(mix)} puts relative load {busiest:g} on the busiest resource; "
                "it must be positive and finite"
            )
        if not (np.isfinite(load) and load > 0):
            raise ModelError(f"load must be a positive number; got {load}")
        return cls(problem, shape.loads * (load / busiest) / sizes, sizes)

    @property
    def n_classes(self) -> int:
        """Number of job classes."""
        return self.problem.n_classes

    @cached_property
    def loads(self) -> FloatArray:
        """Class loads rho = lambda * sigma, tasks; shape (n_classes,)."""
        return self.arrival_rates * self.mean_sizes

    @cached_property
    def resource_loads(self) -> FloatArray:
        """Resource loads rho a, resource units; shape (n_resources,)."""
        loads: FloatArray = self.loads @ self.problem.demands
        return loads

    @cached_property
    def relative_loads(self) -> FloatArray:
        """Resource loads over capacities, (n_resources,); infinite where a capacity of 0 is demanded."""
        loads, capacities = self.resource_loads, self.problem.capacities
        empty = np.where(loads > 0, np.inf, 0.0)
        return np.divide(loads, capacities, out=empty, where=capacities > 0)

    @property
    def overloaded(self) -> NDArray[np.bool_]:
        """Resources with relative load >= 1, (n_resources,): with any, there is no stationary law."""
        return self.relative_loads >= 1

    def require_stable(self) -> None:
        """Raise UnstableError, naming the overloaded resources, unless every relative load is below 1."""
        over = np.flatnonzero(self.overloaded)
        if len(over):
            names = ", ".join(
                f"{self.problem.resources[j]!r} (load {self.relative_loads[j]:.6g})" for j in over
            )
            raise UnstableError(
                f"no stationary law: the load must be below 1 on every resource, but is not on {names}; "
                "reduce arrival_rates or mean_sizes, or raise the capacities"
            )

    def mean_durations(self, mean_jobs: ArrayLike) -> FloatArray:
        """Mean durations E[x_i]/lambda_i by Little's law, (n_classes,); NaN where no job arrives."""
        return self._ratio(np.asarray(mean_jobs, dtype=float), self.arrival_rates)

    def service_rates(self, mean_jobs: ArrayLike) -> FloatArray:
        """Mean service rates rho_i/E[x_i], tasks per active job, (n_classes,); NaN where no job arrives."""
        return self._ratio(self.loads, np.asarray(mean_jobs, dtype=float))

    def _ratio(self, top: FloatArray, bottom: FloatArray) -> FloatArray:
        live = self.arrival_rates > 0
        return np.divide(
            top, bottom, out=np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan), where=live
        )

    def __repr__(self) -> str:
        loads = ", ".join(
            f"{name} {load:.4g}"
            for name, load in zip(self.problem.resources, self.relative_loads, strict=True)
        )
        return f"System({self.n_classes} classes; relative load: {loads})"


def _sizes(mean_sizes: ArrayLike, problem: Problem) -> FloatArray:
    sizes = float_array("mean_sizes", mean_sizes)
    sizes = np.full(problem.n_classes, sizes) if sizes.ndim == 0 else sizes
    return _per_class("mean_sizes", sizes, problem, positive=True)


def _per_class(name: str, given: ArrayLike, problem: Problem, *, positive: bool = False) -> FloatArray:
    """Validated vector with one entry per class, >= 0 or > 0."""
    values = float_array(name, given)
    if values.shape != (problem.n_classes,):
        raise ModelError(
            f"{name} must have shape ({problem.n_classes},), one entry per job class; got {values.shape}"
        )
    good, rule = (values > 0, "> 0") if positive else (values >= 0, ">= 0")
    good &= np.isfinite(values)
    if not good.all():
        k = int(np.argmin(good))
        raise ModelError(
            f"{name} must be finite and {rule}; got {values[k]} at index {k} ({problem.job_classes[k]!r})"
        )
    return values
