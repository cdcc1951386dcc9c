"""What happens under random traffic: queues, durations and service rates of coupled classes."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__, "queueing.results")
