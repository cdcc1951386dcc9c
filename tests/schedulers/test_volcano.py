"""Shares of Volcano, from its tests and design documents at commit ed72c7c (20 August 2026)."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError, Problem, Tree
from fairness.indivisible import HierarchicalShare, fill_tasks
from fairness.schedulers import volcano_deserved, volcano_hdrf, volcano_share

BEST_EFFORT = [0, 0]


@pytest.mark.parametrize(
    ("deserved", "allocated", "expected"),
    [
        # plugins/capacity/capacity_test.go, Test_updateQueueAttrShare: cores and GiB. What is only requested
        # does not enter.
        (BEST_EFFORT, [1, 1], 1),
        (BEST_EFFORT, [0, 0], 1),
        ([2, 2], [0, 0], 0),
        ([2, 2], [1, 1], F(1, 2)),
        ([2, 2], [2, 2], 1),
        ([2, 2], [3, 2], F(3, 2)),
        ([2, 4], [1, 3], F(3, 4)),
        ([2, 4], [F(3, 2), 2], F(3, 4)),
        ([2, 2], [3, 3], F(3, 2)),
        (BEST_EFFORT, [1, 0], 1),
        (BEST_EFFORT, [0, 1], 1),
    ],
)
def test_share_of_deserved(deserved, allocated, expected):
    assert volcano_share([F(v) for v in allocated], deserved, best_effort=1) == expected


@pytest.mark.parametrize(
    ("total", "weights", "requests", "expected"),
    [
        # docs/design/fairshare.md, "Cases": 16 cores among queues, then each queue's among namespaces.
        (16, [1, 1], [15, 12], [8, 8]),
        (8, [1, 1], [5, 10], [4, 4]),
        (8, [1, 1], [10, 2], [6, 2]),
        (16, [1, 3], [15, 12], [4, 12]),
        (4, [3, 1], [5, 10], [3, 1]),
        (12, [2, 6], [10, 2], [10, 2]),
        (12, [2, 6], [5, 20], [3, 9]),
    ],
)
@pytest.mark.parametrize("as_coded", [False, True])
def test_deserved(total, weights, requests, expected, as_coded):
    found = volcano_deserved([total], weights, np.array(requests)[:, None], as_coded=as_coded)
    # Rounds end below a tenth of a unit, see fairness.schedulers.volcano; these end with nothing left.
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-15)


def allocated_in_turns(tree, demands, tasks, total, as_coded):
    """Tasks of each job, one at a time: down the tree to the smallest share over weight, saturated last."""
    demands = np.array(demands, dtype=float)
    running = np.zeros(len(demands), dtype=int)
    while True:
        shares = volcano_hdrf(
            tree, running[:, None] * demands, np.array(tasks)[:, None] * demands, total, as_coded=as_coded
        )
        fits = (running @ demands + demands <= total).all(axis=1) & (running < tasks)
        if not fits.any():
            return running.tolist()
        node = 0
        while True:
            jobs = [
                (bool(shares.job_saturated[i]), shares.job_shares[i], i, None)
                for i in np.flatnonzero(tree.class_nodes == node)
                if fits[i]
            ]
            queues = [
                (bool(shares.saturated[c]), shares.shares[c] / tree.weights[c], c, c)
                for c in tree.children(node)
                if any(fits[i] and below(tree, v, c) for i, v in enumerate(tree.class_nodes))
            ]
            _, _, chosen, queue = min(jobs + queues, key=lambda row: row[:3])
            if queue is None:
                running[chosen] += 1
                break
            node = queue


def below(tree, node, ancestor):
    while node > ancestor:
        node = tree.parents[node]
    return node == ancestor


# plugins/drf/hdrf_test.go: "rescaling test", on 10 cores and 10 GB, ten tasks a job.
RESCALING = (
    Tree(["root", "sci", "eng", "dev", "prod"], [-1, 0, 0, 2, 2], weights=[100, 50, 50, 50, 50],
         job_classes=["pg1", "pg21", "pg22"], class_nodes=[1, 3, 4]),
    [[1, 1], [1, 0], [0, 1]], [10] * 3, [10, 10], [5, 5, 5],
)  # fmt: skip
# "blocking nodes test", on 30 cores and 30 GB, thirty tasks a job; pg32 in a queue of its own, as
# docs/design/hdrf.md draws it (the test puts it into the queue of pg31).
BLOCKING = (
    Tree(["root", "pg1", "pg2", "pg3", "pg4", "pg31", "pg32"], [-1, 0, 0, 0, 0, 3, 3],
         weights=[100, 25, 25, 25, 25, 50, 50],
         job_classes=["pg1", "pg2", "pg31", "pg32", "pg4"], class_nodes=[1, 2, 5, 6, 4]),
    [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], [30] * 5, [30, 30], [10, 10, 10, 15, 15],
)  # fmt: skip


@pytest.mark.parametrize(("tree", "demands", "tasks", "total", "expected"), [RESCALING, BLOCKING])
@pytest.mark.parametrize("as_coded", [False, True])
def test_hdrf_in_whole_tasks(tree, demands, tasks, total, expected, as_coded):
    assert allocated_in_turns(tree, demands, tasks, total, as_coded) == expected


@pytest.mark.parametrize(("tree", "demands", "tasks", "total", "expected"), [RESCALING, BLOCKING])
def test_hdrf_by_our_own_engine(tree, demands, tasks, total, expected):
    pool = Problem(demands, total, limits=tasks, job_classes=tree.job_classes)
    assert fill_tasks(pool, HierarchicalShare(tree)).tasks.tolist() == expected


def test_hdrf_rescales_to_the_smallest_share():
    """docs/design/hdrf.md: n2,1 at 100 % of the cores is scaled to (10, 0) (.5/1) = (5, 0); n2 has 50 %."""
    tree = Tree(
        ["n", "n1", "n2"],
        [-1, 0, 0],
        job_classes=["n1", "n2,1", "n2,2"],
        class_nodes=[1, 2, 2],
        weights=[1, 1, 1],
    )
    # Nine cores of ten, so that the cores are not full and n2,1 not blocked.
    usage = [[0, 5], [9, 0], [0, 4]]
    requests = [[0, 50], [50, 0], [0, 50]]
    for as_coded in (False, True):
        shares = volcano_hdrf(
            tree, [[F(v) for v in row] for row in usage], requests, [10, 10], as_coded=as_coded
        )
        assert list(shares.job_shares) == [F(1, 2), F(9, 10), F(2, 5)]
        assert shares.shares[2] == F(2, 5)  # (4, 4)
        assert not shares.saturated.any()


def test_hdrf_ignores_blocked_children():
    """docs/design/hdrf.md, second tree, when cores are full: only n3,2 and n4 may grow, at 1/3 each."""
    tree, _, _, total, _ = BLOCKING
    usage = np.array([[10, 0], [10, 0], [10, 0], [0, 10], [0, 10]])
    shares = volcano_hdrf(tree, usage, 3 * usage, total)
    assert shares.job_saturated.tolist() == [True, True, True, False, False]
    assert shares.saturated.tolist() == [False, True, True, False, False, True, False]
    np.testing.assert_allclose(shares.shares[[3, 4]], [1 / 3, 1 / 3], rtol=1e-15)


def test_guarantee_and_capability_bound_what_is_deserved():
    """plugins/proportion: a guarantee is kept also unrequested; what others are guaranteed is not had."""
    deserved = volcano_deserved([10], [1, 1], [[1], [10]], guarantee=[[4], [0]])
    assert deserved[:, 0].tolist() == [4, 6]
    deserved = volcano_deserved([10], [1, 1], [[10], [10]], capability=[[3], [np.inf]])
    assert deserved[:, 0].tolist() == [3, 7]


def test_refusals():
    tree = RESCALING[0]
    with pytest.raises(ModelError, match="usage must have shape"):
        volcano_hdrf(tree, [[1, 1]], [[1, 1]], [1, 1])
    with pytest.raises(ModelError, match="requests must have shape"):
        volcano_deserved([1], [1], [1])
