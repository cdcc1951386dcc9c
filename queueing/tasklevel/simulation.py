r"""Task-level simulation: jobs made of whole tasks, served by "serving the most deprived job".

A job of class :math:`i` arrives with :math:`K` tasks. They all wait at the job; a task that starts holds its
demand :math:`a_{ij}` of every resource until it ends; the job leaves with its last task. A scheduler
(:mod:`queueing.tasklevel.schedulers`) says whose task starts when capacity is free. The example of the
talk [1]_ has 16 cores and 16 GB shared by tasks of (4 cores, 1 GB) and (1 core, 4 GB).

What is measured, per class :math:`i`, after a warm-up:

* the mean number of jobs present, a time average;
* the mean duration of a job, averaged over the jobs that leave (so Little's law is a check, not an input);
* the mean service rate: time average of the running tasks over time average of the jobs, the mean number of
  tasks of an active job; in the long run this is mean size / mean duration.

The talk leaves open the laws of the number of tasks and of their durations, and the length of its
runs; they are parameters here, by default geometric with mean 100, exponential, and 10 replications of
1,000,000 events (arrivals of jobs and completions of tasks).

With whole tasks the loads that can be carried are those inside the convex hull of the feasible whole
mixes, (4, 0), (3, 3), (0, 4) in the example, and blocking carries less still: load below capacity is
necessary but not sufficient. A run that piles up more than ``max_jobs`` jobs raises UnstableError.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairness.errors import ModelError
from fairness.problem import FloatArray
from fairness.validation import require_memory
from queueing.replications import (
    Estimate,
    EstimatedMeans,
    RunLength,
    Seed,
    estimate_ratio,
    estimates_lines,
    replicate,
    spawn_streams,
)
from queueing.system import System
from queueing.tasklevel.dispatch import ARRIVED, PATH, TASKS_STARTED
from queueing.tasklevel.events import DEPARTURES, DURATION, JOB_TIME, TASK_TIME
from queueing.tasklevel.runs import TaskRuns
from queueing.tasklevel.schedulers import IntArray, Scheduler
from queueing.tasklevel.workload import TaskLaw

__all__ = ["TaskSimulation", "TaskTrace", "simulate_tasks", "trace"]


@dataclass(frozen=True, eq=False, repr=False)
class TaskSimulation(EstimatedMeans):
    """Estimates from independent task-level replications; made by :func:`simulate_tasks`.

    Attributes
    ----------
    system : System
    scheduler : str
        Name of the scheduler.
    estimates : dict of str to Estimate
        "mean_jobs", "mean_durations" and "service_rates", each of shape (n_classes,) with half-widths and
        the values of the replications; NaN for classes without arrivals.
    utilization_estimate : Estimate of shape (n_resources,)
        Time average of usage over capacity.
    confidence : float
        Level of the intervals.
    replications : int
    events : int
        Events measured, all replications together, warm-up left out.
    departures : ndarray of shape (n_classes,)
        Jobs whose durations were measured.
    time : float
        Time simulated in these events.
    entropy : int or sequence of int
        Entropy of the seed.
    """

    system: System
    scheduler: str
    estimates: dict[str, Estimate]
    utilization_estimate: Estimate
    confidence: float
    replications: int
    events: int
    departures: IntArray
    time: float
    entropy: Any

    @property
    def utilization(self) -> FloatArray:
        """Time average of usage over capacity, (n_resources,)."""
        return self.utilization_estimate.value

    def summary(self) -> str:
        """Estimates with their intervals, utilisation, and the effort behind them."""
        problem = self.system.problem
        used = zip(problem.resources, self.utilization, self.utilization_estimate.half_width, strict=True)
        lines = [
            f"{self.scheduler}, task by task: {self.replications} replications, {self.events:,} events in "
            f"{self.time:.4g} units of time, {self.confidence:.0%} intervals",
            *estimates_lines(self.estimates, problem.job_classes),
            "  in use: " + ", ".join(f"{name} {u:.2%} +- {h:.2%}" for name, u, h in used),
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()


@dataclass(frozen=True, eq=False, repr=False)
class TaskTrace:
    """Everything that happened in a short run; made by :func:`trace`.

    Attributes
    ----------
    system : System
    scheduler : str
    horizon : float
        Length of the run, from an empty system at time 0.
    times : ndarray of shape (n_events + 1,)
        0 and the times of the events.
    jobs, running : ndarray of shape (n_events + 1, n_classes)
        Jobs present and tasks running from each time to the next.
    job_classes, job_tasks : ndarray of shape (n_jobs,)
        Class and number of tasks of each job, in the order of arrival.
    job_arrivals, job_departures : ndarray of shape (n_jobs,)
        NaN for a job still present at the horizon.
    task_jobs : ndarray of shape (n_tasks,)
        Job of each task, in the order of start.
    task_starts, task_ends : ndarray of shape (n_tasks,)
        The end of a task that runs at the horizon lies beyond it.
    """

    system: System
    scheduler: str
    horizon: float
    times: FloatArray
    jobs: IntArray
    running: IntArray
    job_classes: IntArray
    job_tasks: IntArray
    job_arrivals: FloatArray
    job_departures: FloatArray
    task_jobs: IntArray
    task_starts: FloatArray
    task_ends: FloatArray

    @cached_property
    def usage(self) -> FloatArray:
        """Units of each resource in use from each time to the next, (n_events + 1, n_resources)."""
        usage: FloatArray = self.running @ self.system.problem.demands
        return usage

    def to_dataframe(self) -> pd.DataFrame:
        """One row per task in the order of start: job, class, arrival of the job, start, end."""
        names = np.array(self.system.problem.job_classes, dtype=object)
        return pd.DataFrame(
            {
                "job": self.task_jobs,
                "job_class": names[self.job_classes[self.task_jobs]],
                "job_arrival": self.job_arrivals[self.task_jobs],
                "start": self.task_starts,
                "end": self.task_ends,
            }
        )

    def __repr__(self) -> str:
        return (
            f"TaskTrace({self.scheduler}; {len(self.job_arrivals)} jobs, {len(self.task_starts)} tasks "
            f"in {self.horizon:g} units of time)"
        )


def simulate_tasks(
    system: System,
    scheduler: Scheduler,
    *,
    tasks_per_job: TaskLaw | ArrayLike = 100.0,
    task_times: str = "exponential",
    events: int = 1_000_000,
    warmup: float = 0.1,
    replications: int = 10,
    confidence: float = 0.95,
    rng: Seed = None,
    n_jobs: int = 1,
    max_jobs: int = 100_000,
) -> TaskSimulation:
    """Simulate whole tasks under a scheduler, and estimate means with confidence intervals.

    Parameters
    ----------
    system : System
        ``mean_sizes`` are mean task-times per job; a task lasts mean size / mean number of tasks on average.
    scheduler : Scheduler
        ``DRFScheduler()``, ``BMFScheduler()``, ``PFScheduler()``, ``FIFOScheduler()`` or
        ``TargetScheduler(policy)``.
    tasks_per_job : TaskLaw or float or sequence of float
        ``GeometricTasks``, ``FixedTasks`` or ``TabulatedTasks``; a number is the mean of a geometric law.
    task_times : {"exponential", "deterministic"}
        Law of the duration of a task.
    events : int
        Arrivals of jobs and completions of tasks per replication, warm-up included.
    warmup : float
        Part of the events, in [0, 1), left out at the beginning of each replication.
    replications : int
        Independent replications, >= 2.
    confidence : float
        Level of the intervals (Student's law over the replications).
    rng : numpy Generator or seed
        Each replication has its own streams, spawned from this one. The same seed gives the same jobs,
        arrival times and task durations under every scheduler (common random numbers).
    n_jobs : int
        Replications run at the same time (joblib). The result does not depend on it.
    max_jobs : int
        Jobs present beyond which the system counts as unstable.

    Returns
    -------
    TaskSimulation

    Raises
    ------
    ModelError
        If an argument is out of range, a task never fits, or no job of a class leaves while measured.
    UnstableError
        If a resource is offered more than it can carry, or more than ``max_jobs`` jobs pile up.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing.tasklevel.schedulers import DRFScheduler
    >>> pool = Problem([[4, 1], [1, 4]], [16, 16], resources=["cores", "GB"])
    >>> system = System.with_load(pool, mix=[1, 1], load=0.5)
    >>> result = simulate_tasks(system, DRFScheduler(), events=100_000, rng=1)
    >>> result.utilization.round(1)
    array([0.5, 0.5])
    """
    length = RunLength(events, warmup, replications, confidence)
    runs = TaskRuns(system, scheduler, tasks_per_job, task_times, max_jobs)
    system.require_stable()
    streams = spawn_streams(rng, replications)

    def replication(generator: np.random.Generator) -> FloatArray:
        run = runs.new(generator)
        run.go(length.warmup_events, np.inf)
        begin = run.now
        run.totals[:] = 0.0
        run.go(length.measured_events, np.inf)
        return np.vstack([run.totals, np.full(system.n_classes, run.now - begin)])

    totals = np.stack(replicate(replication, streams, n_jobs))
    live = system.arrival_rates > 0
    departures = totals[:, DEPARTURES].sum(axis=0)
    for i in np.flatnonzero(live & (departures == 0)):
        raise ModelError(
            f"no job of class {system.problem.job_classes[i]!r} left during the measured events; "
            "give more events"
        )
    time = totals[:, -1]
    # Classes without arrivals have no durations: NaN, as in System.mean_durations.
    jobs = np.where(live, totals[:, JOB_TIME], np.nan)
    estimates = {
        "mean_jobs": estimate_ratio(totals[:, JOB_TIME], time, confidence),
        "mean_durations": estimate_ratio(totals[:, DURATION], totals[:, DEPARTURES], confidence),
        "service_rates": estimate_ratio(totals[:, TASK_TIME], jobs, confidence),
    }
    used = totals[:, TASK_TIME] @ system.problem.task_shares
    return TaskSimulation(
        system,
        scheduler.name,
        estimates,
        estimate_ratio(used, time[:, :1], confidence),
        confidence,
        replications,
        replications * length.measured_events,
        departures.astype(np.int64),
        float(time[:, 0].sum()),
        streams.entropy,
    )


def trace(
    system: System,
    scheduler: Scheduler,
    horizon: float,
    *,
    tasks_per_job: TaskLaw | ArrayLike = 100.0,
    task_times: str = "exponential",
    rng: Seed = None,
    max_jobs: int = 100_000,
) -> TaskTrace:
    """Run one system of whole tasks from empty to a horizon, and keep every event.

    The system need not be stable. The other arguments are those of :func:`simulate_tasks`; with the same
    seed its first replication is this run.

    Raises
    ------
    ModelError
        If an argument is out of range, a task never fits, or the record does not fit in memory.
    UnstableError
        If more than ``max_jobs`` jobs pile up.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing.tasklevel.schedulers import FIFOScheduler
    >>> system = System(Problem([[1]], [2]), arrival_rates=[1.0])
    >>> trace(system, FIFOScheduler(), 10.0, tasks_per_job=2, rng=1)
    TaskTrace(FIFO; 7 jobs, 13 tasks in 10 units of time)
    """
    if not (isinstance(horizon, numbers.Real) and math.isfinite(horizon) and horizon > 0):
        raise ModelError(f"horizon must be a positive, finite length of time; got {horizon!r}")
    runs = TaskRuns(system, scheduler, tasks_per_job, task_times, max_jobs)
    n = system.n_classes
    # A row of 1 + 2n numbers per event and of 4 per task, before any waiting job is counted.
    require_memory(
        8.0 * (5 + 2 * n) * runs.event_rate * float(horizon),
        f"a record of about {runs.event_rate * float(horizon):.3g} events",
        "reduce horizon or arrival_rates",
    )
    run = runs.new(spawn_streams(rng, 1).generators[0], record=True)
    run.go(np.iinfo(np.int64).max, float(horizon))
    counters, log = run.state.counters, run.log
    jobs = log.jobs[: counters[ARRIVED]]
    tasks = log.tasks[: counters[TASKS_STARTED]]
    path = np.vstack([np.zeros((1, 1 + 2 * n)), log.path[: counters[PATH]]])
    return TaskTrace(
        system,
        scheduler.name,
        float(horizon),
        times=path[:, 0].copy(),
        jobs=path[:, 1 : 1 + n].astype(np.int64),
        running=path[:, 1 + n :].astype(np.int64),
        job_classes=jobs[:, 0].astype(np.int64),
        job_tasks=jobs[:, 1].astype(np.int64),
        job_arrivals=jobs[:, 2].copy(),
        job_departures=jobs[:, 3].copy(),
        task_jobs=tasks[:, 0].astype(np.int64),
        task_starts=tasks[:, 2].copy(),
        task_ends=tasks[:, 3].copy(),
    )
