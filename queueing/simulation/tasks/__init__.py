"""Task-level simulation on whole units: jobs of many tasks, served task by task by a scheduler.

``sampling`` measures and estimates, ``results`` is what it returns, ``record`` one run with every event;
``rules`` are the schedulers, placement rules, task types and laws of tasks, ``engine`` is the machine,
``ends`` when its running tasks end, as those of replays do.
"""

from queueing.simulation.tasks.record import TaskTrace, task_trace
from queueing.simulation.tasks.results import ServerEvidence, TaskSimulation
from queueing.simulation.tasks.rules.options import Tasks
from queueing.simulation.tasks.rules.own_schedulers import OwnScheduler, PresentJob, SystemState
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

__all__ = [
    "BMFScheduler",
    "BestFit",
    "DRFScheduler",
    "FIFOScheduler",
    "FirstFit",
    "FixedTasks",
    "GeometricTasks",
    "OnArrival",
    "OwnScheduler",
    "PFScheduler",
    "Placement",
    "PowerOfChoices",
    "PresentJob",
    "RandomFit",
    "Scheduler",
    "ServerEvidence",
    "SystemState",
    "TabulatedTasks",
    "TargetScheduler",
    "TaskSimulation",
    "TaskTrace",
    "TaskTypes",
    "Tasks",
    "WorstFit",
    "task_trace",
]
