r"""What is guaranteed to the queues of a tree, resource by resource.

A guarantee counts for its resource alone: one of another resource, or none, neither bounds nor voids it. What
is guaranteed to queue v of a resource is

.. math:: G_v = \min\Bigl(C_v,\; \max\bigl(\min(\text{minimum}_v, \text{most}_v),\; \text{reserve}_v,\;
   \sum_{\text{child queues } c} G_c\bigr)\Bigr)

with :math:`C_v` its maximum, at the root also the capacity, and :math:`\text{most}_v` the most that can count
as its use, reserves included. So nothing is guaranteed to a queue without jobs, and what its classes cannot
use, because of their limits or because they lack another resource, is lent.

Where the guarantees of children exceed what is guaranteed to v, or at the root its bound, they are cut to
:math:`\min(\max(R m_c, r_c), G_c)`, with the level R at which they fit. The weight :math:`m_c` is the
minimum, or what the minima below c are together, and :math:`r_c` the same of the reserves. That is where
those orders lead that serve first who has used the smallest part of its guarantee, as YARN, KAI and Volcano
do.

The guarantee is the queue's *own* where its minimum, as far as it can be used, is no less than what is
guaranteed below it together; else it is theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.model.tree import Tree

__all__ = ["guarantees"]

Numbers = NDArray[Any]
"""Floats, or fractions (dtype object)."""

EQUAL = 1e-12
"""A minimum that differs by less than this part from the sum of those below it is that sum."""


def guarantees(
    tree: Tree, minimum: Numbers, reserve: Numbers, ceilings: Numbers, usable: Numbers
) -> tuple[Numbers, Numbers]:
    """G of each queue, and the part g of it that is the queue's own.

    Floats or fractions of shape (n_nodes, n_resources), like all that is given; ``usable`` is the most that
    the classes which submit to a queue itself can use.

    Examples
    --------
    >>> tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b"], class_nodes=[1, 2])
    >>> low, none = np.array([[0.0], [6], [6]]), np.zeros((3, 1))
    >>> limit = np.array([[8.0], [np.inf], [np.inf]])
    >>> for found in guarantees(tree, low, none, limit, np.array([[0.0], [np.inf], [np.inf]])):
    ...     print(found.T)
    [[8. 4. 4.]]
    [[0. 4. 4.]]
    >>> guarantees(tree, low, none, limit, np.array([[0.0], [3], [np.inf]]))[0].T
    array([[8., 3., 5.]])
    """
    most, least, weight = usable.copy(), np.zeros_like(usable), np.zeros_like(usable)
    below, found, own = np.zeros_like(usable), np.zeros_like(usable), np.zeros(usable.shape, dtype=np.bool_)
    levels = [np.flatnonzero(tree.depths == depth) for depth in range(tree.depth + 1)]
    for nodes in levels[::-1]:
        least[nodes] = np.maximum(least[nodes], reserve[nodes])
        weight[nodes] = np.maximum(weight[nodes], minimum[nodes])
        claim = np.maximum(np.minimum(minimum[nodes], most[nodes]), reserve[nodes])
        own[nodes] = (minimum[nodes] > 0) & (claim >= below[nodes] * (1 - EQUAL))
        found[nodes] = np.minimum(np.maximum(claim, below[nodes]), ceilings[nodes])
        inner, counted = nodes[nodes > 0], np.maximum(most, reserve)
        for sums, addends in ((most, counted), (least, least), (weight, weight), (below, found)):
            np.add.at(sums, tree.parents[inner], addends[inner])
    for nodes in levels:
        for k, j in np.argwhere(below[nodes] > found[nodes] * (1 + EQUAL)):
            c = tree.children(nodes[k])
            found[c, j] = _cut(found[nodes[k], j], weight[c, j], least[c, j], found[c, j])
    return found, np.where(own, found, 0)


def _cut(total: Any, weights: Numbers, least: Numbers, claims: Numbers) -> Numbers:
    """Parts of what does not suffice for all claims: by weight, none below the least or above its claim."""
    pairs = zip([*least, *claims], [*weights, *weights], strict=True)
    points = sorted({bound / weight for bound, weight in pairs if weight > 0})

    def parts(level: Any) -> Numbers:
        return np.asarray(np.minimum(np.maximum(level * weights, least), claims))

    k = next((k for k, point in enumerate(points) if parts(point).sum() >= total), len(points) - 1)
    low, high = parts(points[k - 1] if k else 0), parts(points[k])
    rise = high.sum() - low.sum()
    # Between two points all of them grow in straight lines.
    return low + (high - low) * ((total - low.sum()) / rise) if rise > 0 else low
