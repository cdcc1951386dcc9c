"""Properties that a policy may have: a checker for each, a search for counterexamples, and audit tables."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
