"""Whole tasks under a tree of queues, against the rule read word by word; who starves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError, Problem, Tree
from fairness.indivisible import HierarchicalShare, LowestShare, fill_tasks
from tests.oracles.tasks_in_queues import TasksInQueues

CPU, GPU = (1, 0), (0, 1)


def random_tree(rng: np.random.Generator, problem: Problem, *, bounds: bool) -> Tree:
    """A few queues; bounds such that what is not lent can be kept."""
    n, m = int(rng.integers(1, 6)), problem.n_resources
    minimum, maximum, lends = np.zeros((n, m)), np.full((n, m), np.inf), np.full((n, m), np.inf)
    if bounds:
        minimum[1:] = rng.choice([0, 0, 1, 2, 4], (n - 1, m)) * (problem.capacities >= 4 * n)
        below = minimum.sum(axis=0)
        maximum = np.where(rng.random((n, m)) < 0.3, below + rng.integers(0, 5, (n, m)), np.inf)
        lends = rng.choice([0, 1, np.inf], (n, m))
    return Tree(
        [f"q{v}" for v in range(n)],
        [-1, *(int(rng.integers(v)) for v in range(1, n))],
        weights=rng.integers(1, 4, n),
        job_classes=problem.job_classes,
        class_nodes=rng.integers(n, size=problem.n_classes),
        resources=problem.resources,
        minimum=minimum,
        maximum=maximum,
        lends=lends,
    )


def random_pool(rng: np.random.Generator) -> Problem:
    """Small integers, so that ties abound, with zeros and limits."""
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    demands = rng.integers(0, 4, (n, m))
    demands[~demands.any(axis=1), 0] = 1
    limits = rng.choice([1, 3, np.inf], n)
    return Problem(demands, rng.integers(0, 25, m), weights=rng.integers(1, 3, n), limits=limits)


@pytest.mark.parametrize("naive", [False, True])
def test_the_walk_follows_the_rule(naive: bool) -> None:
    rng = np.random.default_rng(11 + naive)
    stopped = 0
    for case in range(40):
        problem = random_pool(rng)
        tree = random_tree(rng, problem, bounds=case % 2 == 1)
        counts = rng.choice([0, 1, 1, 2], problem.n_classes)
        rule, ties = HierarchicalShare(tree, naive=naive), rng.permutation(problem.n_classes).tolist()
        filling = fill_tasks(problem, rule, counts, ties=ties)
        oracle = TasksInQueues(problem, tree, counts.tolist(), number=F, naive=naive, ties=ties)
        assert list(filling.order) == oracle.run()
        assert filling.is_exact
        assert filling.certificate.residual == 0
        stopped += any("maximum" in name for names in filling.stopped_by for name in names)
    assert stopped > 2


def test_a_flat_tree_is_the_filling_that_skips() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        problem = random_pool(rng)
        flat = fill_tasks(problem, HierarchicalShare(Tree.flat(problem)))
        assert flat.order == fill_tasks(problem, LowestShare("skip")).order


def refilled(tree: Tree, problem: Problem, held: list[int], rule: HierarchicalShare) -> list[int]:
    holdings = [[k * int(d) for d in row] for k, row in zip(held, problem.demands, strict=True)]
    more = fill_tasks(problem, rule, holdings=holdings).tasks.tolist()
    return [a + b for a, b in zip(held, more, strict=True)]


@pytest.mark.parametrize("naive", [False, True])
def test_the_naive_recursion_starves_a_class_when_tasks_come_and_go(naive: bool) -> None:
    # [1] of the module: B counts as rich, because one of its classes holds all the CPU.
    tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b cpu", "b gpu"], class_nodes=[1, 2, 2])
    pool = Problem([GPU, CPU, GPU], [10, 10], job_classes=tree.job_classes, resources=["CPU", "GPU"])
    rule = HierarchicalShare(tree, naive=naive)
    held = refilled(tree, pool, [0, 0, 0], HierarchicalShare(tree))
    assert held == [5, 10, 5]
    for k in range(20):
        ends = 2 if k % 2 == 0 and held[2] > 0 else 0
        held[ends] -= 1
        held = refilled(tree, pool, held, rule)
    assert held == ([10, 10, 0] if naive else [5, 10, 5])


def test_blocked_siblings_do_not_hold_a_queue_back() -> None:
    # Classes 1, 2 and 31 share the CPU; 32 and 4 share the GPU evenly.
    names = ["1", "2", "31", "32", "4"]
    tree = Tree(
        ["r", "n1", "n2", "n3", "n4"], [-1, 0, 0, 0, 0], job_classes=names, class_nodes=[1, 2, 3, 3, 4]
    )
    pool = Problem([CPU, CPU, CPU, GPU, GPU], [30, 30], job_classes=names)
    assert fill_tasks(pool, HierarchicalShare(tree)).tasks.tolist() == [10, 10, 10, 15, 15]
    # Fewer CPU tasks end and start than before: 31 is behind, and yet 32 keeps what it has.
    assert refilled(tree, pool, [12, 12, 6, 14, 15], HierarchicalShare(tree)) == [12, 12, 6, 15, 15]


def test_guarantees_limits_and_reserves() -> None:
    jobs = ["train", "test", "serve"]
    pool = Problem([[1], [2], [1]], [12], job_classes=jobs, resources=["GPU"])
    bounds = {"minimum": [[0], [6], [0]], "maximum": [[np.inf], [8], [5]], "lends": [[np.inf], [2], [np.inf]]}
    tree = Tree(["all", "lab", "web"], [-1, 0, 0], job_classes=jobs, class_nodes=[1, 1, 2], **bounds)
    rule = HierarchicalShare(tree)
    filling = fill_tasks(pool, rule)
    assert filling.usage.tolist() == [12]
    # The guarantee comes first: six units of the lab, train and test level by level.
    assert [jobs[n] for n in filling.order[:4]] == ["train", "test", "train", "train"]
    alone = fill_tasks(pool, rule, [0, 0, 1])
    assert alone.tasks.tolist() == [0, 0, 5]
    assert alone.stopped_by[2] == ("maximum of all/web (GPU)",)
    assert "maximum of all/web (GPU)" in alone.summary()
    assert replace(alone, tasks=np.array([0, 0, 6])).certificate.residual == pytest.approx(0.2)
    kept = Tree(["all", "lab", "web"], [-1, 0, 0], job_classes=jobs, class_nodes=[1, 1, 2],
                minimum=[[0], [6], [0]], lends=[[np.inf], [2], [np.inf]])  # fmt: skip
    idle = fill_tasks(pool, HierarchicalShare(kept), [0, 0, 1])
    assert idle.tasks.tolist() == [0, 0, 8]
    assert idle.stopped_by[2] == ("kept for other queues (GPU)",)


def test_a_guarantee_counts_where_the_task_needs_it() -> None:
    # The lab holds more CPU than is guaranteed, which counts; its three GPUs are kept for it all the same.
    jobs = ["cpu", "gpu", "web"]
    tree = Tree(
        ["all", "lab", "web"], [-1, 0, 0], weights=[1, 1, 9], job_classes=jobs, class_nodes=[1, 1, 2],
        minimum=[[0], [3], [0]],
    )  # fmt: skip
    pool = Problem([CPU, GPU, GPU], [20, 6], job_classes=jobs)
    filling = fill_tasks(pool, HierarchicalShare(tree), holdings=[[5, 0], [0, 0], [0, 0]])
    assert filling.tasks.tolist() == [15, 3, 3]


def test_floats_do_not_spoil_ties_and_fits() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        problem = random_pool(rng)
        unit = rng.choice([0.1, 0.7, 3e8], problem.n_resources)
        inexact = Problem(
            problem.demands * unit, problem.capacities * unit, weights=problem.weights, limits=problem.limits
        )
        tree = random_tree(rng, problem, bounds=False)
        one, other = (fill_tasks(model, HierarchicalShare(tree)) for model in (problem, inexact))
        assert (one.is_exact, other.is_exact) == (True, False)
        assert one.order == other.order


def test_bad_arguments() -> None:
    pool = Problem([[1], [1]], [4])
    with pytest.raises(ModelError, match="tree must be a Tree"):
        HierarchicalShare("root")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="naive must be True or False"):
        HierarchicalShare(Tree.flat(pool), naive=2)  # type: ignore[arg-type]
    alien = Tree(["r"], [-1], job_classes=["other"], class_nodes=[0])
    with pytest.raises(ModelError, match="submits to no queue"):
        fill_tasks(pool, HierarchicalShare(alien))
    much = Tree(["r"], [-1], job_classes=pool.job_classes, class_nodes=[0, 0], minimum=5, lends=0)
    with pytest.raises(ModelError, match=r"guaranteed and not lent, r 5, is more than the capacity, 4"):
        fill_tasks(pool, HierarchicalShare(much))


def test_a_maximum_is_a_float_also_in_a_rational_pool():
    tree = Tree(["all", "q"], [-1, 0], job_classes=["x"], class_nodes=[1], maximum=[[F(1)], [F(3, 10)]])
    pool = Problem([[F(1, 10)]], [1], job_classes=["x"])
    filled = fill_tasks(pool, HierarchicalShare(tree))
    assert filled.is_exact
    assert filled.tasks.tolist() == [3]
    # One less where it is truly less.
    less = Tree(["all", "q"], [-1, 0], job_classes=["x"], class_nodes=[1], maximum=[[1], [0.3 - 1e-9]])
    assert fill_tasks(pool, HierarchicalShare(less)).tasks.tolist() == [2]
