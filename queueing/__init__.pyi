from .balanced.duration_bound import duration_bound
from .balanced.fairness import balanced_fairness
from .balanced.plan import balanced_plan
from .certificates.errors import CertificateError
from .chain.admission import admission
from .chain.sensitivities import sensitivities
from .chain.solvers.choose_solver import Automatic, Elimination, Multilevel, Product
from .chain.stationary import stationary
from .chain.tagged import tagged_duration
from .chain.transient import transient
from .enclosures.enclose import enclose
from .enclosures.finite_chains import enclose_chain
from .enclosures.moment_programs.drift_bound import drift_bound
from .exact_laws.by_load import mean_jobs_by_load
from .exact_laws.exact_law import exact_stationary
from .exact_laws.exact_means import exact_means
from .fluid.circulation import circulate
from .fluid.rays import rays
from .fluid.trajectory import drift, trajectory
from .fluid.verdict import fluid_verdict
from .model.arrivals import Arrivals, Batches, OnOff, Poisson, Renewal
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
from .model.markovian import MAP
from .model.phase_type import PhaseType, coxian, fit_phases, phases_of
from .model.system import System
from .model.trace_fit import fit_trace
from .one_server.order_means import single_server
from .optima.optimal import optimal
from .optima.tune import tune
from .proved_bounds.check import check_certificate
from .proved_bounds.enclosure import AtLeast
from .recorded.cluster_trace import ClusterTrace
from .recorded.node_list import NodeList
from .replays.replay import replay
from .simulation.jobs.shortest_first import SRPT
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
from .simulation.tasks.record import task_trace
from .simulation.tasks.schedulers import (
    BMFScheduler,
    DRFScheduler,
    FIFOScheduler,
    PFScheduler,
    TargetScheduler,
)
from .simulation.tasks.workload import FixedTasks, GeometricTasks, TabulatedTasks
from .states.table import tabulate
from .waiting.backfilling import EASY
from .waiting.counted_orders import MaxWeight, Priorities
from .waiting.orders import FCFS, ServerFilling
from .waiting.whole_jobs import Order

__all__ = [
    "EASY",
    "FCFS",
    "MAP",
    "SRPT",
    "Arrivals",
    "AtLeast",
    "Automatic",
    "BMFScheduler",
    "Batches",
    "BestFit",
    "CertificateError",
    "ClusterTrace",
    "DRFScheduler",
    "Deterministic",
    "Elimination",
    "Empirical",
    "Erlang",
    "Exponential",
    "FIFOScheduler",
    "FiniteChain",
    "FirstFit",
    "FixedTasks",
    "GeometricTasks",
    "Hyperexponential",
    "JobTrace",
    "Law",
    "Lognormal",
    "MaxWeight",
    "Multilevel",
    "NodeList",
    "OnArrival",
    "OnOff",
    "Order",
    "OwnScheduler",
    "PFScheduler",
    "PhaseType",
    "Placement",
    "Poisson",
    "PowerOfChoices",
    "PresentJob",
    "Priorities",
    "Product",
    "RandomFit",
    "Renewal",
    "ServerFilling",
    "System",
    "SystemState",
    "TabulatedTasks",
    "TargetScheduler",
    "TaskTypes",
    "Tasks",
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
    "optimal",
    "phases_of",
    "rays",
    "read_trace",
    "replay",
    "sensitivities",
    "simulate",
    "single_server",
    "stationary",
    "tabulate",
    "tagged_duration",
    "task_trace",
    "trajectory",
    "transient",
    "tune",
]
