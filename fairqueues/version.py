"""Version of the installed package."""

from fairness.versions import version

__all__ = ["__version__"]

__version__ = version()
"""Version of the installed package, or ``not installed``."""
