"""Results of queueing and their evidence, by their names: what verbs return and files hold."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
