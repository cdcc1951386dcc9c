"""What is evaluated at a point: a policy, or what stands beside policies as a yardstick.

A method is a policy, or one of the words of :data:`METHODS`: ``"balanced"`` for balanced fairness
(:func:`queueing.balanced_fairness`), ``"bound"`` for the closed-form bound of it
(:func:`queueing.duration_bound`), ``"optimal"`` for the policy with the fewest mean jobs in all
(:func:`queueing.optimal`), which are known for one pool of resources.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairness.errors import ModelError
from fairness.protocol.policy import policy_name
from queueing.model.system import System
from queueing.optima.optimal import MOST_STATES
from queueing.simulation.tasks.schedulers import is_scheduler

__all__ = ["BALANCED", "BOUND", "METHODS", "OPTIMAL", "method_label", "require_known", "yardsticks"]

BALANCED, BOUND, OPTIMAL = "balanced", "bound", "optimal"

METHODS = {BALANCED: "balanced fairness", BOUND: "bound", OPTIMAL: "fewest jobs"}
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
                f": {method!r} is none; give policies such as DRF(), 'balanced' for balanced fairness, "
                "'bound' for its bound or 'optimal' for the fewest jobs",
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


def yardsticks(system: System) -> list[str]:
    """The words that can be asked for of a system.

    Examples
    --------
    >>> from fairness import Problem
    >>> yardsticks(System.with_load(Problem([[1]], [1]), [1], 0.5))
    ['balanced', 'bound', 'optimal']
    """
    if system.is_cluster:
        return []
    few = (system.arrival_rates > 0).sum() in MOST_STATES
    return [BALANCED, BOUND, *([OPTIMAL] if few and system.is_markovian else [])]
