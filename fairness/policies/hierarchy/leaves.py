r"""What a tree of queues makes of the weights of the classes.

A class of :math:`x_i` jobs of weight :math:`w_i` weighs, among all classes,

.. math:: x_i w_i \prod_{v} \frac{w_v}{S_v}, \qquad
   S_v = \sum_{\text{classes of } v} x_i w_i + \sum_{\text{present child queues } c} w_c,

where the product is over its queue and those above it but for the root: what a queue weighs is divided among
its present children. With a single queue the weights stay what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.model.tree import Tree

__all__ = ["leaf_factors", "tasks_at_leaves"]


def leaf_factors(tree: Tree, problem: Problem | Cluster, counts: FloatArray) -> FloatArray:
    """Factor of the weight of a job of each class, shape (n_states, n_classes), for counts of this shape.

    Raises
    ------
    ModelError
        If a factor is beyond the floats, in a tree of very many levels.

    Examples
    --------
    >>> from fairness import Problem
    >>> tree = Tree(["all", "a"], [-1, 0], job_classes=["x", "y", "z"], class_nodes=[1, 1, 0])
    >>> pool = Problem([[1], [1], [1]], [1], job_classes=["x", "y", "z"])
    >>> leaf_factors(tree, pool, np.array([[1.0, 3.0, 1.0], [1.0, 0.0, 1.0]]))
    array([[0.25, 0.25, 1.  ],
           [1.  , 1.  , 1.  ]])
    """
    where = tree.require_classes(problem)
    inside = np.zeros((tree.n_nodes, len(counts)))
    np.add.at(inside, where, (counts * problem.weights).T)
    levels = [np.flatnonzero(tree.depths == depth) for depth in range(tree.depth + 1)]
    for level in levels[:0:-1]:
        np.add.at(inside, tree.parents[level], tree.weights[level, None] * (inside[level] > 0))
    factors = np.ones_like(inside)
    for level in levels[1:]:
        own = np.divide(
            tree.weights[level, None], inside[level], out=np.ones_like(inside[level]), where=inside[level] > 0
        )
        factors[level] = factors[tree.parents[level]] * own
    result: FloatArray = factors[where].T
    for _, i in np.argwhere(~((result > 0) & np.isfinite(result))):
        raise ModelError.of(
            "tree",
            f"gives class {problem.job_classes[i]!r} a part of the weight beyond the floats: weights on its "
            "way from the root multiply; take fewer levels, or weights closer to each other",
        )
    return result


def tasks_at_leaves(tree: Tree, policy: Any, problem: Problem, counts: FloatArray) -> FloatArray:
    """Tasks, shape (..., n_classes), of a policy with the weights that the tree makes."""
    states = counts.reshape(-1, problem.n_classes)
    factors = leaf_factors(tree, problem, states)
    if np.isinf(problem.limits).all():
        # A job of weight w is w jobs of weight 1, so that all states can be asked about at once.
        tasks: FloatArray = policy(problem.replaced(weights=None), states * problem.weights * factors)
        return tasks.reshape(counts.shape)
    tasks = np.empty_like(states)
    for k, (state, factor) in enumerate(zip(states, factors, strict=True)):
        tasks[k] = policy(problem.replaced(weights=problem.weights * factor), state)
    return tasks.reshape(counts.shape)
