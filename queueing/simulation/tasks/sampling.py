r"""Task-level simulation: jobs made of whole tasks, served by "serving the most deprived job".

A job of class :math:`i` arrives with :math:`K` tasks. They all wait at the job; a task that starts holds its
demand :math:`a_{ij}` of every resource until it ends; the job leaves with its last task. A scheduler
(:mod:`queueing.simulation.tasks.schedulers`) says whose task starts when capacity is free. The example
of the talk [1]_ has 16 cores and 16 GB shared by tasks of (4 cores, 1 GB) and (1 core, 4 GB).

What is measured, per class :math:`i`, after a warm-up, which begins in the empty system:

* the mean number of jobs present, a time average;
* the mean duration of a job, averaged over the jobs that leave (so Little's law is a check, not an input);
* the mean service rate: time average of the running tasks over time average of the jobs, the mean number of
  tasks of an active job; in the long run this is mean size / mean duration.

The talk leaves open the laws of the number of tasks and of their durations, and the length of its
runs; they are parameters here, by default geometric with mean 100, exponential, and 10 replications of
1,000,000 events (arrivals of jobs and completions of tasks).

On a cluster every task runs on one server, chosen by a placement rule
(:mod:`queueing.simulation.tasks.placement`); with
:class:`queueing.simulation.tasks.options.TaskTypes` several classes are the types of the tasks of
one job.

With whole tasks the loads that can be carried are those inside the convex hull of the feasible whole
mixes, (4, 0), (3, 3), (0, 4) in the example, and blocking carries less still: load below capacity is
necessary but not sufficient. A run that piles up more than ``max_jobs`` jobs raises UnstableError.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from fairness.arguments.validation import Entropy
from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.model.system import System
from queueing.simulation.replications import Estimate, RunLength, estimate_ratio, skewness, withheld
from queueing.simulation.results import ServerEvidence, TaskSimulation
from queueing.simulation.run_length_checks import Measured, Memory, run_warnings
from queueing.simulation.sampling import Level, Pace
from queueing.simulation.tasks.events import DEPARTURES, DURATION, JOB_TIME, TASK_TIME
from queueing.simulation.tasks.options import Tasks
from queueing.simulation.tasks.runs import TaskRun, TaskRuns
from queueing.simulation.tasks.schedulers import Scheduler
from queueing.simulation.tasks.state import FRAGMENTED, WAITED

__all__ = ["TaskLevel"]


TIME = -1
"""Row of the time, below those of the kernel."""


class Sample(NamedTuple):
    """What a replication measures."""

    totals: FloatArray  # (5, n_classes): those of the kernel, and the time
    parts: FloatArray  # (2 + parts, 5, n_classes): the same of both halves of the warm-up, and of the parts
    placed: FloatArray  # (n_classes, n_servers) time integrals of the tasks
    lost: FloatArray  # (2,) time fragmented, and time with a job waiting
    decisions: int  # of a scheduler in Python


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Options of ``simulate`` for whole tasks."""

    events: int = 1_000_000
    tasks: Tasks = field(default_factory=Tasks)


class TaskLevel(Level[Sample]):
    """Whole tasks of a system under a scheduler."""

    kind, options = "tasks", TaskOptions

    def __init__(self, system: System, scheduler: Scheduler, length: RunLength, options: TaskOptions) -> None:
        self.system, self.length, self.effort = system, length, float(length.events)
        system.require_stable()
        self.runs = runs = TaskRuns(system, scheduler, options.tasks, self.effort * length.replications)
        self.name = runs.name

    def sample(self, generator: np.random.Generator, pace: Pace) -> Sample:
        """One replication."""
        runs = self.runs
        run = TaskRun(runs, generator)
        pieces = []
        for k, budget in enumerate(self.length.pieces):
            if k == 2:
                # The warm-up, in two pieces, is over.
                run.forget()
            begin, before = run.now, run.totals.copy()
            pace.through(budget, run.go)
            run.count()
            pieces.append(np.vstack([run.totals - before, np.full(runs.system.n_classes, run.now - begin)]))
        parts = np.array(pieces)
        totals = np.vstack([run.totals, np.full(runs.system.n_classes, parts[2:, TIME, 0].sum())])
        # From the order of the types to that of the classes.
        totals[:, runs.rows], parts[..., runs.rows] = totals.copy(), parts.copy()
        placed, lost = np.zeros((runs.system.n_classes, runs.n_servers)), np.zeros(2)
        if run.places is not None:
            placed[runs.rows], lost = run.places.placed, run.places.lost
        decisions = 0 if run.decider is None else run.decider.made
        return Sample(totals, parts, placed, lost, decisions)

    def result(self, samples: Sequence[Sample], entropy: Entropy | None) -> TaskSimulation:
        """What finished replications estimate."""
        runs, confidence = self.runs, self.length.confidence
        system = runs.system
        totals, parts, placed, lost, decisions = (np.stack(arrays) for arrays in zip(*samples, strict=True))
        live = system.arrival_rates > 0
        departures = totals[:, DEPARTURES].sum(axis=0)
        for i in np.flatnonzero(live & (departures == 0)):
            raise ModelError(
                f"no job of class {system.problem.job_classes[i]!r} left during the measured events; "
                "give more events"
            )
        time = totals[:, TIME]
        # Classes without arrivals have no durations: NaN, as in System.mean_durations.
        jobs = np.where(live, totals[:, JOB_TIME], np.nan)

        def estimate(top: int, bottom: int, over: FloatArray) -> Estimate:
            skew = skewness(parts[:, 2:, top], parts[:, 2:, bottom])
            return estimate_ratio(totals[:, top], over, confidence, skew)

        estimates = {
            "mean_jobs": estimate(JOB_TIME, TIME, time),
            "mean_durations": estimate(DURATION, DEPARTURES, totals[:, DEPARTURES]),
            "service_rates": estimate(TASK_TIME, JOB_TIME, jobs),
        }
        present = np.concatenate([parts[:, :, JOB_TIME], parts[:, :, TIME, :1]], axis=2)
        measured = Measured.of_runs(present, estimates["mean_jobs"].value, np.zeros(system.n_classes))
        warnings = run_warnings(Memory.of(system, alone_times=runs.alone_times), measured)
        servers = None
        if not runs.on_servers:
            used = totals[:, TASK_TIME] @ system.problem.task_shares
        else:
            units = runs.usage(placed)
            by_server = {
                "utilization": estimate_ratio(units, time[:, :1, None] * runs.capacities, confidence),
                "waiting": estimate_ratio(lost[:, WAITED, None], time[:, :1], confidence),
                "fragmented": estimate_ratio(lost[:, FRAGMENTED, None], time[:, :1], confidence),
            }
            servers = ServerEvidence(
                runs.placement.name,
                runs.servers,
                system.problem.resources,
                **(withheld(by_server) if warnings else by_server),
            )
            used = units.sum(axis=1) / runs.capacities.sum(axis=0)
        utilization = estimate_ratio(used, time[:, :1], confidence)
        return self.told(
            TaskSimulation,
            estimates,
            warnings,
            replications=len(samples),
            events=len(samples) * self.length.measured_events,
            time=float(time[:, 0].sum()),
            entropy=entropy,
            table_shape=None,
            utilization_estimate=replace(utilization, sound=not warnings),
            jobs=departures.astype(np.int64),
            servers=servers,
            decisions=int(decisions.sum()),
        )
