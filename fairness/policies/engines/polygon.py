r"""Alpha-fair tasks of two classes: where on the edge of their polygon.

In units where every capacity is 1, two classes can run what no resource forbids,
:math:`a_{1j} \varphi_1 + a_{2j} \varphi_2 \le 1`: a polygon. At the ratio :math:`v = \varphi_1/\varphi_2` the
resource that is full is the one with the largest :math:`a_{1j} v + a_{2j}`: the edges, in the order of
:math:`v`, are the upper envelope of these lines. Where one resource alone has a price, that of
:mod:`fairness.policies.engines.prices` drops out of the ratio of tasks,

.. math:: \frac{\varphi_1}{\varphi_2} = w k_j, \qquad
   w = \frac{W_1}{W_2}, \quad k_j = \Bigl(\frac{a_{2j}}{a_{1j}}\Bigr)^{1/\alpha} ,

and the tasks are on edge :math:`j` exactly if this ratio lies between those of its two corners. As
:math:`k_j` falls from edge to edge and the ratios of the corners rise, every other :math:`w` belongs to one
corner, where two resources have prices. So a state is one search among sorted numbers.

The objective falls along the boundary on either side of its best point: a class that would be above its limit
is at its limit, and the other one takes what is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.model.nonzeros import Nonzeros
from fairness.model.problem import FloatArray

__all__ = ["edge_tasks"]

BLOCK = 1 << 13
"""States at a time, so that what is computed of them stays in the cache."""


class Edges(NamedTuple):
    """Edges of a polygon, from the axis of the second class to that of the first."""

    first: FloatArray  # (n_edges,): shares a_1j of the resources, rising
    second: FloatArray  # (n_edges,): a_2j, falling
    corners: FloatArray  # (n_edges - 1,): ratios of tasks where an edge meets the next


def edge_tasks(
    shares: Nonzeros,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    alpha: float,
    prices: FloatArray,
    residuals: FloatArray,
) -> None:
    """Fill ``tasks`` (n_states, 2) and ``residuals`` (n_states,), the largest excess over a capacity.

    The arguments are those of :func:`~fairness.policies.engines.prices.price_kernel`; of ``prices`` only the
    number counts. Both classes demand something. A state in which tasks are no numbers has an infinite
    residual; tasks that are too small beside those of the other class to be floating-point numbers are 0.
    """
    table = np.zeros((2, prices.size))
    table[shares.spread(np.arange(2)), shares.resource] = shares.share
    edges = _edges(table)
    with np.errstate(all="ignore"):
        slopes = (edges.second / edges.first) ** (1.0 / alpha)
        # A state is on edge e up to the first of its two bounds, up to the second in the corner behind it.
        bounds = np.empty(2 * edges.corners.size)
        bounds[::2], bounds[1::2] = edges.corners / slopes[:-1], edges.corners / slopes[1:]
        bounds = np.maximum.accumulate(bounds)
        corners = np.append(edges.corners, np.nan)
        for begin in range(0, len(counts), BLOCK):
            part = slice(begin, begin + BLOCK)
            weights = counts[part] * growth
            w = weights[:, 0] / weights[:, 1]
            place = np.searchsorted(bounds, w)
            edge = place >> 1
            ratio = np.where(place & 1, corners[edge], w * slopes[edge])
            a, b = edges.first[edge], edges.second[edge]
            # Whoever is alone has the largest share that it demands of a resource as the bound.
            first = np.where(weights[:, 1] > 0, 1.0 / (a + b / ratio), 1.0 / edges.first[-1])
            second = np.where(weights[:, 0] > 0, 1.0 / (a * ratio + b), 1.0 / edges.second[0])
            most = np.where(weights > 0, counts[part] * limits, 0.0)
            if (first > most[:, 0]).any() or (second > most[:, 1]).any():
                first, second = (
                    np.where(second > most[:, 1], _beside(most[:, 1], edges.second, edges.first), first),
                    np.where(first > most[:, 0], _beside(most[:, 0], edges.first, edges.second), second),
                )
            both = np.minimum(np.stack([first, second], axis=1), most)
            tasks[part] = np.where(weights > 0, both, 0.0)
            residuals[part] = _excess(edges, tasks[part])


def _edges(shares: FloatArray) -> Edges:
    """The upper envelope of the lines ``shares[0] * ratio + shares[1]``."""
    order = np.lexsort((shares[1], shares[0]))
    kept: list[int] = []
    corners: list[float] = []
    for j in order:
        a, b = shares[:, j]
        while kept:
            lower = shares[1, kept[-1]] - b
            corner = lower / (a - shares[0, kept[-1]]) if lower > 0 else 0.0
            if corner > (corners[-1] if corners else 0.0):
                corners.append(corner)
                break
            kept.pop()  # nowhere above its neighbours
            if corners:
                corners.pop()
        kept.append(j)
    return Edges(shares[0, kept], shares[1, kept], np.array(corners))


def _beside(tasks: FloatArray, own: FloatArray, other: FloatArray) -> FloatArray:
    """Most tasks of a class beside these of the other one; ``own`` shares are those of the tasks given."""
    least = np.full(tasks.shape, np.inf)
    for a, b in zip(own, other, strict=True):
        if b > 0:
            np.minimum(least, np.maximum(1.0 - a * tasks, 0.0) / b, out=least)
    return least


def _excess(edges: Edges, tasks: FloatArray) -> FloatArray:
    """Largest excess over a capacity, shape (n_states,), infinite where tasks are no numbers."""
    used = np.zeros(len(tasks))
    for a, b in zip(edges.first, edges.second, strict=True):
        np.maximum(used, a * tasks[:, 0] + b * tasks[:, 1], out=used)
    return np.where(np.isfinite(used), np.maximum(used - 1.0, 0.0), np.inf)
