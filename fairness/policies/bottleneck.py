r"""Bottleneck max fairness (BMF): every job has the largest share of a saturated resource.

With :math:`s_{ij} = \varphi_i a_{ij}/(x_i w_i C_j)` the weighted share of one job, an allocation is BMF [1]_
when every class has a *bottleneck*: a saturated resource on which its share is the largest (or is at its
limit). Equivalently there are levels :math:`f_j > 0` on the saturated resources with

.. math:: \varphi_i = x_i w_i \min_{j} f_j C_j / a_{ij}, \qquad \sum_i \varphi_i a_{ij} = C_j,

that is :math:`\varphi_i = x_i w_i / \max_j p_j a_{ij}` with prices :math:`p_j = 1/(f_j C_j)` on saturated
resources and 0 elsewhere. With the sum in place of the maximum this is proportional fairness; for two classes
both are the same allocation, on any number of resources (proof:
:mod:`queueing.certificates.rates.alpha_fair`).

A BMF allocation always exists; :mod:`fairness.policies.engines.cap_path` argues so constructively. From three
resources on it need not be unique: there may be several isolated
ones or a continuum (:mod:`fairness.policies.bottleneck_set` lists them all). :class:`BottleneckMax` returns
the one at which the path of :mod:`fairness.policies.engines.cap_path` ends; of a pool whose table of demands
has more than 2^20 entries the one at which the prices of
:mod:`fairness.policies.engines.bottleneck_prices` end.

References
----------
.. [1] T. Bonald and J. Roberts, "Multi-resource fairness: objectives, algorithms and performance",
   ACM SIGMETRICS 2015. arXiv:1410.0782.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import float_array, frozen
from fairness.errors import ModelError, NotConvergedError
from fairness.evidence.pools import SATURATION, bottleneck_certificate, relative_usage, tasks_per_weight
from fairness.model.nonzeros import Columns, Nonzeros, reduced
from fairness.model.problem import FloatArray, Problem
from fairness.policies.engines.bottleneck_prices import bottleneck_rates
from fairness.policies.engines.bottleneck_states import ATTEMPTS, CERTIFIED, bmf_states
from fairness.protocol.family import Family
from fairness.protocol.following import AnsweringFollower, Follower
from fairness.protocol.policy import Solution, evaluate

__all__ = ["BottleneckMax", "bottleneck_batch"]

STEPS = 20
"""Microseconds per entry of the task shares and state, interpreted."""


@dataclass(frozen=True)
class BottleneckMax:
    """Weighted bottleneck max fairness, by following a common cap on dominant shares.

    From three resources on the allocation need not be unique; this policy returns the one at which its path
    ends, and :func:`fairness.policies.bottleneck_set.all_bottleneck_max` lists all of a small instance.

    Examples
    --------
    >>> from fairness import Problem
    >>> BottleneckMax()(Problem([[1, 10], [10, 1]], [11, 11]), [1, 1])
    array([1., 1.])
    """

    name = "BMF"
    batches = "compiled"
    family = Family("bottleneck-max")

    def __call__(self, problem: Problem, counts: ArrayLike) -> FloatArray:
        """Tasks running per class, shape (..., n_classes).

        Raises
        ------
        NotConvergedError
            If an allocation cannot be certified; ``best`` holds all the tasks, certified or not.
        """
        x = problem.check_counts(counts)
        residuals = np.zeros(x.shape[:-1]).reshape(-1)
        if problem.is_large:
            tasks = evaluate(problem, x, partial(_by_prices, problem), residuals, shares=problem.nonzeros)
        else:
            prices = np.empty(problem.n_resources)
            weights = np.array(problem.weights)
            tasks = evaluate(problem, x, _paths, weights, 1.0, prices, residuals, shares=problem.nonzeros)
        _require_certified(residuals, tasks, "state")
        return tasks

    def follow(self, problem: Problem) -> Follower:
        """One state after the other."""
        if problem.is_large:
            return partial(self, problem)
        return _PathFollower(problem, bmf_states, np.array(problem.weights), certified=CERTIFIED)

    def solve(self, problem: Problem, counts: ArrayLike | None = None) -> Solution:
        """Allocation, prices 1/(f_j C_j) and bottleneck certificate for one vector of counts."""
        x = problem.check_state(counts)
        tasks = self(problem, x)
        held, columns = tasks_per_weight(problem, x, tasks), problem.nonzeros.columns
        level = reduced(np.maximum, columns.share * held[columns.job_class], columns.start, 0.0)
        priced = (relative_usage(problem, tasks) >= 1.0 - SATURATION) & (level > 0)
        prices = np.divide(1.0, level * problem.capacities, out=np.zeros_like(level), where=priced)
        return Solution(tasks, bottleneck_certificate(problem, x, tasks), prices=prices)


def bottleneck_batch(task_shares: ArrayLike, weights: ArrayLike) -> FloatArray:
    """BMF allocations of many problems of one shape, one job per class.

    Parameters
    ----------
    task_shares : array_like of shape (n_problems, n_classes, n_resources)
        Share a_ij/C_j of each resource that one task holds; every class demands something.
    weights : array_like of shape (n_problems, n_classes)
        Weights > 0 (a count is a weight).

    Returns
    -------
    ndarray of shape (n_problems, n_classes), tasks

    Raises
    ------
    ModelError
        If a shape or a sign is wrong.
    NotConvergedError
        If an allocation cannot be certified.

    Examples
    --------
    >>> bottleneck_batch([[[1, 10], [10, 1]], [[1, 3], [3, 2]]], [[1, 1], [1, 1]])
    array([[0.09090909, 0.09090909],
           [0.16666667, 0.25      ]])
    """
    shares, mass = float_array("task_shares", task_shares), float_array("weights", weights)
    if shares.ndim != 3 or mass.shape != shares.shape[:2]:
        raise ModelError.of(
            "task_shares",
            "must have shape (n_problems, n_classes, n_resources) and weights "
            f"(n_problems, n_classes); got {shares.shape} and {mass.shape}",
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all() and shares.any(axis=2).all()):
        raise ModelError.of("task_shares", "must be finite and >= 0, and every class must demand something")
    if not (np.isfinite(mass).all() and (mass > 0).all()):
        raise ModelError.of("weights", "must be finite and > 0")
    tasks, residuals = np.empty_like(mass), np.zeros(len(mass))
    n, m = shares.shape[1:]
    # All entries of all problems, zeros included, but not resource by resource: nobody asks for them so.
    start, resources, flat = (
        np.arange(0, shares.size + 1, m),
        np.tile(np.arange(m), len(mass) * n),
        shares.ravel(),
    )
    listed = Nonzeros(start, resources, flat, Columns(start[:0], resources[:0], flat[:0]))
    _paths(listed, frozen(np.full(n, np.inf)), mass, tasks, np.ones(n), 1.0, np.empty(m), residuals)
    _require_certified(residuals, tasks, "problem")
    return tasks


class _PathFollower(AnsweringFollower):
    def __call__(self, counts: FloatArray) -> FloatArray:
        tasks = super().__call__(counts)
        _require_certified(self.residuals, tasks, "state")
        return tasks


def _paths(
    shares: Nonzeros,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    weights: FloatArray,
    direct: float,
    prices: FloatArray,
    residuals: FloatArray,
) -> None:
    """What :func:`~fairness.policies.engines.bottleneck_states.bmf_states` does."""
    kernel = bmf_states.small(STEPS * limits.size * prices.size, len(counts))
    kernel(shares, limits, counts, tasks, weights, direct, prices, residuals)


def _by_prices(
    problem: Problem,
    shares: Nonzeros,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    residuals: FloatArray,
) -> None:
    """Fill ``tasks`` and ``residuals`` of the states of a large problem."""
    for state, jobs in enumerate(counts):
        mass = jobs * problem.weights
        rates = bottleneck_rates(shares, mass, problem.weights / limits, problem.n_resources)
        tasks[state] = np.minimum(mass * rates, np.where(jobs > 0, jobs, 1.0) * limits)
        residuals[state] = bottleneck_certificate(problem, jobs, tasks[state]).residual


def _require_certified(residuals: FloatArray, tasks: FloatArray, what: str) -> None:
    failed = np.flatnonzero(~(residuals <= CERTIFIED))
    if failed.size:
        worst = float(np.max(residuals[failed]))
        raise NotConvergedError(
            f"BMF: {failed.size} of {residuals.size} {what}s (first: {what} {int(failed[0])}) could not be "
            f"certified; worst residual {worst:.1e} after {ATTEMPTS} perturbed paths; demands, weights or "
            "counts near the ends of the range of floats are the usual cause",
            best=tasks,
            residual=worst,
        )
