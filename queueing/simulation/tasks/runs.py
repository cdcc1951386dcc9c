r"""Systems of whole tasks made ready for the kernel, with laws and rules as arrays, and single runs of them.

What a task holds: its demand or, given effective capacities gamma, its nominal share of each resource of the
server scaled by gamma (:mod:`fairness.model.cluster`). What a scheduler counts: the nominal demands over the
total capacities, as DRFH does [1]_, wherever the tasks run; on a server to which jobs are bound, what its
tasks hold of it.

On a pool whose jobs have one type of task every scheduler makes sense. On servers and for several types do
DRF, FIFO and those written in Python always; targets (PF and any fluid policy of the problem) as long
as every job has one type of task and is not bound to a server, because a target is a number of tasks per
class over all servers. Best ranks (BMF) are refused there: a bottleneck of a cluster is a resource of one
server, where most jobs hold nothing, and the talk's rule says nothing about it.

References
----------
.. [1] W. Wang, B. Li and B. Liang, "Dominant resource fairness in cloud computing systems with heterogeneous
   servers", INFOCOM 2014. arXiv:1308.0083.
"""

from __future__ import annotations

import math

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.errors import ModelError, UnstableError
from fairness.machine.cache_lines import apart, each_apart
from fairness.machine.memory import require_memory
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.model.system import System
from queueing.simulation.policy_rows import PolicySource, read_only
from queueing.simulation.tasks.events import DONE, TARGET_MISSING, TOO_MANY_JOBS, UNDECIDED, advance
from queueing.simulation.tasks.options import START, Tasks, TaskTypes
from queueing.simulation.tasks.own_schedulers import Decider, OwnScheduler
from queueing.simulation.tasks.placement import ROUNDING, BestFit, PlacementRule
from queueing.simulation.tasks.schedulers import (
    ASKED,
    SERVER_SCHEDULERS,
    STATIC,
    TARGET,
    DRFScheduler,
    Rule,
    Scheduler,
    TargetScheduler,
    is_scheduler,
)
from queueing.simulation.tasks.state import ARRIVED, PATH, TASKS_STARTED, Log, Model, new_places, new_state
from queueing.simulation.tasks.workload import TaskNumbers, possibly_none
from queueing.states.box import MOST

__all__ = ["TaskRun", "TaskRuns"]


class TaskRuns:
    """A system, a scheduler, the laws of tasks and the rules of servers, validated.

    ``by_level`` says that jobs are compared by level: those of a pool, of one type each, where no placement
    rule was asked for, under a compiled scheduler; ``on_servers`` that there is more than such a pool. Runs
    together make ``events``, or end before, at ``horizon``.
    """

    def __init__(
        self,
        system: System,
        scheduler: Scheduler,
        tasks: Tasks,
        events: float = 1e6,
        horizon: float = math.inf,
    ) -> None:
        self.by_level = _check(system, scheduler, tasks)
        problem, task_types = system.problem, tasks.types
        self.system, self.scheduler, self.max_jobs = system, scheduler, int(tasks.max_jobs)
        self.name = str(scheduler.name)
        self.on_servers = system.is_cluster or tasks.placement is not None or tasks.types is not None
        self.exponential = tasks.times == "exponential"
        self.placement = BestFit() if tasks.placement is None else tasks.placement
        self.place: PlacementRule = self.placement.placement_rule()
        jobs = (TaskTypes([]) if task_types is None else task_types).rows(system)
        self.start = START.index("listed" if task_types is None else task_types.start)
        self.rows = np.concatenate(jobs).astype(np.int64)
        self.job_rows = np.array([types[0] for types in jobs])
        sizes = np.array([len(types) for types in jobs])
        self.first_type = _edges(sizes)
        self._servers()
        law = tasks.law
        self.law = _of_types(law.numbers(system.n_classes), self.rows)
        empty = possibly_none(self.law)
        for i, types in enumerate(jobs):
            if empty[self.first_type[i] : self.first_type[i + 1]].all():
                names = [problem.job_classes[row] for row in types]
                raise ModelError(
                    f"a job of {names} may have no task at all; make one of its types sure, or its class a "
                    "type of a job with TaskTypes"
                )
        means = system.mean_sizes / law.means(system.n_classes)
        self.task_means = means[self.rows]
        alone = self.alone.sum(axis=1)
        # At most so many tasks of a class run, however many wait.
        self.event_rate = float((system.arrival_rates + np.minimum(system.loads, alone) / means).sum())
        self.most_running = int(alone.sum()) + system.n_classes
        times = _alone_times(system, alone, means)
        # Of types that may have to wait for each other, in the worst case.
        self.alone_times = np.empty(system.n_classes)
        for types in jobs:
            self.alone_times[types] = times[types].sum()
        views = self.n_servers if self.place.bound else 1
        groups = np.minimum(alone, self.limits) + 1 if self.by_level else views << sizes
        require_memory(
            (64.0 if self.by_level else 88.0 + 24.0 * sizes.max()) * self.max_jobs
            + 64.0 * groups.sum()
            + 32.0 * self.most_running,
            f"a run with up to {self.max_jobs} jobs and {self.most_running} running tasks",
            "reduce max_jobs, or count demands in larger tasks",
        )
        self.first_group = _edges(groups)
        self.shares = np.zeros((problem.n_classes, views, problem.n_resources))
        self.events = min(float(events), self.event_rate * horizon)
        self.source = None
        if not isinstance(scheduler, OwnScheduler) and scheduler.policy is not None:
            # The jobs present change with arrivals and departures only.
            changes = 2.0 * float(system.arrival_rates.sum()) / self.event_rate
            self.source = PolicySource(system, scheduler.policy, None, changes * self.events, left=True)
        if isinstance(scheduler, OwnScheduler):
            self.rule = Rule(ASKED)
        elif self.by_level:
            group_class = np.repeat(np.arange(system.n_classes), groups)
            group_level = np.arange(len(group_class)) - self.first_group[group_class]
            self.rule = scheduler.rule(problem, group_class, group_level)
        else:
            self._compare_jobs()
        self.allowed = np.array([self.fits_alone[types].all(axis=0) for types in jobs])
        for job in np.flatnonzero(~self.allowed.any(axis=1)) if self.place.bound else []:
            raise ModelError(
                f"the tasks of a job of {[problem.job_classes[row] for row in jobs[job]]} fit on no common "
                "server, so it cannot be bound to one; place tasks one by one, with BestFit() for example"
            )

    def _servers(self) -> None:
        """What tasks hold on servers, and how many fit there alone."""
        problem = self.system.problem
        if isinstance(problem, Cluster):
            self.capacities = np.array(problem.capacities)
            nominal = np.broadcast_to(problem.demands[:, None, :], problem.task_shares.shape)
            held = nominal if problem.given_gamma is None else problem.task_shares * self.capacities
            self.alone = np.minimum(np.floor((1.0 + ROUNDING) * problem.gamma), MOST).astype(np.int64)
            for n in np.flatnonzero(self.alone.sum(axis=1) == 0):
                raise ModelError(
                    f"a task of class {problem.job_classes[n]!r} fits on no server where it may run (at most "
                    f"{problem.gamma[n].max():.3g} of it); cut the tasks smaller"
                )
            self.limits = np.full(problem.n_classes, MOST, np.int64)
        else:
            self.capacities = np.array(problem.capacities)[None, :]
            held = problem.demands[:, None, :]
            self.alone = _most_alone(problem)[:, None]
            # A job that runs as many tasks as fit is not at its limit: it still waits, and may block.
            self.limits = _whole_limits(problem, self.alone[:, 0] + 1)
        self.n_servers = len(self.capacities)
        self.servers = problem.servers if isinstance(problem, Cluster) else ("pool",)
        self.fits_alone = self.alone > 0
        self.held = np.where(self.fits_alone[:, :, None], held, 0.0)

    def _compare_jobs(self) -> None:
        """The scheduler as it compares jobs one by one, and the shares that it counts."""
        scheduler, problem = self.scheduler, self.system.problem
        assert isinstance(scheduler, SERVER_SCHEDULERS)  # checked before
        if isinstance(scheduler, DRFScheduler):
            total = self.capacities if self.place.bound else self.capacities.sum(axis=0, keepdims=True)
            amount = self.held if self.place.bound else problem.demands[:, None, :]
            np.divide(amount, total, out=self.shares, where=np.broadcast_to(total > 0, self.shares.shape))
            self.shares /= problem.weights[:, None, None]
        self.rule = scheduler.ruled(STATIC if self.source is None else TARGET)

    def model(self, generator: np.random.Generator) -> Model:
        """The system in the form that the kernel reads, with the seeds of its streams."""
        rates = self.system.arrival_rates[self.job_rows]
        shares = np.cumsum(rates) / rates.sum()
        # Rounding must not leave a gap below 1 for classes without arrivals at the end.
        shares[np.flatnonzero(rates)[-1] :] = 1.0
        # Apart, so that the first three are the same on a pool by levels.
        seeds = [generator.integers(0, 2**64, size=size, dtype=np.uint64) for size in (3, 2)]
        return Model(
            held=np.ascontiguousarray(self.held[self.rows].swapaxes(0, 1)),
            capacities=self.capacities,
            room=self.capacities * (1.0 + ROUNDING),
            eligible=np.ascontiguousarray(self.fits_alone[self.rows].T),
            allowed=self.allowed,
            shares=self.shares[self.rows],
            arrival_shares=shares,
            arrival_rate=float(rates.sum()),
            task_means=self.task_means,
            exponential=self.exponential,
            limits=self.limits[self.rows],
            first_type=self.first_type,
            first_group=self.first_group,
            start=self.start,
            law=self.law,
            place=self.place,
            seeds=np.concatenate(seeds),
        )

    def usage(self, placed: FloatArray) -> FloatArray:
        """Units in use on servers, (..., n_servers, n_resources), by tasks (..., n_classes, n_servers)."""
        units: FloatArray = np.einsum("...ns,nsr->...sr", placed, self.held)
        return units


def _of_types(law: TaskNumbers, rows: np.ndarray) -> TaskNumbers:
    """The laws of the classes in the order of the types."""
    return TaskNumbers(*(np.ascontiguousarray(values[rows]) for values in law))


def _edges(sizes: IntArray) -> IntArray:
    """Where groups of these sizes begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _check(system: System, scheduler: Scheduler, tasks: Tasks) -> bool:
    """Whether jobs are compared by level; refuses what makes no sense, or not for servers and types."""
    if not is_scheduler(scheduler):
        raise ModelError.of(
            "scheduler",
            f"must be a task-level scheduler such as DRFScheduler(); got {scheduler!r}; "
            "follow a fluid policy with TargetScheduler(policy), or write an OwnScheduler, an object with a "
            "name and a method choose(state)",
        )
    if not isinstance(tasks, Tasks):
        raise ModelError.of("tasks", f"must be Tasks, such as Tasks(per_job=5); got {tasks!r}")
    what = "the simulation of whole tasks, which have laws of their own (Tasks),"
    system.require_poisson(what, None)
    system.require_exponential(what, None)
    system.require_arrivals()
    if isinstance(scheduler, OwnScheduler):
        return False
    if tasks.placement is None and tasks.types is None and not system.is_cluster:
        return True
    if not isinstance(scheduler, SERVER_SCHEDULERS):
        raise ModelError(
            f"scheduler {scheduler!r} is not defined for servers and task types; take DRFScheduler, "
            "FIFOScheduler or, for jobs of one type, TargetScheduler"
        )
    mixed = tasks.types is not None and max(map(len, tasks.types.jobs), default=1) > 1
    bound = tasks.placement is not None and tasks.placement.placement_rule().bound
    if isinstance(scheduler, TargetScheduler) and (mixed or bound):
        raise ModelError(
            f"{scheduler.name} sets a target of tasks per class over all servers, which says nothing about "
            "jobs of several task types or jobs bound to a server; take DRFScheduler or FIFOScheduler"
        )
    return False


def _most_alone(problem: Problem) -> IntArray:
    """Most tasks of each class that fit together when no other class runs, (n_classes,)."""
    for i, row in enumerate(problem.demands):
        name = problem.job_classes[i]
        if not row.any():
            raise ModelError(f"job class {name!r} demands nothing; give it a demand to schedule its tasks by")
        for j in np.flatnonzero(row > problem.capacities):
            raise ModelError(
                f"a task of class {name!r} demands {row[j]:g} of {problem.resources[j]!r}, more than its "
                f"capacity {problem.capacities[j]:g}, so it never fits; cut the tasks smaller"
            )
    largest = problem.task_shares.max(axis=1)
    # Beyond 2**53 no memory holds the groups: what is cut here is refused later.
    return np.minimum(np.floor((1.0 + ROUNDING) / largest), MOST).astype(np.int64)


def _alone_times(system: System, most: IntArray, task_means: FloatArray) -> FloatArray:
    """Mean durations of jobs of one class alone, at most, (n_classes,): all tasks in rows, then the longest.

    The largest of K exponential times is 1 + log K times their mean at most.
    """
    longest = 1.0 + np.log(np.maximum(system.mean_sizes / task_means, 1.0))
    times: FloatArray = system.mean_sizes / most + task_means * longest
    return times


def _whole_limits(problem: Problem, most: IntArray) -> IntArray:
    """Limits in whole tasks per job, (n_classes,), at most ``most``."""
    for i in np.flatnonzero(problem.limits < 1):
        raise ModelError(
            f"limits[{i}] of class {problem.job_classes[i]!r} is {problem.limits[i]:g}: a job could never "
            "run a whole task; give a limit >= 1"
        )
    whole: FloatArray = np.floor(np.minimum(problem.limits, most))
    return whole.astype(np.int64)


FIRST_LOG = 1024
"""Rows of each log of a recorded run, before any doubling."""


class TaskRun:
    """One run: its state, its totals and, if recorded, its log."""

    def __init__(self, runs: TaskRuns, generator: np.random.Generator, *, record: bool = False) -> None:
        n = runs.system.n_classes
        self.runs = runs
        self.rule = runs.rule
        self.reader = None if runs.source is None else runs.source.reader()
        self.decider = None
        if isinstance(runs.scheduler, OwnScheduler):
            self.decider = Decider(runs.system.problem, runs.scheduler, runs.rows, generator)
        self.model = runs.model(generator)
        state = new_state(self.model, runs.max_jobs, runs.most_running, runs.by_level)
        places = None if runs.by_level else new_places(self.model, state)
        self.state = each_apart(state)
        self.places = None if places is None else each_apart(places)
        self.totals = apart(np.zeros((4, n)))
        rows = FIRST_LOG if record else 1
        self.log = Log(record, np.empty((rows, 5)), np.empty((rows, 5)), np.empty((rows, 1 + 2 * n)))

    @property
    def now(self) -> float:
        """Simulated time."""
        return float(self.state.clock[0])

    def count(self) -> None:
        """Bring the time integrals of the tasks on servers up to now; their rounding shows when that was."""
        if self.places is not None:
            self.places.placed[...] += self.state.on.T * (self.now - self.places.since)
            self.places.since[...] = self.now

    def forget(self) -> None:
        """Start the totals afresh."""
        self.totals[:] = 0.0
        if self.places is not None:
            self.places.placed[:] = self.places.lost[:] = 0.0

    def go(self, events: int, horizon: float = np.inf) -> int:
        """Go on for a number of events or until the horizon, whichever comes first; the number that is made.

        Raises
        ------
        UnstableError
            If more jobs than allowed are present.
        """
        left = events
        while True:
            status, made = advance(
                self.model, self.rule, self.state, self.places, self.log, self.totals, left, horizon
            )
            left -= made
            if status == DONE:
                return events - left
            if status == TOO_MANY_JOBS:
                raise UnstableError(self._overload())
            if status == UNDECIDED:
                assert self.decider is not None
                assert self.places is not None
                self.decider.decide(self.model, self.state, self.places)
            elif status == TARGET_MISSING:
                assert self.reader is not None
                self.rule = self.rule._replace(lookup=read_only(self.reader.at(self.state.present)))
            else:
                self._grow_log()

    def _grow_log(self) -> None:
        counters = self.state.counters
        need = counters[TASKS_STARTED] + self.runs.most_running, counters[ARRIVED] + 1, counters[PATH] + 1
        logs = []
        for rows, used in zip(self.log[1:], need, strict=True):
            if used > len(rows):
                require_memory(
                    16.0 * used * rows.shape[1], "the record of this run", "reduce horizon or arrival_rates"
                )
                larger = np.empty((2 * int(used), rows.shape[1]))
                larger[: len(rows)] = rows
                rows = larger
            logs.append(rows)
        self.log = Log(True, *logs)

    def _overload(self) -> str:
        system = self.runs.system
        names = system.problem.job_classes
        present = ", ".join(f"{name!r} {x}" for name, x in zip(names, self.state.present, strict=True))
        own = self.decider is not None
        why = "it leaves tasks waiting, or " if own else ""
        remedy = "see that it starts what fits" if own else "try blocking=False"
        return (
            f"more than max_jobs={self.runs.max_jobs:,} jobs at time {self.now:.6g} under "
            f"{self.runs.name} (present: {present}); {why}whole tasks carry less than the fluid "
            f"capacity: reduce arrival_rates, {remedy}, or raise max_jobs"
        )
