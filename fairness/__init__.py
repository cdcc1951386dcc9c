"""Who gets how much: fair allocations of a pool or of a cluster of servers, each with its certificate."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__, "fairness.results")
