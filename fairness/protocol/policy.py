"""What a policy is, and the little that all policies share.

A policy is called as ``policy(problem, counts) -> tasks``: ``counts`` of shape (..., n_classes) gives
the jobs present, real numbers allowed; the answer has the same shape and lists the tasks running per
class, equally divided among the jobs of the class. A policy has no state and does no I/O. A frozen
dataclass carries its parameters; a plain function will do.

A policy that can say more than the tasks (a certificate, prices, levels) also has
``solve(problem, counts) -> Solution`` for one vector of counts; :func:`fairness.allocate` uses it.

A policy says what it is: ``name`` for tables and figures, ``family`` for all who know a proof or a definition
(:mod:`fairness.protocol.family`), and ``batches``, how it answers for many states at once: "compiled", by a
kernel that goes over the states, or "in turn", slowly but state by state. One that does not say so is asked
again about some states alone (:mod:`fairness.protocol.calling`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from fairness.display.lettering import printed
from fairness.errors import ModelError
from fairness.evidence.pools import Certificate
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray, Problem
from fairness.model.tree import Tree

__all__ = [
    "CertifyingPolicy",
    "Policy",
    "Solution",
    "batches",
    "evaluate",
    "offers",
    "policy_name",
    "unit_prices",
]

ANSWERS = ("__call__", "solve", "placements", "tasks")
"""Methods that answer, each a shorter way or a longer one to the same tasks."""


class Policy(Protocol):
    """Anything called as ``policy(problem, counts) -> tasks``, batched over leading axes of counts."""

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes)."""
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """One allocation with the evidence only its solver can give.

    Parameters
    ----------
    tasks : ndarray of shape (n_classes,)
    certificate : Certificate
    prices : ndarray of shape (n_resources,), optional
        Dual prices per resource unit.
    levels : ndarray of shape (n_classes,), optional
        Level at which a class was frozen by a filling policy.
    tree : Tree, optional
        Queues among which the policy has divided.
    """

    tasks: FloatArray
    certificate: Certificate
    prices: FloatArray | None = None
    levels: FloatArray | None = None
    tree: Tree | None = None


@runtime_checkable
class CertifyingPolicy(Policy, Protocol):
    """A policy that certifies its own allocations."""

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation and evidence for one vector of counts."""
        ...


def policy_name(policy: object) -> str:
    """Name of a policy for tables and legends: its ``name``, else the name of the function or class.

    Raises
    ------
    ModelError
        If this is no policy: a string, or a class where an object is meant (``DRF`` for ``DRF()``).
    """
    if isinstance(policy, type) or not callable(policy):
        told = f"must be callable as policy(problem, counts), for example DRF(); got {policy!r}"
        instead = getattr(policy, "instead", "")
        if isinstance(policy, type):
            instead = f"make one of the class: {policy.__name__}()"
        elif isinstance(policy, str):
            instead = "names are for files and commands"
        raise ModelError.of("policy", f"{told}; {instead}" if instead else told)
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None) or type(policy).__name__
    return name if isinstance(name, str) and name.isprintable() else printed(name)


def offers(policy: object, way: str) -> bool:
    """Whether a policy has a shorter way to its answers, or says something of them, and means its own.

    A subclass that answers otherwise and inherits the way would be asked for the answers of its base.

    Examples
    --------
    >>> from fairness import DRF
    >>> class Half(DRF):
    ...     def __call__(self, problem, counts):
    ...         return super().__call__(problem, counts) / 2
    >>> offers(DRF(), "follow"), offers(Half(), "follow")
    (True, False)
    """
    if way in getattr(policy, "__dict__", {}):
        return True
    for kind in type(policy).__mro__:
        if way in vars(kind):
            return True
        if any(one in vars(kind) for one in ANSWERS):
            return False
    return False


def batches(policy: object) -> str:
    """How a policy says that it answers for many states, "compiled" or "in turn"; "" if it says nothing."""
    told: Any = policy
    return str(told.batches) if offers(policy, "batches") else ""


def unit_prices(problem: Problem, share_prices: FloatArray) -> FloatArray:
    """Prices per resource unit from prices per whole resource, (n_resources,); 0 where the capacity is 0."""
    capacities = problem.capacities
    return np.divide(share_prices, capacities, out=np.zeros_like(share_prices), where=capacities > 0)


def evaluate(
    problem: Problem,
    counts: ArrayLike,
    kernel: Callable[..., Any],
    *parameters: Any,
    shares: FloatArray | Nonzeros | None = None,
) -> FloatArray:
    """Run a compiled kernel over a batch of counts.

    The kernel is called as ``kernel(shares, limits, counts, tasks, *parameters)``, where the shares are the
    problem's task shares unless given, with ``counts`` and ``tasks`` of shape (n_states, n_classes); it fills
    ``tasks``. Classes that are blocked by a resource of
    capacity 0 are presented with count 0, so that kernels never meet such a resource.
    """
    x = problem.check_counts(counts)
    states = np.ascontiguousarray(x.reshape(-1, problem.n_classes))
    if problem.blocked.any():
        states = np.where(problem.blocked, 0.0, states)
    tasks = np.empty_like(states)
    shares = problem.task_shares if shares is None else shares
    kernel(shares, problem.limits, states, tasks, *parameters)
    return tasks.reshape(x.shape)
