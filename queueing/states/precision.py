"""What solvers of chains are told about precision: parts between 0 and 1, and limits on their work."""

from __future__ import annotations

import math

from fairness.arguments.validation import require_number
from fairness.errors import ModelError

__all__ = ["check_limits", "check_parts"]

LEAST = 1e-250
"""Smallest tail or tolerance: probabilities below 1e-290 are set to 0 (:mod:`queueing.states.box`)."""


def check_parts(**given: float) -> None:
    """Refuse tolerances and tails, given by name, that are not between 0 and 1, or are lost in floats."""
    for name, value in given.items():
        part = require_number(name, value, above=0, below=1)
        if part < LEAST:
            raise ModelError.of(
                name, f"must be at least {LEAST:g}, or parts of it are no floats; got {value!r}"
            )


def check_limits(**given: float) -> None:
    """Refuse limits on work, given by name, that are not positive numbers; 1e6 and infinity are."""
    for name, value in given.items():
        require_number(name, value, least=1, most=math.inf)
