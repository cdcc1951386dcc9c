"""Sharing at cloud scale: up to millions of tenants that each demand a few of very many resources."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
