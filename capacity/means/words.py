"""What is evaluated at a point of a sweep: a policy, by its Markov chain, or balanced fairness and its bound.

A method is a policy, or one of the words of :data:`METHODS`: ``"balanced"`` for balanced fairness
(:func:`queueing.balanced_fairness`), ``"bound"`` for the closed-form bound of it
(:func:`queueing.duration_bound`), which are known for one pool of resources.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairness.errors import ModelError
from fairness.protocol.policy import policy_name
from queueing.model.system import System
from queueing.simulation.tasks.schedulers import is_scheduler

__all__ = ["BALANCED", "BOUND", "METHODS", "method_label", "require_known"]

BALANCED, BOUND = "balanced", "bound"

METHODS = {BALANCED: "balanced fairness", BOUND: "bound"}
"""Methods that are no policies, and how tables and figures call them."""


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
    if is_scheduler(method):
        return str(method.name)
    return policy_name(method)


def require_known(system: System, methods: Iterable[Any], argument: str = "policies") -> None:
    """ModelError if a word is about one pool, and the system is none."""
    for method in methods:
        if system.is_cluster and isinstance(method, str):
            raise ModelError.of(
                argument, f": {method!r} is known for one pool, not for servers; leave it out"
            )
