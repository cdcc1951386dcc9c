"""For authors of policies: random instances, and the battery that every policy passes."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
