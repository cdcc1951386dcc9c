"""What solvers of chains are told about precision: parts between 0 and 1, and limits on their work."""

from __future__ import annotations

import math

from fairness.validation import require_number

__all__ = ["check_limits", "check_parts"]


def check_parts(**given: float) -> None:
    """Refuse tolerances and tails, given by name, that are not strictly between 0 and 1."""
    for name, value in given.items():
        require_number(name, value, above=0, below=1)


def check_limits(**given: float) -> None:
    """Refuse limits on work, given by name, that are not positive numbers; 1e6 and infinity are."""
    for name, value in given.items():
        require_number(name, value, least=1, most=math.inf)
