from .admission_control import (
    Admission as Admission,
)
from .admission_control import (
    admission as admission,
)
from .arrivals import (
    Arrivals as Arrivals,
)
from .arrivals import (
    OnOff as OnOff,
)
from .arrivals import (
    Poisson as Poisson,
)
from .arrivals import (
    Renewal as Renewal,
)
from .balanced import (
    BalancedFairness as BalancedFairness,
)
from .balanced import (
    balanced_fairness as balanced_fairness,
)
from .balanced_planning import (
    BalancedPlan as BalancedPlan,
)
from .balanced_planning import (
    balanced_plan as balanced_plan,
)
from .bound import (
    DurationBound as DurationBound,
)
from .bound import (
    duration_bound as duration_bound,
)
from .chain import (
    Stationary as Stationary,
)
from .chain import (
    stationary as stationary,
)
from .directions import (
    Ray as Ray,
)
from .directions import (
    rays as rays,
)
from .distributions import (
    Deterministic as Deterministic,
)
from .distributions import (
    Empirical as Empirical,
)
from .distributions import (
    Erlang as Erlang,
)
from .distributions import (
    Exponential as Exponential,
)
from .distributions import (
    Hyperexponential as Hyperexponential,
)
from .distributions import (
    Law as Law,
)
from .distributions import (
    Lognormal as Lognormal,
)
from .distributions import (
    TruncatedPareto as TruncatedPareto,
)
from .draining import (
    FluidVerdict as FluidVerdict,
)
from .draining import (
    fluid_verdict as fluid_verdict,
)
from .existence import (
    Circulation as Circulation,
)
from .existence import (
    circulate as circulate,
)
from .fluid import (
    Trajectory as Trajectory,
)
from .fluid import (
    drift as drift,
)
from .fluid import (
    trajectory as trajectory,
)
from .joblevel import (
    JobSimulation as JobSimulation,
)
from .joblevel import (
    JobTrace as JobTrace,
)
from .joblevel import (
    read_trace as read_trace,
)
from .joblevel import (
    simulate_jobs as simulate_jobs,
)
from .phase_chain import (
    phase_stationary as phase_stationary,
)
from .phase_type import (
    PhaseType as PhaseType,
)
from .phase_type import (
    coxian as coxian,
)
from .phase_type import (
    fit_phases as fit_phases,
)
from .phase_type import (
    phases_of as phases_of,
)
from .simulation import (
    Simulation as Simulation,
)
from .simulation import (
    simulate as simulate,
)
from .system import (
    System as System,
)
from .table import (
    Table as Table,
)
from .table import (
    tabulate as tabulate,
)
from .tagged import (
    TaggedDuration as TaggedDuration,
)
from .tagged import (
    tagged_duration as tagged_duration,
)
from .tasklevel import (
    BestFit as BestFit,
)
from .tasklevel import (
    BMFScheduler as BMFScheduler,
)
from .tasklevel import (
    DRFScheduler as DRFScheduler,
)
from .tasklevel import (
    FIFOScheduler as FIFOScheduler,
)
from .tasklevel import (
    FirstFit as FirstFit,
)
from .tasklevel import (
    FixedTasks as FixedTasks,
)
from .tasklevel import (
    GeometricTasks as GeometricTasks,
)
from .tasklevel import (
    OnArrival as OnArrival,
)
from .tasklevel import (
    PFScheduler as PFScheduler,
)
from .tasklevel import (
    Placement as Placement,
)
from .tasklevel import (
    PowerOfChoices as PowerOfChoices,
)
from .tasklevel import (
    RandomFit as RandomFit,
)
from .tasklevel import (
    ServerEvidence as ServerEvidence,
)
from .tasklevel import (
    TabulatedTasks as TabulatedTasks,
)
from .tasklevel import (
    TargetScheduler as TargetScheduler,
)
from .tasklevel import (
    TaskSimulation as TaskSimulation,
)
from .tasklevel import (
    TaskTrace as TaskTrace,
)
from .tasklevel import (
    TaskTypes as TaskTypes,
)
from .tasklevel import (
    WorstFit as WorstFit,
)
from .tasklevel import (
    simulate_tasks as simulate_tasks,
)
from .tasklevel import (
    trace as trace,
)
from .transient_law import (
    Transient as Transient,
)
from .transient_law import (
    transient as transient,
)

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
