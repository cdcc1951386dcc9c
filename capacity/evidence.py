r"""Relative loads and prices, with evidence on both sides.

The region of a cluster is a sum :math:`P = \sum_i P_i` of monotone polytopes, one per server. Its *relative
load*

.. math:: u(\rho) = \min\{u \ge 0 : \rho \in uP\}
          = \max\{v\cdot\rho : v \ge 0,\ \textstyle\sum_i \max_{x\in P_i} v\cdot x \le 1\}

generalises the load of the busiest resource of a pool. A placement of the loads on servers of which the part
u is used proves :math:`u(\rho) \le u`; prices v per task at which all servers together can earn no more than
1 prove :math:`u(\rho) \ge v\cdot\rho`. Both are computed by one linear program, then *recomputed from the
definitions* and compared, so that no answer rests on the accuracy of the solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, hstack, vstack

from fairness.errors import NotConvergedError
from fairness.validation import FloatArray

__all__ = ["GAP", "LoadEvidence", "Support", "accepted", "least_part", "optimum", "power_of_two"]

GAP = 1e-9
"""Largest relative distance between the two sides of the evidence; HiGHS reaches about 1e-12 on data of unit
scale, and an answer with a larger distance is refused with NotConvergedError."""


@dataclass(frozen=True, eq=False)
class Support:
    """The most that a region earns at given prices per task.

    Attributes
    ----------
    value : float
        Earned by ``load``.
    bound : float
        Proved upper bound, equal to ``value`` up to rounding.
    load : ndarray of shape (n_classes,), tasks
    placement : ndarray of shape (n_classes, n_servers), tasks
        How the servers carry the load.
    """

    value: float
    bound: float
    load: FloatArray
    placement: FloatArray


@dataclass(frozen=True, eq=False)
class LoadEvidence:
    """Relative load with its two proofs.

    Attributes
    ----------
    loads : ndarray of shape (n_classes,), tasks
    relative_load : float
        Proved from above: ``placement`` runs at least the loads and uses this part of the servers at most.
    bound : float
        Proved from below: ``prices @ loads``; smaller than ``relative_load`` by rounding only.
    placement : ndarray of shape (n_classes, n_servers), tasks
        Mean number of tasks of each class on each server.
    prices : ndarray of shape (n_classes,), per task
        All servers together cannot earn more than 1: loads with ``prices @ loads > 1`` cannot be carried.
    earnings : ndarray of shape (n_servers,)
        Most that each server can earn at these prices; the sum is 1.
    schedule : tuple of tuples of (float, tuple of int), optional
        For whole tasks: for each server the parts of its time (in sum at most ``relative_load``) and the
        configurations that it holds in them.
    """

    loads: FloatArray
    relative_load: float
    bound: float
    placement: FloatArray
    prices: FloatArray
    earnings: FloatArray
    schedule: tuple[tuple[tuple[float, tuple[int, ...]], ...], ...] | None = None

    @property
    def fits(self) -> bool:
        """Whether the loads are strictly inside, proved by the placement."""
        return self.relative_load < 1

    @property
    def refuted(self) -> bool:
        """Whether no placement carries the loads with room to spare, proved by the prices."""
        return self.bound >= 1


def optimum(cost: FloatArray, matrix: Any, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minimise cost * z over matrix z <= bounds, z >= 0; the point and the multipliers >= 0 of the rows."""
    result = linprog(
        cost,
        A_ub=matrix,
        b_ub=bounds,
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise NotConvergedError(f"the linear program failed: {result.message}", best=result.x)
    return np.maximum(result.x, 0.0), np.maximum(-result.ineqlin.marginals, 0.0)


def least_part(
    serve: csc_array, use: csc_array, loads: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Minimise t over serve z >= loads, use z <= t, z >= 0: z, and the multipliers of both kinds of rows."""
    n_rows, n_columns = use.shape
    top = hstack([-serve, csc_array((len(loads), 1))])
    bottom = hstack([use, csc_array(-np.ones((n_rows, 1)))])
    cost = np.r_[np.zeros(n_columns), 1.0]
    point, multipliers = optimum(cost, vstack([top, bottom], format="csc"), np.r_[-loads, np.zeros(n_rows)])
    return point[:-1], multipliers[: len(loads)], multipliers[len(loads) :]


def power_of_two(value: float) -> float:
    """Largest power of 2 up to a value > 0; 1 for 0."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if value > 0 else 1.0


def accepted(evidence: Any, upper: float, lower: float) -> Any:
    """The evidence, if its two sides agree.

    Raises
    ------
    NotConvergedError
        If they differ by more than 1e-9, relatively.
    """
    gap = (upper - lower) / upper if upper > 0 else 0.0
    if not gap <= GAP:
        raise NotConvergedError(
            f"the linear program leaves a relative gap of {gap:.1e} between placement and prices; "
            "are demands, capacities or loads many decades apart?",
            best=evidence,
            residual=gap,
        )
    return evidence
