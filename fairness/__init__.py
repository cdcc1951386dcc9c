"""Who gets how much: fair allocations of a pool or of a cluster of servers, each with its certificate."""

from typing import TYPE_CHECKING, Any

from fairness.allocation import Allocation, allocate
from fairness.catalogue import CATALOGUE, CLUSTER_CATALOGUE
from fairness.certificates import Certificate
from fairness.cluster import Cluster
from fairness.errors import FairqueuesError, InfeasibleError, ModelError, NotConvergedError, UnstableError
from fairness.placement import ClusterAllocation
from fairness.policies.asset import AssetFair
from fairness.policies.bottleneck import BottleneckMax
from fairness.policies.bottleneck_set import BottleneckSet, all_bottleneck_max
from fairness.policies.maxmin import DRF, MaxMin
from fairness.policies.proportional import AlphaFair, ProportionalFair
from fairness.policies.servers.distributed import Transient, distributed_psdsf
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRF, CDRFH, DRFH, TSF
from fairness.policies.timed import TDRF
from fairness.problem import Problem

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
    "Allocation",
    "AlphaFair",
    "AssetFair",
    "BottleneckMax",
    "BottleneckSet",
    "Certificate",
    "Cluster",
    "ClusterAllocation",
    "FairqueuesError",
    "InfeasibleError",
    "MaxMin",
    "ModelError",
    "NotConvergedError",
    "PerServerDRF",
    "Problem",
    "ProportionalFair",
    "Transient",
    "UnstableError",
    "all_bottleneck_max",
    "allocate",
    "audit",
    "distributed_psdsf",
]

if TYPE_CHECKING:
    from fairness.properties.counterexamples.audit import audit
else:

    def __getattr__(name: str) -> Any:
        """Load the audit, with its process pools and progress bars, when it is first asked for."""
        if name == "audit":
            from fairness.properties.counterexamples.audit import audit

            return audit
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
