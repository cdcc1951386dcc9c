r"""Whether what the queues of a tree do not lend can be kept for all of them.

Guarantees may exceed what there is: then each has its part (:mod:`fairness.evidence.queue_bounds`). What is
not lent is kept for a queue whether it has jobs or not, and must be there. A node of the tree needs, of each
resource, its reserve or what its child queues need together, whichever is more:

.. math:: n_v = \max\Bigl(\text{reserve}_v, \sum_{c \text{ child of } v} n_c\Bigr).

All reserves can be kept if and only if no node needs more than its ceiling, its ``maximum``, at the root also
the capacity: if so, let every node hold :math:`n_v`; else the children of some node exceed it. This is asked
of all queues at once, so that a tree which is accepted never fails later.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairness.errors import ModelError
from fairness.evidence.pools import SATURATION
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = ["OverfullQueue", "overfull_queue", "require_reserves"]

TOLD = 6
"""Queues that a message lists."""


class OverfullQueue(NamedTuple):
    """A queue under whose ceiling reserves do not fit."""

    node: int
    resource: int
    """Its column among those of the problem."""
    ceiling: float
    """Resource units."""
    keepers: tuple[int, ...]
    """Queues whose reserves exceed the ceiling, the largest first; none of them can be left out."""


def overfull_queue(tree: Tree, problem: Problem) -> OverfullQueue | None:
    """A lowest queue whose ceiling is less than what must be kept below it; None if there is none.

    Parameters
    ----------
    tree : Tree
    problem : Problem
        Its capacities count.

    Returns
    -------
    OverfullQueue or None

    Raises
    ------
    ModelError
        If the tree names a resource that the problem does not have.

    Examples
    --------
    >>> from fairness import Problem
    >>> tree = Tree(["all", "a", "b", "c"], [-1, 0, 0, 0], job_classes=["x"], class_nodes=[1],
    ...             minimum=[[0], [3], [6], [5]], lends=0)
    >>> overfull_queue(tree, Problem([[1]], [10], job_classes=["x"], resources=["GPU"]))
    OverfullQueue(node=0, resource=0, ceiling=10.0, keepers=(2, 3))
    """
    _, maximum, reserve = tree.bounds(problem)
    ceilings = maximum.copy()
    ceilings[0] = np.minimum(ceilings[0], problem.capacities)
    below = np.zeros_like(reserve)
    for v in range(tree.n_nodes - 1, -1, -1):
        needs = np.maximum(below[v], reserve[v])
        for j in np.flatnonzero(needs > ceilings[v] * (1 + SATURATION)):
            # What the need is made of: the reserve of a queue, or where they are more those below it.
            keepers, waiting = [], [v]
            while waiting:
                u = waiting.pop()
                if reserve[u, j] >= below[u, j]:
                    keepers.append(u)
                else:
                    waiting.extend(tree.children(u).tolist())
            keepers.sort(key=lambda u: (-reserve[u, j], u))
            enough = np.cumsum(reserve[keepers, j]) > ceilings[v, j] * (1 + SATURATION)
            return OverfullQueue(v, int(j), float(ceilings[v, j]), tuple(keepers[: int(enough.argmax()) + 1]))
        if v > 0:
            below[tree.parents[v]] += needs
    return None


def require_reserves(tree: Tree, problem: Problem) -> None:
    """Refuse a tree whose reserves do not fit.

    Raises
    ------
    ModelError
        With the reserves that exceed a ceiling.

    Examples
    --------
    >>> from fairness import Problem, Tree
    >>> tree = Tree(["all", "a", "b"], [-1, 0, 0], job_classes=["x"], class_nodes=[1],
    ...             minimum=[[0], [3], [6]], lends=0)
    >>> require_reserves(tree, Problem([[1]], [8], job_classes=["x"], resources=["GPU"]))
    Traceback (most recent call last):
    fairness.errors.ModelError: lends: GPU that is guaranteed and not lent, all/b 6 + all/a 3 = 9, is more \
than the capacity, 8; lend 1 more of it, or guarantee less
    """
    found = overfull_queue(tree, problem)
    if found is None:
        return
    v, j, ceiling, keepers = found
    reserve = tree.bounds(problem)[2][:, j]
    told = " + ".join(f"{tree.path(u)} {reserve[u]:g}" for u in keepers[:TOLD])
    told += f" + {len(keepers) - TOLD} more" if len(keepers) > TOLD else ""
    total = float(reserve[list(keepers)].sum())
    told += f" = {total:g}" if len(keepers) > 1 else ""
    whose = (
        "the capacity" if v == 0 and ceiling == problem.capacities[j] else f"the maximum of {tree.path(v)}"
    )
    raise ModelError.of(
        "lends",
        f": {problem.resources[j]} that is guaranteed and not lent, {told}, is more than {whose}, {ceiling:g}"
        f"; lend {total - ceiling:g} more of it, or guarantee less",
        keepers[0],
        j,
    )
