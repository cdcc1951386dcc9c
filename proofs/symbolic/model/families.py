"""The policies whose allocations have a form in letters, by their family."""

from __future__ import annotations

from typing import Any

from fairness.errors import ModelError
from fairness.protocol.family import Family, family_of

__all__ = ["written"]


def written(policy: Any) -> Family:
    """Family of a policy that can be written in letters; ModelError if it cannot.

    Examples
    --------
    >>> from fairness import AlphaFair
    >>> written(AlphaFair(1))
    Family(name='alpha-fair', parameters={'alpha': 1.0})
    """
    match family_of(policy):
        case Family("filling", {"growth": "tasks" | "dominant" | "assets"}) as family:
            return family
        case Family("bottleneck-max") | Family("alpha-fair", {"alpha": 1.0}) as family:
            return family
    raise ModelError.of(
        "policy",
        f"must be one of MaxMin, DRF, AssetFair, BottleneckMax, ProportionalFair; got {policy!r:.80}",
    )
