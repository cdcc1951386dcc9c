"""Policies on a tree: against the definition in fractions, and the flat policies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairness import (
    DRF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Hierarchical,
    MaxMin,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
    Tree,
    allocate,
)
from fairness.machine import compiling
from fairness.policies.hierarchy import filling, hierarchical
from fairness.policies.hierarchy.leaves import leaf_factors
from fairness.properties.exact.queues import QueueFilling
from fairness.testing import check_policy, random_problem
from tests.oracles.tasks_in_queues import random_queues

FILLING = (DRF(), MaxMin(), AssetFair())
LEAVES = (ProportionalFair(), AlphaFair(2), BottleneckMax())


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is run as it is written: compiling takes longer than all these tests."""
    monkeypatch.setattr(compiling, "SMALL", np.inf)
    monkeypatch.setattr(compiling, "PATIENCE", np.inf)


def compare_with_fractions(seed: int) -> None:
    pool, tree, counts = random_queues(seed, 14)
    rule = (DRF(), DRF(), DRF(), DRF(), MaxMin(), AssetFair())[seed % 6]
    measure = "borrowed" if seed % 8 > 5 else "total"
    for naive in (False, True):
        equal, borrowed = rule.family.parameters["growth"], measure == "borrowed"
        exact = QueueFilling(tree, pool, counts.tolist(), equal, naive, borrowed).filled()
        tasks = Hierarchical(tree, rule, naive=naive, measure=measure)(pool, counts)
        # 1e-9: some hundred events, each exact to 1e-13 or so.
        assert np.allclose(tasks, np.array(exact, dtype=float), rtol=1e-9, atol=1e-11), (seed, naive)


# In tree 204 a resource is not full yet when somebody uses up a guarantee of it, in 208 the whole pool's is.
@pytest.mark.parametrize("seed", [*range(18), 204, 208])
@pytest.mark.usefixtures("plain")
def test_filling_follows_the_definition(seed: int) -> None:
    compare_with_fractions(seed)


@pytest.mark.usefixtures("plain")
def test_a_filling_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, tree, counts = random_queues(0, 14)
    monkeypatch.setattr(filling, "_event", lambda w, v: False)  # nothing comes of what happens
    with pytest.raises(NotConvergedError):
        Hierarchical(tree)(pool, counts)


@pytest.mark.long
def test_filling_follows_the_definition_on_hundreds_of_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "SMALL", -1.0)  # compiled
    for seed in range(12, 212):
        compare_with_fractions(seed)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("rule", [*FILLING, *LEAVES])
def test_one_queue_is_the_policy_itself(rule: Any) -> None:
    rng = np.random.default_rng(5)
    for kind in ("dense", "sparse", "integer"):
        pool = random_problem(rng, 5, 3, kind=kind, weighted=True, limited=kind == "dense")
        states = rng.integers(0, 4, (3, 5)).astype(float)
        tree = Tree.flat(pool)
        # 1e-6: prices are found to 1e-9 of the objective, not of the tasks.
        assert np.allclose(Hierarchical(tree, rule)(pool, states), rule(pool, states), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("rule", FILLING)
def test_one_queue_without_bounds_is_filled_as_a_pool(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = random_problem(np.random.default_rng(2), 6, 3, kind="sparse", weighted=True, limited=True)
    states = np.random.default_rng(3).integers(0, 3, (4, 6)).astype(float)
    bounded = Tree(["all"], [-1], job_classes=pool.job_classes, class_nodes=[0] * 6, maximum=1e300)
    on_tree = Hierarchical(bounded, rule)(pool, states)
    # From here on there are no trees.
    monkeypatch.setattr(hierarchical, "tree_arrays", None)
    flat = Hierarchical(Tree.flat(pool), rule)
    tasks, follower = flat(pool, states), flat.follow(pool)
    np.testing.assert_array_equal(tasks, rule(pool, states))
    np.testing.assert_array_equal([follower(state).copy() for state in states], tasks)
    np.testing.assert_allclose(tasks, on_tree, rtol=1e-13)
    told = allocate(pool, flat, states[0])
    np.testing.assert_array_equal(told.tasks, tasks[0])
    assert told.certificate.holds
    assert told.certificate.residual < 1e-12
    assert list(told.queues().index) == [flat.tree.path(0)]
    named = Tree(["all"], [-1], resources=["GPU"], job_classes=pool.job_classes, class_nodes=[0] * 6)
    with pytest.raises(ModelError, match="of the tree: unknown resource 'GPU'"):
        Hierarchical(named, rule)(pool, states)


@pytest.mark.usefixtures("plain")
def test_the_example_of_the_paper() -> None:
    tree = Tree(
        ["n", "n3"],
        [-1, 0],
        job_classes=["n1", "n2", "n3,1", "n3,2", "n4"],
        class_nodes=[0, 0, 1, 1, 0],
    )
    pool = Problem([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], [1, 1], job_classes=tree.job_classes)
    assert np.allclose(Hierarchical(tree)(pool, np.ones(5)), [1 / 3, 1 / 3, 1 / 3, 1 / 2, 1 / 2])


@pytest.mark.usefixtures("plain")
def test_maxima_and_reserves_hold() -> None:
    def with_bounds(**bounds: Any) -> Tree:
        return Tree.from_dict(
            {"all": {"queues": {"a": {"classes": ["x"], **bounds}, "b": {"classes": ["y"], "weight": 3}}}}
        )

    pool = Problem([[1], [1]], [12], job_classes=["x", "y"], resources=["CPU"])
    assert np.allclose(Hierarchical(with_bounds())(pool, [1, 1]), [3, 9])
    assert np.allclose(Hierarchical(with_bounds(maximum={"CPU": 2}))(pool, [1, 1]), [2, 10])
    kept = with_bounds(minimum={"CPU": 5}, lends={"CPU": 1})
    assert np.allclose(Hierarchical(kept)(pool, [[0, 1], [1, 1]]), [[0, 8], [5, 7]])
    assert Hierarchical(with_bounds(maximum={"CPU": 0}))(pool, [1, 1]).tolist() == [0, 12]


@pytest.mark.usefixtures("plain")
def test_certificates_hold_and_the_result_tells_them() -> None:
    for seed in range(0, 12, 2):
        pool, tree, counts = random_queues(seed, 14)
        for naive in (False, True):
            solution = Hierarchical(tree, naive=naive).solve(pool, counts)
            assert solution.certificate.holds, (seed, naive, solution.certificate)
            assert "guarantees kept" in solution.certificate.claim
    told = allocate(pool, Hierarchical(tree), counts)
    assert told.name == "H-DRF"
    assert list(told.queues().index) == [tree.path(v) for v in tree.in_depth_order]
    assert "  q0 " in told.summary()
    with pytest.raises(ModelError, match="DRF divides among classes, not among queues"):
        allocate(pool, DRF(), counts).queues()
    assert told.certificate.holds


@pytest.mark.usefixtures("plain")
def test_edges() -> None:
    tree = Tree.from_dict({"all": {"queues": {"a": {"classes": ["x", "y"]}, "b": {"classes": ["z"]}}}})
    pool = Problem(
        [[1, 0], [0, 1], [0, 0]],
        [0, 4],
        limits=[np.inf, np.inf, 2],
        job_classes=["x", "y", "z"],
        resources=["none", "CPU"],
    )
    # Nothing there of what x needs; z needs nothing, and is at its limit.
    assert Hierarchical(tree)(pool, [[1, 1, 1], [0, 0, 0], [2, 0, 3]]).tolist() == [
        [0, 4, 2],
        [0, 0, 0],
        [0, 0, 6],
    ]
    assert Hierarchical(tree)(pool, np.zeros((0, 3))).shape == (0, 3)
    assert Hierarchical(tree).solve(pool, [1, 1, 1]).certificate.holds
    tiny = pool.replaced(demands=[[1, 0], [0, 1e-9], [0, 1e9]], capacities=[1, 4])
    tasks = Hierarchical(tree)(tiny, [1, 1, 1])
    assert np.allclose(tasks / [1, 2e9, 2e-9], 1)


@pytest.mark.usefixtures("plain")
def test_the_battery_with_a_tree() -> None:
    def flat(problem: Problem, counts: Any) -> Any:
        return Hierarchical(Tree.flat(problem))(problem, counts)

    check_policy(flat, instances=1)
    names = [f"class {k + 1}" for k in range(6)]
    tree = Tree(
        ["all", "a", "b", "c"],
        [-1, 0, 1, 0],
        weights=[1, 2, 1, 3],
        job_classes=names,
        class_nodes=[1, 2, 2, 3, 3, 0],
    )
    # Other labels, and parts of a class, stand elsewhere in this tree.
    check_policy(Hierarchical(tree), skip={"relabelling", "splitting"}, instances=1)


def test_weights_at_the_leaves() -> None:
    tree = Tree(
        ["all", "a", "b"],
        [-1, 0, 1],
        weights=[1, 2, 5],
        job_classes=["u", "v", "w", "z"],
        class_nodes=[0, 1, 2, 2],
    )
    pool = Problem(np.ones((4, 1)), [12], weights=[1, 1, 2, 1], job_classes=tree.job_classes)
    counts = np.array([[1.0, 5.0, 1.0, 2.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    weights = leaf_factors(tree, pool, counts) * counts * pool.weights
    # a has 2, which v (5 jobs) and b (5) share; b's 1 is shared by w and z, 2 each. Alone, each has all.
    assert np.allclose(weights, [[1, 1, 0.5, 0.5], [1, 0, 2, 0], [0, 2, 0, 0]])
    tasks = Hierarchical(tree, ProportionalFair())(pool, counts)
    assert np.allclose(tasks, [[4, 4, 2, 2], [4, 0, 8, 0], [0, 12, 0, 0]])
    limited = pool.replaced(limits=[1, np.inf, np.inf, np.inf])
    assert np.allclose(Hierarchical(tree, ProportionalFair())(limited, counts)[0], [1, 5.5, 2.75, 2.75])
    result = allocate(pool, Hierarchical(tree, BottleneckMax()), counts[0])
    assert result.name == "H-BMF"
    assert np.allclose(result.tasks, [4, 4, 2, 2])


def test_weights_that_leave_the_floats_are_refused() -> None:
    """Each level halves the weight of what lies below it; after 1,100 of them nothing would be left."""
    levels = 1100
    names = ["all", *(f"v{k}" for k in range(levels)), *(f"u{k}" for k in range(levels))]
    parents = [-1, *range(levels), *range(levels)]
    classes = [f"x{k}" for k in range(levels + 1)]
    nodes = [*range(levels + 1, 2 * levels + 1), levels]
    pool = Problem(np.ones((levels + 1, 1)), [1.0], job_classes=classes)
    tree = Tree(names, parents, job_classes=classes, class_nodes=nodes)
    with pytest.raises(ModelError, match=r"gives class 'x.*' a part of the weight beyond the floats"):
        leaf_factors(tree, pool, np.ones((1, levels + 1)))


def test_what_is_refused() -> None:
    pool = Problem([[1], [1]], [10], job_classes=["x", "y"], resources=["CPU"])
    tree = Tree.from_dict(
        {
            "all": {
                "queues": {
                    "a": {"classes": ["x"], "minimum": {"CPU": 6}, "lends": {"CPU": 0}},
                    "b": {"classes": ["y"], "minimum": {"CPU": 5}, "lends": {"CPU": 0}},
                }
            }
        }
    )
    with pytest.raises(ModelError, match="guaranteed and not lent, all/a 6"):
        Hierarchical(tree)(pool, [1, 1])
    with pytest.raises(ModelError, match="tree must be a Tree"):
        Hierarchical(DRF())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="policy must be DRF"):
        Hierarchical(tree, lambda problem, counts: counts)
    with pytest.raises(ModelError, match="has bounds, which PF at the leaves cannot keep"):
        Hierarchical(tree, ProportionalFair())
    with pytest.raises(ModelError, match="measure must be one of 'total', 'borrowed'"):
        Hierarchical(tree, measure="lent")
    with pytest.raises(ModelError, match="measure is for policies that fill"):
        Hierarchical(Tree.flat(pool), ProportionalFair(), measure="borrowed")
    with pytest.raises(ModelError, match="'z' submits to no queue"):
        Hierarchical(Tree.flat(pool))(pool.replaced(job_classes=["x", "z"]), [1, 1])


@pytest.mark.long
def test_compiled_and_plain_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "PATIENCE", np.inf)
    for seed in range(60):
        pool, tree, counts = random_queues(seed, 14)
        states = np.stack([counts, counts[::-1], 2 * counts])
        monkeypatch.setattr(compiling, "SMALL", -1.0)
        compiled = Hierarchical(tree)(pool, states)
        walker = Hierarchical(tree).follow(pool)
        followed = np.stack([walker(state).copy() for state in states])
        monkeypatch.setattr(compiling, "SMALL", np.inf)
        plain = Hierarchical(tree)(pool, states)
        # The same operations in the same order: which of them runs may not be seen.
        assert np.array_equal(compiled, plain), seed
        assert np.array_equal(compiled, followed), seed


def test_rules_are_values() -> None:
    pool, tree, _ = random_queues(3, 14)
    again = Tree.from_dict(tree.to_dict())
    assert Hierarchical(tree) != Hierarchical(tree, MaxMin())
    assert Hierarchical(Tree.flat(pool)) == Hierarchical(Tree.flat(pool))
    assert Hierarchical(again).name == "H-DRF"
    assert Hierarchical(tree, naive=True, measure="borrowed").name == "naive H-DRF borrowed"
