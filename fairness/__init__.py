"""Who gets how much: fair allocations of a pool or of a cluster of servers, each with its certificate."""

from fairness.allocation import Allocation, allocate
from fairness.catalogue import CATALOGUE
from fairness.certificates import Certificate
from fairness.cluster import Cluster
from fairness.errors import FairqueuesError, InfeasibleError, ModelError, NotConvergedError, UnstableError
from fairness.placement import ClusterAllocation
from fairness.policies.asset import AssetFair
from fairness.policies.bottleneck import BottleneckMax
from fairness.policies.bottleneck_set import BottleneckSet, all_bottleneck_max
from fairness.policies.maxmin import DRF, MaxMin
from fairness.policies.proportional import AlphaFair, ProportionalFair
from fairness.problem import Problem

__all__ = [
    "CATALOGUE",
    "DRF",
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
    "Problem",
    "ProportionalFair",
    "UnstableError",
    "all_bottleneck_max",
    "allocate",
]
