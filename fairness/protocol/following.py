"""A policy asked state by state, by somebody who moves from each state to one nearby.

A table (:func:`queueing.tabulate`) asks about a whole grid at once. Who simulates dozens of classes meets few
of its states, one after the other: a *follower* of a policy answers for one state at a time, spares what a
call for a batch costs, and may start from what it found in the state before. A policy offers its own by a
method ``follow(problem) -> Follower``; any other is called as usual.

A compiled simulation need not come back to Python for each answer: a follower that has the attribute
``answers`` gives it an :class:`Answers`, a compiled function and what it is called with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

from fairness.machine.cache_lines import apart
from fairness.machine.compiling import first_class
from fairness.model.cluster import Cluster
from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import AnyPolicy, ClusterPolicy
from fairness.protocol.policy import offers

__all__ = ["AnsweringFollower", "Answers", "Followed", "Follower", "KernelFollower", "Question", "follow"]

Follower = Callable[[FloatArray], FloatArray]
"""Tasks, (n_classes,), for counts, (n_classes,); the array answered is overwritten by the next call."""


class Question(NamedTuple):
    """What a compiled policy is called with, beside counts and tasks, (1, n_classes) each.

    One form for all policies, so that a simulation is compiled once; what a policy does not need may be
    anything.
    """

    shares: Nonzeros
    limits: FloatArray  # (n_classes,)
    growth: FloatArray  # (n_classes,)
    alpha: float
    prices: FloatArray  # (n_resources,): where the next call begins
    residuals: FloatArray  # (1,): of the answer
    certified: float  # the largest residual of an answer


class Answers(NamedTuple):
    """A compiled policy, ``function(shares, limits, counts, tasks, growth, alpha, prices, residuals)``."""

    function: Any  # a first-class function of numba
    question: Question


@runtime_checkable
class Followed(Protocol):
    """A policy with a follower of its own."""

    def follow(self, problem: Any) -> Follower:
        """Follower that has seen no state yet; the problem is a Cluster for policies on servers."""
        ...


def follow(problem: Problem | Cluster, policy: AnyPolicy) -> Follower:
    """Follower of a policy, which on a cluster answers with the tasks on all servers together.

    Answers of policies that offer no follower are checked as :func:`~fairness.protocol.calling.policy_tasks`
    does, which costs far more than the call of a fast policy.

    Examples
    --------
    >>> from fairness import DRF, Problem
    >>> walker = follow(Problem([[1, 4], [3, 1]], [9, 18]), DRF())
    >>> walker(np.array([1.0, 1.0]))
    array([3., 2.])
    >>> walker(np.array([0.0, 1.0]))
    array([0., 3.])
    """
    if isinstance(problem, Cluster) == isinstance(policy, ClusterPolicy) and offers(policy, "follow"):
        return cast(Followed, policy).follow(problem)
    return lambda counts: policy_tasks(problem, policy, counts)


class KernelFollower:
    """Calls a compiled kernel, as :func:`fairness.protocol.policy.evaluate` does, for one state.

    Task shares are those of the problem unless given.
    """

    def __init__(
        self,
        problem: Problem,
        kernel: Callable[..., Any],
        *parameters: Any,
        shares: FloatArray | Nonzeros | None = None,
    ) -> None:
        self.running = None if not problem.blocked.any() else ~problem.blocked
        self.kernel, self.parameters = kernel, parameters
        self.counts, self.tasks = np.empty((1, problem.n_classes)), np.empty((1, problem.n_classes))
        self.arrays = (
            problem.task_shares if shares is None else shares,
            problem.limits,
            self.counts,
            self.tasks,
        )

    def __call__(self, counts: FloatArray) -> FloatArray:
        """Tasks for one vector of counts."""
        if self.running is None:
            self.counts[0] = counts
        else:
            np.multiply(counts, self.running, out=self.counts[0])
        self.kernel(*self.arrays, *self.parameters)
        return self.tasks[0]


class AnsweringFollower(KernelFollower):
    """A follower whose kernel compiled simulations may call: it has the form told in :class:`Answers`.

    Parameters
    ----------
    problem : Problem
    kernel : callable
    growth : ndarray of shape (n_classes,)
    alpha : float
    certified : float
        Largest residual of an answer.
    """

    def __init__(
        self,
        problem: Problem,
        kernel: Callable[..., Any],
        growth: FloatArray,
        alpha: float = 1.0,
        certified: float = 0.0,
    ) -> None:
        shares, prices = problem.nonzeros, apart(np.zeros(problem.n_resources))
        self.residuals = apart(np.zeros(1))
        super().__init__(problem, kernel, growth, alpha, prices, self.residuals, shares=shares)
        self.answers: Answers | None = None
        if self.running is None:
            question = Question(shares, problem.limits, growth, alpha, prices, self.residuals, certified)
            self.answers = Answers(first_class(kernel, *self.arrays, *self.parameters), question)
