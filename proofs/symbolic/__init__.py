"""Models with letters: closed forms by cells, and what can be decided about them."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
