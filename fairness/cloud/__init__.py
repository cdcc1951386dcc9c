"""Sharing at cloud scale: up to millions of tenants that each demand a few of very many resources."""

from fairness.cloud.demands import SparseDemands
from fairness.cloud.edrf import Edrf, Pattern, edrf

__all__ = ["Edrf", "Pattern", "SparseDemands", "edrf"]
