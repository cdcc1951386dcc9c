r"""Relative load of a cluster, with evidence on both sides.

With :math:`b_{nir}` the share of resource r of server i that one task of class n holds there, server i can
run the mixes :math:`P_i = \{x \ge 0 : \sum_n x_n b_{nir} \le 1 \text{ for all } r\}` (:math:`x_n = 0` where
the class cannot run), and the cluster carries class loads :math:`\rho` if they are in :math:`P = \sum_i P_i`
[1]_. The *relative load*

.. math:: u(\rho) = \min\{u \ge 0 : \rho \in uP\}
          = \max\{v\cdot\rho : v \ge 0,\ \textstyle\sum_i \max_{x\in P_i} v\cdot x \le 1\}

generalises the load of the busiest resource of a pool. A placement of the loads on servers of which the part
u is used proves :math:`u(\rho) \le u`; prices v per task at which all servers together can earn no more than
1 prove :math:`u(\rho) \ge v\cdot\rho`. Both are computed by one linear program, then *recomputed from the
definitions* and compared, so that no answer rests on the accuracy of the solver.

Servers that serve one class at a time (time division) run fewer mixes,
:math:`P_i = \{x \ge 0 : \sum_n x_n/\gamma_{ni} \le 1\}` with :math:`1/\gamma_{ni} = \max_r b_{nir}`, so their
relative load is the larger one; the two agree where all classes have the same scarce resource on a server.
It is that of a cluster of one resource, the time of the servers, with the same ``gamma``.

References
----------
.. [1] S. T. Maguluri, R. Srikant and L. Ying, "Stochastic models of load balancing and scheduling in cloud
   computing clusters", INFOCOM 2012. DOI 10.1109/INFCOM.2012.6195815.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csc_array, hstack, vstack

from fairness.arguments.validation import FloatArray
from fairness.errors import NotConvergedError
from fairness.model.cluster import Cluster

__all__ = [
    "GAP",
    "LoadEvidence",
    "Support",
    "accepted",
    "geometric_ratios",
    "least_part",
    "power_of_two",
    "relative_load",
    "support",
]

_Evidence = TypeVar("_Evidence")

GAP = 1e-9
"""Largest relative distance between the two sides of the evidence; HiGHS reaches about 1e-12 on data of unit
scale, and an answer with a larger distance is refused with NotConvergedError."""


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


@dataclass(frozen=True, eq=False)
class Support:
    """The most that servers earn at given prices per task.

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


def relative_load(cluster: Cluster, loads: FloatArray) -> LoadEvidence:
    """Least part of all servers that carries finite loads >= 0, shape (n_classes,), with its two proofs.

    Parameters
    ----------
    cluster : Cluster
    loads : ndarray of shape (n_classes,), tasks

    Raises
    ------
    NotConvergedError
        If placement and prices leave a relative gap of more than 1e-9.

    Examples
    --------
    >>> cluster = Cluster([[2, 1], [1, 2]], [[3, 3]])
    >>> evidence = relative_load(cluster, np.array([1.0, 0.5]))
    >>> round(evidence.relative_load, 9), evidence.fits
    (0.833333333, True)

    A server that divides its resources runs one task of each class at once; one that divides its time does
    not.

    >>> divides_time = Cluster(np.ones((2, 1)), np.ones((1, 1)), gamma=cluster.gamma)
    >>> [round(relative_load(c, np.ones(2)).relative_load, 9) for c in (cluster, divides_time)]
    [1.0, 1.333333333]
    """
    rho, shares = loads, cluster.task_shares
    if not rho.any():
        nothing = np.zeros_like(cluster.gamma)
        return LoadEvidence(rho, 0.0, 0.0, nothing, np.zeros_like(rho), np.zeros(cluster.n_servers))
    asks = np.flatnonzero(rho)
    alone = cluster.gamma.sum(axis=1)
    # The relative load is linear in the scale of the loads.
    top = float(rho.max())
    mix = rho / top
    unit = float((mix / alone).max())
    # Columns x_ni / (gamma_ni unit): then all entries are between 0 and 1.
    job_class, server = np.nonzero(cluster.eligible & (rho > 0)[:, None])
    columns = np.arange(len(job_class))
    gamma = cluster.gamma[job_class, server]
    serve = csc_array(
        (gamma / alone[job_class], (np.searchsorted(asks, job_class), columns)), (len(asks), len(columns))
    )
    use = _usage_rows(cluster, job_class, server)
    z, worths, multipliers = least_part(serve, use, (mix / alone / unit)[asks])
    placement = np.zeros_like(cluster.gamma)
    placement[job_class, server] = z * gamma * unit
    # Exactly the loads: less where there is too much, and what the solver's tolerance left out.
    total = placement.sum(axis=1)
    placement *= np.divide(mix, total, out=np.ones_like(rho), where=total > mix)[:, None]
    placement[range(len(rho)), cluster.gamma.argmax(axis=1)] += np.maximum(mix - total, 0.0)
    upper = float(np.einsum("ni,nir->ir", placement, shares).max())
    wanted = np.zeros_like(rho)
    wanted[asks] = worths / alone[asks]
    worth = _raised(cluster, multipliers.reshape(shares.shape[1:]), wanted)
    worth /= worth.sum()
    # A task is worth what it holds where that is cheapest.
    held = np.einsum("ir,nir->ni", worth, shares)
    prices = np.where(cluster.eligible, held, np.inf).min(axis=1)
    lower = float(prices @ mix)
    evidence = LoadEvidence(rho, upper * top, lower * top, placement * top, prices, worth.sum(axis=1))
    return accepted(evidence, upper, lower)


def support(cluster: Cluster, prices: FloatArray) -> Support:
    """Most that a cluster earns at finite prices per task, shape (n_classes,), and where.

    Raises
    ------
    NotConvergedError
        If the value and the bound leave a relative gap of more than 1e-9.

    Examples
    --------
    >>> best = support(Cluster([[1, 2], [1, 0]], [[4, 4], [6, 0]]), np.array([3.0, 2.0]))
    >>> best.value, best.load
    (22.0, array([2., 8.]))
    """
    # A class with price <= 0 runs no tasks.
    job_class, server = np.nonzero(cluster.eligible & (prices > 0)[:, None])
    placement = np.zeros_like(cluster.gamma)
    if not len(job_class):
        return Support(0.0, 0.0, placement.sum(axis=1), placement)
    # Prices below 2, of which no sum overflows; a power of 2 rounds nothing.
    scale = power_of_two(prices.max())
    p = prices / scale
    shares, gamma = cluster.task_shares, cluster.gamma[job_class, server]
    gain = p[job_class] * gamma
    z, multipliers = _optimum(
        -gain / gain.max(), _usage_rows(cluster, job_class, server), np.ones(cluster.capacities.size)
    )
    placement[job_class, server] = z * gamma
    placement /= np.maximum(np.einsum("ni,nir->ir", placement, shares).max(axis=1), 1.0)
    load = placement.sum(axis=1)
    worth = _raised(cluster, multipliers.reshape(cluster.capacities.shape) * gain.max(), p)
    value, bound = float(p @ load), float(worth.sum())
    return accepted(Support(value * scale, bound * scale, load, placement), bound, value)


def power_of_two(value: float) -> float:
    """Largest power of 2 up to a value > 0; 1 for 0."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1) if value > 0 else 1.0


def geometric_ratios(evidence: LoadEvidence, cluster: Cluster) -> FloatArray:
    r"""Ratios, shape (n_classes,), of geometric laws of the counts: where a search for the law may begin.

    With :math:`u_i = v_i\rho_i` the part of the load u that class i causes, its count has ratio
    :math:`u_i/(1 - u + u_i)` if the cluster is one server with one resource, shared equally. A class that
    costs nothing, because it fills what others cannot use, counts with the part that it needs alone.
    """
    part = np.maximum(evidence.prices * evidence.loads, evidence.loads / cluster.gamma.sum(axis=1))
    return part / (1.0 - evidence.relative_load + part)


def _usage_rows(cluster: Cluster, job_class: Any, server: Any) -> csc_array:
    """Shares of resources held by gamma tasks, rows (server, resource), one column per pair."""
    held = cluster.task_shares[job_class, server] * cluster.gamma[job_class, server][:, None]
    pair, resource = np.nonzero(held)
    rows = server[pair] * cluster.n_resources + resource
    return csc_array((held[pair, resource], (rows, pair)), (cluster.capacities.size, len(job_class)))


def _raised(cluster: Cluster, worth: FloatArray, prices: FloatArray) -> FloatArray:
    """Worth of the resources of each server, raised until each task holds at least its price.

    Where the solver neglects a small server this costs next to nothing, and makes the proof complete.
    """
    held = np.einsum("ir,nir->ni", worth, cluster.task_shares)
    short = (np.maximum(prices[:, None] - held, 0.0) * cluster.gamma).max(axis=0)
    return worth + short[:, None]


def _optimum(cost: FloatArray, matrix: Any, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minimise cost * z over matrix z <= bounds, z >= 0; the point and the multipliers >= 0 of the rows."""
    from scipy.optimize import linprog

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
    point, multipliers = _optimum(cost, vstack([top, bottom], format="csc"), np.r_[-loads, np.zeros(n_rows)])
    return point[:-1], multipliers[: len(loads)], multipliers[len(loads) :]


def accepted(evidence: _Evidence, upper: float, lower: float) -> _Evidence:
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
