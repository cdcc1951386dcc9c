"""The colours of users on all pages, apart from those of policies (:mod:`fairness.catalogue`)."""

from __future__ import annotations

__all__ = ["user_colour"]

# Okabe and Ito's, which colour-blind readers can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def user_colour(n: int) -> str:
    """Colour of user n, counted from 0."""
    return _COLOURS[n % len(_COLOURS)]
