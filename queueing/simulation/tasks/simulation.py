r"""Task-level simulation: jobs made of whole tasks, served by "serving the most deprived job".

A job of class :math:`i` arrives with :math:`K` tasks. They all wait at the job; a task that starts holds its
demand :math:`a_{ij}` of every resource until it ends; the job leaves with its last task. A scheduler
(:mod:`queueing.simulation.tasks.rules.schedulers`) says whose task starts when capacity is free. The example
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
(:mod:`queueing.simulation.tasks.rules.placement`); with
:class:`queueing.simulation.tasks.rules.task_types.TaskTypes` several classes are the types of the tasks of
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

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import Seed, require_number
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from queueing.model.system import System
from queueing.simulation.replications import (
    RunLength,
    estimate_ratio,
    replicate,
    spawn_streams,
    withheld,
)
from queueing.simulation.soundness import Measured, Memory, run_warnings
from queueing.simulation.tasks.engine.events import DEPARTURES, DURATION, JOB_TIME, TASK_TIME
from queueing.simulation.tasks.engine.preparation import TaskRuns
from queueing.simulation.tasks.engine.runs import TaskRun
from queueing.simulation.tasks.engine.state import (
    ARRIVED,
    FRAGMENTED,
    JOB_CLASS,
    JOB_SERVER,
    PATH,
    TASK_CLASS,
    TASK_SERVER,
    TASKS_STARTED,
    WAITED,
)
from queueing.simulation.tasks.results import ServerEvidence, TaskSimulation, TaskTrace
from queueing.simulation.tasks.rules.placement import Placement
from queueing.simulation.tasks.rules.schedulers import Scheduler
from queueing.simulation.tasks.rules.task_types import TaskTypes
from queueing.simulation.tasks.rules.workload import TaskLaw

__all__ = ["simulate_tasks", "trace"]


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
    placement: Placement | None = None,
    task_types: TaskTypes | None = None,
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
    placement : Placement, optional
        On which server of a cluster a task runs: ``FirstFit()``, ``BestFit()`` (default), ``WorstFit()``,
        ``RandomFit()``, ``PowerOfChoices(d)``, or ``OnArrival(rule)``, which binds jobs to servers.
    task_types : TaskTypes, optional
        Which classes are types of tasks of one job. Default: every class is a job of its own.

    Returns
    -------
    TaskSimulation
        If the run is too short for the load, its ``warnings`` say so and its intervals are infinite.

    Raises
    ------
    ModelError
        If an argument is out of range, a task never fits, the scheduler is not defined for servers or task
        types (BMF; targets for several types or bound jobs), or no job of a class leaves while measured.
    UnstableError
        If a resource is offered more than it can carry, or more than ``max_jobs`` jobs pile up.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing.simulation.tasks.rules.schedulers import DRFScheduler
    >>> pool = Problem([[4, 1], [1, 4]], [16, 16], resources=["cores", "GB"])
    >>> system = System.with_load(pool, mix=[1, 1], load=0.5)
    >>> result = simulate_tasks(system, DRFScheduler(), events=100_000, rng=1)
    >>> result.utilization.round(1)
    array([0.5, 0.5])

    The same tasks on two servers of half the size, where fewer combinations fit:

    >>> from fairness import Cluster
    >>> from queueing.simulation.tasks.rules.placement import WorstFit
    >>> halves = Cluster([[4, 1], [1, 4]], [[8, 8], [8, 8]], resources=["cores", "GB"])
    >>> system = System.with_load(halves, mix=[1, 1], load=0.5)
    >>> split = simulate_tasks(system, DRFScheduler(), placement=WorstFit(), events=100_000, rng=1)
    >>> split.servers.utilization.value.round(1)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> bool(split.mean_durations[0] > result.mean_durations[0])
    True
    """
    length = RunLength(events, warmup, replications, confidence)
    runs = TaskRuns(system, scheduler, tasks_per_job, task_times, max_jobs, placement, task_types)
    system.require_stable()
    streams = spawn_streams(rng, replications)

    def replication(generator: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        run = TaskRun(runs, generator)
        pieces = []
        for k, budget in enumerate(length.pieces):
            if k == 2:
                # The warm-up, in two pieces, is over.
                run.forget()
            begin, before = run.now, run.totals[JOB_TIME].copy()
            run.go(budget, np.inf)
            pieces.append(np.append(run.totals[JOB_TIME] - before, run.now - begin))
        parts = np.array(pieces)
        totals = np.vstack([run.totals, np.full(system.n_classes, parts[2:, -1].sum())])
        if run.places is None:
            return totals, np.zeros((system.n_classes, 1)), np.zeros(2), parts
        return totals, run.places.placed, run.places.lost, parts

    totals, placed, lost, parts = (
        np.stack(arrays) for arrays in zip(*replicate(replication, streams, n_jobs), strict=True)
    )
    servers = None
    totals[..., runs.rows], placed[:, runs.rows] = totals.copy(), placed.copy()
    parts[..., runs.rows] = parts[..., :-1].copy()
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
    warm = parts[:, 1].sum(axis=0)
    measured = Measured(
        parts[:, 2:, :-1] / parts[:, 2:, -1:],
        estimates["mean_jobs"].value,
        warm[:-1] / warm[-1] if warm[-1] > 0 else np.full(system.n_classes, np.nan),
        np.zeros(system.n_classes),
        float(time.mean()),
        float(parts[:, :2, -1].sum(axis=1).mean()),
        "more events",
    )
    warnings = run_warnings(Memory.of(system, alone_times=runs.alone_times), measured)
    if not runs.by_level:
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
    else:
        used = totals[:, TASK_TIME] @ system.problem.task_shares
    utilization = estimate_ratio(used, time[:, :1], confidence)
    return TaskSimulation(
        system,
        scheduler.name,
        withheld(estimates) if warnings else estimates,
        replace(utilization, sound=not warnings),
        confidence,
        replications,
        replications * length.measured_events,
        departures.astype(np.int64),
        float(time[:, 0].sum()),
        streams.entropy,
        warnings,
        servers,
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
    placement: Placement | None = None,
    task_types: TaskTypes | None = None,
) -> TaskTrace:
    """Run one system of whole tasks from empty to a horizon, and keep every event.

    The system need not be stable. With the same seed the first replication of :func:`simulate_tasks` is
    this run.

    Parameters
    ----------
    system : System
    scheduler : Scheduler
    horizon : float, time
        > 0; the record ends there.
    tasks_per_job, task_times, rng, max_jobs, placement, task_types
        As in :func:`simulate_tasks`.

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
    >>> from queueing.simulation.tasks.rules.schedulers import FIFOScheduler
    >>> system = System(Problem([[1]], [2]), arrival_rates=[1.0])
    >>> trace(system, FIFOScheduler(), 10.0, tasks_per_job=2, rng=1)
    TaskTrace(FIFO; 7 jobs, 13 tasks in 10 units of time)
    """
    horizon = require_number("horizon", horizon, above=0)
    runs = TaskRuns(system, scheduler, tasks_per_job, task_times, max_jobs, placement, task_types)
    n = system.n_classes
    # A row of 1 + 2n numbers per event and of 4 per task, before any waiting job is counted.
    require_memory(
        8.0 * (5 + 2 * n) * runs.event_rate * horizon,
        f"a record of about {runs.event_rate * horizon:.3g} events",
        "reduce horizon or arrival_rates",
    )
    streams = spawn_streams(rng, 1)
    run = TaskRun(runs, streams.generators[0], record=True)
    run.go(np.iinfo(np.int64).max, horizon)
    counters, log = run.state.counters, run.log
    jobs = log.jobs[: counters[ARRIVED]]
    tasks = log.tasks[: counters[TASKS_STARTED]]
    path = np.vstack([np.zeros((1, 1 + 2 * n)), log.path[: counters[PATH]]])
    job_classes, task_classes = jobs[:, JOB_CLASS].astype(np.int64), tasks[:, TASK_CLASS].astype(np.int64)
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
        task_jobs=tasks[:, 0].astype(np.int64),
        task_starts=tasks[:, 2].copy(),
        task_ends=tasks[:, 3].copy(),
        job_servers=jobs[:, JOB_SERVER].astype(np.int64),
        task_classes=runs.rows[task_classes],
        task_servers=tasks[:, TASK_SERVER].astype(np.int64),
        held=runs.held,
        entropy=streams.entropy,
    )
