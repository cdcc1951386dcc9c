"""Allocations of pools and clusters with their evidence, and how they are drawn; results by their names."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
