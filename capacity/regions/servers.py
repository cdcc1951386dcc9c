"""The servers of a model, by the exact shares of their resources that tasks hold; a pool is one server."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from capacity.regions.vertices import walked
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = ["ServerRows", "as_fractions", "distinct_servers", "least_facets", "mixes"]

MAX_SERVER_VERTICES = 20_000
"""The mixes of one server are given up beyond this number of vertices."""

ServerRows = tuple[tuple[Fraction, ...] | None, ...]
"""Per class the shares of the resources that one task holds on a server; None where it cannot run."""


def distinct_servers(model: Problem | Cluster) -> dict[ServerRows, list[int]]:
    """Servers by the exact shares that tasks hold there; floats count as the fractions that they are.

    Examples
    --------
    >>> distinct_servers(Problem([[2], [3]], [7]))
    {((Fraction(2, 7),), (Fraction(3, 7),)): [0]}
    """
    numbers = as_fractions(model)
    demands, capacities = numbers[:2]
    result: dict[ServerRows, list[int]] = {}
    for i, row in enumerate([capacities] if isinstance(model, Problem) else capacities):
        shares: list[tuple[Fraction, ...] | None] = []
        for n, needs in enumerate(demands):
            if model.blocked[n] if isinstance(model, Problem) else not model.eligible[n, i]:
                shares.append(None)
                continue
            nominal = [d / c if d else Fraction(0) for d, c in zip(needs, row, strict=True)]
            if isinstance(model, Cluster) and model.given_gamma is not None:
                # A task that runs twice as fast holds its resources half the time.
                speed = 1 / (max(nominal) * numbers[2][n][i])
                nominal = [share * speed for share in nominal]
            shares.append(tuple(nominal))
        result.setdefault(tuple(shares), []).append(i)
    return result


def least_facets(cluster: Cluster) -> int:
    """A lower bound of the facets of the region of divisible tasks and of the regions of fewer classes.

    The facets of a sum are those of every summand, and more. Where resource r of a server is all that limits
    some class k alone, it limits k with a little of other classes as well: so it gives a facet of its own for
    every set of classes that need it, k among them.

    Examples
    --------
    >>> least_facets(Cluster([[1], [2], [3]], [[6]]))
    4
    """
    most = 0
    for server in range(cluster.n_servers):
        shares = cluster.task_shares[cluster.eligible[:, server], server]
        second = np.sort(shares, axis=1)[:, -2] if shares.shape[1] > 1 else np.zeros(len(shares))
        # Shares that rounding alone tells apart count as equal.
        alone = shares > second[:, None] * (1.0 + 1e-9)
        users = (shares > 0).sum(axis=0)[alone.any(axis=0)]
        most = max(most, sum(2 ** (int(n) - 1) for n in users))
    return most


def as_fractions(model: Problem | Cluster) -> tuple[Any, ...]:
    """Demands, capacities and, of a cluster, gamma; floats are fractions too."""
    if model.is_rational:
        return model.as_fractions()
    arrays = [model.demands, model.capacities]
    if isinstance(model, Cluster):
        arrays.append(model.gamma)
    return tuple(np.vectorize(Fraction, otypes=[object])(array).tolist() for array in arrays)


def mixes(shares: ServerRows) -> list[tuple[Fraction, ...]]:
    """Vertices of the mixes that a server can run."""
    users = [n for n, row in enumerate(shares) if row is not None]
    rows = []
    for held in zip(*(row for row in shares if row is not None), strict=True):
        if any(held):
            common = math.lcm(*(v.denominator for v in held))
            rows.append((tuple(int(v * common) for v in held), common))
    corners = walked(
        rows,
        MAX_SERVER_VERTICES,
        f"the mixes of one server have more than {MAX_SERVER_VERTICES} vertices (one where more resources"
        " are full than there are classes counts as several); merge classes or resources, or take "
        "region_section (support, judge, contains, slack, max_scale and boundary work without them)",
    )
    result = set()
    for vertex, *_ in corners:
        mix = [Fraction(0)] * len(shares)
        for n, value in zip(users, vertex, strict=True):
            mix[n] = value
        result.add(tuple(mix))
    return sorted(result)
