"""What happens under random traffic: queues, durations and service rates of coupled classes."""

from queueing.admission import Admission, admission
from queueing.arrivals import Arrivals, OnOff, Poisson, Renewal
from queueing.balanced import BalancedFairness, balanced_fairness
from queueing.bound import DurationBound, duration_bound
from queueing.chain import Stationary, stationary
from queueing.distributions import (
    Deterministic,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Law,
    Lognormal,
    TruncatedPareto,
)
from queueing.existence import Circulation, circulate
from queueing.fluid import Trajectory, drift, trajectory
from queueing.joblevel import JobSimulation, JobTrace, read_trace, simulate_jobs
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
from queueing.transient import Transient, transient

__all__ = [
    "Admission",
    "Arrivals",
    "BMFScheduler",
    "BalancedFairness",
    "Circulation",
    "DRFScheduler",
    "Deterministic",
    "DurationBound",
    "Empirical",
    "Erlang",
    "Exponential",
    "FIFOScheduler",
    "FixedTasks",
    "GeometricTasks",
    "Hyperexponential",
    "JobSimulation",
    "JobTrace",
    "Law",
    "Lognormal",
    "OnOff",
    "PFScheduler",
    "Poisson",
    "Renewal",
    "Simulation",
    "Stationary",
    "System",
    "Table",
    "TabulatedTasks",
    "TargetScheduler",
    "TaskSimulation",
    "TaskTrace",
    "Trajectory",
    "Transient",
    "TruncatedPareto",
    "admission",
    "balanced_fairness",
    "circulate",
    "drift",
    "duration_bound",
    "read_trace",
    "simulate",
    "simulate_jobs",
    "simulate_tasks",
    "stationary",
    "tabulate",
    "trace",
    "trajectory",
    "transient",
]
