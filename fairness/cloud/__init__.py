"""Sharing at cloud scale: up to millions of tenants that each demand a few of very many resources."""

from fairness.cloud.allocation import CloudAllocation
from fairness.cloud.churn import churned
from fairness.cloud.comparison import Comparison, compare
from fairness.cloud.controller import ControlInterval, DeadlineController
from fairness.cloud.dcdrf import dcdrf
from fairness.cloud.demands import SparseDemands
from fairness.cloud.edrf import Edrf, edrf
from fairness.cloud.families import HARD_FAMILIES
from fairness.cloud.pattern import Pattern
from fairness.cloud.profiles import PROFILES, demand_profile
from fairness.cloud.rounds import Rounds, edrf_rounds

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
    "churned",
    "compare",
    "dcdrf",
    "demand_profile",
    "edrf",
    "edrf_rounds",
]
