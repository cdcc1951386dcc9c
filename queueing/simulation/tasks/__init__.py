"""Task-level simulation on whole units: jobs of many tasks, served task by task by a scheduler.

``simulation`` holds the drivers, ``results`` what they return, ``rules`` the schedulers, placement rules,
task types and laws of tasks, ``engine`` the machine behind them.
"""

from queueing.simulation.tasks.results import ServerEvidence, TaskSimulation, TaskTrace
from queueing.simulation.tasks.rules.placement import (
    BestFit,
    FirstFit,
    OnArrival,
    Placement,
    PowerOfChoices,
    RandomFit,
    WorstFit,
)
from queueing.simulation.tasks.rules.schedulers import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    PFScheduler,
    Scheduler,
    TargetScheduler,
)
from queueing.simulation.tasks.rules.task_types import TaskTypes
from queueing.simulation.tasks.rules.workload import FixedTasks, GeometricTasks, TabulatedTasks
from queueing.simulation.tasks.simulation import simulate_tasks, trace

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
