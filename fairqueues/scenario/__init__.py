"""Scenario files: one TOML file says what is shared, by whom, under which traffic, and what to compute."""

from fairness.exports import exports

__getattr__, __dir__, __all__ = exports(__name__)
