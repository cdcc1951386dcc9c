"""A tree of queues in the order in which it is filled: depth first, classes beside their queue."""

from __future__ import annotations

import numpy as np

from fairness.machine.kernels import IntArray
from fairness.model.problem import FloatArray, Problem
from fairness.model.tree import Tree
from fairness.policies.hierarchy.clocks import FIRST, LAST, OFFSET, PARENT, PLACE, Queues

__all__ = ["arrange"]


def arrange(tree: Tree, problem: Problem) -> Queues:
    """Queues of a tree for a problem; bounds as shares of the capacities.

    Raises
    ------
    ModelError
        If classes or resources do not fit, or a minimum exceeds a capacity.
    """
    nodes, n = tree.n_nodes, problem.n_classes
    preorder = np.array(tree.in_depth_order, dtype=np.int64)
    rank = np.empty(nodes, dtype=np.int64)
    rank[preorder] = np.arange(nodes)
    parent = np.where(tree.parents < 0, -1, rank[tree.parents])[preorder]
    last = np.arange(1, nodes + 1)
    for v in range(nodes - 1, 0, -1):
        last[parent[v]] = max(last[parent[v]], last[v])
    node_of = rank[tree.require_classes(problem)]
    order = np.argsort(node_of, kind="stable").astype(np.int64)
    first = np.searchsorted(node_of[order], np.arange(nodes + 1)).astype(np.int64)
    offset, place, child = _children(parent, first, n)
    low, high, own = (_in_shares(bound[preorder], problem) for bound in tree.bounds(problem))
    high[:, problem.capacities == 0] = np.inf
    high[0] = np.where(problem.capacities > 0, np.minimum(high[0], 1.0), np.inf)
    whole = np.zeros((11, nodes + 1), dtype=np.int64)
    for row, values in ((PARENT, parent), (LAST, last), (FIRST, first), (OFFSET, offset), (PLACE, place)):
        whole[row, : len(values)] = values
    return Queues(whole, order, child, tree.weights[preorder].copy(), np.stack([low, high, own]))


def _children(parent: IntArray, first: IntArray, n_classes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Where the children of each queue begin, the place of each among them, and who they are."""
    nodes = len(parent)
    own = np.diff(first)
    below = np.bincount(parent[1:], minlength=nodes)
    offset = np.concatenate([[0], np.cumsum(own + below)]).astype(np.int64)
    by_parent = np.argsort(parent[1:], kind="stable") + 1
    earlier = np.arange(nodes - 1) - np.repeat(np.cumsum(below) - below, below)
    place = np.zeros(nodes, dtype=np.int64)
    place[by_parent] = own[parent[by_parent]] + earlier
    child = np.zeros(n_classes + nodes - 1, dtype=np.int64)
    child[offset[parent[1:]] + place[1:]] = np.arange(1, nodes)
    return offset, place, child


def _in_shares(bound: FloatArray, problem: Problem) -> FloatArray:
    shares: FloatArray = np.divide(
        bound, problem.capacities, out=np.zeros_like(bound), where=problem.capacities > 0
    )
    return shares
