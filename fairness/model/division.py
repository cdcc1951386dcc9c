"""The two ways to share a server, see :mod:`fairness.model.cluster`."""

from __future__ import annotations

from fairness.errors import ModelError

__all__ = ["DIVISIONS", "check_division"]

DIVISIONS = ("resource", "time")
"""Each resource by itself, or the whole server in turn."""


def check_division(division: str) -> str:
    """Return the division, or refuse it."""
    if division not in DIVISIONS:
        raise ModelError.of("division", f"must be one of {', '.join(map(repr, DIVISIONS))}; got {division!r}")
    return division
