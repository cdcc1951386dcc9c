"""Guarantees of queues count per resource: by hand, as schedulers keep them, and task by task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairness import DRF, Hierarchical, MaxMin, Problem, Tree, allocate, explain
from fairness.evidence.queue_bounds import QueueBounds
from fairness.indivisible import HierarchicalShare, fill_tasks
from fairness.machine import compiling
from fairness.schedulers import kai_fair_shares, kueue_order, kueue_shares, yarn_drf_order
from tests.oracles.tasks_in_queues import TasksInQueues, random_queues

CLUSTER = Problem([[1, 4], [1, 1]], [20, 640], job_classes=["train", "serve"], resources=["vcores", "GiB"])
LAYOUT = Tree.from_dict(
    {
        "all": {
            "queues": {
                "ml": {"classes": ["train"], "minimum": {"vcores": 8}},
                "web": {"weight": 9, "classes": ["serve"]},
            }
        }
    }
)
COHORT = Tree.from_dict(
    {
        "all": {
            "queues": {
                "A": {"classes": ["a"], "minimum": {"cpu": 9}},
                "B": {"classes": ["b"], "minimum": {"cpu": 1}},
            },
            "minimum": {"cpu": 10, "memory": 100},
        }
    }
)
QUOTAS = Problem([[1, 1], [1, 1]], [10, 100], job_classes=["a", "b"], resources=["cpu", "memory"])


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is run as it is written: compiling takes longer than all these tests."""
    monkeypatch.setattr(compiling, "SMALL", np.inf)
    monkeypatch.setattr(compiling, "PATIENCE", np.inf)


def test_a_resource_without_a_guarantee_does_not_void_that_of_another() -> None:
    # What is guaranteed of the vcores holds, though ml needs memory, too, of which nothing is.
    assert np.allclose(Hierarchical(LAYOUT)(CLUSTER, [1, 1]), [8, 12])
    assert np.allclose(Hierarchical(LAYOUT, MaxMin())(CLUSTER, [1, 1]), [8, 12])
    assert fill_tasks(CLUSTER, HierarchicalShare(LAYOUT)).tasks.tolist() == [8, 12]
    # Above eight vcores ml weighs a tenth: 1.2 of the other twelve.
    for rule in (DRF(), MaxMin()):
        assert np.allclose(Hierarchical(LAYOUT, rule, measure="borrowed")(CLUSTER, [1, 1]), [9.2, 10.8])
    # Without a guarantee by weight: a tenth of the vcores.
    free = Tree(LAYOUT.names, LAYOUT.parents, weights=LAYOUT.weights, job_classes=LAYOUT.job_classes,
                class_nodes=LAYOUT.class_nodes)  # fmt: skip
    assert np.allclose(Hierarchical(free)(CLUSTER, [1, 1]), [2, 18])


def test_yarn_serves_it_so_task_by_task() -> None:
    tasks = np.zeros(2)
    while tasks.sum() < 20:
        low = [[8, 0], [0, 0]]
        tasks[
            yarn_drf_order(tasks[:, None] * CLUSTER.demands, CLUSTER.capacities, [1, 9], minimum=low)[0]
        ] += 1
    assert tasks.tolist() == [8, 12]


def test_quotas_of_cpu_in_queues_and_of_memory_in_their_cohort() -> None:
    tasks = np.zeros(2)
    while tasks.sum() < 10:
        told = []
        for k in range(2):
            usage = np.vstack([np.zeros(2), (tasks + np.eye(2)[k])[:, None] * QUOTAS.demands])
            told.append([s[1 + k] for s in kueue_shares([-1, 0, 0], [[0, 100], [9, 0], [1, 0]], usage)[:2]])
        tasks[kueue_order(*np.array(told, dtype=float).T)[0]] += 1
    assert tasks.tolist() == [9, 1]
    for measure in ("total", "borrowed"):
        assert np.allclose(Hierarchical(COHORT, measure=measure)(QUOTAS, [1, 1]), tasks)


def test_the_explanation_agrees_with_the_certificate() -> None:
    result = allocate(CLUSTER, Hierarchical(LAYOUT))
    assert result.certificate.holds
    text = explain(result, "train", others=[]).summary()
    assert "all/ml is guaranteed 8 of vcores and uses 8." in text
    assert "guarantees kept" in text
    # Where memory is short, less is used, and it says so.
    short = allocate(CLUSTER.replaced(capacities=[20, 30]), Hierarchical(LAYOUT))
    text = explain(short, "train", others=[]).summary()
    used = short.tasks[0]
    assert used < 8
    assert f"all/ml is guaranteed 8 of vcores and uses {used:.4g}: its classes lack GiB." in text


def overcommitted(minimum: float, requests: list[float], **more: Any) -> tuple[Tree, Problem]:
    names = ["a", "b", "c"]
    tree = Tree(
        ["all", *names], [-1, 0, 0, 0], job_classes=names, class_nodes=[1, 2, 3], minimum=minimum, **more
    )
    return tree, Problem([[1]] * 3, [10_000], limits=requests, job_classes=names)


@pytest.mark.parametrize(
    "requests", [[7000, 2000, 2000], [7000, 3000, 7000], [7000, 7000, 7000], [100, 9000, 9000]]
)
def test_more_guaranteed_than_there_is(requests: list[float]) -> None:
    tree, pool = overcommitted(5000, requests)
    tasks = Hierarchical(tree)(pool, [1, 1, 1])
    if sum(min(5000, r) for r in requests) <= 10_000:
        # KAI gives the quotas that are requested first; if they exceed what there is, its order decides.
        np.testing.assert_allclose(tasks, kai_fair_shares(10_000, requests, deserved=5000), rtol=1e-12)
    # YARN serves those below their min share by the part of it that they have.
    usage, step = np.zeros((3, 1)), 10.0
    while usage.sum() < 10_000 and (usage.T[0] < requests).any():
        order = yarn_drf_order(usage, [10_000], minimum=np.minimum(5000, requests)[:, None])
        usage[next(i for i in order if usage[i, 0] < requests[i])] += step
    if min(requests) >= 5000 or sum(requests) <= 11_000:
        np.testing.assert_allclose(tasks, usage.T[0], atol=2 * step)
    assert np.allclose(Hierarchical(tree, measure="borrowed")(pool, [1, 1, 1]), tasks)
    assert allocate(pool, Hierarchical(tree)).certificate.holds


def test_weights_do_not_count_below_guarantees_that_are_too_many() -> None:
    tree, pool = overcommitted(5000, [9000] * 3, weights=[1, 1, 2, 9])
    assert np.allclose(Hierarchical(tree)(pool, [1, 1, 1]), 10_000 / 3)
    # Nor where each of them, and the whole, is guaranteed all that there is.
    tree, pool = overcommitted(10_000, [np.inf] * 3, weights=[1, 1, 2, 9])
    assert np.allclose(Hierarchical(tree)(pool, [1, 1, 1]), 10_000 / 3)
    # What one cannot use, for lack of memory, is there for the guarantees of the others, before the weights.
    wide = pool.replaced(demands=[[1, 0], [1, 1], [1, 0]], capacities=[10_000, 1000])
    tree = Tree.from_dict(
        {
            "all": {
                "queues": {
                    n: {"classes": [n], "weight": w, "minimum": {"resource 1": 5000}}
                    for n, w in zip("abc", (1, 1, 9), strict=True)
                }
            }
        }
    )
    assert np.allclose(Hierarchical(tree)(wide, [1, 1, 1]), [4500, 1000, 4500])


def test_what_cannot_be_used_is_lent_at_once() -> None:
    """n cannot use its CPUs for lack of memory; x, which waited for them, has half of the GPUs then."""
    tree = Tree.from_dict(
        {
            "all": {
                "classes": ["x", "z"],
                "queues": {"q": {"classes": ["n"], "minimum": {"cpu": 8}, "maximum": {"memory": 2}}},
            }
        }
    )
    pool = Problem(
        [[1, 0, 1], [0, 0, 1], [1, 1, 0]], [12, 100, 12], job_classes=["x", "z", "n"],
        resources=["cpu", "memory", "gpu"],
    )  # fmt: skip
    assert np.allclose(Hierarchical(tree)(pool, [1, 1, 1]), [6, 6, 2])


def test_nested_guarantees_hold_among_all() -> None:
    """The guarantee of a team holds against other departments, and counts for its own."""
    tree = Tree.from_dict(
        {
            "all": {
                "queues": {
                    "A": {"classes": ["c"], "queues": {"G": {"classes": ["g"], "minimum": {"cpu": 6}}}},
                    "B": {"weight": 9, "classes": ["b"]},
                }
            }
        }
    )
    pool = Problem(
        [[1, 1], [1, 1], [1, 1]], [12, 1e9], job_classes=["c", "g", "b"], resources=["cpu", "memory"]
    )
    # c competes as soon as it has anything, while g, whose memory counts, is not yet where it may be.
    assert np.allclose(Hierarchical(tree)(pool, [1, 1, 1]), [0, 6, 6], atol=1e-6)
    assert np.allclose(Hierarchical(tree, measure="borrowed")(pool, [1, 1, 1]), [0.3, 6.3, 5.4], atol=1e-6)
    # Without a job in G nothing is guaranteed to A.
    assert np.allclose(Hierarchical(tree)(pool, [1, 0, 1]), [1.2, 0, 10.8])


@pytest.mark.parametrize("demands", [[1], [1, 4]])
def test_guarantees_count_or_do_not(demands: list[float]) -> None:
    """a is guaranteed 6 of 10 CPUs: in all, or on top of it, both have the same."""
    tree = Tree.from_dict(
        {"all": {"queues": {"a": {"classes": ["x"], "minimum": {"CPU": 6}}, "b": {"classes": ["y"]}}}}
    )
    names = ["CPU", "memory"][: len(demands)]
    pool = Problem([demands, demands], [10, 900][: len(demands)], job_classes=["x", "y"], resources=names)
    assert np.allclose(Hierarchical(tree)(pool, [1, 1]), [6, 4])
    assert np.allclose(Hierarchical(tree, measure="borrowed")(pool, [1, 1]), [8, 2])
    # What is guaranteed to nobody who is there is lent.
    assert Hierarchical(tree)(pool, [0, 1]).tolist() == [0, 10]


def test_a_reserve_is_there_for_tasks_that_need_more() -> None:
    """GPUs are kept for a, whose tasks need the CPU, too."""
    tree = Tree.from_dict(
        {
            "all": {
                "classes": ["y"],
                "queues": {
                    "a": {"weight": 0.5, "classes": ["x"], "minimum": {"GPU": 4}, "lends": {"GPU": 0}}
                },
            }
        }
    )
    pool = Problem(
        [[1, 1], [0, 1]], [100, 10], job_classes=["x", "y"], resources=["CPU", "GPU"], limits=[4, np.inf]
    )
    assert np.allclose(Hierarchical(tree)(pool, [1, 1]), [4, 6])
    assert np.allclose(Hierarchical(tree)(pool, [0, 1]), [0, 6])


@pytest.mark.parametrize(
    "seed", [0, 1, 2, 3, 4, 5, 8, 13, pytest.param(range(14, 100), marks=pytest.mark.long)]
)
def test_tasks_cut_ever_smaller_come_to_the_filling(seed: Any) -> None:
    """Two definitions: one serves task after task, and knows nothing of levels that rise together."""
    for one in [seed] if isinstance(seed, int) else seed:
        pool, tree, counts = random_queues(one)
        policy = Hierarchical(tree, naive=one % 5 == 4, measure="borrowed" if one % 2 else "total")
        tasks = policy(pool, counts)
        assert policy.solve(pool, counts).certificate.holds
        for parts in (30, 200, 1000):
            cut = TasksInQueues(
                pool, tree, counts, number=float, parts=parts, naive=policy.naive, borrowed=one % 2 == 1
            )
            cut.run()
            largest = pool.task_shares.max(axis=1)
            away = np.abs(np.array(cut.tasks) / parts - tasks) * largest / (largest.max() / parts)
            if away.max() < 3:  # shares of three of the largest small tasks
                break
        assert away.max() < 3, one


def test_nobody_is_below_a_guarantee_whose_tasks_would_fit_otherwise() -> None:
    """By the definition of who is stopped alone: what is short is not the resource that is guaranteed."""
    asked = 0
    for seed in range(0, 180, 3):  # guarantees of one resource
        pool, tree, counts = random_queues(seed)
        tasks = Hierarchical(tree)(pool, counts)
        most = np.where(counts > 0, np.maximum(counts, 1) * pool.limits, 0)
        queues = QueueBounds(pool, tree, counts > 0)
        used = queues.counted(tasks)
        granted, _ = queues.guaranteed(np.maximum(most, tasks))
        total = tree.totals(pool, tasks[:, None] * pool.demands)
        for v in np.flatnonzero(total[:, 0] < granted[:, 0] * (1 - 1e-9)).tolist():
            asked += 1
            closed = queues.closed(used)
            for i in np.flatnonzero(pool.demands[:, 0] > 0):
                way = [int(queues.home[i])]
                while way[-1] not in (0, v):
                    way.append(int(tree.parents[way[-1]]))
                if v not in way or tasks[i] >= most[i] * (1 - 1e-9):
                    continue
                others = closed[queues.home[i]] & (pool.demands[i] > 0)
                others[0] = queues.full(used)[way, 0].any()
                assert others.any(), (seed, v, i)
    assert asked > 10
