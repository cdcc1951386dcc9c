"""The two ways to share a server, see :mod:`fairness.model.cluster`."""

from __future__ import annotations

from fairness.arguments.validation import require_choice

__all__ = ["DIVISIONS", "check_division"]

DIVISIONS = ("resource", "time")
"""Each resource by itself, or the whole server in turn."""


def check_division(division: str) -> str:
    """Return the division, or refuse it."""
    return require_choice("division", division, DIVISIONS)
