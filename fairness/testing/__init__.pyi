from .battery import CHECKS, check_policy
from .instances import KINDS, random_cluster, random_problem

__all__ = ["CHECKS", "KINDS", "check_policy", "random_cluster", "random_problem"]
