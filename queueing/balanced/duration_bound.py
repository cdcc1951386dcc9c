r"""Closed-form bounds on mean durations under balanced fairness, for any number of classes.

With :math:`a_{ij}/C_j` the share of resource :math:`j` that a task of class :math:`i` holds and
:math:`\varrho_j` the relative load of the resource,

.. math:: \sigma_i \max_j \frac{a_{ij}}{C_j} \frac{1}{1 - \varrho_j} \le E[T_i]
          \le \sigma_i \Big(\max_j \frac{a_{ij}}{C_j}
          + \sum_j \frac{a_{ij}}{C_j}\, \frac{\varrho_j}{1 - \varrho_j}\Big).

The first term of the upper bound is the duration of a job that is always alone; it is the "1 +" of [1]_,
where a lone job takes one unit of time. The lower bound is the duration where each resource is the only one.
A single resource gives equality in both. (Without *some* of several resources balanced fairness may take
longer: fewer resources give no lower bound in general.)

*Proof of the upper bound.* Let :math:`a_{ij}` be the shares, :math:`\Phi` the balance function of
:mod:`queueing.balanced.fairness`,
:math:`(A_jF)(x) = \sum_k a_{kj}F(x - e_k)`, and :math:`h_j = \Phi - A_j\Phi \ge 0`. With
:math:`G = \sum_x\Phi(x)\rho^x` the mean duration is :math:`\sigma_i\,\partial_iG/G`, so it is enough to
compare the coefficients :math:`M(x) = (x_i + 1)\Phi(x + e_i)` of :math:`\partial_iG` with
:math:`R = \max_j a_{ij}\,\Phi + \sum_j a_{ij}K_j`, where :math:`K_j = \sum_{s\ge1}A_j^s\Phi` belongs to
:math:`G\varrho_j/(1 - \varrho_j)`. They agree at 0. If resource j is full at :math:`x + e_i`, then
:math:`M - A_jM = a_{ij}\Phi` at x, and

.. math:: R - A_jR = \max_k a_{ik}\,h_j + a_{ij}(\Phi - h_j) + \sum_{k\ne j} a_{ik}\sum_{s\ge1}A_k^s h_j
          \ge a_{ij}\Phi,

so :math:`M - R \le A_j(M - R) \le 0` by induction on the number of jobs. (The statement
``br-duration-bound`` of :mod:`proofs` checks these steps.)

*Proof of the lower bound.* Fix j. The coefficients of :math:`a_{ij}G/(1 - \varrho_j)` are :math:`a_{ij}L`
with :math:`L = \Phi + A_jL`. As :math:`\Phi \ge A_j\Phi` at :math:`x + e_i`,

.. math:: M(x) \ge (x_i + 1)\Big(a_{ij}\Phi(x) + \sum_{k \ne i} a_{kj}\Phi(x + e_i - e_k)\Big)
          = a_{ij}\Phi(x) + A_jM(x),

because :math:`M(x - e_i) = x_i\Phi(x)`. So :math:`M - a_{ij}L \ge A_j(M - a_{ij}L) \ge 0` by induction on the
number of jobs.

By insensitivity the bounds hold for all laws of job sizes with the same means; they are bounds for balanced
fairness, not for other policies (DRF can exceed the upper one).

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and Control of
   Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairness.errors import ModelError
from fairness.model.problem import FloatArray
from queueing.model.class_results import ClassResult, class_lines, class_table
from queueing.model.system import System, check_system

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DurationBound", "duration_bound"]


@dataclass(frozen=True, eq=False, repr=False)
class DurationBound(ClassResult):
    """Bounds for balanced fairness; made by :func:`duration_bound`.

    A class without arrivals gets the bound for an occasional job.

    Attributes
    ----------
    system : System
    mean_durations : ndarray of shape (n_classes,), time
        Upper bounds on the mean durations; infinite for a class that demands a resource of capacity 0.
    least_durations : ndarray of shape (n_classes,), time
        Lower bounds on them.
    """

    system: System
    mean_durations: FloatArray
    least_durations: FloatArray

    @cached_property
    def mean_jobs(self) -> FloatArray:
        """Upper bounds on the mean numbers of jobs, (n_classes,)."""
        rates = self.system.arrival_rates
        return np.multiply(rates, self.mean_durations, out=np.zeros_like(rates), where=rates > 0)

    @cached_property
    def service_rates(self) -> FloatArray:
        """Lower bounds on the mean tasks of an active job, (n_classes,): mean size over duration bound."""
        return self.system.mean_sizes / self.mean_durations

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: load; upper bounds of jobs and duration; lower bounds of rate and duration."""
        return class_table(
            self.system,
            mean_jobs=self.mean_jobs,
            mean_duration=self.mean_durations,
            service_rate=self.service_rates,
            least_duration=self.least_durations,
        )

    def summary(self) -> str:
        """What a person wants to read."""
        head = "bounds for balanced fairness (jobs, mean duration: at most; service rate: at least)"
        return "\n".join([head, *class_lines(self.to_dataframe())])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: upper bound on the mean duration of each class."""
        return self.bars(ax, "mean_durations", title="at most, under balanced fairness")


def duration_bound(system: System) -> DurationBound:
    """Enclose the mean durations under balanced fairness, in closed form, for any number of classes.

    Parameters
    ----------
    system : System
        Its jobs must be without limits. Weights play no role.

    Returns
    -------
    DurationBound

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If a class has a finite limit, or the system is a cluster.

    Examples
    --------
    >>> from fairness import Problem
    >>> from queueing import System
    >>> pool = Problem([[1, 0.1], [0.1, 1]], [1, 1])
    >>> duration_bound(System.with_load(pool, [1, 1], 0.5)).mean_durations
    array([2.1, 2.1])
    >>> duration_bound(System.with_load(pool, [1, 1], 0.5)).least_durations
    array([2., 2.])
    """
    problem = check_system(system).require_pool("the duration bound")
    limited = np.flatnonzero(np.isfinite(problem.limits))
    if len(limited):
        name = problem.job_classes[limited[0]]
        raise ModelError(
            f"the bound is for jobs without limits, but limits[{limited[0]}] ({name!r}) is finite; "
            "use balanced_fairness, which allows limits"
        )
    system.require_poisson("the duration bound")
    system.require_stable()
    shares, load = problem.task_shares, system.relative_loads
    most = shares.max(axis=1) + shares @ (load / (1.0 - load))
    least = (shares / (1.0 - load)).max(axis=1)
    most, least = (system.mean_sizes * np.where(problem.blocked, np.inf, x) for x in (most, least))
    return DurationBound(system, most, least)
