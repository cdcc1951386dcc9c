"""The front door: every name of the packages below, scenario files, command line, reports and explorer.

``import fairqueues as fq`` and ``fq.allocate(...)``; nothing is loaded before it is asked for.
"""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
