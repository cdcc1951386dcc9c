"""Recorded jobs: when each arrived, its class and its size; from arrays or from a CSV file.

The file has a header and the columns ``arrival_time``, ``job_class`` and ``size`` (others are ignored), one
job per line, in the order of arrival. What is wrong is refused with the number of the line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import IntArray, float_array, frozen, require
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.laws import Empirical
from queueing.recorded.columns import renamed, table

__all__ = ["JobTrace", "read_trace"]

COLUMNS = ("arrival_time", "job_class", "size")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class JobTrace:
    """Jobs in the order of arrival.

    Parameters
    ----------
    problem : Problem or Cluster
        Gives the classes their names.
    arrival_times : array_like of shape (n_jobs,), time
        Finite, >= 0, not decreasing.
    job_classes : sequence of str of length n_jobs
        Names of classes of the problem.
    sizes : array_like of shape (n_jobs,), task-time
        Finite, > 0.

    Raises
    ------
    ModelError
        If lengths differ, times decrease, a class is unknown, or a time or size is out of range.

    Examples
    --------
    >>> pool = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"])
    >>> trace = JobTrace(pool, [0, 1, 4], ["A", "B", "A"], [2.0, 1.0, 4.0])
    >>> trace, trace.arrival_rates
    (JobTrace(3 jobs in 4 units of time), array([0.5 , 0.25]))
    """

    problem: Problem | Cluster
    arrival_times: FloatArray
    class_indices: IntArray
    sizes: FloatArray

    def __init__(
        self,
        problem: Problem | Cluster,
        arrival_times: ArrayLike,
        job_classes: Sequence[str],
        sizes: ArrayLike,
    ) -> None:
        times, work = float_array("arrival_times", arrival_times, 1), float_array("sizes", sizes, 1)
        names = [str(name) for name in job_classes]
        if not len(times) == len(names) == len(work):
            raise ModelError(
                "arrival_times, job_classes and sizes must have equal lengths; "
                f"got {len(times)}, {len(names)} and {len(work)}"
            )
        require("arrival_times", times, np.isfinite(times) & (times >= 0), "finite and >= 0")
        require("sizes", work, np.isfinite(work) & (work > 0), "finite and > 0")
        indices = _check(problem, times, names, lambda k, _: f"job {k} (counted from 0)")
        vars(self).update(
            problem=problem, arrival_times=frozen(times), class_indices=frozen(indices), sizes=frozen(work)
        )

    @property
    def n_jobs(self) -> int:
        """Number of jobs."""
        return len(self.sizes)

    @property
    def span(self) -> float:
        """Time from the first to the last arrival."""
        return float(self.arrival_times[-1] - self.arrival_times[0])

    @property
    def arrival_rates(self) -> FloatArray:
        """Jobs of each class over the span, (n_classes,), jobs per unit of time."""
        return np.bincount(self.class_indices, minlength=self.problem.n_classes) / self.span

    @property
    def variation(self) -> tuple[FloatArray, FloatArray]:
        """Squared coefficients of variation of sizes and of times between arrivals, each (n_classes,)."""
        own = [self.class_indices == i for i in range(self.problem.n_classes)]
        sizes = [self.sizes[mine] for mine in own]
        gaps = [np.diff(self.arrival_times[mine]) for mine in own]
        return _scv(sizes), _scv(gaps)

    def size_law(self, job_class: str) -> Empirical:
        """Sizes of a class, as a law to draw from."""
        if job_class not in self.problem.job_classes:
            raise ModelError(f"job_class {job_class!r} is unknown; choose from {_listed(self.problem)}")
        return Empirical(self.sizes[self.class_indices == self.problem.job_classes.index(job_class)])

    def __repr__(self) -> str:
        return f"JobTrace({self.n_jobs} jobs in {self.span:g} units of time)"


def read_trace(
    path: str | PathLike[str],
    problem: Problem | Cluster,
    *,
    longest_gap: float = math.inf,
    columns: Mapping[str, str] | None = None,
) -> JobTrace:
    """Read a trace from a CSV file with columns arrival_time, job_class and size.

    Parameters
    ----------
    path : path
        File with a header line.
    problem : Problem or Cluster
        Names the classes.
    longest_gap : float, time
        Longest time without arrivals that is taken for silence and not for a hole in the record.
    columns : mapping, optional
        What the file calls its columns, where it is not so: ``{"arrival_time": "submit"}``.

    Returns
    -------
    JobTrace
        Jobs in the order of the file.

    Raises
    ------
    ModelError
        If the file cannot be read or lacks a column; with the number of the first bad line if a value is
        missing or is no number, times decrease or leave a longer gap, a class is unknown, or a size is not
        positive.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "jobs.csv")
    >>> _ = file.write_text("arrival_time,job_class,size\\n0,A,2\\n3,B,1\\n")
    >>> read_trace(file, Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"]))
    JobTrace(2 jobs in 3 units of time)
    >>> folder.cleanup()
    """
    if not longest_gap > 0:
        raise ModelError.of("longest_gap", f"must be a length of time > 0; got {longest_gap!r}")
    called = renamed(COLUMNS, columns)
    rows = table(path, [called["arrival_time"], called["size"]], [called["job_class"]])
    times = rows.numbers(called["arrival_time"], least=0)
    sizes = rows.numbers(called["size"], above=0)
    names = rows.texts(called["job_class"]).tolist()

    def where(k: int, column: str) -> str:
        return f"{path}, line {rows.lines[k]}, {called[column]}"

    _check(problem, times, names, where)
    gaps = np.flatnonzero(np.diff(times) > longest_gap)
    if len(gaps):
        k = int(gaps[0]) + 1
        raise ModelError(
            f"{where(k, 'arrival_time')}: no arrival for {times[k] - times[k - 1]:g} units of time, more "
            f"than longest_gap={longest_gap:g}; cut the trace there"
        )
    return JobTrace(problem, times, names, sizes)


def _check(
    problem: Problem | Cluster, times: FloatArray, names: Sequence[str], where: Callable[[int, str], str]
) -> IntArray:
    """Indices of the classes, (n_jobs,), once names and the order of the times have been checked."""
    if not np.diff(times).any():
        told = f"{where(len(times) - 1, 'arrival_time')}: " * bool(len(times))
        raise ModelError(f"{told}a trace must hold two jobs that arrive at different times, to have a rate")
    back = np.flatnonzero(np.diff(times) < 0)
    if len(back):
        k = int(back[0]) + 1
        raise ModelError(
            f"{where(k, 'arrival_time')}: arrives at {times[k]:g}, before the job above it at "
            f"{times[k - 1]:g}; sort the trace by arrival time"
        )
    known = {name: i for i, name in enumerate(problem.job_classes)}
    indices = np.array([known.get(name, -1) for name in names], dtype=np.int64)
    if (indices < 0).any():
        k = int(np.argmax(indices < 0))
        raise ModelError(
            f"{where(k, 'job_class')}: unknown class {names[k]!r}; choose from {_listed(problem)}"
        )
    return indices


def _scv(groups: Sequence[FloatArray]) -> FloatArray:
    """Squared coefficients of variation; 1 where there is nothing to tell it from."""
    return np.array([g.var() / g.mean() ** 2 if len(g) > 1 and g.any() else 1.0 for g in groups])


def _listed(problem: Problem | Cluster) -> str:
    return ", ".join(map(repr, problem.job_classes))
