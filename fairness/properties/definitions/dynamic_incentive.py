r"""Dynamic sharing incentive: whoever has joined can use at least what it brought.

Classes join one after the other. Class n brings the contribution :math:`k_n` of every resource to the pool,
which at any moment consists of the contributions of those present. From then on it must be able to use at
least the equivalent of its own contribution: it runs :math:`x_n \ge \min_r k_{nr}/d_{nr}` tasks, whoever
else joins. (The paper [1]_ says "at least the resources :math:`k'_n` (:math:`k'_n \le k_n`)" and leaves open
which; with :math:`k'_n = 0` everything would do, so we take :math:`k'_n = k_n`.)

Searches take contributions in proportion to the weights, :math:`k_n = C\,\varphi_n/\sum_p\varphi_p` (of
every server of a cluster), so that the model is what all classes bring together. When only the classes of P
have joined, the capacities are :math:`C\,\varphi(P)/\varphi`, with :math:`\varphi(P) = \sum_{p\in
P}\varphi_p`, and

.. math:: x_n \ge \frac{\varphi_n}{\varphi} \sum_i \gamma_{ni}
              = \frac{\varphi_n}{\varphi(P)} \sum_i \frac{\varphi(P)}{\varphi}\gamma_{ni}

is required: the sharing incentive in the model of P. So a policy with the sharing incentive on all models has
this property too; and with P everybody it is the sharing incentive itself. Servers that nobody in P may use
play no role in it. :func:`contribution_finding` is for any contributions, as in an exchange of resources.

References
----------
.. [1] C. Zhu, "Dominant resource fairness with time constraints in cloud computing" (TDRF).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import as_named
from fairness.errors import ModelError
from fairness.model.problem import Problem
from fairness.properties.changes.changed_model import Join
from fairness.properties.protocol.arithmetic import (
    demands_in,
    entitlements,
    expected,
    in_arithmetic_of,
    largest,
    quotient,
    read,
    shown,
    totals_after,
)
from fairness.properties.protocol.property import Change, Finding, Model, Numbers, Property, Question

__all__ = ["DynamicSharingIncentive", "contribution_finding"]


class DynamicSharingIncentive(Property):
    """Whoever has joined, each can run what it could run with its own contribution.

    Examples
    --------
    >>> from fairness import AssetFair, Problem
    >>> pool, join = Problem([[2, 2], [1, 2], [1, 1]], [105, 105]), Join((0, 1))
    >>> before, after = AssetFair()(pool, [1, 1, 1]), AssetFair()(join.apply(pool), [1, 1])
    >>> print(DynamicSharingIncentive().check(pool, before, join, after).text)
    only class 1, class 2 joined so far, with 2/3 of every resource; class 1 runs 15 tasks; what it brought, \
    alone, would run 17.5
    """

    name = "dynamic sharing incentive"
    key = "DSI"
    statement = "Whoever has joined, each can run what it could run with its own contribution."
    compares = True
    implies = ("sharing incentive",)

    def everything(self, model: Model) -> Change:
        """Everybody has joined: then it is the sharing incentive."""
        return Join(tuple(range(model.n_classes)))

    def changes(self, model: Model, rng: np.random.Generator, number: int) -> Iterator[Change]:
        """Different groups that have joined, at random."""
        everybody = 2 ** min(model.n_classes, 40) - 1
        if everybody <= number:
            groups = (rng.permutation(everybody) + 1).tolist()
        else:
            groups = list(dict.fromkeys((rng.integers(everybody, size=2 * number) + 1).tolist()))[:number]
        for group in groups:
            yield Join(tuple(n for n in range(model.n_classes) if group >> n & 1))

    def judge(self, question: Question) -> Finding:
        """Largest relative shortfall of those who have joined, below what their contributions could run."""
        join, answer = expected(self.name, question, Join)
        reading, model = read(question), question.model
        tasks = totals_after(reading, model, len(join.users), answer)
        own, when = entitlements(reading), join.text(model) + "; "
        return _finding(model, join.users, tasks, own, reading.tolerance, when)


def contribution_finding(problem: Problem, contributions: ArrayLike, allocation: Numbers) -> Finding:
    """Check that every class can use at least the equivalent of what it contributes.

    Parameters
    ----------
    problem : Problem
        Demands, and the capacities that all contributions make up.
    contributions : array_like of shape (n_classes, n_resources), resource units
        What each class brings.
    allocation : ndarray of shape (n_classes,), tasks
        Floats, or an object array of fractions for an exact check.

    Returns
    -------
    Finding

    Raises
    ------
    ModelError
        If a shape is wrong, a contribution is negative, or fractions meet floats.

    Examples
    --------
    >>> pool = Problem([[1, 2], [2, 1]], [10, 10])
    >>> print(contribution_finding(pool, [[8, 4], [2, 6]], np.array([1.0, 4.0])).text)
    class 1 runs 1 tasks; what it brought, alone, would run 2
    """
    reading = read(Question(problem, allocation))
    demands = demands_in(reading, problem)
    given = as_named("contributions", contributions, problem, "job_classes", "resources")
    brought = in_arithmetic_of(reading, "contributions", given)
    if brought.shape != demands.shape:
        raise ModelError.of(
            "contributions",
            f"must have shape (n_classes, n_resources) = {demands.shape}; got {brought.shape}",
        )
    if not (brought >= 0).all():
        raise ModelError.of("contributions", f"must be >= 0; the least entry is {brought.min()}")
    own = quotient(brought, demands, np.inf).min(axis=1)
    own = np.where((demands > 0).any(axis=1), own, 0)
    return _finding(problem, tuple(range(problem.n_classes)), reading.tasks, own, reading.tolerance, "")


def _finding(
    model: Model, users: tuple[int, ...], tasks: Numbers, own: Numbers, tolerance: float, when: str
) -> Finding:
    mine = own[list(users)]
    short = 1 - quotient(tasks, mine, 1)
    worst, losers = largest(short, tolerance, users)
    text = (
        f"{when}{model.job_classes[users[worst]]} runs {shown(tasks[worst])} tasks; what it brought, alone, "
        f"would run {shown(mine[worst])}"
    )
    return Finding(DynamicSharingIncentive.name, short[worst], losers, text, tolerance)
