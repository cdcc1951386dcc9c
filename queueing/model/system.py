r"""A pool, or a cluster of servers, under random traffic.

Jobs of class :math:`i` arrive at rate :math:`\lambda_i` with mean size :math:`\sigma_i`. The size of a
job is the time it would take to run its tasks one after the other (task-time). With
:math:`\varphi_i(x)` tasks of class :math:`i` running in state :math:`x`, each of the :math:`x_i` jobs of the
class works off its size at rate :math:`\varphi_i(x)/x_i`: if sizes are exponential, jobs of the class leave
at rate :math:`\varphi_i(x)/\sigma_i`. Sizes have a law per class (:mod:`queueing.model.laws`) and arrivals a
process per class (:mod:`queueing.model.arrivals`), or both are recorded. The load of a class is
:math:`\rho_i = \lambda_i\sigma_i` tasks; the load of a resource is :math:`\varrho_j = \sum_i \rho_i a_{ij}`
units. A stationary law under an optimal policy exists if and only if :math:`\varrho_j < C_j` for every
resource [1]_.

On a cluster :math:`\varphi_i(x)` counts the tasks of the class on all servers together. The one load that
matters is the least part u of all servers on which some placement carries the mean tasks :math:`\rho`
(:mod:`queueing.model.cluster_load`): below 1 some policy is stable, above 1 none is [2]_. Servers are then
taken to divide each resource by itself; one that serves a single class at a time can do no more, so a policy
of time division, like any policy that wastes capacity, may be unstable already at a load below 1.

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

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import frozen, model_array, require_number, require_whole
from fairness.display.notebook import notebook_html
from fairness.errors import ModelError, UnstableError
from fairness.model.cluster import Cluster
from fairness.model.csv_tables import traffic_table
from fairness.model.equality import same_problem
from fairness.model.problem import FloatArray, Problem
from queueing.model.arrivals import Arrivals, Poisson
from queueing.model.class_arguments import (
    arrival_processes,
    class_vector,
    exact_rates,
    rational_vector,
    size_laws,
)
from queueing.model.cluster_load import LoadEvidence, relative_load
from queueing.model.job_trace import JobTrace
from queueing.model.laws import Exponential, Law
from queueing.model.trace_fit import TraceFit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["System", "check_system"]

SMALLEST_RATE, LARGEST_RATE = 1e-250, 1e250
"""Rates of a chain: beyond, what is computed from them leaves the floats."""
MOST_LISTED = 4
"""Laws and processes that a line about a system names."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class System:
    """A problem with the jobs that arrive: rates, laws of sizes, arrival processes.

    Parameters
    ----------
    problem : Problem or Cluster
    arrival_rates : array_like of shape (n_classes,), jobs per unit of time
        >= 0; 0 switches a class off.
    mean_sizes : array_like of shape (n_classes,) or float, task-time per job
        > 0, of exponential sizes. Default: 1.
    sizes : Law or sequence of Law, one per class, task-time per job
        Instead of ``mean_sizes``; frozen distributions of scipy.stats are laws too.
    arrivals : Arrivals or sequence of Arrivals, one per class
        Arrival processes, which take their rates from ``arrival_rates``. Default: Poisson. Recorded jobs come
        in by :meth:`from_trace`.

    Labels of rates and sizes (a Series) are the job classes, in any order: see
    :mod:`fairness.arguments.labels`.

    Attributes
    ----------
    sizes : tuple of Law
        One per class.
    arrivals : tuple of Arrivals, or JobTrace
        One process per class, or the jobs themselves.

    Raises
    ------
    ModelError
        If a shape, sign or label is wrong, problem is neither a Problem nor a Cluster, or mean_sizes and
        sizes are both given.

    Examples
    --------
    >>> pool = Problem([[10, 1], [1, 10]], [10, 10], resources=["cpu", "ram"])
    >>> system = System(pool, arrival_rates=[0.5, 0.5])
    >>> system.loads, system.relative_loads
    (array([0.5, 0.5]), array([0.55, 0.55]))

    Two servers; class 1 fits on the first only.

    >>> from fairness import Cluster
    >>> System(Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]]), arrival_rates=[1, 7])
    System(2 classes; relative load: servers 0.8)

    Laws have means of their own.

    >>> from queueing import Erlang, Exponential
    >>> System(pool, [0.5, 0.5], sizes=[Erlang(3, mean=1.2), Exponential()]).mean_sizes
    array([1.2, 1. ])
    """

    # Problem | Cluster; what needs one of them asks for it by require_pool or is answered here for both.
    problem: Any
    arrival_rates: FloatArray
    sizes: tuple[Law, ...]
    arrivals: tuple[Arrivals, ...] | JobTrace
    _source: tuple[Any, Any] = field(init=False)

    def __init__(
        self,
        problem: Problem | Cluster,
        arrival_rates: ArrayLike,
        mean_sizes: ArrayLike | None = None,
        *,
        sizes: Law | Sequence[Law] | Any = None,
        arrivals: Arrivals | Sequence[Arrivals] | JobTrace | None = None,
    ) -> None:
        rates = class_vector("arrival_rates", arrival_rates, _checked(problem))
        laws = size_laws(problem, mean_sizes, sizes)
        if isinstance(arrivals, JobTrace):
            if not same_problem(arrivals.problem, problem) or (rates != arrivals.arrival_rates).any():
                raise ModelError(
                    "arrivals is a trace, which has its own problem and arrival rates; give them by "
                    "System.from_trace(trace), or leave out arrivals for Poisson ones at other rates",
                    argument="arrivals",
                )
        else:
            arrivals = arrival_processes(problem, arrivals)
        object.__setattr__(self, "problem", problem)
        object.__setattr__(self, "arrival_rates", frozen(rates))
        object.__setattr__(self, "sizes", laws)
        object.__setattr__(self, "arrivals", arrivals)
        exact_sizes = None if sizes is not None else rational_vector("mean_sizes", mean_sizes, problem, 1)
        exact = rational_vector("arrival_rates", arrival_rates, problem), exact_sizes
        object.__setattr__(self, "_source", exact)

    @classmethod
    def with_load(
        cls,
        problem: Problem | Cluster,
        mix: ArrayLike,
        load: float,
        mean_sizes: ArrayLike | None = None,
        *,
        sizes: Law | Sequence[Law] | Any = None,
        arrivals: Arrivals | Sequence[Arrivals] | JobTrace | None = None,
    ) -> System:
        """System with class loads proportional to ``mix`` and relative load ``load``.

        On a pool this is the load of the busiest resource, on a cluster the least part of the servers that
        carries the loads. The other arguments are those of :class:`System`. Where the pool, the mix, the load
        and the mean sizes are integers or fractions, so are the arrival rates (:meth:`as_fractions`).

        Examples
        --------
        >>> System.with_load(Problem([[10, 1], [1, 10]], [10, 10]), mix=[3, 1], load=0.93).loads
        array([0.9, 0.3])
        """
        laws = size_laws(_checked(problem), mean_sizes, sizes)
        shape = cls(problem, class_vector("mix", mix, problem))
        busiest = float(shape.relative_loads.max())
        if not 0 < busiest < np.inf:
            where = "the servers" if shape.is_cluster else "the busiest resource"
            raise ModelError(
                f"mix {np.asarray(mix)} puts relative load {busiest:g} on {where}; "
                "it must be positive and finite",
                argument="mix",
            )
        relative = require_number("load", load, above=0)
        rates = shape.loads * (relative / busiest) / np.array([law.mean for law in laws])
        # Laws that were made of means are made again sooner than read.
        given = None if sizes is None else laws
        exact: Any = None if sizes is not None else exact_rates(problem, mix, load, mean_sizes)
        return cls(problem, rates if exact is None else exact, mean_sizes, sizes=given, arrivals=arrivals)

    @classmethod
    def from_csv(
        cls,
        problem: Problem | Cluster,
        traffic: str | os.PathLike[str],
        *,
        sizes: Law | Sequence[Law] | Any = None,
        arrivals: Arrivals | Sequence[Arrivals] | JobTrace | None = None,
    ) -> System:
        """System of a problem and a CSV table of its traffic, a row per class in any order.

        Parameters
        ----------
        problem : Problem or Cluster
        traffic : path
            Its first column is ``job_class``; then ``arrival_rate`` and, for exponential sizes,
            ``mean_size``. It may be the table of the classes itself: see :mod:`fairness.model.csv_tables`.
        sizes, arrivals
            As for :class:`System`; laws have means of their own and go without ``mean_size``.

        Raises
        ------
        ModelError
            With file, line and column: if the file cannot be read, a cell is wrong, or its rows are not the
            classes of the problem.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = Path(folder, "traffic.csv")
        ...     _ = table.write_text("job_class,arrival_rate,mean_size\\nB,1/2,3\\nA,1,\\n")
        ...     system = System.from_csv(pool, table)
        >>> system.arrival_rates, system.mean_sizes
        (array([1. , 0.5]), array([1., 3.]))
        """
        found = traffic_table(traffic, _checked(problem))
        if sizes is not None and "mean_sizes" in found.arguments:
            raise ModelError.of(
                "sizes",
                f"have means of their own, and {traffic} has a column 'mean_size'; leave out one of them",
            )
        with found.located():
            return cls(problem, sizes=sizes, arrivals=arrivals, **found.arguments)

    @classmethod
    def from_trace(cls, trace: JobTrace | TraceFit) -> System:
        """System of recorded jobs: their classes' rates, the sizes they had (1 without jobs), their arrivals.

        Of a recorded cluster, what :func:`fit_trace` estimates: classes, rates, laws; arrivals are Poisson.

        Examples
        --------
        >>> trace = JobTrace(Problem([[1, 4], [3, 1]], [9, 18]), [0, 1, 4], ["class 1"] * 3, [2.0, 1.0, 6.0])
        >>> System.from_trace(trace).mean_sizes
        array([3., 1.])
        """
        if isinstance(trace, TraceFit):
            return cls(trace.problem, trace.arrival_rates, sizes=trace.sizes)
        if not isinstance(trace, JobTrace):
            raise ModelError.of(
                "trace",
                "must be a JobTrace, such as read_trace(path, problem), or a TraceFit, such as "
                f"fit_trace(trace, nodes); got {trace!r}",
            )
        rates = trace.arrival_rates
        names = trace.problem.job_classes
        laws = [
            trace.size_law(k) if rate > 0 else Exponential() for k, rate in zip(names, rates, strict=True)
        ]
        return cls(trace.problem, rates, sizes=laws, arrivals=trace)

    def at_load(self, load: float) -> System:
        """The system with all arrival rates scaled so that its relative load is ``load``.

        Examples
        --------
        >>> System(Problem([[1], [2]], [8]), [1, 1]).at_load(0.75).arrival_rates
        array([2., 2.])
        """
        if isinstance(self.arrivals, JobTrace):
            raise ModelError(
                "the arrivals are a trace, which has one load, that of its record; take "
                "System.with_load(system.problem, system.loads, load, sizes=system.sizes)",
                argument="load",
            )
        if not self.arrival_rates.any():
            raise ModelError.of(
                "arrival_rates", "are all 0, which no factor changes; give some class one > 0"
            )
        if all(self._source) and isinstance(load, Rational):
            rates, means = self.as_fractions()
            loads = [rate * mean for rate, mean in zip(rates, means, strict=True)]
            return self.with_load(self.problem, loads, load, means, arrivals=self.arrivals)
        return self.with_load(self.problem, self.loads, load, sizes=self.sizes, arrivals=self.arrivals)

    def as_fractions(self) -> tuple[list[Fraction], list[Fraction]]:
        """Arrival rates and mean sizes over the rationals.

        Integers and fractions are as given, floats the binary numbers that they are.

        Examples
        --------
        >>> from fractions import Fraction
        >>> System(Problem([[1], [2]], [8]), [Fraction(1, 3), 1]).as_fractions()
        ([Fraction(1, 3), Fraction(1, 1)], [Fraction(1, 1), Fraction(1, 1)])
        """
        floats = (self.arrival_rates.tolist(), self.mean_sizes.tolist())
        rates, means = (
            [Fraction(v) for v in given or known] for given, known in zip(self._source, floats, strict=True)
        )
        return rates, means

    @cached_property
    def mean_sizes(self) -> FloatArray:
        """Means of the laws of the sizes, task-time per job; shape (n_classes,)."""
        return frozen(np.array([law.mean for law in self.sizes]))

    @property
    def n_classes(self) -> int:
        """Number of job classes."""
        return self.problem.n_classes

    @cached_property
    def loads(self) -> FloatArray:
        """Class loads rho = lambda * sigma, tasks; shape (n_classes,)."""
        return self.arrival_rates * self.mean_sizes

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

    def require_pool(self, what: str) -> Problem:
        """The problem, if it is one pool; ModelError, in the name of ``what``, if it is a Cluster."""
        if not isinstance(self.problem, Problem):
            raise ModelError(
                f"{what} needs one pool of resources (a Problem); this system is a Cluster: use stationary, "
                "transient or simulate with a cluster policy, for example PSDSF()"
            )
        return self.problem

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

    @property
    def processes(self) -> tuple[Arrivals, ...]:
        """Arrival process of each class; ModelError for a trace, which is a record and no process."""
        if isinstance(self.arrivals, JobTrace):
            raise ModelError("the arrivals of this system are a trace; use simulate")
        return self.arrivals

    def require_poisson(self, what: str, instead: str | None = "simulate") -> None:
        """Raise ModelError, in the name of ``what``, unless arrivals are Poisson; ``instead`` can do more."""
        way = f"use {instead}, or " if instead else ""
        processes = [self.arrivals] if isinstance(self.arrivals, JobTrace) else self.arrivals
        for process in processes:
            if not isinstance(process, Poisson):
                raise ModelError(
                    f"{what} needs Poisson arrivals; this system has {process!r}: {way}build the "
                    "system without arrivals",
                    argument="arrivals",
                )

    def require_exponential(self, what: str, instead: str | None = "simulate") -> None:
        """Raise ModelError, in the name of ``what``, unless sizes are exponential."""
        way = f"use {instead}, or " if instead else ""
        for k, law in enumerate(self.sizes):
            if not law.memoryless:
                raise ModelError(
                    f"{what} needs exponential sizes; those of class {self.problem.job_classes[k]!r} are "
                    f"{law!r}: {way}build the system with mean_sizes in place of sizes",
                    argument="sizes",
                    index=(k,),
                )

    def require_scale(self) -> None:
        """Raise ModelError unless products of a few rates of the chain, and their quotients, are floats."""
        for name, rates in (("arrival_rates", self.arrival_rates), ("mean_sizes", self.mean_sizes)):
            off = (rates > 0) & ((rates < SMALLEST_RATE) | (rates > LARGEST_RATE))
            if off.any():
                k = int(np.argmax(off))
                raise ModelError.of(
                    name,
                    f"must be 0 or from {SMALLEST_RATE:g} to {LARGEST_RATE:g} in a chain; got "
                    f"{rates[k]:g} at index {k} ({self.problem.job_classes[k]!r}); choose another unit of "
                    "time or of size",
                    k,
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

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: arrival rate, mean size, load, law of the sizes and arrival process."""
        import pandas as pd

        recorded = isinstance(self.arrivals, JobTrace)
        columns = {
            "arrival_rate": self.arrival_rates,
            "mean_size": self.mean_sizes,
            "load": self.loads,
            "sizes": [repr(law) for law in self.sizes],
            "arrivals": repr(self.arrivals) if recorded else [repr(process) for process in self.processes],
        }
        return pd.DataFrame(columns, index=pd.Index(self.problem.job_classes, name="job_class"))

    def _repr_html_(self) -> str:
        return notebook_html(repr(self), self.to_dataframe())

    def __repr__(self) -> str:
        loads = ", ".join(
            f"{name} {load:.4g}" for name, load in zip(self.load_names, self.relative_loads, strict=True)
        )
        parts = [f"{self.n_classes} classes", f"relative load: {loads}"]
        if not all(isinstance(law, Exponential) for law in self.sizes):
            parts.append(f"sizes: {_listed(self.sizes)}")
        if isinstance(self.arrivals, JobTrace):
            parts.append(f"arrivals: {self.arrivals!r}")
        elif not all(isinstance(process, Poisson) for process in self.arrivals):
            parts.append(f"arrivals: {_listed(self.arrivals)}")
        return f"System({'; '.join(parts)})"


def check_system(system: Any) -> System:
    """The system; refuse what is none."""
    if not isinstance(system, System):
        raise ModelError.of(
            "system", f"must be a System; got a {type(system).__name__}; build System(problem, arrival_rates)"
        )
    return system


def _checked(problem: Any) -> Problem | Cluster:
    if not isinstance(problem, (Problem, Cluster)):
        raise ModelError.of("problem", f"must be a fairness.Problem or Cluster; got {type(problem).__name__}")
    return problem


def _listed(objects: Sequence[Any]) -> str:
    """Each different one once, in the order of the classes; of many the first."""
    different = list(dict.fromkeys(map(repr, objects)))
    more = [f"... ({len(different)} different)"] if len(different) > MOST_LISTED else []
    return ", ".join(different[:MOST_LISTED] + more)
