r"""Drivers of the kernel on servers and for jobs of several types.

What a task holds: its demand or, given effective capacities gamma, its nominal share of each resource of the
server scaled by gamma (:mod:`fairness.model.cluster`). What a scheduler counts: the nominal demands over the
total capacities, as DRFH does [1]_, wherever the tasks run; on a server to which jobs are bound, what its
tasks hold of it.

Schedulers that make sense here: DRF and FIFO always; targets (PF and any fluid policy of the problem) as long
as every job has one type of task and is not bound to a server, because a target is a number of tasks per
class over all servers. Best ranks (BMF) are refused: a bottleneck of a cluster is a resource of one server,
where most jobs hold nothing, and the talk's rule says nothing about it.

References
----------
.. [1] W. Wang, B. Li and B. Liang, "Dominant resource fairness in cloud computing systems with heterogeneous
   servers", INFOCOM 2014. arXiv:1308.0083.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray
from queueing.model.system import System
from queueing.simulation.tasks.candidates import PlacedModel, PlacedState
from queueing.simulation.tasks.placed_events import advance_placed, new_placed_state
from queueing.simulation.tasks.placement import BestFit, Placement, PlacementRule
from queueing.simulation.tasks.runs import ROUNDING, TaskRun, alone_times, check_run, most_alone, whole_limits
from queueing.simulation.tasks.schedulers import (
    STATIC,
    TARGET,
    DRFScheduler,
    FIFOScheduler,
    Rule,
    Scheduler,
    TargetScheduler,
    make_rule,
)
from queueing.simulation.tasks.task_types import START, TaskTypes
from queueing.simulation.tasks.workload import TaskLaw, TaskNumbers, possibly_none, task_law
from queueing.states.box import MOST
from queueing.states.growing_table import GrowingTable

__all__ = ["PlacedRuns"]


class PlacedRuns:
    """A system of servers and jobs, validated; makes runs with different random numbers."""

    system: System
    scheduler: Scheduler
    max_jobs: int
    event_rate: float
    most_running: int
    alone_times: FloatArray
    log_columns = 5
    rule: Rule
    table: GrowingTable | None

    def __init__(
        self,
        system: System,
        scheduler: Scheduler,
        tasks_per_job: TaskLaw | ArrayLike,
        task_times: str,
        max_jobs: int,
        placement: Placement | None,
        task_types: TaskTypes | None,
    ) -> None:
        check_run(system, scheduler, task_times, max_jobs)
        if not isinstance(task_types, TaskTypes | None):
            raise ModelError(
                f"task_types must be TaskTypes such as TaskTypes([['map', 'reduce']]); got {task_types!r}"
            )
        placement = BestFit() if placement is None else placement
        if isinstance(placement, type) or not hasattr(placement, "placement_rule"):
            raise ModelError(f"placement must be a rule such as BestFit(); got {placement!r}")
        problem = system.problem
        self.system, self.scheduler, self.max_jobs = system, scheduler, int(max_jobs)
        self.exponential = task_times == "exponential"
        self.placement = placement
        self.place: PlacementRule = placement.placement_rule()
        jobs = (TaskTypes([]) if task_types is None else task_types).rows(system)
        self.start = START.index("listed" if task_types is None else task_types.start)
        self.rows = np.concatenate(jobs).astype(np.int64)
        self.job_rows = np.array([types[0] for types in jobs])
        sizes = np.array([len(types) for types in jobs])
        self.first_type = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._servers()
        law = task_law(tasks_per_job)
        self.law = _of_types(law.numbers(system.n_classes), self.rows)
        empty = possibly_none(self.law)
        for i, types in enumerate(jobs):
            if empty[self.first_type[i] : self.first_type[i + 1]].all():
                names = [problem.job_classes[row] for row in types]
                raise ModelError(f"a job of {names} may have no task at all; make one of its types sure")
        means = system.mean_sizes / law.means(system.n_classes)
        self.task_means = means[self.rows]
        alone = self.alone.sum(axis=1)
        self.event_rate = float((system.arrival_rates + np.minimum(system.loads, alone) / means).sum())
        self.most_running = int(alone.sum()) + system.n_classes
        times = alone_times(system, alone, means)
        # Of types that may have to wait for each other, in the worst case.
        self.alone_times = np.empty(system.n_classes)
        for types in jobs:
            self.alone_times[types] = times[types].sum()
        views = self.n_servers if self.place.bound else 1
        self.first_group = np.concatenate([[0], np.cumsum(views << sizes)]).astype(np.int64)
        require_memory(
            (88.0 + 24.0 * sizes.max()) * self.max_jobs + 32.0 * self.most_running,
            f"a run with up to {self.max_jobs} jobs and {self.most_running} running tasks",
            "reduce max_jobs, or count demands in larger tasks",
        )
        self._schedule(bool((sizes > 1).any()))
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
            self.alone = most_alone(problem)[:, None]
            self.limits = whole_limits(problem, self.alone[:, 0] + 1)
        self.n_servers = len(self.capacities)
        self.servers = problem.servers if isinstance(problem, Cluster) else ("pool",)
        self.fits_alone = self.alone > 0
        self.held = np.where(self.fits_alone[:, :, None], held, 0.0)

    def _schedule(self, mixed: bool) -> None:
        """The scheduler in the form of the kernel, and the shares that it counts."""
        scheduler, problem = self.scheduler, self.system.problem
        views = self.n_servers if self.place.bound else 1
        self.shares = np.zeros((problem.n_classes, views, problem.n_resources))
        self.table = None
        if not isinstance(scheduler, DRFScheduler | FIFOScheduler | TargetScheduler):
            raise ModelError(
                f"scheduler {scheduler!r} is not defined for servers and task types; take DRFScheduler, "
                "FIFOScheduler or, for jobs of one type, TargetScheduler"
            )
        if isinstance(scheduler, TargetScheduler):
            if mixed or self.place.bound:
                raise ModelError(
                    f"{scheduler.name} sets a target of tasks per class over all servers, which says "
                    "nothing about jobs of several task types or jobs bound to a server; take "
                    "DRFScheduler or FIFOScheduler"
                )
            self.table = GrowingTable(self.system, scheduler.policy)
        if isinstance(scheduler, DRFScheduler):
            total = self.capacities if self.place.bound else self.capacities.sum(axis=0, keepdims=True)
            amount = self.held if self.place.bound else problem.demands[:, None, :]
            np.divide(amount, total, out=self.shares, where=np.broadcast_to(total > 0, self.shares.shape))
            self.shares /= problem.weights[:, None, None]
        kind = TARGET if isinstance(scheduler, TargetScheduler) else STATIC
        ties = "oldest" if isinstance(scheduler, FIFOScheduler) else scheduler.ties
        self.rule = make_rule(problem, kind, scheduler.blocking, ties)

    def new(self, generator: np.random.Generator, *, record: bool = False) -> TaskRun:
        """Run with its own random numbers, empty at time 0."""
        return TaskRun(self, generator, record)

    def model(self, generator: np.random.Generator) -> PlacedModel:
        """The system in the form that the kernel reads, with the seeds of its streams."""
        rates = self.system.arrival_rates[self.job_rows]
        shares = np.cumsum(rates) / rates.sum()
        # Rounding must not leave a gap below 1 for classes without arrivals at the end.
        shares[np.flatnonzero(rates)[-1] :] = 1.0
        # The first three seeds are those of a pool: one server gives the same run.
        seeds = [generator.integers(0, 2**64, size=size, dtype=np.uint64) for size in (3, 2)]
        return PlacedModel(
            self.held[self.rows],
            self.capacities,
            self.capacities * (1.0 + ROUNDING),
            self.fits_alone[self.rows],
            self.allowed,
            self.shares[self.rows],
            shares,
            float(rates.sum()),
            self.task_means,
            self.exponential,
            self.limits[self.rows],
            self.first_type,
            self.first_group,
            self.start,
            self.law,
            self.place,
            np.concatenate(seeds),
        )

    def new_state(self, model: PlacedModel) -> PlacedState:
        """Empty system at time 0."""
        return new_placed_state(model, self.max_jobs, self.most_running)

    def advance(self, run: TaskRun, events: int, horizon: float) -> tuple[int, int]:
        """Let the kernel go on; (status, events made)."""
        status: tuple[int, int] = advance_placed(
            run.model, run.rule, run.state, run.log, run.totals, run.placed, run.lost, events, horizon
        )
        return status

    def usage(self, placed: FloatArray) -> FloatArray:
        """Units in use on servers, (..., n_servers, n_resources), by tasks (..., n_classes, n_servers)."""
        units: FloatArray = np.einsum("...ns,nsr->...sr", placed, self.held)
        return units


def _of_types(law: TaskNumbers, rows: np.ndarray) -> TaskNumbers:
    """The laws of the classes in the order of the types."""
    return TaskNumbers(*(np.ascontiguousarray(values[rows]) for values in law))
