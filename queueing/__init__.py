"""What happens under random traffic: queues, durations and service rates of coupled classes."""

from queueing.balanced import BalancedFairness, balanced_fairness
from queueing.bound import DurationBound, duration_bound
from queueing.chain import Stationary, stationary
from queueing.existence import Circulation, circulate
from queueing.fluid import Trajectory, drift, trajectory
from queueing.schedulers import BMFScheduler, DRFScheduler, FIFOScheduler, PFScheduler, TargetScheduler
from queueing.simulate import Simulation, simulate
from queueing.system import System
from queueing.tabulate import Table, tabulate
from queueing.tasks import TaskSimulation, TaskTrace, simulate_tasks, trace
from queueing.workload import FixedTasks, GeometricTasks, TabulatedTasks

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
