"""Task-level simulation on whole units: jobs of many tasks, served task by task by a scheduler.

``simulation`` holds the drivers and their results, ``schedulers`` the rules, ``workload`` the laws of task
numbers and times; ``runs``, ``events`` and ``dispatch`` are the machine behind them.
"""

from queueing.tasklevel.schedulers import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    PFScheduler,
    Scheduler,
    TargetScheduler,
)
from queueing.tasklevel.simulation import TaskSimulation, TaskTrace, simulate_tasks, trace
from queueing.tasklevel.workload import FixedTasks, GeometricTasks, TabulatedTasks

__all__ = [
    "BMFScheduler",
    "DRFScheduler",
    "FIFOScheduler",
    "FixedTasks",
    "GeometricTasks",
    "PFScheduler",
    "Scheduler",
    "TabulatedTasks",
    "TargetScheduler",
    "TaskSimulation",
    "TaskTrace",
    "simulate_tasks",
    "trace",
]
