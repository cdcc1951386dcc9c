"""Whole tasks: filling task by task, on one pool and on the servers of a cluster."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
