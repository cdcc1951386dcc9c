"""Which loads fit: stability regions of pools, clusters and whole tasks, verdicts, and sweeps."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__, "capacity.results")
