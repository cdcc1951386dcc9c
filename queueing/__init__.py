"""What happens under random traffic: queues, durations and service rates of coupled classes."""

from queueing.balanced import BalancedFairness, balanced_fairness
from queueing.bound import DurationBound, duration_bound
from queueing.chain import Stationary, stationary
from queueing.existence import Circulation, circulate
from queueing.fluid import Trajectory, drift, trajectory
from queueing.simulate import Simulation, simulate
from queueing.system import System
from queueing.tabulate import Table, tabulate
from queueing.tasklevel import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FixedTasks,
    GeometricTasks,
    PFScheduler,
    TabulatedTasks,
    TargetScheduler,
    TaskSimulation,
    TaskTrace,
    simulate_tasks,
    trace,
)

__all__ = [
    "BMFScheduler",
    "BalancedFairness",
    "Circulation",
    "DRFScheduler",
    "DurationBound",
    "FIFOScheduler",
    "FixedTasks",
    "GeometricTasks",
    "PFScheduler",
    "Simulation",
    "Stationary",
    "System",
    "Table",
    "TabulatedTasks",
    "TargetScheduler",
    "TaskSimulation",
    "TaskTrace",
    "Trajectory",
    "balanced_fairness",
    "circulate",
    "drift",
    "duration_bound",
    "simulate",
    "simulate_tasks",
    "stationary",
    "tabulate",
    "trace",
    "trajectory",
]
