"""Drivers of the task-level kernel: systems made ready, and single runs that stop and resume."""

from __future__ import annotations

import numbers
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from fairness.errors import ModelError, UnstableError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray, Problem
from queueing.model.system import System
from queueing.simulation.tasks.dispatch import ARRIVED, PATH, TASKS_STARTED, Model, State
from queueing.simulation.tasks.events import DONE, TABLE_LEFT, TOO_MANY_JOBS, Log, advance, new_state
from queueing.simulation.tasks.schedulers import IntArray, Rule, Scheduler
from queueing.simulation.tasks.workload import TaskLaw, TaskNumbers, possibly_none, task_law
from queueing.states.box import MOST
from queueing.states.growing_table import GrowingTable, kernel_table

__all__ = ["TaskRun", "TaskRuns", "alone_times", "check_run", "most_alone", "whole_limits"]

TASK_TIMES = ("exponential", "deterministic")

ROUNDING = 1e-12
"""A task fits if usage exceeds capacity by no more than this part: sums of demands like 0.1 are not exact."""

FIRST_LOG = 1024
"""Rows of each log of a recorded run, before any doubling."""


class TaskRuns:
    """A system, a scheduler and the laws of tasks, validated; makes runs with different random numbers."""

    system: System
    scheduler: Scheduler
    max_jobs: int
    exponential: bool
    law: TaskNumbers
    task_means: FloatArray
    limits: IntArray
    event_rate: float
    most_running: int
    alone_times: FloatArray
    first_group: IntArray
    n_groups: int
    n_servers = 1
    log_columns = 4
    rule: Rule
    table: GrowingTable | None

    def __init__(
        self,
        system: System,
        scheduler: Scheduler,
        tasks_per_job: TaskLaw | ArrayLike,
        task_times: str,
        max_jobs: int,
    ) -> None:
        check_run(system, scheduler, task_times, max_jobs)
        problem = system.problem
        n = system.n_classes
        self.system = system
        self.scheduler = scheduler
        self.max_jobs = int(max_jobs)
        self.exponential = task_times == "exponential"
        law = task_law(tasks_per_job)
        self.law = law.numbers(n)
        for i in np.flatnonzero(possibly_none(self.law)):
            raise ModelError(
                f"a job of class {problem.job_classes[i]!r} may have no task at all; give it one, or "
                "make it a type of a job with TaskTypes"
            )
        self.task_means = system.mean_sizes / law.means(n)
        alone = most_alone(problem)
        # At most so many tasks of a class run, however many wait.
        running = np.minimum(system.loads, alone)
        self.event_rate = float((system.arrival_rates + running / self.task_means).sum())
        # A job that runs as many tasks as fit is not at its limit: it still waits, and may block.
        self.limits = whole_limits(problem, alone + 1)
        levels = np.minimum(alone, self.limits) + 1
        self.most_running = int(alone.sum()) + n
        self.alone_times = alone_times(system, alone, self.task_means)
        require_memory(
            64.0 * self.max_jobs + 64.0 * levels.sum() + 24.0 * self.most_running,
            f"a run with up to {self.max_jobs} jobs and {self.most_running} running tasks",
            "reduce max_jobs, or count demands in larger tasks",
        )
        self.first_group = np.concatenate([[0], np.cumsum(levels)[:-1]]).astype(np.int64)
        group_class = np.repeat(np.arange(n), levels)
        group_level = np.arange(len(group_class)) - self.first_group[group_class]
        self.n_groups = len(group_class)
        self.rule = scheduler.rule(problem, group_class, group_level)
        self.table = None if scheduler.policy is None else GrowingTable(system, scheduler.policy)

    def new(self, generator: np.random.Generator, *, record: bool = False) -> TaskRun:
        """Run with its own random numbers, empty at time 0."""
        return TaskRun(self, generator, record)

    def model(self, generator: np.random.Generator) -> Model:
        """The system in the form that the kernel reads, with the seeds of its three streams."""
        rates = self.system.arrival_rates
        shares = np.cumsum(rates) / rates.sum()
        # Rounding must not leave a gap below 1 for classes without arrivals at the end.
        shares[np.flatnonzero(rates)[-1] :] = 1.0
        problem = self.system.problem
        return Model(
            problem.demands,
            problem.capacities,
            problem.capacities * (1.0 + ROUNDING),
            shares,
            float(rates.sum()),
            self.task_means,
            self.exponential,
            self.limits,
            self.first_group,
            self.law,
            generator.integers(0, 2**64, size=3, dtype=np.uint64),
        )

    def new_state(self, model: Model) -> State:
        """Empty system at time 0."""
        return new_state(model, self.max_jobs, self.n_groups, self.most_running)

    def advance(self, run: TaskRun, events: int, horizon: float) -> tuple[int, int]:
        """Let the kernel go on; (status, events made)."""
        status: tuple[int, int] = advance(
            run.model, run.rule, run.state, run.log, run.totals, events, horizon
        )
        return status


class Runs(Protocol):
    """What a run needs to know of its system; :class:`TaskRuns`, or servers and jobs of several types."""

    system: System
    scheduler: Scheduler
    max_jobs: int
    most_running: int
    n_servers: int
    rule: Rule
    table: GrowingTable | None

    @property
    def log_columns(self) -> int:
        """Columns of the logs of tasks and of jobs."""
        ...

    def model(self, generator: np.random.Generator) -> Any:
        """The system in the form that the kernel reads."""
        ...

    def new_state(self, model: Any) -> Any:
        """Empty system at time 0."""
        ...

    def advance(self, run: TaskRun, events: int, horizon: float) -> tuple[int, int]:
        """Let the kernel go on; (status, events made)."""
        ...


class TaskRun:
    """One run: its state, its totals and, if recorded, its log."""

    def __init__(self, runs: Runs, generator: np.random.Generator, record: bool) -> None:
        n = runs.system.n_classes
        self.runs = runs
        self.rule = runs.rule
        self.model = runs.model(generator)
        self.state = runs.new_state(self.model)
        self.totals = np.zeros((4, n))
        self.placed = np.zeros((n, runs.n_servers))
        self.lost = np.zeros(2)
        rows = FIRST_LOG if record else 1
        columns = runs.log_columns
        self.log = Log(
            record,
            np.empty((rows, columns)),
            np.empty((rows, columns)),
            np.empty((rows, 1 + 2 * n)),
        )

    @property
    def now(self) -> float:
        """Simulated time."""
        return float(self.state.clock[0])

    def forget(self) -> None:
        """Start the totals afresh."""
        for totals in (self.totals, self.placed, self.lost):
            totals[:] = 0.0

    def go(self, events: int, horizon: float) -> None:
        """Go on for a number of events or until the horizon, whichever comes first.

        Raises
        ------
        UnstableError
            If more jobs than allowed are present.
        """
        while True:
            status, made = self.runs.advance(self, events, horizon)
            events -= made
            if status == DONE:
                return
            if status == TOO_MANY_JOBS:
                raise UnstableError(self._overload())
            if status == TABLE_LEFT:
                self._follow_table()
            else:
                self._grow_log()

    def _follow_table(self) -> None:
        assert self.runs.table is not None
        tasks, shape = kernel_table(self.runs.table.covering(self.state.present))
        self.rule = self.rule._replace(target=tasks, target_shape=shape)

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
        return (
            f"more than max_jobs={self.runs.max_jobs} jobs at time {self.now:.6g} under "
            f"{self.runs.scheduler.name} (present: {present}); whole tasks carry less than the fluid "
            "capacity: reduce arrival_rates, try blocking=False, or raise max_jobs"
        )


def check_run(system: System, scheduler: Scheduler, task_times: str, max_jobs: int) -> None:
    """Refuse arguments of a run that make no sense for any system."""
    made = not isinstance(scheduler, type)  # DRFScheduler without its brackets is no scheduler
    if not (made and hasattr(scheduler, "rule") and hasattr(scheduler, "policy")):
        raise ModelError(
            f"scheduler must be a task-level scheduler such as DRFScheduler(); got {scheduler!r}; "
            "follow a fluid policy with TargetScheduler(policy)"
        )
    if task_times not in TASK_TIMES:
        raise ModelError(f"task_times must be one of {', '.join(TASK_TIMES)}; got {task_times!r}")
    if not isinstance(max_jobs, numbers.Integral) or max_jobs < 1:
        raise ModelError(f"max_jobs must be an integer >= 1; got {max_jobs!r}")
    if not system.arrival_rates.any():
        raise ModelError("arrival_rates are all 0: there is nothing to simulate; set one above 0")


def most_alone(problem: Problem) -> IntArray:
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


def alone_times(system: System, most: IntArray, task_means: FloatArray) -> FloatArray:
    """Mean durations of jobs of one class alone, at most, (n_classes,): all tasks in rows, then the longest.

    The largest of K exponential times is 1 + log K times their mean at most.
    """
    longest = 1.0 + np.log(np.maximum(system.mean_sizes / task_means, 1.0))
    times: FloatArray = system.mean_sizes / most + task_means * longest
    return times


def whole_limits(problem: Problem, most: IntArray) -> IntArray:
    """Limits in whole tasks per job, (n_classes,), at most ``most``."""
    for i in np.flatnonzero(problem.limits < 1):
        raise ModelError(
            f"limits[{i}] of class {problem.job_classes[i]!r} is {problem.limits[i]:g}: a job could never "
            "run a whole task; give a limit >= 1"
        )
    whole: FloatArray = np.floor(np.minimum(problem.limits, most))
    return whole.astype(np.int64)
