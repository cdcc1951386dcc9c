"""Reserves that do not fit, against the definition: every set of reserves of a small tree, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from fairness import ModelError, Problem
from fairness.evidence.reserves import overfull_queue, require_reserves
from fairness.model.tree import Tree

Reserves = frozenset[tuple[int, int]]


def tree_with(parents: list[int], minimum: object, maximum: object = np.inf, lends: object = 0.0) -> Tree:
    names = [f"q{v}" for v in range(len(parents))]
    return Tree(
        names, parents, job_classes=["job"], class_nodes=[0], minimum=minimum, maximum=maximum, lends=lends,  # type: ignore[arg-type]
    )  # fmt: skip


def pool(*capacities: float) -> Problem:
    return Problem([[1] * len(capacities)], capacities, job_classes=["job"])


def can_hold(tree: Tree, problem: Problem, kept: Reserves) -> bool:
    """Whether amounts exist that keep these reserves: the least that every node can hold, from below."""
    _, maximum, reserve = tree.bounds(problem)
    for j, capacity in enumerate(problem.capacities):
        least = np.zeros(tree.n_nodes)
        for v in reversed(range(tree.n_nodes)):
            least[v] = max(least[v], reserve[v, j] if (v, j) in kept else 0.0)
            if least[v] > min(maximum[v, j], capacity if v == 0 else np.inf):
                return False
            if v > 0:
                least[tree.parents[v]] += least[v]
    return True


def test_those_that_are_told_exceed_the_ceiling_on_small_random_trees() -> None:
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(150):
        n, m = int(rng.integers(1, 8)), int(rng.integers(1, 3))
        parents = [-1, *(int(rng.integers(v)) for v in range(1, n))]
        minimum = rng.integers(0, 7, (n, m))
        maximum = np.where(rng.random((n, m)) < 0.3, minimum + rng.integers(0, 6, (n, m)), np.inf)
        tree = tree_with(parents, minimum, maximum, rng.choice([0, 0, 1, np.inf], (n, m)))
        problem = pool(*rng.integers(3, 14, m))
        every = [(v, j) for v in range(n) for j in range(m)]
        overfull = overfull_queue(tree, problem)
        assert (overfull is None) == can_hold(tree, problem, frozenset(every))
        if overfull is None:
            continue
        found += 1
        told = {(v, overfull.resource) for v in overfull.keepers}
        assert not can_hold(tree, problem, frozenset(told))
        assert all(can_hold(tree, problem, frozenset(told - {one})) for one in told)
    assert found > 30


def test_rounding_is_no_excess() -> None:
    tree = tree_with([-1, 0, 0, 0], [[0], [0.1], [0.2], [0.7]])
    assert (0.7 + 0.2) + 0.1 != 1.0 or (0.1 + 0.2) + 0.7 != 1.0  # from Python 3.12 on sum() compensates
    assert overfull_queue(tree, pool(1.0)) is None
    assert overfull_queue(tree, pool(0.999)) is not None


def test_the_error_names_queues_numbers_and_what_to_do() -> None:
    tree = tree_with([-1, 0, 0], [[0, 0], [0, 4], [0, 3]], [[np.inf, 5], [np.inf, np.inf], [np.inf, np.inf]])
    with pytest.raises(
        ModelError, match=r"q0/q1 4 \+ q0/q2 3 = 7, is more than the maximum of q0, 5; lend 2 more"
    ) as error:
        require_reserves(tree, pool(10, 9))
    assert (error.value.argument, error.value.index) == ("lends", (1, 1))
    with pytest.raises(ModelError, match=r"not lent, q0 8, is more than the capacity, 6"):
        require_reserves(tree_with([-1], [[8]]), pool(6))
    below = tree_with([-1, 0, 1, 1], [[0], [0], [4], [4]], [[np.inf], [7], [np.inf], [np.inf]])
    with pytest.raises(ModelError, match="the maximum of q0/q1, 7"):
        require_reserves(below, pool(100))
    require_reserves(tree_with([-1, 0, 0], [[0], [3], [3]]), pool(6))
    # What is lent may be guaranteed to several.
    require_reserves(tree_with([-1, 0, 0], [[0], [6], [6]], lends=np.inf), pool(6))
