"""Task-level simulation on whole units: jobs of many tasks, served task by task by a scheduler.

``simulation`` holds the drivers, ``results`` what they return, ``schedulers`` the rules, ``workload`` the
laws of task numbers and times, ``placement`` the rules that choose servers, ``task_types`` jobs with
heterogeneous tasks. Behind them are two machines: ``runs``, ``events`` and ``dispatch`` for one pool and jobs
of one type; ``placed_runs``, ``placed_events``, ``candidates`` and ``servers`` for the rest.
"""

from queueing.simulation.tasks.placement import (
    BestFit,
    FirstFit,
    OnArrival,
    Placement,
    PowerOfChoices,
    RandomFit,
    WorstFit,
)
from queueing.simulation.tasks.results import ServerEvidence, TaskSimulation, TaskTrace
from queueing.simulation.tasks.schedulers import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    PFScheduler,
    Scheduler,
    TargetScheduler,
)
from queueing.simulation.tasks.simulation import simulate_tasks, trace
from queueing.simulation.tasks.task_types import TaskTypes
from queueing.simulation.tasks.workload import FixedTasks, GeometricTasks, TabulatedTasks

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
