"""Public cluster traces by their published schemas, from files that the user has; nothing is downloaded."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
