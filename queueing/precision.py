"""What solvers of chains are told about precision: parts between 0 and 1, and limits on their work."""

from __future__ import annotations

import math
import numbers

from fairness.errors import ModelError

__all__ = ["check_limits", "check_parts"]


def check_parts(**given: float) -> None:
    """Refuse tolerances and tails, given by name, that are not strictly between 0 and 1."""
    for name, value in given.items():
        if not (isinstance(value, numbers.Real) and 0 < value < 1):
            raise ModelError(f"{name} must be between 0 and 1; got {value!r}")


def check_limits(**given: float) -> None:
    """Refuse limits on work, given by name, that are not positive numbers; 1e6 and infinity are."""
    for name, value in given.items():
        good = isinstance(value, numbers.Real) and not isinstance(value, bool) and not math.isnan(value)
        if not (good and value >= 1):
            raise ModelError(f"{name} must be a positive number, at least 1; got {value!r}")
