from .allocation import CloudAllocation
from .approximate import dcdrf
from .comparison import Comparison, compare
from .controller import ControlInterval, DeadlineController
from .exact import Edrf, edrf
from .instances.churn import churned
from .instances.families import HARD_FAMILIES
from .instances.profiles import PROFILES, demand_profile
from .model.demands import SparseDemands
from .model.pattern import Pattern
from .rounds import Rounds, edrf_rounds
from .spread.allocation import SpreadAllocation, edrf_blocks

__all__ = [
    "HARD_FAMILIES",
    "PROFILES",
    "CloudAllocation",
    "Comparison",
    "ControlInterval",
    "DeadlineController",
    "Edrf",
    "Pattern",
    "Rounds",
    "SparseDemands",
    "SpreadAllocation",
    "churned",
    "compare",
    "dcdrf",
    "demand_profile",
    "edrf",
    "edrf_blocks",
    "edrf_rounds",
]
