"""The servers of a model, by the exact shares of their resources that tasks hold; a pool is one server."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.exact.corners import Corners
from fairness.exact.double_description import Facet, Point
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = ["ServerRows", "as_fractions", "distinct_servers", "mixes"]

ServerRows = tuple[tuple[Fraction, ...] | None, ...]
"""Per class the shares of the resources that one task holds on a server; None where it cannot run."""


def distinct_servers(model: Problem | Cluster) -> dict[ServerRows, list[int]]:
    """Servers by the exact shares that tasks hold there; floats count as the fractions that they are.

    Examples
    --------
    >>> distinct_servers(Problem([[2], [3]], [7]))
    {((Fraction(2, 7),), (Fraction(3, 7),)): [0]}
    """
    demands, capacities, *gamma = as_fractions(model)
    runs, result = model.runs, dict[ServerRows, list[int]]()
    for i, row in enumerate([capacities] if isinstance(model, Problem) else capacities):
        shares: list[tuple[Fraction, ...] | None] = []
        for n, needs in enumerate(demands):
            if not runs[n, i]:
                shares.append(None)
                continue
            nominal = [d / c if d else Fraction(0) for d, c in zip(needs, row, strict=True)]
            if model.given_gamma is not None:
                # A task that runs twice as fast holds its resources half the time.
                speed = 1 / (max(nominal) * gamma[0][n][i])
                nominal = [share * speed for share in nominal]
            shares.append(tuple(nominal))
        result.setdefault(tuple(shares), []).append(i)
    return result


def mixes(rows: ServerRows, found: Callable[[list[Facet], int], Corners]) -> list[Point]:
    """Vertices of the mixes of tasks that a server can run, in increasing order.

    Parameters
    ----------
    rows : ServerRows
    found : callable
        Finds the vertices of a region, as :func:`fairness.exact.corners.corners` does, or refuses.

    Examples
    --------
    >>> from fairness.exact.corners import corners
    >>> [rows] = distinct_servers(Problem([[2], [3]], [6]))
    >>> [tuple(map(int, mix)) for mix in mixes(rows, corners)]
    [(0, 0), (0, 2), (3, 0)]
    """
    users = [n for n, row in enumerate(rows) if row is not None]
    facets = []
    for held in zip(*(row for row in rows if row is not None), strict=True):
        if any(held):
            common = math.lcm(*(v.denominator for v in held))
            facets.append((tuple(int(v * common) for v in held), common))
    result = []
    for vertex in found(facets, len(users)).points():
        mix = [Fraction(0)] * len(rows)
        for n, value in zip(users, vertex, strict=True):
            mix[n] = value
        result.append(tuple(mix))
    return result


def as_fractions(model: Problem | Cluster) -> tuple[Any, ...]:
    """Demands, capacities and, of a cluster, gamma; floats are fractions too."""
    if model.is_rational:
        return model.as_fractions()
    arrays = [model.demands, model.capacities]
    if isinstance(model, Cluster):
        arrays.append(model.gamma)
    return tuple(np.vectorize(Fraction, otypes=[object])(array).tolist() for array in arrays)
