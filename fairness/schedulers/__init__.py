"""Shares, divisions and orders as cluster schedulers define them: numbers in, numbers out."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
