"""What happens under random traffic: queues, durations and service rates of coupled classes."""

from queueing.admission import Admission, admission
from queueing.arrivals import Arrivals, OnOff, Poisson, Renewal
from queueing.balanced import BalancedFairness, balanced_fairness
from queueing.balanced_plan import BalancedPlan, balanced_plan
from queueing.bound import DurationBound, duration_bound
from queueing.chain import Stationary, stationary
from queueing.directions import Ray, rays
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
from queueing.draining import FluidVerdict, fluid_verdict
from queueing.existence import Circulation, circulate
from queueing.fluid import Trajectory, drift, trajectory
from queueing.joblevel import JobSimulation, JobTrace, read_trace, simulate_jobs
from queueing.phase_chain import phase_stationary
from queueing.phase_type import PhaseType, coxian, fit_phases, phases_of
from queueing.simulate import Simulation, simulate
from queueing.system import System
from queueing.tabulate import Table, tabulate
from queueing.tagged import TaggedDuration, tagged_duration
from queueing.tasklevel import (
    BestFit,
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    FixedTasks,
    GeometricTasks,
    OnArrival,
    PFScheduler,
    Placement,
    PowerOfChoices,
    RandomFit,
    ServerEvidence,
    TabulatedTasks,
    TargetScheduler,
    TaskSimulation,
    TaskTrace,
    TaskTypes,
    WorstFit,
    simulate_tasks,
    trace,
)
from queueing.transient import Transient, transient

__all__ = [
    "Admission",
    "Arrivals",
    "BMFScheduler",
    "BalancedFairness",
    "BalancedPlan",
    "BestFit",
    "Circulation",
    "DRFScheduler",
    "Deterministic",
    "DurationBound",
    "Empirical",
    "Erlang",
    "Exponential",
    "FIFOScheduler",
    "FirstFit",
    "FixedTasks",
    "FluidVerdict",
    "GeometricTasks",
    "Hyperexponential",
    "JobSimulation",
    "JobTrace",
    "Law",
    "Lognormal",
    "OnArrival",
    "OnOff",
    "PFScheduler",
    "PhaseType",
    "Placement",
    "Poisson",
    "PowerOfChoices",
    "RandomFit",
    "Ray",
    "Renewal",
    "ServerEvidence",
    "Simulation",
    "Stationary",
    "System",
    "Table",
    "TabulatedTasks",
    "TaggedDuration",
    "TargetScheduler",
    "TaskSimulation",
    "TaskTrace",
    "TaskTypes",
    "Trajectory",
    "Transient",
    "TruncatedPareto",
    "WorstFit",
    "admission",
    "balanced_fairness",
    "balanced_plan",
    "circulate",
    "coxian",
    "drift",
    "duration_bound",
    "fit_phases",
    "fluid_verdict",
    "phase_stationary",
    "phases_of",
    "rays",
    "read_trace",
    "simulate",
    "simulate_jobs",
    "simulate_tasks",
    "stationary",
    "tabulate",
    "tagged_duration",
    "trace",
    "trajectory",
    "transient",
]
