"""What whole tasks need besides a system and a scheduler."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from fairness.arguments.validation import require_choice, require_whole
from fairness.errors import ModelError
from queueing.simulation.tasks.rules.placement import Placement
from queueing.simulation.tasks.rules.task_types import TaskTypes
from queueing.simulation.tasks.rules.workload import TaskLaw, task_law

__all__ = ["Tasks"]

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
