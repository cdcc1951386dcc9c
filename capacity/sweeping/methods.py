"""What is evaluated at a point of a sweep: a policy, by its Markov chain, or balanced fairness and its bound.

A method is a policy, or one of the words of :data:`METHODS`: ``"balanced"`` for balanced fairness
(:func:`queueing.balanced_fairness`), ``"bound"`` for the closed-form bound of it
(:func:`queueing.duration_bound`), which are known for one pool of resources.
"""

from __future__ import annotations

from typing import Any

from fairness.errors import ModelError
from fairness.protocol.policy import policy_name
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.stationary import stationary
from queueing.model.system import System

__all__ = ["BALANCED", "BOUND", "METHODS", "method_label", "solved"]

BALANCED, BOUND = "balanced", "bound"

METHODS = {BALANCED: "balanced fairness", BOUND: "bound"}
"""Methods that are no policies, and how tables and figures call them."""

BALANCED_STATES = 100_000_000_000
"""Most states of balanced fairness, unless told otherwise: as it has them itself."""


def method_label(method: Any, argument: str = "policies") -> str:
    """How tables and figures call a method; ModelError about the argument that holds it if it is none.

    Examples
    --------
    >>> from fairness import DRF
    >>> method_label(DRF()), method_label("balanced")
    ('DRF', 'balanced fairness')
    """
    if isinstance(method, str):
        if method not in METHODS:
            raise ModelError.of(
                argument,
                f": {method!r} is none; give policies such as DRF(), 'balanced' for balanced fairness or "
                "'bound' for its bound",
            )
        return METHODS[method]
    return policy_name(method)


def solved(system: System, method: Any, *, most_balanced: int = BALANCED_STATES, **options: Any) -> Any:
    """Means of a system under a method.

    ``options`` are those of :func:`queueing.stationary`; ``most_balanced`` are the most states of balanced
    fairness.
    """
    if method == BALANCED:
        return balanced_fairness(system, max_states=most_balanced)
    if method == BOUND:
        return duration_bound(system)
    return stationary(system, method, distribution=False, **options)
