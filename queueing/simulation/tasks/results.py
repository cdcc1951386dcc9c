"""What task-level runs give back: estimates from replications, and the record of one run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from fairness.arguments.validation import Entropy
from fairness.model.problem import FloatArray
from queueing.model.system import System
from queueing.simulation.replications import Estimate, EstimatedMeans, estimates_lines, warning_lines
from queueing.simulation.tasks.rules.schedulers import IntArray

__all__ = ["ServerEvidence", "TaskSimulation", "TaskTrace"]


def percentage(value: float, half_width: float) -> str:
    """Part of the whole with its interval, if there is one."""
    return f"{value:.2%}" + (f" +- {half_width:.2%}" if math.isfinite(half_width) else " (no interval)")


@dataclass(frozen=True, eq=False, repr=False)
class ServerEvidence:
    """How the servers of a cluster were used; part of a :class:`TaskSimulation`.

    Attributes
    ----------
    placement : str
        Name of the placement rule.
    servers, resources : tuple of str
    utilization : Estimate of shape (n_servers, n_resources)
        Time average of usage over capacity; 0 where the capacity is 0.
    waiting : Estimate of shape (1,)
        Part of the time in which some job had a task that it might start, but that did not.
    fragmented : Estimate of shape (1,)
        Part of the time in which the free amounts of all servers where it may run, taken together, would have
        held a task of such a job. It includes time lost by blocking and by binding jobs to servers; with a
        scheduler that does not block and tasks placed one by one it is fragmentation alone.
    """

    placement: str
    servers: tuple[str, ...]
    resources: tuple[str, ...]
    utilization: Estimate
    waiting: Estimate
    fragmented: Estimate

    def to_dataframe(self) -> pd.DataFrame:
        """Utilisation, one row per server and one column per resource."""
        return pd.DataFrame(
            self.utilization.value,
            index=pd.Index(self.servers, name="server"),
            columns=pd.Index(self.resources, name="resource"),
        )

    def summary(self) -> str:
        """Utilisation of the servers (of the extremes if there are many), waits and fragmentation."""
        used = self.utilization.value
        if len(self.servers) <= 8:
            lines = [
                f"  {name}: " + ", ".join(f"{r} {u:.2%}" for r, u in zip(self.resources, row, strict=True))
                for name, row in zip(self.servers, used, strict=True)
            ]
        else:
            lines = [
                f"  {name} in use: {column.min():.2%} to {column.max():.2%} on {len(self.servers)} servers"
                for name, column in zip(self.resources, used.T, strict=True)
            ]
        wait, lost = (percentage(e.value[0], e.half_width[0]) for e in (self.waiting, self.fragmented))
        lines.append(f"  {self.placement}: jobs wait {wait} of the time, {lost} with enough free in all")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()


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
        the values of the replications; NaN for classes without arrivals. Of jobs with several task types,
        jobs and durations are those of the whole job, the same for each type; service rates are running tasks
        of the type.
    utilization_estimate : Estimate of shape (n_resources,)
        Time average of usage over capacity, of all servers together.
    confidence : float
        Level of the intervals.
    replications : int
    events : int
        Events measured, all replications together, warm-up left out.
    departures : ndarray of shape (n_classes,)
        Jobs whose durations were measured.
    time : float
        Time simulated in these events.
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does.
    warnings : tuple of str
        Why the run is too short for intervals (:mod:`queueing.simulation.soundness`): half-widths are
        infinite then.
    servers : ServerEvidence or None
        Of a cluster, or where a placement rule was given: utilisation of each server, fragmentation.
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
    entropy: Entropy | None
    warnings: tuple[str, ...]
    servers: ServerEvidence | None = None

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
            "  in use: " + ", ".join(f"{name} {percentage(u, h)}" for name, u, h in used),
        ]
        if self.servers is not None:
            lines.append(self.servers.summary())
        lines += warning_lines(self.warnings)
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

    def to_dataframe(self) -> pd.DataFrame:
        """One row per task by start: job, class, arrival of the job, start, end, server if any."""
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

    def __repr__(self) -> str:
        return (
            f"TaskTrace({self.scheduler}; {len(self.job_arrivals)} jobs, {len(self.task_starts)} tasks "
            f"in {self.horizon:g} units of time)"
        )
