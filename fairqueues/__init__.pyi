# ruff: noqa: F403
from capacity import *
from fairness import (
    CDRF as CDRF,
)
from fairness import (
    CDRFH as CDRFH,
)
from fairness import (
    DRF as DRF,
)
from fairness import (
    DRFH as DRFH,
)
from fairness import (
    PSDSF as PSDSF,
)
from fairness import (
    TDRF as TDRF,
)
from fairness import (
    TSF as TSF,
)
from fairness import (
    AlphaFair as AlphaFair,
)
from fairness import (
    AssetFair as AssetFair,
)
from fairness import (
    BottleneckMax as BottleneckMax,
)
from fairness import (
    Cluster as Cluster,
)
from fairness import (
    FairqueuesError as FairqueuesError,
)
from fairness import (
    Hierarchical as Hierarchical,
)
from fairness import (
    HierarchicalPlacement as HierarchicalPlacement,
)
from fairness import (
    MaxMin as MaxMin,
)
from fairness import (
    ModelError as ModelError,
)
from fairness import (
    NotConvergedError as NotConvergedError,
)
from fairness import (
    PerServerDRF as PerServerDRF,
)
from fairness import (
    Problem as Problem,
)
from fairness import (
    ProportionalFair as ProportionalFair,
)
from fairness import (
    Result as Result,
)
from fairness import (
    Tree as Tree,
)
from fairness import (
    UnstableError as UnstableError,
)
from fairness import (
    all_bottleneck_max as all_bottleneck_max,
)
from fairness import (
    allocate as allocate,
)
from fairness import (
    audit as audit,
)
from fairness import (
    distributed_psdsf as distributed_psdsf,
)
from fairness import (
    explain as explain,
)
from fairness import (
    one_state as one_state,
)
from fairness import (
    savefig as savefig,
)
from fairness import (
    to_latex as to_latex,
)
from proofs import (
    Statement as Statement,
)
from proofs import (
    Status as Status,
)
from proofs import (
    check as check,
)
from proofs import (
    check_all as check_all,
)
from proofs import (
    conjecture as conjecture,
)
from proofs import (
    statements as statements,
)
from proofs import (
    verify as verify,
)
from queueing import (
    BestFit as BestFit,
)
from queueing import (
    BMFScheduler as BMFScheduler,
)
from queueing import (
    ClusterTrace as ClusterTrace,
)
from queueing import (
    Deterministic as Deterministic,
)
from queueing import (
    DRFScheduler as DRFScheduler,
)
from queueing import (
    Empirical as Empirical,
)
from queueing import (
    Erlang as Erlang,
)
from queueing import (
    Exponential as Exponential,
)
from queueing import (
    FIFOScheduler as FIFOScheduler,
)
from queueing import (
    FiniteChain as FiniteChain,
)
from queueing import (
    FirstFit as FirstFit,
)
from queueing import (
    Hyperexponential as Hyperexponential,
)
from queueing import (
    JobTrace as JobTrace,
)
from queueing import (
    Lognormal as Lognormal,
)
from queueing import (
    Multilevel as Multilevel,
)
from queueing import (
    NodeList as NodeList,
)
from queueing import (
    OnOff as OnOff,
)
from queueing import (
    OwnScheduler as OwnScheduler,
)
from queueing import (
    PFScheduler as PFScheduler,
)
from queueing import (
    PhaseType as PhaseType,
)
from queueing import (
    Poisson as Poisson,
)
from queueing import (
    PowerOfChoices as PowerOfChoices,
)
from queueing import (
    RandomFit as RandomFit,
)
from queueing import (
    Renewal as Renewal,
)
from queueing import (
    System as System,
)
from queueing import (
    TargetScheduler as TargetScheduler,
)
from queueing import (
    Tasks as Tasks,
)
from queueing import (
    TaskTypes as TaskTypes,
)
from queueing import (
    TruncatedPareto as TruncatedPareto,
)
from queueing import (
    WorstFit as WorstFit,
)
from queueing import (
    admission as admission,
)
from queueing import (
    balanced_fairness as balanced_fairness,
)
from queueing import (
    check_certificate as check_certificate,
)
from queueing import (
    drift as drift,
)
from queueing import (
    drift_bound as drift_bound,
)
from queueing import (
    duration_bound as duration_bound,
)
from queueing import (
    enclose as enclose,
)
from queueing import (
    enclose_chain as enclose_chain,
)
from queueing import (
    exact_means as exact_means,
)
from queueing import (
    exact_stationary as exact_stationary,
)
from queueing import (
    fit_trace as fit_trace,
)
from queueing import (
    fluid_verdict as fluid_verdict,
)
from queueing import (
    mean_jobs_by_load as mean_jobs_by_load,
)
from queueing import (
    read_trace as read_trace,
)
from queueing import (
    replay as replay,
)
from queueing import (
    simulate as simulate,
)
from queueing import (
    stationary as stationary,
)
from queueing import (
    tabulate as tabulate,
)
from queueing import (
    tagged_duration as tagged_duration,
)
from queueing import (
    task_trace as task_trace,
)
from queueing import (
    trajectory as trajectory,
)
from queueing import (
    transient as transient,
)

from .scenario import Scenario as Scenario
from .scenario import ScenarioError as ScenarioError
from .scenario import schema as schema
from .version import __version__ as __version__
