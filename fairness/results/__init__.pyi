from ..evidence.pools import Certificate
from ..explanations.explanation import Explanation
from ..policies.bottleneck_set import BottleneckSet
from ..policies.servers.distributed import DistributedRun
from ..results.allocation import Allocation
from ..results.cluster_allocation import ClusterAllocation

__all__ = [
    "Allocation",
    "BottleneckSet",
    "Certificate",
    "ClusterAllocation",
    "DistributedRun",
    "Explanation",
]
