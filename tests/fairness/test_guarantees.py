"""Conflicting guarantees against the definition: every set of guarantees of a small tree, one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from fairness import ModelError, Problem
from fairness.evidence import guarantees
from fairness.evidence.guarantees import conflicting_guarantees, require_guarantees
from fairness.model.tree import Tree

Guarantees = frozenset[tuple[int, int]]


def tree_with(parents: list[int], minimum: object, maximum: object = np.inf) -> Tree:
    names = [f"q{v}" for v in range(len(parents))]
    return Tree(names, parents, job_classes=["job"], class_nodes=[0], minimum=minimum, maximum=maximum)  # type: ignore[arg-type]


def pool(*capacities: float) -> Problem:
    return Problem([[1] * len(capacities)], capacities, job_classes=["job"])


def can_hold(tree: Tree, problem: Problem, kept: Guarantees) -> bool:
    """Whether amounts exist that keep these guarantees: the least that every node can hold, from below."""
    _, maximum, _ = tree.bounds(problem)
    for j, capacity in enumerate(problem.capacities):
        least = np.zeros(tree.n_nodes)
        for v in reversed(range(tree.n_nodes)):
            least[v] = max(least[v], tree.minimum[v, j] if (v, j) in kept else 0.0)
            if least[v] > min(maximum[v, j], capacity if v == 0 else np.inf):
                return False
            if v > 0:
                least[tree.parents[v]] += least[v]
    return True


def test_the_set_is_smallest_and_conflicts_on_small_random_trees() -> None:
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(150):
        n, m = int(rng.integers(1, 8)), int(rng.integers(1, 3))
        parents = [-1, *(int(rng.integers(v)) for v in range(1, n))]
        minimum = rng.integers(0, 6, (n, m))
        maximum = np.where(rng.random((n, m)) < 0.3, minimum + rng.integers(0, 6, (n, m)), np.inf)
        tree, problem = tree_with(parents, minimum, maximum), pool(*rng.integers(3, 14, m))
        every = [(v, j) for v in range(n) for j in range(m) if minimum[v, j] > 0]
        conflict = conflicting_guarantees(tree, problem)
        assert (conflict is None) == can_hold(tree, problem, frozenset(every))
        if conflict is None:
            continue
        found += 1
        column = problem.resources.index(conflict.resource)
        own = [(v, column) for v in conflict.guarantees]
        assert not can_hold(tree, problem, frozenset(own))
        fewer = (frozenset(kept) for k in range(len(own)) for kept in combinations(every, k))
        assert conflict.smallest
        assert all(can_hold(tree, problem, kept) for kept in fewer)
    assert found > 50


def test_where_the_search_is_too_long_only_what_is_known_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # 10, or 6 + 6 below it: the two largest guarantees are 10 + 9, but those of q1 and of a child overlap.
    tree = tree_with([-1, 0, 1, 1, 0], [[0], [10], [9], [9], [2]])
    found = conflicting_guarantees(tree, pool(17))
    assert found is not None
    assert (found.guarantees, found.smallest) == ((2, 3), True)
    tree = tree_with([-1, 0, 1, 1, 1, 0, 0], [[0], [10], [6], [6], [5], [6], [2]])
    found = conflicting_guarantees(tree, pool(15))
    assert found is not None
    assert (found.guarantees, found.smallest) == ((1, 5), True)
    monkeypatch.setattr(guarantees, "MOST_SUMS", 0)
    found = conflicting_guarantees(tree, pool(15))
    assert found is not None
    assert (len(found.guarantees), found.smallest) == (3, False)
    assert "none of these can be left out" in str(found)
    kept = [frozenset((v, 0) for v in found.guarantees if v != out) for out in found.guarantees]
    assert all(can_hold(tree, pool(15), own) for own in kept)


def test_rounding_makes_no_conflict() -> None:
    tree = tree_with([-1, 0, 0, 0], [[0], [0.1], [0.2], [0.7]])
    assert sum([0.7, 0.2, 0.1]) != 1.0 or sum([0.1, 0.2, 0.7]) != 1.0
    assert conflicting_guarantees(tree, pool(1.0)) is None
    assert conflicting_guarantees(tree, pool(0.999)) is not None


def test_the_error_names_queues_numbers_and_what_to_do() -> None:
    tree = tree_with([-1, 0, 0], [[0, 0], [0, 4], [0, 3]], [[np.inf, 5], [np.inf, np.inf], [np.inf, np.inf]])
    with pytest.raises(
        ModelError, match=r"q0/q1 4 \+ q0/q2 3 = 7, but the maximum of q0 is 5.*by 2 in all"
    ) as error:
        require_guarantees(tree, pool(10, 9))
    assert (error.value.argument, error.value.index) == ("minimum", (1, 1))
    with pytest.raises(
        ModelError, match=r"this cannot be guaranteed.*q0 8, but the capacity is 6.*lower it by 2"
    ):
        require_guarantees(tree_with([-1], [[8]]), pool(6))
    below = tree_with([-1, 0, 1, 1], [[0], [0], [4], [4]], [[np.inf], [7], [np.inf], [np.inf]])
    with pytest.raises(ModelError, match="the maximum of q0/q1 is 7"):
        require_guarantees(below, pool(100))
    require_guarantees(tree_with([-1, 0, 0], [[0], [3], [3]]), pool(6))
