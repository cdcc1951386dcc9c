from .catalogue import CATALOGUE, CLUSTER_CATALOGUE
from .display.latex import to_latex
from .display.printing.saving import savefig
from .display.result import Result
from .errors import FairqueuesError, InfeasibleError, ModelError, NotConvergedError, UnstableError
from .explanations.explain import explain
from .machine.backends import BackendError
from .model.cluster import Cluster
from .model.problem import Problem
from .model.tree import Tree
from .policies.asset import AssetFair
from .policies.bottleneck import BottleneckMax
from .policies.bottleneck_set import all_bottleneck_max
from .policies.hierarchy.hierarchical import Hierarchical
from .policies.maxmin import DRF, MaxMin
from .policies.proportional import AlphaFair, ProportionalFair
from .policies.servers.distributed import distributed_psdsf
from .policies.servers.per_server import PerServerDRF
from .policies.servers.psdsf import PSDSF
from .policies.servers.task_share import CDRF, CDRFH, DRFH, TSF
from .policies.servers.trees.hierarchical import HierarchicalPlacement
from .properties.counterexamples.audit import audit
from .protocol.calling import one_state
from .results.allocation import allocate
from .timed.tdrf import TDRF

__all__ = [
    "CATALOGUE",
    "CDRF",
    "CDRFH",
    "CLUSTER_CATALOGUE",
    "DRF",
    "DRFH",
    "PSDSF",
    "TDRF",
    "TSF",
    "AlphaFair",
    "AssetFair",
    "BackendError",
    "BottleneckMax",
    "Cluster",
    "FairqueuesError",
    "Hierarchical",
    "HierarchicalPlacement",
    "InfeasibleError",
    "MaxMin",
    "ModelError",
    "NotConvergedError",
    "PerServerDRF",
    "Problem",
    "ProportionalFair",
    "Result",
    "Tree",
    "UnstableError",
    "all_bottleneck_max",
    "allocate",
    "audit",
    "distributed_psdsf",
    "explain",
    "one_state",
    "savefig",
    "to_latex",
]
