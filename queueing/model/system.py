r"""A pool, or a cluster of servers, under random traffic.

Jobs of class :math:`i` arrive at rate :math:`\lambda_i` with mean size :math:`\sigma_i`. The size of a
job is the time it would take to run its tasks one after the other (task-time). With
:math:`\varphi_i(x)` tasks of class :math:`i` running in state :math:`x`, each of the :math:`x_i` jobs of the
class works off its size at rate :math:`\varphi_i(x)/x_i`: if sizes are exponential, jobs of the class leave
at rate :math:`\varphi_i(x)/\sigma_i`. Sizes have a law per class (:mod:`queueing.model.laws`) and arrivals a
process per class (:mod:`queueing.model.arrivals`), or both are recorded. On a cluster :math:`\varphi_i(x)`
counts the tasks of the class on all servers together. What needs no laws and no processes, the loads and
Little's law, stands in :mod:`queueing.model.class_loads`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import frozen, require_number
from fairness.display.notebook import notebook_html
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.csv_tables import traffic_table
from fairness.model.problem import FloatArray, Problem
from queueing.model.arrivals import Arrivals, Poisson
from queueing.model.class_arguments import (
    arrival_processes,
    class_vector,
    exact_rates,
    rational_vector,
    size_laws,
)
from queueing.model.class_loads import ClassLoads
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
class System(ClassLoads):
    """A problem with the jobs that arrive: rates, laws of sizes, arrival processes.

    Labels of rates and sizes (a Series) are the job classes, in any order: see
    :mod:`fairness.arguments.labels`.

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
            if not arrivals.problem.same(problem) or (rates != arrivals.arrival_rates).any():
                raise ModelError(
                    "arrivals is a trace, which has its own problem and arrival rates; give them by "
                    "System.from_trace(trace), or leave out arrivals for Poisson ones at other rates",
                    argument="arrivals",
                )
        else:
            arrivals = arrival_processes(problem, arrivals)
        exact_sizes = None if sizes is not None else rational_vector("mean_sizes", mean_sizes, problem, 1)
        exact = rational_vector("arrival_rates", arrival_rates, problem), exact_sizes
        vars(self).update(
            problem=problem, arrival_rates=frozen(rates), sizes=laws, arrivals=arrivals, _source=exact
        )

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

        Of a recorded cluster, what :func:`fit_trace` estimates: classes, rates, laws and processes.

        Examples
        --------
        >>> trace = JobTrace(Problem([[1, 4], [3, 1]], [9, 18]), [0, 1, 4], ["class 1"] * 3, [2.0, 1.0, 6.0])
        >>> System.from_trace(trace).mean_sizes
        array([3., 1.])
        """
        if isinstance(trace, TraceFit):
            return cls(trace.problem, trace.arrival_rates, sizes=trace.sizes, arrivals=trace.arrivals)
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

    @property
    def processes(self) -> tuple[Arrivals, ...]:
        """Arrival process of each class; ModelError for a trace, which is a record and no process."""
        if isinstance(self.arrivals, JobTrace):
            raise ModelError("the arrivals of this system are a trace; use simulate")
        return self.arrivals

    @property
    def is_poisson(self) -> bool:
        """Whether jobs of every class arrive by Poisson processes."""
        recorded = isinstance(self.arrivals, JobTrace)
        return not recorded and all(isinstance(process, Poisson) for process in self.processes)

    @property
    def is_markovian(self) -> bool:
        """Whether the counts of jobs alone are a Markov chain: Poisson arrivals, exponential sizes."""
        return self.is_poisson and self.is_memoryless()

    def is_memoryless(self, present: ArrayLike = 0.0) -> bool:
        """Whether the sizes of all jobs that are ever met are exponential.

        Of a class without arrivals there is none, unless some are ``present``, (n_classes,), at first.
        """
        return all(law.memoryless for law, met in zip(self.sizes, self._met(present), strict=True) if met)

    def _met(self, present: ArrayLike) -> NDArray[np.bool_]:
        """Classes of which jobs are ever met."""
        return (self.arrival_rates > 0) | (np.asarray(present) > 0)

    def require_arrivals(self) -> None:
        """Raise ModelError unless some class has arrivals."""
        if not self.arrival_rates.any():
            raise ModelError.of("arrival_rates", "are all 0: nobody ever comes; set one above 0")

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

    def require_exponential(
        self, what: str, instead: str | None = "simulate", present: ArrayLike = 0.0
    ) -> None:
        """Raise ModelError, in the name of ``what``, unless sizes are exponential.

        Of those that are ever met, as :meth:`is_memoryless` has it.
        """
        way = f"use {instead}, or " if instead else ""
        for (k, law), met in zip(enumerate(self.sizes), self._met(present), strict=True):
            if met and not law.memoryless:
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
            "system",
            f"must be a System; got a {type(system).__name__}; build System(problem, arrival_rates), of a "
            "recorded cluster System.from_trace(fit_trace(trace, nodes))",
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
