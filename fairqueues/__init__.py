"""The front door: what is typed of the packages below, scenario files, command line, reports and explorer.

``import fairqueues as fq`` and ``fq.allocate(...)``; nothing is loaded before it is asked for. What verbs
return, and what only some questions need, has its name in the packages and in their ``results``.
"""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    *("fairness", "queueing", "proofs", "fairness.results", "queueing.results", "capacity.results"),
)
