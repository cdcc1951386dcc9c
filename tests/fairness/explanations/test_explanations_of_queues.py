"""Explanations under a tree of queues: the way down to a class, and the bounds that stop it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fairness import (
    DRF,
    PSDSF,
    AlphaFair,
    BottleneckMax,
    Cluster,
    Hierarchical,
    HierarchicalPlacement,
    MaxMin,
    Problem,
    ProportionalFair,
    allocate,
    explain,
)
from fairness.explanations.queues import queue_stops, way
from fairness.model.tree import Tree

POOL = Problem(
    [[4, 16, 1], [2, 4, 0], [1, 2, 0]],
    [64, 256, 8],
    job_classes=["train", "test", "serve"],
    resources=["cpu", "ram", "gpu"],
)
QUEUES = {
    "research": {"weight": 2, "classes": ["train", "test"], "minimum": {"gpu": 4}, "maximum": {"gpu": 6}},
    "web": {"classes": ["serve"], "minimum": {"cpu": 20}, "lends": {"cpu": 5}},
}
TREE = Tree.from_dict({"root": {"queues": QUEUES}})


@dataclass(frozen=True)
class Given:
    """Tasks as they were given, on a tree."""

    tree: Any
    tasks: tuple[float, ...]
    name = "given"

    def __call__(self, problem, counts):
        return np.where(np.asarray(counts) > 0, self.tasks, 0.0)


def stops_of(tasks, job_class, tree=TREE):
    held = np.array(tasks)[:, None] * POOL.demands
    return list(queue_stops(tree, POOL, held, job_class))


def test_the_way_down_by_hand():
    top, leaf = way(TREE, POOL, np.array([1.0, 3.0, 1.0]), np.array([[8.0, 32, 2], [8, 16, 0], [4, 8, 0]]), 1)
    assert (top.name, top.parent, top.part, top.resource, top.share) == (
        "root/research",
        "root",
        2 / 3,
        "cpu",
        0.25,
    )
    assert top.guaranteed == (("gpu", 4.0, 2.0, "its classes are at their limits"),)
    assert (leaf.name, leaf.parent, leaf.part, leaf.share) == ("test", "root/research", 0.75, 0.125)
    # A queue without a job takes no part.
    assert way(TREE, POOL, np.array([1.0, 1.0, 0.0]), np.zeros((3, 3)), 0)[0].part == 1.0


def test_a_maximum_stops_all_below_it_that_need_the_resource():
    (stop,) = stops_of([6, 0, 0], 0)
    assert (stop.cause, stop.resource, stop.queue, stop.value) == ("maximum", "gpu", "root/research", 6.0)
    assert not stops_of([6, 0, 0], 1)
    assert not stops_of([5.99, 0, 0], 0)


def test_what_is_kept_for_an_idle_queue_stops_the_others():
    # web keeps 20 - 5 = 15 cpu; the others hold 64 - 15 = 49.
    (stop,) = stops_of([0, 24.5, 0], 1)
    assert (stop.cause, stop.resource, stop.queue, stop.value) == ("reserve", "cpu", "root/web", 15.0)
    # Half of it in use by web itself: 7.5 are kept.
    (stop,) = stops_of([0, 24.5, 7.5], 1)
    assert stop.value == pytest.approx(7.5)
    assert not stops_of([0, 24.4, 0], 1)
    # web itself may have what is kept for it.
    assert not stops_of([0, 24.5, 7.5], 2)
    # A full resource is no reserve.
    assert not stops_of([0, 24.5, 15], 1)


def test_reserves_count_towards_a_maximum_above_them():
    parts = {
        "a": {"classes": ["train", "test"]},
        "b": {"classes": ["serve"], "minimum": {"cpu": 8}, "lends": {"cpu": 0}},
    }
    tree = Tree.from_dict({"root": {"queues": {"all": {"maximum": {"cpu": 20}, "queues": parts}}}})
    (stop,) = stops_of([0, 6, 2], 1, tree)
    assert (stop.cause, stop.queue) == ("maximum", "root/all")
    assert not stops_of([0, 5.9, 2], 1, tree)


def test_the_text_says_which_bound_it_is():
    given = Given(TREE, (6.0, 12.5, 0.0))
    told = explain(allocate(POOL, given, [1, 1, 0]), "train", given, others=[])
    assert [stop.cause for stop in told.stops] == ["reserve", "maximum"]
    text = told.summary()
    assert "The maximum of root/research stops it: 6 of gpu." in text
    assert "What is kept for root/web stops it: 15 of cpu, guaranteed and not lent." in text
    assert "root/research is guaranteed 4 of gpu and uses 6." in text
    assert told.to_dict()["way"][0]["name"] == "root/research"


def test_other_weights_and_bounds_of_queues_are_asked_about():
    policy = Hierarchical(TREE)
    told = explain(allocate(POOL, policy), "test", policy, places=0)
    changes = {
        "with twice the weight of root/research": {"weight": 4},
        "without the maximum of root/research": {"maximum": {}},
        "without the guarantee of root/research": {"minimum": {}},
    }
    for words, change in changes.items():
        tree = Tree.from_dict({"root": {"queues": QUEUES | {"research": QUEUES["research"] | change}}})
        expected = allocate(POOL, Hierarchical(tree)).tasks[1]
        assert told.cases[words].tasks == pytest.approx(expected, rel=1e-9)
    web = explain(allocate(POOL, policy), "serve", places=0, others=[]).cases[
        "with twice the weight of root/web"
    ]
    tree = Tree.from_dict({"root": {"queues": QUEUES | {"web": QUEUES["web"] | {"weight": 2}}}})
    assert web.tasks == pytest.approx(allocate(POOL, Hierarchical(tree)).tasks[2], rel=1e-9)
    flat = allocate(POOL, DRF()).tasks[1]
    assert told.cases["without queues"].tasks == pytest.approx(flat, rel=1e-12)
    assert "under DRF" not in told.cases
    # Two thirds for research, half of it for test.
    assert told.cases["with 33.3 % of everything for itself"].tasks == pytest.approx(64 / 3 / 2)


@pytest.mark.parametrize(
    "policy",
    [
        Hierarchical(TREE, naive=True),
        Hierarchical(TREE, MaxMin(), measure="borrowed"),
        Hierarchical(Tree.flat(POOL), AlphaFair(3)),
    ],
    ids=lambda policy: policy.name,
)
def test_the_allocation_leads_to_its_policy(policy):
    result = allocate(POOL, policy)
    one, other = (explain(result, 0, *given, others=[], places=0).to_dict() for given in ((), (policy,)))
    assert one == other


def test_the_notion_of_the_policy_at_the_leaves():
    parts = {"research": {"weight": 2, "classes": ["train", "test"]}, "web": {"classes": ["serve"]}}
    tree = Tree.from_dict({"root": {"queues": parts}})
    for leaves, measure in (
        (ProportionalFair(), "part of its bill"),
        (BottleneckMax(), "share per job and weight"),
    ):
        policy = Hierarchical(tree, leaves)
        (stop,) = explain(allocate(POOL, policy), "serve", policy, others=[], places=0).stops
        assert (stop.resource, stop.measure) == ("cpu", measure)
        # All of its bill; a third of the cpu, over a weight of one half.
        assert stop.value == pytest.approx(1.0 if leaves.name == "PF" else 1 / 3, rel=1e-9)


@pytest.mark.long  # a filling takes a tenth of a second until it is compiled
def test_what_stops_classes_under_random_trees_is_met():
    rng, classes, resources = np.random.default_rng(8), POOL.job_classes, POOL.resources
    for _ in range(8):
        maximum, nodes = rng.choice([np.inf, 20.0], (4, 3)), rng.integers(0, 4, 3)
        bounds = {"maximum": maximum, "resources": resources}
        tree = Tree(
            list("rabc"),
            [-1, 0, 0, 1],
            weights=[1, 2, 3, 1],
            job_classes=classes,
            class_nodes=nodes,
            **bounds,
        )
        result = allocate(POOL, Hierarchical(tree))
        for i in range(3):
            for stop in explain(result, i, Hierarchical(tree), others=[], places=0).stops:
                j = resources.index(stop.resource)
                held = result.tasks * POOL.demands[:, j]
                if stop.cause == "maximum":
                    below = [f"{tree.path(v)}/".startswith(f"{stop.queue}/") for v in tree.class_nodes]
                    assert below[i]
                    assert held[below].sum() == pytest.approx(20)
                else:
                    assert stop.cause == "resource"
                    assert held.sum() == pytest.approx(POOL.capacities[j])


def test_queues_hold_resources_also_where_servers_are_divided_in_time():
    tree = Tree(["all", "r", "w"], [-1, 0, 0], job_classes=["a", "b", "c"], class_nodes=[1, 1, 2])
    servers = Cluster([[1, 2], [2, 1], [1, 1]], [[8, 8], [4, 6]], job_classes=["a", "b", "c"])
    for cluster in (servers, Cluster([[1], [2], [1]], [[0.5], [0.25]], job_classes=["a", "b", "c"])):
        result = allocate(cluster, HierarchicalPlacement(tree, PSDSF("time")))
        parts = result.tasks[:, None] * cluster.demands / cluster.capacities.sum(axis=0)
        queue, own = explain(result, "a", others=[], places=0).way
        assert queue.share == pytest.approx((parts[0] + parts[1]).max())
        assert own.share == pytest.approx(parts[0].max())
