"""Task-level simulation on whole units: jobs of many tasks, served task by task by a scheduler.

``simulation`` holds the drivers, ``results`` what they return, ``schedulers`` the rules, ``workload`` the
laws of task numbers and times, ``placement`` the rules that choose servers, ``task_types`` jobs with
heterogeneous tasks. Behind them are two machines: ``runs``, ``events`` and ``dispatch`` for one pool and jobs
of one type; ``placed_runs``, ``placed_events``, ``candidates`` and ``servers`` for the rest.
"""

from queueing.tasklevel.placement import (
    BestFit,
    FirstFit,
    OnArrival,
    Placement,
    PowerOfChoices,
    RandomFit,
    WorstFit,
)
from queueing.tasklevel.results import ServerEvidence, TaskSimulation, TaskTrace
from queueing.tasklevel.schedulers import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    PFScheduler,
    Scheduler,
    TargetScheduler,
)
from queueing.tasklevel.simulation import simulate_tasks, trace
from queueing.tasklevel.task_types import TaskTypes
from queueing.tasklevel.workload import FixedTasks, GeometricTasks, TabulatedTasks

__all__ = [
    "BMFScheduler",
    "BestFit",
    "DRFScheduler",
    "FIFOScheduler",
    "FirstFit",
    "FixedTasks",
    "GeometricTasks",
    "OnArrival",
    "PFScheduler",
    "Placement",
    "PowerOfChoices",
    "RandomFit",
    "Scheduler",
    "ServerEvidence",
    "TabulatedTasks",
    "TargetScheduler",
    "TaskSimulation",
    "TaskTrace",
    "TaskTypes",
    "WorstFit",
    "simulate_tasks",
    "trace",
]
