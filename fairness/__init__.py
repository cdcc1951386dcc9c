"""Who gets how much: fair allocations of one pool of resources, each with its certificate."""

from fairness.allocation import Allocation, allocate
from fairness.certificates import Certificate
from fairness.errors import FairqueuesError, InfeasibleError, ModelError, NotConvergedError, UnstableError
from fairness.policies.asset import AssetFair
from fairness.policies.maxmin import DRF, MaxMin
from fairness.problem import Problem

__all__ = [
    "DRF",
    "Allocation",
    "AssetFair",
    "Certificate",
    "FairqueuesError",
    "InfeasibleError",
    "MaxMin",
    "ModelError",
    "NotConvergedError",
    "Problem",
    "UnstableError",
    "allocate",
]
