"""The record of one run of whole tasks: every arrival, every start and end of a task, every departure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairness.arguments.validation import Entropy, IntArray, Seed, require_choice, require_number
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.display.wording import rough
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from queueing.model.system import System
from queueing.pictures.durations import LAWS, draw_law, dress
from queueing.simulation.replications import spawn_streams
from queueing.simulation.tasks import state as at
from queueing.simulation.tasks.options import Tasks
from queueing.simulation.tasks.runs import TaskRun, TaskRuns
from queueing.simulation.tasks.schedulers import Scheduler

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["TaskTrace", "task_trace"]

PATHS = {"jobs": "jobs present", "running": "tasks running", "utilization": "part in use"}
"""What is drawn over time, and the words beside its axis."""


@dataclass(frozen=True, eq=False, repr=False)
class TaskTrace(Result):
    """Everything that happened in a short run; made by :func:`task_trace`.

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
        Class and number of tasks of each job, in the order of arrival; of a job with several task types, the
        first of its types and the number of all tasks.
    job_arrivals, job_departures : ndarray of shape (n_jobs,)
        NaN for a job still present at the horizon.
    task_jobs : ndarray of shape (n_tasks,)
        Job of each task, in the order of start.
    task_starts, task_ends : ndarray of shape (n_tasks,)
        The end of a task that runs at the horizon lies beyond it.
    job_servers : ndarray of shape (n_jobs,)
        Server to which a job was bound on arrival; -1 if its tasks are placed one by one.
    task_classes, task_servers : ndarray of shape (n_tasks,)
        Class (type) of each task and the server where it runs.
    held : ndarray of shape (n_classes, n_servers, n_resources)
        Units of each resource that a task holds on a server; 0 where it never runs.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does.
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
    job_servers: IntArray
    task_classes: IntArray
    task_servers: IntArray
    held: FloatArray
    entropy: Entropy | None

    @cached_property
    def placement(self) -> IntArray:
        """Tasks per class and server at each time, (n_events + 1, n_classes, n_servers).

        Of events at the same instant each entry shows the state after the last one.
        """
        n, servers, _ = self.held.shape
        placement = np.empty((len(self.times), n, servers), np.int64)
        for k in range(n):
            for server in range(servers):
                mine = (self.task_classes == k) & (self.task_servers == server)
                started = np.searchsorted(np.sort(self.task_starts[mine]), self.times, side="right")
                ended = np.searchsorted(np.sort(self.task_ends[mine]), self.times, side="right")
                placement[:, k, server] = started - ended
        return placement

    @cached_property
    def server_usage(self) -> FloatArray:
        """Units in use on each server at each time, (n_events + 1, n_servers, n_resources)."""
        usage: FloatArray = np.einsum("ens,nsr->esr", self.placement, self.held)
        return usage

    @cached_property
    def usage(self) -> FloatArray:
        """Units of each resource in use from each time to the next, (n_events + 1, n_resources)."""
        if self.held.shape[1] > 1:
            return self.server_usage.sum(axis=1)
        usage: FloatArray = self.running @ self.held[:, 0]
        return usage

    @cached_property
    def utilization(self) -> FloatArray:
        """Part of each resource in use from each time to the next, (n_events + 1, n_resources)."""
        problem = self.system.problem
        capacities = problem.total_capacities if self.system.is_cluster else problem.capacities
        some = np.broadcast_to(capacities > 0, self.usage.shape)
        return np.divide(self.usage, capacities, out=np.zeros(self.usage.shape), where=some)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per task by start: job, class, arrival of the job, start, end, server if any."""
        import pandas as pd

        problem = self.system.problem
        names = np.array(problem.job_classes, dtype=object)
        columns = {
            "job": self.task_jobs,
            "job_class": names[self.task_classes],
            "job_arrival": self.job_arrivals[self.task_jobs],
            "start": self.task_starts,
            "end": self.task_ends,
        }
        if self.system.is_cluster:
            columns["server"] = np.array(problem.servers, dtype=object)[self.task_servers]
        return pd.DataFrame(columns)

    def plot(self, ax: Axes | None = None, what: str = "jobs") -> Axes:
        """Draw the run over time, or the law of its durations.

        Parameters
        ----------
        ax : Axes, optional
        what : {"jobs", "running", "utilization", "cdf", "survival"}
            Jobs present or tasks running of each class, or the part of each resource in use, as steps over
            time; or the law of the durations of each class. A job that is still present at the horizon
            counts as one that takes longer, by the estimate of Kaplan and Meier (1958).
        """
        require_choice("what", what, (*PATHS, *LAWS))
        ax = given_axes(ax)
        if what in LAWS:
            return self._plot_durations(ax, what)
        problem = self.system.problem
        names = problem.resources if what == "utilization" else problem.job_classes
        for k, (name, path) in enumerate(zip(names, getattr(self, what).T, strict=True)):
            ax.step(self.times, path, where="post", label=label(name), **part_line(k))
        ax.set(xlabel="time", ylabel=PATHS[what], title=self.scheduler)
        legend_beside(ax)
        return ax

    def _plot_durations(self, ax: Axes, what: str) -> Axes:
        from scipy.stats import CensoredData, ecdf

        present = np.isnan(self.job_departures)
        lasted = np.where(present, self.horizon, self.job_departures) - self.job_arrivals
        for k, name in enumerate(self.system.problem.job_classes):
            mine = self.job_classes == k
            if mine.any():
                law = ecdf(CensoredData.right_censored(lasted[mine], present[mine])).cdf
                times, values = np.append(0.0, law.quantiles), np.append(0.0, law.probabilities)
                words = f"{label(name)}: {mine.sum()} jobs,\n{present[mine].sum()} still present"
                draw_law(ax, what, times, values, steps=True, label=words, **part_line(k))
        dress(ax, what, self.scheduler)
        return ax

    def summary(self) -> str:
        """What was recorded, and for how long."""
        return (
            f"TaskTrace({self.scheduler}; {len(self.job_arrivals)} jobs, {len(self.task_starts)} tasks "
            f"in {self.horizon:g} units of time)"
        )


def task_trace(
    system: System,
    scheduler: Scheduler,
    horizon: float,
    *,
    tasks: Tasks | None = None,
    rng: Seed = None,
) -> TaskTrace:
    """Run one system of whole tasks from empty to a horizon, and keep every event.

    The system need not be stable. With the same seed the first replication of :func:`queueing.simulate` is
    this run.

    Parameters
    ----------
    system : System
    scheduler : Scheduler
        Compiled, or written in Python (:class:`OwnScheduler`).
    horizon : float, time
        > 0; the record ends there.
    tasks, rng
        As in :func:`queueing.simulate`.

    Returns
    -------
    TaskTrace
        Every arrival, start and end of a task, and departure.

    Raises
    ------
    ModelError
        If an argument is out of range, a task never fits, or the record does not fit in memory.
    UnstableError
        If more than ``max_jobs`` jobs pile up.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing.simulation.tasks.schedulers import FIFOScheduler
    >>> system = System(Problem([[1]], [2]), arrival_rates=[1.0])
    >>> task_trace(system, FIFOScheduler(), 10.0, tasks=Tasks(per_job=2), rng=1)
    TaskTrace(FIFO; 7 jobs, 13 tasks in 10 units of time)
    """
    horizon = require_number("horizon", horizon, above=0)
    runs = TaskRuns(system, scheduler, Tasks() if tasks is None else tasks, np.inf, horizon)
    n = system.n_classes
    # A row of 1 + 2n numbers per event and of 4 per task, before any waiting job is counted.
    require_memory(
        8.0 * (5 + 2 * n) * runs.event_rate * horizon,
        f"a record of about {rough(runs.event_rate * horizon)} events",
        "reduce horizon or arrival_rates",
    )
    streams = spawn_streams(rng, 1)
    run = TaskRun(runs, streams.generators[0], record=True)
    run.go(np.iinfo(np.int64).max, horizon)
    counters, log = run.state.counters, run.log
    jobs = log.jobs[: counters[at.ARRIVED]]
    started = log.tasks[: counters[at.TASKS_STARTED]]
    path = np.vstack([np.zeros((1, 1 + 2 * n)), log.path[: counters[at.PATH]]])
    job_classes, task_classes = (
        jobs[:, at.JOB_CLASS].astype(np.int64),
        started[:, at.TASK_CLASS].astype(np.int64),
    )
    present, running = path[:, 1 : 1 + n].astype(np.int64), path[:, 1 + n :].astype(np.int64)
    present[:, runs.rows], running[:, runs.rows] = present.copy(), running.copy()
    return TaskTrace(
        system,
        scheduler.name,
        horizon,
        times=path[:, 0].copy(),
        jobs=present,
        running=running,
        job_classes=runs.job_rows[job_classes],
        job_tasks=jobs[:, 1].astype(np.int64),
        job_arrivals=jobs[:, 2].copy(),
        job_departures=jobs[:, 3].copy(),
        task_jobs=started[:, 0].astype(np.int64),
        task_starts=started[:, 2].copy(),
        task_ends=started[:, 3].copy(),
        job_servers=jobs[:, at.JOB_SERVER].astype(np.int64),
        task_classes=runs.rows[task_classes],
        task_servers=started[:, at.TASK_SERVER].astype(np.int64),
        held=runs.held,
        entropy=streams.entropy,
    )
