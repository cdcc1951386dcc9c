from .allocation import (
    Allocation as Allocation,
)
from .allocation import (
    allocate as allocate,
)
from .catalogue import (
    CATALOGUE as CATALOGUE,
)
from .catalogue import (
    CLUSTER_CATALOGUE as CLUSTER_CATALOGUE,
)
from .certificates import (
    Certificate as Certificate,
)
from .cluster import (
    Cluster as Cluster,
)
from .errors import (
    FairqueuesError as FairqueuesError,
)
from .errors import (
    InfeasibleError as InfeasibleError,
)
from .errors import (
    ModelError as ModelError,
)
from .errors import (
    NotConvergedError as NotConvergedError,
)
from .errors import (
    UnstableError as UnstableError,
)
from .placement import (
    ClusterAllocation as ClusterAllocation,
)
from .policies.asset import (
    AssetFair as AssetFair,
)
from .policies.bottleneck import (
    BottleneckMax as BottleneckMax,
)
from .policies.bottleneck_set import (
    BottleneckSet as BottleneckSet,
)
from .policies.bottleneck_set import (
    all_bottleneck_max as all_bottleneck_max,
)
from .policies.calling import (
    one_state as one_state,
)
from .policies.maxmin import (
    DRF as DRF,
)
from .policies.maxmin import (
    MaxMin as MaxMin,
)
from .policies.proportional import (
    AlphaFair as AlphaFair,
)
from .policies.proportional import (
    ProportionalFair as ProportionalFair,
)
from .policies.servers.distributed import (
    Transient as Transient,
)
from .policies.servers.distributed import (
    distributed_psdsf as distributed_psdsf,
)
from .policies.servers.per_server import (
    PerServerDRF as PerServerDRF,
)
from .policies.servers.psdsf import (
    PSDSF as PSDSF,
)
from .policies.servers.task_share import (
    CDRF as CDRF,
)
from .policies.servers.task_share import (
    CDRFH as CDRFH,
)
from .policies.servers.task_share import (
    DRFH as DRFH,
)
from .policies.servers.task_share import (
    TSF as TSF,
)
from .policies.timed import (
    TDRF as TDRF,
)
from .problem import (
    Problem as Problem,
)
from .properties.counterexamples.audit import (
    audit as audit,
)

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
    "one_state",
]
