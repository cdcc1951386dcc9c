r"""What whole tasks need besides a system and a scheduler, such as which classes of tasks make up one job.

Where tasks differ, a class of the problem is a *type of task*: a row of demands, its own eligibility,
mean size, law of task numbers and limit. :class:`TaskTypes` says which rows belong to one job. A job of
types :math:`t = 1, 2, \ldots` arrives with :math:`K_t` tasks of each type, independent of each other, and
leaves with the last of all. Its arrival rate is given in each of its rows; then :math:`\rho_t =
\lambda\sigma_t` is the load in running tasks of type t as ever, and loads, regions and bounds need no other
definition.

The scheduler accounts for the job as a whole: with :math:`k_t` tasks running it has the dominant share

.. math:: \max_r \frac{1}{w C_r} \sum_t k_t a_{tr}.

Which of its tasks starts when its turn has come:

* ``"listed"``: of the first type, in the order of the list, with a waiting task (below its limit); if that
  does not fit, the job's turn is lost;
* ``"any"``: of the first such type that fits;
* ``"stages"``: types are stages: a type starts when all tasks of those listed before have ended, as reduce
  after map.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import require_choice, require_whole
from fairness.errors import ModelError
from queueing.model.system import System
from queueing.simulation.tasks.placement import Placement
from queueing.simulation.tasks.workload import TaskLaw, task_law

__all__ = ["TaskTypes", "Tasks"]

TASK_TIMES = ("exponential", "deterministic")


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """How jobs are cut into tasks, and where these run.

    Parameters
    ----------
    per_job : TaskLaw or float or sequence of float
        ``GeometricTasks``, ``FixedTasks`` or ``TabulatedTasks``; a number is the mean of a geometric law. A
        task lasts mean size / mean number of tasks on average.
    times : {"exponential", "deterministic"}
        Law of the duration of a task.
    placement : Placement, optional
        On which server of a cluster a task runs: ``FirstFit()``, ``BestFit()`` (default), ``WorstFit()``,
        ``RandomFit()``, ``PowerOfChoices(d)``, or ``OnArrival(rule)``, which binds jobs to servers.
    types : TaskTypes, optional
        Which classes are types of tasks of one job. Default: every class is a job of its own.
    max_jobs : int
        Jobs present beyond which the system counts as unstable.

    Raises
    ------
    ModelError
        If an option is out of range or of another kind.

    Examples
    --------
    >>> Tasks(per_job=5, times="deterministic").times
    'deterministic'
    """

    per_job: TaskLaw | ArrayLike = 100.0
    times: str = "exponential"
    placement: Placement | None = None
    types: TaskTypes | None = None
    max_jobs: int = 100_000

    def __post_init__(self) -> None:
        task_law(self.per_job)
        require_choice("times", self.times, TASK_TIMES)
        require_whole("max_jobs", self.max_jobs, 1)
        if not isinstance(self.types, TaskTypes | None):
            raise ModelError.of(
                "types", f"must be TaskTypes such as TaskTypes([['map', 'reduce']]); got {self.types!r}"
            )
        rule = self.placement
        if isinstance(rule, type) or not (rule is None or hasattr(rule, "placement_rule")):
            raise ModelError.of("placement", f"must be a rule such as BestFit(); got {rule!r}")

    @property
    def law(self) -> TaskLaw:
        """Law of the number of tasks per job."""
        return task_law(self.per_job)


START = ("listed", "any", "stages")
LISTED, ANY, STAGES = range(3)
MOST_TYPES = 8
"""Most types of one job: waiting jobs stand in one queue per set of types that they may start."""


@dataclass(frozen=True)
class TaskTypes:
    """Which classes of the problem are the types of the tasks of one job.

    Parameters
    ----------
    jobs : sequence of sequences of str
        For each kind of job the names of its task types (``job_classes`` of the problem), in order. Classes
        that are not listed are jobs of a single type.
    start : {"listed", "any", "stages"}
        Which task of a job starts next; see the module docstring.

    Raises
    ------
    ModelError
        If a name is missing, unknown or listed twice, or if the classes of one job have different arrival
        rates or weights.

    Examples
    --------
    Jobs of 8 map tasks and 2 reduce tasks on two servers:

    >>> from fairness import Cluster
    >>> from queueing import DRFScheduler, System, Tasks, simulate
    >>> from queueing.simulation.tasks.workload import FixedTasks
    >>> cluster = Cluster([[4, 1], [1, 4]], [[8, 8], [16, 16]], job_classes=["map", "reduce"])
    >>> system = System(cluster, arrival_rates=[0.3, 0.3], mean_sizes=[8.0, 2.0])
    >>> tasks = Tasks(per_job=FixedTasks([8, 2]), types=TaskTypes([["map", "reduce"]], start="stages"))
    >>> result = simulate(system, DRFScheduler(), tasks=tasks, events=20_000, rng=1)
    >>> bool(result.mean_durations[0] == result.mean_durations[1])  # of the whole job
    True
    """

    jobs: tuple[tuple[str, ...], ...]
    start: str = "listed"

    def __init__(self, jobs: Iterable[Sequence[str]], start: str = "listed") -> None:
        require_choice("start", start, START)
        rows = []
        for types in jobs:
            if isinstance(types, str):
                raise ModelError.of(
                    "jobs",
                    f"must list the task types of each job, such as [['map', 'reduce']]; got {types!r} alone",
                )
            if not 1 <= len(types) <= MOST_TYPES:
                raise ModelError(f"a job has 1 to {MOST_TYPES} task types; got {len(types)}: {list(types)}")
            rows.append(tuple(str(name) for name in types))
        listed = [name for types in rows for name in types]
        for name in listed:
            if listed.count(name) > 1:
                raise ModelError(f"task type {name!r} is listed twice; a class is one type of one job")
        object.__setattr__(self, "jobs", tuple(rows))
        object.__setattr__(self, "start", start)

    def rows(self, system: System) -> list[list[int]]:
        """Classes of each job by number; jobs in the order of their first class in the problem."""
        names = system.problem.job_classes
        for name in (name for types in self.jobs for name in types):
            if name not in names:
                raise ModelError(f"task type {name!r} is no class of the problem; its classes: {list(names)}")
        jobs = [[names.index(name) for name in types] for types in self.jobs]
        given = {row for types in jobs for row in types}
        for types in jobs:
            for what, values in (
                ("arrival_rates", system.arrival_rates),
                ("weights", system.problem.weights),
            ):
                if np.any(values[types] != values[types[0]]):
                    raise ModelError(
                        f"{[names[row] for row in types]} are types of one job, so their {what} must be "
                        f"equal; got {values[types].tolist()}"
                    )
        return sorted(jobs + [[row] for row in range(len(names)) if row not in given], key=min)
