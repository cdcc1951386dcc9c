r"""Dominant resource fairness with time constraints (TDRF): who joined early comes first.

User i joined at time :math:`t_i`; with :math:`t^{init}` the start and :math:`t^{max}` the end of the system
its *time weight* is

.. math:: w_i = \frac{t_i - t^{init}}{t^{max} - t^{init}},

and TDRF equalises the dominant shares times these weights, :math:`s_i w_i` [1]_ (section 2.4). So it is
weighted DRF, with priority :math:`1/w_i`: of two users the one with the smaller weight gets more. The end
cancels and has no effect; nor has the time at which a user leaves.

*The user who joined at the start* has weight 0, so its share times weight is 0 whatever it gets: by the
formula it is always the poorest. It takes all that it can, and the others share what is left. This is also
the limit for a start that approaches its joining time from below. :class:`TDRF` and :func:`integer_tdrf` do
just that. Several such users share by plain DRF; task by task, ties decide among them, and a tie parameter
that prefers one of them gives it everything.

The whole-task form is Algorithm 2 of [1]_: the users hold what an exchange of their contributions
(:mod:`fairness.timed.exchange`) gave them, which counts in the usage and in their shares, usable or not
for a whole task; then tasks are started for the user with the lowest :math:`s_i w_i` until one does not
fit.

[1]_ claims strategy-proofness, a sharing incentive and Pareto efficiency; ``proofs`` has counterexamples
among its statements.

References
----------
.. [1] C. Zhu, "Dominant resource fairness with time constraints in cloud computing".
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import as_named, unnamed
from fairness.arguments.validation import Seed
from fairness.errors import ModelError
from fairness.evidence.pools import SATURATION, Certificate, feasibility_residual, job_shares, relative_usage
from fairness.indivisible.pool import TaskFilling, fill_tasks
from fairness.indivisible.rules import LowestShare
from fairness.model.problem import FloatArray, Problem
from fairness.policies.maxmin import DRF, MaxMin
from fairness.protocol.family import Family
from fairness.protocol.policy import Solution

__all__ = ["TDRF", "Time", "as_time", "as_times", "integer_tdrf"]

Time = Fraction | float
"""Exact where it was given as an integer or a fraction."""


@dataclass(frozen=True, init=False)
class TDRF:
    """DRF with dominant shares multiplied by the time weight of the class.

    Parameters
    ----------
    join_times : sequence of numbers, time units
        When the (jobs of the) classes joined.
    initial_time : number, optional
        Start of the system, at most the earliest join time; a class that joined then takes all that it can.
    final_time : number, optional
        End of the system, after the start and no earlier than any join time. It cancels; without it the
        weights are not normalised.

    Raises
    ------
    ModelError
        If the times are not finite or not in this order.

    Examples
    --------
    >>> from fairness import Problem
    >>> pool = Problem([[1, 2], [3, 1]], [9, 9])
    >>> TDRF([3, 8])(pool, [1, 1])
    array([4., 1.])
    >>> TDRF([3, 8], initial_time=3)(pool, [1, 1])
    array([4.5, 0. ])
    """

    join_times: tuple[Time, ...]
    initial_time: Time
    final_time: Time | None

    name = "TDRF"
    batches = "compiled"
    family = Family("timed filling")

    def __init__(
        self,
        join_times: Sequence[Time | int],
        initial_time: Time | int = 0,
        final_time: Time | int | None = None,
    ) -> None:
        joins = as_times("join_times", unnamed("join_times", join_times, "job_classes"))
        start = as_time("initial_time", initial_time)
        end = None if final_time is None else as_time("final_time", final_time)
        if not joins:
            raise ModelError.of("join_times", "is empty; give one time per class")
        if min(joins) < start:
            raise ModelError(
                f"initial_time = {start} is later than join_times[{joins.index(min(joins))}] = {min(joins)}; "
                "nobody joins before the start"
            )
        if end is not None and (end <= start or end < max(joins)):
            raise ModelError(
                f"final_time = {end} must be later than initial_time = {start} and not before the last join, "
                f"{max(joins)}"
            )
        for name, value in (("join_times", joins), ("initial_time", start), ("final_time", end)):
            object.__setattr__(self, name, value)

    @property
    def time_weights(self) -> tuple[Time, ...]:
        """Weights w_i of the classes; fractions if the times are rational."""
        span = 1 if self.final_time is None else self.final_time - self.initial_time
        return tuple((t - self.initial_time) / span for t in self.join_times)

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes)."""
        x = problem.check_counts(counts)
        weights = self._weights(problem)
        if (weights > 0).all():
            return DRF()(_prioritised(problem, weights), x)
        states = x.reshape(-1, problem.n_classes)
        return np.array([self.solve(problem, state).tasks for state in states]).reshape(x.shape)

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation, levels s_i w_i and certificate for one vector of counts."""
        x, weights = problem.check_state(counts), self._weights(problem)
        first = np.where(weights == 0, x, 0.0)
        initial = DRF().solve(problem, first)
        used = relative_usage(problem, initial.tasks)
        # Dominant shares remain those of the whole pool, so in what is left tasks over these are levelled.
        share = problem.task_shares.max(axis=1)
        rest = problem.replaced(
            capacities=np.where(used >= 1.0 - SATURATION, 0.0, (1.0 - used) * problem.capacities),
            weights=_prioritised(problem, weights).weights / np.where(share > 0, share, 1.0),
        )
        later = MaxMin().solve(rest, x - first)
        tasks = initial.tasks + later.tasks
        residual = max(
            feasibility_residual(problem, x, tasks), initial.certificate.residual, later.certificate.residual
        )
        claim = "shares times time weights are max-min fair"
        if first.any():
            claim = "DRF among those who joined at the start, and in what they leave " + claim
        levels = job_shares(problem, x, tasks).max(axis=1) * weights
        return Solution(tasks, Certificate(claim, residual), levels=levels)

    def _weights(self, problem: Problem) -> FloatArray:
        self._check(problem)
        return np.array([float(w) for w in self.time_weights])

    def _check(self, problem: Problem) -> None:
        if len(self.join_times) != problem.n_classes:
            raise ModelError.of(
                "join_times",
                f"has {len(self.join_times)} entries; the problem has {problem.n_classes} classes",
            )


def integer_tdrf(
    problem: Problem,
    join_times: Sequence[Time | int],
    initial_time: Time | int = 0,
    final_time: Time | int | None = None,
    *,
    counts: ArrayLike | None = None,
    holdings: ArrayLike | None = None,
    stop: str = "first misfit",
    ties: str | Sequence[int] = "first",
    rng: Seed = None,
) -> TaskFilling:
    """TDRF task by task (Algorithm 2 of [1]_).

    Parameters
    ----------
    problem : Problem
    join_times, initial_time, final_time
        As for :class:`TDRF`.
    counts, holdings, ties, rng
        As for :func:`fairness.indivisible.fill_tasks`; the holdings are those after an exchange.
    stop : {"first misfit", "skip"}
        "first misfit" is the algorithm as printed.

    Returns
    -------
    TaskFilling

    Raises
    ------
    ModelError
        As :class:`TDRF` and :func:`fairness.indivisible.fill_tasks`.

    References
    ----------
    .. [1] C. Zhu, "Dominant resource fairness with time constraints in cloud computing".

    Examples
    --------
    >>> from fairness import Problem
    >>> integer_tdrf(Problem([[1, 2], [3, 1]], [9, 9]), [3, 8]).tasks
    array([4, 1])
    """
    joins = as_named("join_times", join_times, problem, "job_classes")
    policy = TDRF(joins, initial_time, final_time)
    policy._check(problem)
    rule = LowestShare(stop, factors=policy.time_weights)
    return fill_tasks(problem, rule, counts, holdings=holdings, ties=ties, rng=rng)


def _prioritised(problem: Problem, time_weights: FloatArray) -> Problem:
    """The problem with weights over time weights; those of time weight 0 keep theirs."""
    divisor = np.where(time_weights > 0, time_weights, 1.0)
    return problem.replaced(weights=problem.weights / divisor)


def as_times(name: str, values: Iterable[Time | int]) -> tuple[Time, ...]:
    """Times given by the user."""
    if not isinstance(values, Iterable):
        raise ModelError.of(name, f"must list one time each; got {values!r}")
    return tuple(as_time(name, t) for t in values)


def as_time(name: str, value: Time | int) -> Time:
    """A time given by the user; a fraction if it is rational."""
    if not isinstance(value, numbers.Real) or not abs(value) <= sys.float_info.max:
        raise ModelError.of(name, f"must hold finite numbers; got {value!s:.40}")
    return Fraction(value) if isinstance(value, numbers.Rational) else float(value)
