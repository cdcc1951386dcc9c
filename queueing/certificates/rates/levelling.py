r"""Policies that level, as :mod:`queueing.certificates.rates.filling_intervals` wants them.

Every number here follows exactly from the demands, capacities, weights and limits of the model, a float being
the fraction that it is, and is rounded outward at the end.

*Pools.* Progressive filling has the growth rates :math:`r_i = w_i` (MMF), :math:`w_i \min_j v_{ij}/s_{ij}`
(DRF; with weights v per resource also EDRF) and :math:`w_i / \sum_j s_{ij}` (asset fairness), where
:math:`s_{ij} = a_{ij}/C_j`; BMF has :math:`g_{ij} = w_i/s_{ij}`.

*DRF on every server by itself* is as many pools; the tasks of a class are added up.

*Leximin policies of clusters* (TSF, CDRF, C-DRFH, DRFH) fill, too: their levels are those of the yardsticks
:math:`Y_i` of the classes, :math:`r_i = w_i Y_i`, in the set of all totals that can be placed. This is a sum
of monotone polytopes, one of each server, so it is :math:`\{\varphi \ge 0 : \sum_i \varphi_i s_{ij} \le 1\}`
with facets j and :math:`s_{ij} \ge 0` (:mod:`queueing.certificates.facets`); and leximin in a set of this
form is progressive filling with each facet as a resource.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.exact.outward import outward
from fairness.exact.server_rows import ServerRows, as_fractions, distinct_servers
from fairness.filling.fractions import growth_rates
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from queueing.certificates.facets import cluster_facets, inverse
from queueing.certificates.rates.filling import GROWTH

__all__ = ["LEVELLING", "LEVELLING_SERVERS", "numbers"]

LEVELLING = (*GROWTH, "BMF")
"""Policies of pools that level, by name."""
LEVELLING_SERVERS = ("DRF per server", "TSF", "TSF dedicated", "CDRF", "C-DRFH", "DRFH")
"""Policies of clusters that level."""
SMALLEST, LARGEST = 1e-90, 1e90
"""Shares and growth rates that no product of three of them takes out of the floats."""

Rows = list[list[Fraction]]


def numbers(
    problem: Problem | Cluster, classes: Sequence[int], policy: str, parameters: Mapping[str, Any]
) -> FloatArray:
    """What the kernel of a policy by name, LEVELLING or LEVELLING_SERVERS, needs to know of some classes.

    Returns
    -------
    ndarray of shape (n_parts, 4 n m + 2 n + 1)
        For each pool that is filled by itself: bounds, lower and upper, of the shares of its m resources and
        of the growth rates of the n classes, (2, n, m) each, and of the tasks of a job, (2, n); and how many
        such pools there are.

    Raises
    ------
    ModelError
        If the policy is none of these, a number is beyond 1e-90 and 1e90, or a cluster has too many facets.

    Examples
    --------
    >>> drf = numbers(Problem([[1, 4], [3, 1]], [9, 18]), [0, 1], "DRF", {})
    >>> drf[0, 8:12].round(6).tolist()
    [4.5, 4.5, 3.0, 3.0]
    """
    copies, limits = [1], [math.inf] * problem.n_classes
    if isinstance(problem, Problem):
        parts = [_shares(problem)]
        growth = [_pool_growth(policy, parameters, parts[0])]
        limits = np.where(problem.blocked, 0.0, problem.limits).tolist()
    elif policy == "DRF per server":
        servers = distinct_servers(problem)
        parts = [_filled(rows, problem.n_resources) for rows in servers]
        growth = [[[inverse(max(row))] * len(row) for row in part] for part in parts]
        copies = [len(members) for members in servers.values()]
    elif policy in LEVELLING_SERVERS:
        facets = [[Fraction(v, offset) for v in normal] for normal, offset in cluster_facets(problem)]
        parts = [[list(column) for column in zip(*facets, strict=True)]]
        growth = [[[y] * len(facets) for y in _yardsticks(problem, policy)]]
    else:
        raise _unknown(policy, LEVELLING_SERVERS)
    packed = []
    for part, rates, times in zip(parts, growth, copies, strict=True):
        weighted = [[g * Fraction(problem.weights[k]) for g in rates[k]] for k in classes]
        shares = [part[k] for k in classes]
        # A class that cannot run on this server runs nothing there.
        most = [limits[k] if isinstance(problem, Problem) or any(part[k]) else 0.0 for k in classes]
        packed.append(np.concatenate([_bounds(shares), _bounds(weighted), most, most, [times]]))
    return np.array(packed)


def _shares(problem: Problem) -> Rows:
    """Shares that tasks hold in a pool whose floats are meant exactly; 0 for classes that never run."""
    capacities = [Fraction(c) for c in problem.capacities.tolist()]
    return [
        [
            Fraction(a) / c if a > 0 and not never else Fraction(0)
            for a, c in zip(row, capacities, strict=True)
        ]
        for row, never in zip(problem.demands.tolist(), problem.blocked.tolist(), strict=True)
    ]


def _pool_growth(policy: str, parameters: Mapping[str, Any], shares: Rows) -> Rows:
    """Tasks per level of a job of weight 1, for each resource."""
    if policy == "BMF":
        return [[inverse(s) for s in row] for row in shares]
    if policy not in GROWTH:
        raise _unknown(policy, LEVELLING)
    given = parameters.get("resource_weights")
    # Floats, as the tasks of filling take them.
    own = None if given is None else np.asarray(given, float).tolist()
    rates = growth_rates(GROWTH[policy], shares, [Fraction(1)] * len(shares), own)
    return [[rate] * len(row) for rate, row in zip(rates, shares, strict=True)]


def _yardsticks(cluster: Cluster, policy: str) -> list[Fraction]:
    """What a level of 1 gives to a job of weight 1."""
    n = cluster.n_classes
    if policy in ("C-DRFH", "DRFH"):
        demands, capacities = as_fractions(cluster)[:2]
        total = [sum(column, Fraction(0)) for column in zip(*capacities, strict=True)]
        return [min(c / d for c, d in zip(total, row, strict=True) if d) for row in demands]
    free = cluster
    if policy == "TSF" and cluster.given_gamma is None and cluster.given_eligible is not None:
        demands, capacities = as_fractions(cluster)[:2]
        free = Cluster(demands, capacities)
    alone = [
        [Fraction(0) if row is None else inverse(max(row)) * len(members) for row in rows]
        for rows, members in distinct_servers(free).items()
    ]
    return [sum((server[k] for server in alone), Fraction(0)) for k in range(n)]


def _filled(rows: ServerRows, n_resources: int) -> Rows:
    return [[Fraction(0)] * n_resources if row is None else list(row) for row in rows]


def _bounds(rows: Rows) -> FloatArray:
    """Bounds of shares or growth rates in one row, of a size that no product of them takes out of floats."""
    bounds = outward(rows).ravel()
    positive = bounds[bounds > 0]
    if positive.size and not (positive.min() > SMALLEST and positive.max() < LARGEST):
        raise ModelError(
            f"shares of resources or growth rates go from {positive.min():g} to {positive.max():g}; "
            f"enclosures need them between {SMALLEST:g} and {LARGEST:g}: take other units"
        )
    return bounds


def _unknown(policy: str, known: Sequence[str]) -> ModelError:
    return ModelError.of("policy", f"{policy!r} does not level tasks here; {', '.join(known)} do")
