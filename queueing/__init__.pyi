from .balanced.duration_bound import DurationBound, duration_bound
from .balanced.fairness import BalancedFairness, balanced_fairness
from .balanced.plan import BalancedPlan, balanced_plan
from .certificates.chain_certificate import ChainCertificate
from .certificates.drift_certificate import DriftCertificate
from .certificates.errors import CertificateError
from .chain.admission import Admission, admission
from .chain.solvers.choose_solver import Automatic, Elimination, Multilevel, Product
from .chain.stationary import stationary
from .chain.stationary_law import Stationary
from .chain.tagged import TaggedDuration, tagged_duration
from .chain.transient import Transient, transient
from .enclosures.enclose import enclose
from .enclosures.finite_chains import enclose_chain
from .enclosures.moment_programs.drift_bound import drift_bound
from .exact_laws.by_load import MeanJobsByLoad, mean_jobs_by_load
from .exact_laws.exact_law import ExactStationary
from .exact_laws.exact_means import exact_means
from .exact_laws.exact_stationary import exact_stationary
from .exact_laws.rational_function import RationalFunction
from .fluid.circulation import Circulation, circulate
from .fluid.rays import Ray, rays
from .fluid.trajectory import Trajectory, drift, trajectory
from .fluid.verdict import FluidVerdict, fluid_verdict
from .model.arrivals import Arrivals, OnOff, Poisson, Renewal
from .model.finite_chain import FiniteChain
from .model.job_trace import JobTrace, read_trace
from .model.laws import (
    Deterministic,
    Empirical,
    Erlang,
    Exponential,
    Hyperexponential,
    Law,
    Lognormal,
    TruncatedPareto,
)
from .model.phase_type import PhaseType, coxian, fit_phases, phases_of
from .model.system import System
from .model.trace_fit import TraceFit, fit_trace
from .proved_bounds.chain_enclosure import ChainEnclosure
from .proved_bounds.check import check_certificate
from .proved_bounds.drift_bounds import DriftBound
from .proved_bounds.enclosure import AtLeast, Enclosure
from .recorded.cluster_trace import ClusterTrace
from .recorded.node_list import NodeList
from .replays.recorded import Replay
from .replays.replay import replay
from .replays.time_series import ReplayPaths
from .simulation.jobs.results import JobSimulation
from .simulation.results import ServerEvidence, Simulation, TaskSimulation
from .simulation.simulate import simulate
from .simulation.tasks.options import Tasks, TaskTypes
from .simulation.tasks.own_schedulers import OwnScheduler, PresentJob, SystemState
from .simulation.tasks.placement import (
    BestFit,
    FirstFit,
    OnArrival,
    Placement,
    PowerOfChoices,
    RandomFit,
    WorstFit,
)
from .simulation.tasks.record import TaskTrace, task_trace
from .simulation.tasks.schedulers import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    PFScheduler,
    TargetScheduler,
)
from .simulation.tasks.workload import FixedTasks, GeometricTasks, TabulatedTasks
from .states.table import Table, tabulate

__all__ = [
    "Admission",
    "Arrivals",
    "AtLeast",
    "Automatic",
    "BMFScheduler",
    "BalancedFairness",
    "BalancedPlan",
    "BestFit",
    "CertificateError",
    "ChainCertificate",
    "ChainEnclosure",
    "Circulation",
    "ClusterTrace",
    "DRFScheduler",
    "Deterministic",
    "DriftBound",
    "DriftCertificate",
    "DurationBound",
    "Elimination",
    "Empirical",
    "Enclosure",
    "Erlang",
    "ExactStationary",
    "Exponential",
    "FIFOScheduler",
    "FiniteChain",
    "FirstFit",
    "FixedTasks",
    "FluidVerdict",
    "GeometricTasks",
    "Hyperexponential",
    "JobSimulation",
    "JobTrace",
    "Law",
    "Lognormal",
    "MeanJobsByLoad",
    "Multilevel",
    "NodeList",
    "OnArrival",
    "OnOff",
    "OwnScheduler",
    "PFScheduler",
    "PhaseType",
    "Placement",
    "Poisson",
    "PowerOfChoices",
    "PresentJob",
    "Product",
    "RandomFit",
    "RationalFunction",
    "Ray",
    "Renewal",
    "Replay",
    "ReplayPaths",
    "ServerEvidence",
    "Simulation",
    "Stationary",
    "System",
    "SystemState",
    "Table",
    "TabulatedTasks",
    "TaggedDuration",
    "TargetScheduler",
    "TaskSimulation",
    "TaskTrace",
    "TaskTypes",
    "Tasks",
    "TraceFit",
    "Trajectory",
    "Transient",
    "TruncatedPareto",
    "WorstFit",
    "admission",
    "balanced_fairness",
    "balanced_plan",
    "check_certificate",
    "circulate",
    "coxian",
    "drift",
    "drift_bound",
    "duration_bound",
    "enclose",
    "enclose_chain",
    "exact_means",
    "exact_stationary",
    "fit_phases",
    "fit_trace",
    "fluid_verdict",
    "mean_jobs_by_load",
    "phases_of",
    "rays",
    "read_trace",
    "replay",
    "simulate",
    "stationary",
    "tabulate",
    "tagged_duration",
    "task_trace",
    "trajectory",
    "transient",
]
