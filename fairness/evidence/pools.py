r"""Evidence: definitions turned into residuals that anyone can recompute.

Each function takes a problem, counts and an allocation (tasks per class) and measures how far the
allocation is from a definition. Nothing here knows how the allocation was found.

With :math:`s_{ij} = \varphi_i a_{ij} / (x_i w_i C_j)` the weighted share that one job of class
:math:`i` holds of resource :math:`j`, and :math:`\bar s_j = \max_i s_{ij}`:

* *bottleneck-max*: every class has a saturated resource on which its share is the largest, or is at
  its limit [1]_;
* *max-min* of levels :math:`y_i = \varphi_i/(x_i r_i)`: every class has a saturated resource on which
  its level is the largest among the classes that demand it, or is at its limit;
* *prices*: :math:`\varphi_i = x_i w_i (\sum_j p_j a_{ij} + q_i)^{-1/\alpha}` with
  :math:`0 \le p \perp C - \varphi a \ge 0` and :math:`0 \le q \perp x\ell - \varphi \ge 0`, the KKT
  conditions of weighted :math:`\alpha`-fairness.

All residuals are relative, so 1e-9 means nine digits. When a definition offers a choice ("a resource
such that ...") the residual of a class is the smallest over its choices of the largest violation.

References
----------
.. [1] T. Bonald and J. Roberts, "Multi-resource fairness: objectives, algorithms and performance",
   ACM SIGMETRICS 2015. arXiv:1410.0782.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import model_array
from fairness.errors import ModelError
from fairness.model.nonzeros import reduced
from fairness.model.problem import FloatArray, Problem

__all__ = [
    "SATURATION",
    "Certificate",
    "bottleneck_certificate",
    "feasibility_certificate",
    "level_certificate",
    "price_certificate",
]

SATURATION = 1e-9
"""A resource counts as saturated when less than this part of it is free."""


@dataclass(frozen=True)
class Certificate:
    """A claim about an allocation and how far the allocation is from it.

    Parameters
    ----------
    claim : str
        What is certified, in words.
    residual : float
        Largest relative violation of the claim or of feasibility.
    tolerance : float
        Largest residual with which the claim counts as established.
    duality_gap : float or None
        Relative duality gap, for claims of optimality.
    """

    claim: str
    residual: float
    tolerance: float = SATURATION
    duality_gap: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the residual is within the tolerance."""
        return bool(self.residual <= self.tolerance)

    def __str__(self) -> str:
        gap = "" if self.duality_gap is None else f", duality gap {self.duality_gap:.1e}"
        verdict = "holds" if self.holds else "FAILS"
        return f"{self.claim}: {verdict} (residual {self.residual:.1e}{gap})"


def rounding(terms: int) -> float:
    """What rounding may hide of a residual that is computed from sums of so many terms.

    A certificate adds it, so that it claims no more than floats can show (``benchmarks.claims.allocations``):
    half a unit in the last place for every term and, as they rarely all point one way, for 8 sqrt(terms) of
    more than 64.
    """
    return (4 + min(terms, 8.0 * terms**0.5)) * 2.0**-53


def relative_usage(problem: Problem, tasks: FloatArray) -> FloatArray:
    """Usage divided by capacity, shape (..., n_resources); a resource of capacity 0 counts as full."""
    full = problem.capacities == 0
    units = problem.used(tasks)
    return np.divide(units, problem.capacities, out=np.where(units > 0, np.inf, 1.0), where=~full)


def feasibility_residual(
    problem: Problem, counts: FloatArray, tasks: FloatArray, usage: FloatArray | None = None
) -> float:
    """Largest relative excess over a capacity or a limit; infinite for negative or non-finite tasks.

    The relative usage is computed unless it is given.
    """
    if not (np.isfinite(tasks) & (tasks >= 0) & ((tasks == 0) | (counts > 0))).all():
        return np.inf
    over_capacity = float(np.max(relative_usage(problem, tasks) if usage is None else usage)) - 1.0
    limited = np.isfinite(problem.limits) & (counts > 0)
    excess = tasks[limited] / (counts[limited] * problem.limits[limited]) - 1.0
    return max(0.0, over_capacity, float(np.max(excess, initial=0.0)))


def feasibility_certificate(problem: Problem, counts: ArrayLike, tasks: ArrayLike) -> Certificate:
    """Certify that no capacity and no limit is exceeded."""
    counts, tasks = _vectors(problem, counts, tasks)
    return Certificate("within all capacities and limits", feasibility_residual(problem, counts, tasks))


def job_shares(problem: Problem, counts: FloatArray, tasks: FloatArray) -> FloatArray:
    """Weighted share s_ij of resource j that one job of class i holds; 0 where no job is present."""
    return tasks_per_weight(problem, counts, tasks)[..., None] * problem.task_shares


def tasks_per_weight(problem: Problem, counts: FloatArray, tasks: FloatArray) -> FloatArray:
    """Tasks of one job over its weight, (..., n_classes); 0 where no job is present."""
    return np.divide(tasks, counts * problem.weights, out=np.zeros_like(tasks), where=counts > 0)


def job_levels(counts: FloatArray, tasks: FloatArray, growth: FloatArray) -> FloatArray:
    """Levels tasks/(counts * growth), shape (n_classes,); 0 where no job is present or growth is infinite."""
    rising = (counts > 0) & np.isfinite(growth)
    pace = np.multiply(counts, growth, out=np.ones_like(tasks), where=rising)
    return np.divide(tasks, pace, out=np.zeros_like(tasks), where=rising)


def bottleneck_certificate(problem: Problem, counts: ArrayLike, tasks: ArrayLike) -> Certificate:
    """Certify that the allocation is bottleneck-max fair."""
    counts, tasks = _vectors(problem, counts, tasks)
    held = tasks_per_weight(problem, counts, tasks)
    shares, columns = problem.nonzeros, problem.nonzeros.columns
    ranks = shares.share * shares.spread(held), columns.share * held[columns.job_class]
    residual = _largest_on_saturated(problem, counts, tasks, *ranks)
    claim = "every class has the largest share of a saturated resource, or is at its limit"
    return Certificate(claim, residual)


def level_certificate(
    problem: Problem, counts: ArrayLike, tasks: ArrayLike, growth: FloatArray
) -> Certificate:
    """Certify that the allocation is max-min fair in the levels ``tasks/(counts * growth)``."""
    counts, tasks = _vectors(problem, counts, tasks)
    return certificate_of_levels(problem, counts, tasks, job_levels(counts, tasks, growth))


def certificate_of_levels(
    problem: Problem, counts: FloatArray, tasks: FloatArray, level: FloatArray
) -> Certificate:
    """The same for vectors and levels, shape (n_classes,), that are known."""
    shares = problem.nonzeros
    ranks = shares.spread(level), level[shares.columns.job_class]
    residual = _largest_on_saturated(problem, counts, tasks, *ranks)
    claim = "every class has a saturated resource on which its level is the largest, or is at its limit"
    return Certificate(claim, residual)


def price_certificate(
    problem: Problem,
    counts: ArrayLike,
    tasks: ArrayLike,
    prices: FloatArray,
    *,
    limit_prices: FloatArray | None = None,
    alpha: float = 1.0,
    duality_gap: float | None = None,
) -> Certificate:
    """Certify weighted alpha-fairness by the KKT conditions at the given prices.

    Parameters
    ----------
    prices : ndarray of shape (n_resources,), utility per resource unit
        Dual prices p of the capacities; 0 on resources of capacity 0.
    limit_prices : ndarray of shape (n_classes,), utility per task, optional
        Dual prices q of the limits.
    """
    counts, tasks = _vectors(problem, counts, tasks)
    live = (counts > 0) & ~problem.blocked
    q = np.zeros(problem.n_classes) if limit_prices is None else limit_prices
    shares, columns = problem.nonzeros, problem.nonzeros.columns
    share_prices = prices * problem.capacities
    costs = shares.bills(share_prices) + q
    cost = costs[live]
    weighted_counts = (counts * problem.weights)[live]
    with np.errstate(divide="ignore", invalid="ignore"):
        stationary = np.abs(tasks[live] / weighted_counts * cost ** (1.0 / alpha) - 1.0)
    # Complementarity without units: the largest part of a class's cost that a resource makes up, against its
    # slack. Costs differ by many decades when alpha is large, so a sum of bills would hide the small ones.
    with np.errstate(divide="ignore", invalid="ignore"):
        weighed = np.where(live, 1.0 / costs, 0.0)[columns.job_class] * columns.share
        parts = np.nan_to_num(share_prices * reduced(np.maximum, weighed, columns.start, 0.0))
        limit_parts = np.nan_to_num(q[live] / cost)
        # Prices are not negative, as parts too: of costs, and of the highest price where nobody pays them.
        of_limits = np.nan_to_num(q / (costs - q + np.abs(q)))
        of_prices = np.nan_to_num(share_prices / np.max(np.abs(share_prices)))
    negative = -min(float(np.min(of, initial=0.0)) for of in (parts, of_limits, of_prices))
    usage = relative_usage(problem, tasks)
    slack = np.where(problem.capacities > 0, 1.0 - usage, 0.0)
    complementary = np.minimum(parts, np.maximum(slack, 0.0))
    room = 1.0 - tasks[live] / (counts[live] * problem.limits[live])
    limited = np.minimum(limit_parts, np.maximum(room, 0.0))
    residual = max(
        feasibility_residual(problem, counts, tasks, usage),
        negative,
        float(np.max(np.nan_to_num(stationary, nan=np.inf), initial=0.0)),
        float(np.max(complementary, initial=0.0)),
        float(np.max(limited, initial=0.0)),
    )
    if live.any():
        residual += rounding(problem.n_classes + problem.n_resources) * max(1.0, 1.0 / alpha)
    return Certificate(
        "tasks = weight / price, prices only on saturated resources", residual, 1e-8, duality_gap
    )


def _vectors(problem: Problem, counts: ArrayLike, tasks: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Counts and tasks as vectors with one entry per class; tasks may have any value, and then fail."""
    x, phi = problem.check_counts(counts), model_array("tasks", tasks, problem, "job_classes")
    if not x.shape == phi.shape == (problem.n_classes,):
        raise ModelError(
            f"counts and tasks must have shape ({problem.n_classes},); got {x.shape} and {phi.shape}"
        )
    return x, phi


def _largest_on_saturated(
    problem: Problem, counts: FloatArray, tasks: FloatArray, ranks: FloatArray, ranks_by_resource: FloatArray
) -> float:
    """Residual of: every class has a saturated resource on which its rank is the largest, or is at its limit.

    Ranks are those of the nonzeros of the problem, class by class and resource by resource.
    """
    usage = relative_usage(problem, tasks)
    residual = feasibility_residual(problem, counts, tasks, usage)
    live = (counts > 0) & ~problem.blocked
    if not live.any() or not np.isfinite(residual):
        return residual
    shares, columns = problem.nonzeros, problem.nonzeros.columns
    slack = np.maximum(0.0, 1.0 - usage)
    there = np.where(live[columns.job_class], ranks_by_resource, 0.0)
    largest = reduced(np.maximum, there, columns.start, 0.0)[shares.resource]
    deficit = 1.0 - np.divide(ranks, largest, out=np.ones_like(ranks), where=largest > 0)
    best = reduced(np.minimum, np.maximum(deficit, slack[shares.resource]), shares.start, np.inf)
    room = 1.0 - tasks / problem.most_tasks(counts)
    best = np.minimum(best, np.maximum(room, 0.0))
    return max(residual, float(np.max(best[live]))) + rounding(problem.n_classes)
