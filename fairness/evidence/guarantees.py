r"""Whether the guarantees of a tree can hold together, and if not, which few of them contradict each other.

A node of the tree needs, of each resource, what is guaranteed to it or what its child queues need together,
whichever is more:

.. math:: n_v = \max\Bigl(\text{minimum}_v, \sum_{c \text{ child of } v} n_c\Bigr).

The guarantees can all hold if and only if no node needs more than its ceiling, its ``maximum``, at the root
also the capacity: if so, let every node hold :math:`n_v`; else the children of some node, holding what is
guaranteed, exceed it. This is asked of all queues at once, whether they have jobs or not, so that a tree
which is accepted never fails later.

Under a ceiling the guarantees of a queue and of one below it do not add up, since the latter is part of the
former. So what contradicts a ceiling is a set of nodes below it, none of them below another, whose guarantees
add up to more. A smallest one is found by the greatest sum of k such guarantees in each subtree, for k = 1,
2, ...: those of a node alone, or the best of its children, joined. In a tree too large for that it is called
smallest only if no k guarantees at all, below each other or not, exceed the ceiling for a smaller k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairness.evidence.pools import SATURATION
from fairness.model.problem import Problem
from fairness.model.tree import Tree
from fairness.model.tree_arguments import IntArray

__all__ = ["GuaranteeConflict", "conflicting_guarantees", "require_guarantees"]

_Chain: TypeAlias = int | tuple["_Chain", "_Chain"] | None
_Sum = tuple[float, _Chain]
"""A greatest sum of guarantees, and the nodes to which they are given."""

MOST_SUMS = 300_000
"""Sums that the search for a smallest set may look at: half a second."""

TOLD = 6
"""Guarantees that a message lists."""


@dataclass(frozen=True)
class GuaranteeConflict:
    """Guarantees of one resource that add up to more than a ceiling; none of them can be left out.

    Attributes
    ----------
    tree : Tree
    resource : str
    ceiling : float
        Resource units: the maximum of the node, at the root also the capacity.
    node : int
        Whose ceiling it is.
    capacity : bool
        Whether the ceiling is the capacity of the resource, not the maximum of the node.
    guarantees : tuple of int
        The nodes whose guarantees contradict it, the largest first.
    amounts : tuple of float
        What is guaranteed to them, resource units.
    smallest : bool
        Whether it is proved that no fewer guarantees contradict each other, under any ceiling.
    """

    tree: Tree
    resource: str
    ceiling: float
    node: int
    capacity: bool
    guarantees: tuple[int, ...]
    amounts: tuple[float, ...]
    smallest: bool

    def __str__(self) -> str:
        shown = [
            f"{self.tree.path(v)} {x:g}" for v, x in zip(self.guarantees[:TOLD], self.amounts, strict=False)
        ]
        rest = len(self.guarantees) - len(shown)
        listed = " + ".join(shown) + (f" + {rest} more" if rest else "")
        total = f" = {sum(self.amounts):g}" if len(self.amounts) > 1 else ""
        whose = "the capacity" if self.capacity else f"the maximum of {self.tree.path(self.node)}"
        few = "no fewer guarantees contradict" if self.smallest else "none of these can be left out"
        return f"{self.resource}: {listed}{total}, but {whose} is {self.ceiling:g} ({few})"


def conflicting_guarantees(tree: Tree, problem: Problem) -> GuaranteeConflict | None:
    """A smallest set of guarantees that contradict each other; None if all can hold together.

    Parameters
    ----------
    tree : Tree
    problem : Problem
        Its capacities count.

    Returns
    -------
    GuaranteeConflict or None

    Raises
    ------
    ModelError
        If the tree names a resource that the problem does not have.

    Examples
    --------
    >>> from fairness import Problem
    >>> tree = Tree(["all", "a", "b", "c"], [-1, 0, 0, 0], job_classes=["x"], class_nodes=[1],
    ...             minimum=[[0], [3], [6], [5]])
    >>> pool = Problem([[1]], [10], job_classes=["x"], resources=["GPU"])
    >>> print(conflicting_guarantees(tree, pool))
    GPU: all/b 6 + all/c 5 = 11, but the capacity is 10 (no fewer guarantees contradict)
    """
    minimum, maximum, _ = tree.bounds(problem)
    if not minimum.any():
        return None
    ceilings = maximum.copy()
    ceilings[0] = np.minimum(ceilings[0], problem.capacities)
    above = tree.parents.tolist()
    needs = np.zeros_like(minimum)
    for v in range(tree.n_nodes - 1, -1, -1):
        # Here the row holds what the children need.
        needs[v] = np.maximum(needs[v], minimum[v])
        if v > 0:
            needs[above[v]] += needs[v]
    broken = np.argwhere(needs > ceilings * (1 + SATURATION))
    if not len(broken):
        return None
    order, sizes = np.array(tree.in_depth_order), _sizes(above)
    place = np.argsort(order)
    asked = []
    for v, j in broken.tolist():
        below = order[place[v] : place[v] + sizes[v]]
        asked.append((len(_largest(below, minimum[:, j], ceilings[v, j])), v, j, below))
    best: tuple[int, ...] = ()
    node, column, proved = 0, 0, True
    for least, v, j, below in sorted(asked, key=lambda one: one[:3]):
        # No k guarantees below this node exceed its ceiling for any k below least, whatever they are.
        if best and least >= len(best):
            break
        found = _smallest(tree, below, minimum[:, j], float(ceilings[v, j]), least)
        if found is None:
            found = _one_of_the_small(tree, below, minimum[:, j], float(ceilings[v, j]))
            proved &= least >= len(found)
        if not best or len(found) < len(best):
            best, node, column = found, v, j
    best = tuple(sorted(best, key=lambda u: (-minimum[u, column], u)))
    return GuaranteeConflict(
        tree,
        problem.resources[column],
        float(ceilings[node, column]),
        node,
        bool(node == 0 and problem.capacities[column] <= maximum[0, column]),
        best,
        tuple(float(minimum[u, column]) for u in best),
        proved,
    )


def require_guarantees(tree: Tree, problem: Problem) -> None:
    """Refuse a tree whose guarantees cannot hold together.

    Raises
    ------
    ModelError
        With a smallest set of guarantees that contradict each other.

    Examples
    --------
    >>> from fairness import Problem
    >>> tree = Tree(["all", "a", "b"], [-1, 0, 0], job_classes=["x"], class_nodes=[1],
    ...             minimum=[[0], [3], [6]])
    >>> require_guarantees(tree, Problem([[1]], [8], job_classes=["x"], resources=["GPU"]))
    Traceback (most recent call last):
    fairness.errors.ModelError: minimum: these guarantees cannot hold together, GPU: all/b 6 ...
    """
    found = conflicting_guarantees(tree, problem)
    if found is None:
        return
    column = problem.resources.index(found.resource)
    many = (
        "these guarantees cannot hold together" if len(found.guarantees) > 1 else "this cannot be guaranteed"
    )
    excess = sum(found.amounts) - found.ceiling
    raise ModelError.of(
        "minimum",
        f": {many}, {found}; lower {'them' if len(found.guarantees) > 1 else 'it'} by {excess:g}"
        f"{' in all' if len(found.guarantees) > 1 else ''}",
        found.guarantees[0],
        column,
    )


def _sizes(above: list[int]) -> list[int]:
    """Nodes of each subtree, its root included."""
    sizes = [1] * len(above)
    for v in range(len(above) - 1, 0, -1):
        sizes[above[v]] += sizes[v]
    return sizes


def _largest(nodes: IntArray, minimum: FloatArray, ceiling: float) -> IntArray:
    """The fewest of the nodes, the largest first, whose guarantees add up to more; all if they never do."""
    falling = nodes[np.argsort(-minimum[nodes], kind="stable")]
    enough = np.cumsum(minimum[falling]) > ceiling * (1 + SATURATION)
    return falling[: int(enough.argmax()) + 1] if enough.any() else falling


def _one_of_the_small(tree: Tree, below: IntArray, minimum: FloatArray, ceiling: float) -> tuple[int, ...]:
    """Guarantees, none below another, of which none can be left out: the largest that make up a need."""
    needs: dict[int, float] = {}
    parts: dict[int, float] = {}
    for v in reversed(below.tolist()):
        needs[v] = max(float(minimum[v]), parts.get(v, 0.0))
        parts[int(tree.parents[v])] = parts.get(int(tree.parents[v]), 0.0) + needs[v]
    made, waiting = [], [int(below[0])]
    while waiting:
        v = waiting.pop()
        if minimum[v] >= parts.get(v, 0.0):
            made.append(v)
        else:
            waiting.extend(tree.children(v).tolist())
    return tuple(_largest(np.array(made), minimum, ceiling).tolist())


def _smallest(
    tree: Tree, below: IntArray, minimum: FloatArray, ceiling: float, least: int
) -> tuple[int, ...] | None:
    """As few guarantees as possible, none below another, that add up to more; None if that takes too long."""
    easy = _one_of_the_small(tree, below, minimum, ceiling)
    if len(easy) == least:
        return easy
    # The greatest sum of k guarantees of each subtree, with the nodes as a chain; fewer than those at hand.
    most = len(easy) - 1
    looked = 0
    best: dict[int, list[_Sum]] = {}
    for v in reversed(below.tolist()):
        sums: list[_Sum] = [(0.0, None)]
        for c in tree.children(v).tolist():
            own = best.pop(c)
            looked += min(len(own), most + 1) * len(sums)
            if looked > MOST_SUMS:
                return None
            joined: list[_Sum] = [(-1.0, None)] * min(len(sums) + len(own) - 1, most + 1)
            for a, (one, nodes) in enumerate(sums):
                for b, (other, more) in enumerate(own[: most + 1 - a]):
                    if one + other > joined[a + b][0]:
                        joined[a + b] = one + other, (nodes, more)
            sums = joined
        if minimum[v] > 0 and (len(sums) < 2 or minimum[v] > sums[1][0]):
            sums[1:2] = [(float(minimum[v]), v)]
        best[v] = sums
    for total, nodes in best[int(below[0])]:
        if total > ceiling * (1 + SATURATION):
            return tuple(_largest(np.array(_listed(nodes)), minimum, ceiling).tolist())
    return easy


def _listed(nodes: _Chain) -> list[int]:
    found, waiting = [], [nodes]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple):
            waiting.extend(one)
        elif one is not None:
            found.append(one)
    return found


def require_reserves(tree, problem):
    pass
