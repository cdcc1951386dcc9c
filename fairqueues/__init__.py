"""The front door: scenario files, command line, reports and explorer of the packages below it."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
