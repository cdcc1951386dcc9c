"""Certificates of hierarchical filling: right ones by hand, wrong ones, and spoiled ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fairness import Hierarchical, ModelError, Problem, Tree
from fairness.evidence.queue_bounds import QueueBounds, queue_shares, queue_stops
from fairness.evidence.trees import hierarchy_certificate
from fairness.indivisible import HierarchicalShare, fill_tasks
from fairness.machine import compiling
from fairness.policies.hierarchy import hierarchical
from tests.fairness.indivisible.test_tasks_in_queues import CPU, GPU
from tests.oracles.tasks_in_queues import random_queues

JOBS = ["train", "test", "serve"]
LAB = Problem([[1], [2], [1]], [12], job_classes=JOBS, resources=["GPU"])


def lab(**bounds: Any) -> Tree:
    return Tree(["all", "lab", "web"], [-1, 0, 0], job_classes=JOBS, class_nodes=[1, 1, 2], **bounds)


BOUNDED = lab(minimum=[[0], [6], [0]], maximum=[[np.inf], [8], [5]], lends=[[np.inf], [2], [np.inf]])

SPLIT = Tree(
    ["all", "A", "A1", "Z"], [-1, 0, 1, 0], job_classes=["x", "y", "a", "z"], class_nodes=[2, 2, 1, 3]
)
"""x uses CPU and has two jobs, y GPU, both in A1; a uses GPU; z CPU: when the CPU is full, A1 is behind a."""
PLAIN = Problem([CPU, GPU, GPU, CPU], [10, 10], job_classes=["x", "y", "a", "z"])

LATE = Tree(
    ["all", "A", "A1", "Z", "B"], [-1, 0, 1, 0, 0], weights=[1, 3, 1, 3, 1],
    job_classes=["x", "y", "a", "z", "b"], class_nodes=[2, 2, 1, 3, 4],
)  # fmt: skip
"""The same, with a light queue B beside A whose class uses GPU too."""
DEEP = Tree(
    ["all", "A", "A1", "Z", "B", "A2"], [-1, 0, 1, 0, 0, 1], weights=[1, 3, 1, 3, 1, 1],
    job_classes=["x", "y", "a", "z", "b"], class_nodes=[2, 2, 5, 3, 4],
)  # fmt: skip
"""The same, with a queue A2 around the class a."""
MIXED = Problem([CPU, GPU, GPU, CPU, GPU], [100, 100], job_classes=LATE.job_classes)
LATE_STAGES = [[0] * 5, [40, 20, 40, 60, 20], [40, 36, 40, 60, 24]]
NAIVE_STAGES = [[0] * 5, [40, 20, 40, 60, 20], [40, 35, 40, 60, 25]]

SAFE = Tree(
    ["all", "A", "G", "B"], [-1, 0, 1, 0], job_classes=["g", "c", "b"], class_nodes=[2, 1, 3],
    minimum=[[0], [0], [6], [0]],
)  # fmt: skip
ONE = Problem([[1], [1], [1]], [12], job_classes=["g", "c", "b"])

CLUSTER = Tree(
    ["all", "ml", "web"], [-1, 0, 0], weights=[1, 1, 9], job_classes=["train", "serve"], class_nodes=[1, 2],
    resources=["vcores", "GiB"], minimum=[[0, 0], [8, 0], [0, 0]],
)  # fmt: skip
YARN = Problem([[1, 4], [1, 1]], [20, 640], job_classes=CLUSTER.job_classes, resources=["vcores", "GiB"])

JUMP_QUEUES = {"x": 2, "y": 2, "a": 1, "z": 3, "b": 4}


def jump(names: Sequence[str]) -> Tree:
    return Tree(
        ["all", "A", "A1", "Z", "B"], [-1, 0, 1, 0, 0], weights=[1, 1, 1, 3, 2],
        job_classes=names, class_nodes=[JUMP_QUEUES[name] for name in names],
    )  # fmt: skip


JUMP = jump(list(JUMP_QUEUES))
"""SPLIT with B, whose class uses GPU. When the CPU is full, A1 is behind a until y is at its limit."""
LIMITED = Problem(
    [CPU, GPU, GPU, CPU, GPU], [190, 190], job_classes=JUMP.job_classes, limits=[99, 24, 999, 999, 999]
)
JUMP_STAGES = [[0] * 5, [40, 10, 40, 150, 100], [40, 24, 40, 150, 100], [40, 24, 40, 150, 126]]

RIGHT = [
    # 6 GPU are guaranteed; web comes up to its maximum; the lab takes the rest.
    (LAB, BOUNDED, None, [[0, 0, 0], [3, 1.5, 0], [3, 1.5, 5], [3.5, 1.75, 5]], "total"),
    # What is borrowed rises alike, until the lab has its maximum.
    (LAB, BOUNDED, None, [[0, 0, 0], [3, 1.5, 0], [4, 2, 2], [4, 2, 4]], "borrowed"),
    # Four GPU are kept for the lab though it has no job; and web may have five.
    (LAB, BOUNDED, [0, 0, 1], [[0, 0, 0], [0, 0, 5]], "total"),
    (LAB, lab(minimum=[[0], [6], [0]], lends=2), [0, 0, 1], [[0, 0, 0], [0, 0, 8]], "total"),
    (PLAIN, SPLIT, [2, 1, 1, 1], [[0, 0, 0, 0], [4, 2, 4, 6], [4, 5, 5, 6]], "total"),
    # The CPU is full: A1 has 20 GPU, a 40, which count as 20 + 20; so A comes up to 60, three times B, first.
    (MIXED, LATE, [2, 1, 1, 1, 1], LATE_STAGES, "total"),
    (MIXED, DEEP, [2, 1, 1, 1, 1], LATE_STAGES, "total"),
    # What is guaranteed counts in full: A has 6 when it begins.
    (ONE, SAFE, None, [[0, 0, 0], [6, 0, 0], [6, 0, 6]], "total"),
    (ONE, SAFE, None, [[0, 0, 0], [6, 0, 0], [7.5, 1.5, 3]], "borrowed"),
    # Eight vcores are guaranteed to ml, no memory: nobody takes them, and the memory does not stop it.
    (YARN, CLUSTER, None, [[0, 0], [8, 9], [8, 12]], "total"),
    (YARN, CLUSTER, None, [[0, 0], [9.2, 10.8]], "borrowed"),
]


@pytest.mark.parametrize(("problem", "tree", "counts", "stages", "measure"), RIGHT)
def test_fillings_by_hand(problem: Any, tree: Any, counts: Any, stages: Any, measure: str) -> None:
    found = hierarchy_certificate(problem, tree, counts, stages, measure=measure)
    assert found.holds, found
    assert found.residual > 0  # even without a violation: sums are rounded
    more = [stages[0], *(row for row in stages for _ in range(2))]
    assert hierarchy_certificate(problem, tree, counts, more, measure=measure).holds


WRONG = {
    "who has no guarantee comes first": [[3, 1.5, 5], [3.5, 1.75, 5]],
    "more than is guaranteed comes first": [[3.5, 1.75, 0], [3.5, 1.75, 5]],
    "something is left": [[3, 1.5, 0], [3, 1.5, 4], [3.5, 1.75, 4]],
    "the pool is overfull": [[3, 1.5, 0], [3, 1.5, 5], [4, 2, 5]],
    "a maximum is exceeded": [[3, 1.5, 0], [3, 1.5, 6]],
    "one class of the lab is preferred": [[3, 1.5, 0], [3, 1.5, 5], [4, 1.5, 5]],
    "the richer queue grows": [[3, 1.5, 0], [4, 2, 4]],
    "tasks are lost on the way": [[3, 1.5, 0], [4, 2, 4], [3.5, 1.75, 5]],
    "tasks are negative": [[3, 1.5, 0], [3, 1.5, -1], [3.5, 1.75, 5]],
}


@pytest.mark.parametrize("stages", WRONG.values(), ids=WRONG)
def test_wrong_fillings_fail(stages: Any) -> None:
    assert hierarchy_certificate(LAB, BOUNDED, None, [[0, 0, 0], *stages]).residual > 0.05
    assert hierarchy_certificate(LAB, BOUNDED, None, stages).residual > 0.05  # it begins with nothing


def test_who_demands_nothing_has_its_limit_from_the_start() -> None:
    pool = Problem([[1], [1], [0]], [10], job_classes=JOBS, limits=[np.inf, np.inf, 3])
    stages, growth = [[0, 0, 3], [5, 5, 3]], [1, 1, np.inf]
    tree = Tree(["all"], [-1], job_classes=JOBS, class_nodes=[0, 0, 0])
    assert hierarchy_certificate(pool, tree, None, stages, growth=growth).holds
    assert hierarchy_certificate(pool, tree, None, np.array(stages) * [1, 1, 0], growth=growth).residual > 0.5


def test_a_stage_left_out_is_noticed() -> None:
    # As if the CPU had not been full in between: y and a would not have come from there to here alike.
    assert hierarchy_certificate(PLAIN, SPLIT, [2, 1, 1, 1], [[0] * 4, [4, 5, 5, 6]]).residual > 0.05
    # Who is blocked does not grow: z, when the CPU is full.
    assert (
        hierarchy_certificate(PLAIN, SPLIT, [2, 1, 1, 1], [[0] * 4, [4, 2, 4, 6], [3, 5, 5, 7]]).residual
        > 0.05
    )
    # The one that is ahead does not grow before the others have come up: a from 4 to 6, y from 2 to 4.
    assert (
        hierarchy_certificate(PLAIN, SPLIT, [2, 1, 1, 1], [[0] * 4, [4, 2, 4, 6], [4, 4, 6, 6]]).residual
        > 0.3
    )


def test_a_limit_that_leaves_only_who_waits_ends_a_stage() -> None:
    # The GPU of A counts as 24 + 24 until y is at its limit, and as 24 + 40 then: B has what is left.
    counts = [4, 1, 1, 1, 1]
    assert hierarchy_certificate(LIMITED, JUMP, counts, JUMP_STAGES).holds
    for wrong in ([40, 24, 42, 150, 124], [40, 24, 53, 150, 113]):
        assert hierarchy_certificate(LIMITED, JUMP, counts, [*JUMP_STAGES[:3], wrong]).residual > 0.03
    # Nor may y wait, or go on after B.
    early = [JUMP_STAGES[0], JUMP_STAGES[1], [40, 24, 40, 150, 126]]
    assert hierarchy_certificate(LIMITED, JUMP, counts, early).residual > 0.03
    for order in (np.arange(5), np.arange(5)[::-1]):
        names = [LIMITED.job_classes[i] for i in order]
        pool = Problem(LIMITED.demands[order], [190, 190], job_classes=names, limits=LIMITED.limits[order])
        solution = Hierarchical(jump(names)).solve(pool, np.array(counts)[order])
        assert np.allclose(solution.tasks, np.array(JUMP_STAGES[-1])[order])
        assert solution.certificate.holds


def test_a_stage_of_rounding_says_nothing() -> None:
    # Above 6 guaranteed tasks, 1e-15 cannot be seen; beside them it would be a level of its own.
    assert hierarchy_certificate(
        ONE, SAFE, None, [[0, 0, 0], [6, 0, 0], [6, 0, 1e-15], [7.5, 1.5, 3]], measure="borrowed"
    ).holds


def test_who_takes_what_is_guaranteed_to_another_is_noticed() -> None:
    # As if the memory, of which nothing is guaranteed, voided the guarantee of the vcores.
    for stages in ([[0, 0], [2, 18]], [[0, 0], [2, 2.25], [2, 18]], [[0, 0], [7.5, 8.4375], [7.5, 12.5]]):
        assert hierarchy_certificate(YARN, CLUSTER, None, stages).residual > 0.02
    # Nor may the guarantees be left behind where more is guaranteed than there is.
    names = ["a", "b", "c"]
    many = Tree(
        ["all", *names],
        [-1, 0, 0, 0],
        weights=[1, 1, 2, 3],
        job_classes=names,
        class_nodes=[1, 2, 3],
        minimum=5,
    )
    pool = Problem([[1]] * 3, [9], job_classes=names)
    assert hierarchy_certificate(pool, many, None, [[0] * 3, [3] * 3]).holds
    assert hierarchy_certificate(pool, many, None, [[0] * 3, [1.5, 3, 4.5]]).residual > 0.04


def test_guarantees_that_stand_in_each_others_way_are_lent_and_it_says_so() -> None:
    # a is guaranteed all CPU, b all memory, and both need both: nobody could start.
    tree = Tree(
        ["all", "A", "B"],
        [-1, 0, 0],
        job_classes=["a", "b"],
        class_nodes=[1, 2],
        minimum=[[0, 0], [9, 0], [0, 9]],
    )
    pool = Problem([[1, 1], [1, 1]], [9, 9], job_classes=["a", "b"])
    found = hierarchy_certificate(pool, tree, None, [[0, 0], [4.5, 4.5]])
    assert found.holds
    assert "until everybody waited for those of others" in found.claim
    assert np.allclose(Hierarchical(tree)(pool, [1, 1]), 4.5)
    assert "waited" not in hierarchy_certificate(LIMITED, JUMP, None, JUMP_STAGES).claim


def test_naive_levels_are_others() -> None:
    counts = [2, 1, 1, 1, 1]
    assert hierarchy_certificate(MIXED, LATE, counts, NAIVE_STAGES, naive=True).holds
    assert hierarchy_certificate(MIXED, LATE, counts, NAIVE_STAGES).residual > 0.03
    assert hierarchy_certificate(MIXED, LATE, counts, LATE_STAGES, naive=True).residual > 0.03
    assert hierarchy_certificate(ONE, SAFE, None, [[0, 0, 0], [6, 0, 0], [6, 2, 4]]).residual > 0.3


def test_what_is_guaranteed_to_all_queues_together_prefers_none_of_them() -> None:
    tree = Tree(
        ["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b"], class_nodes=[1, 2], minimum=[[6], [0], [0]]
    )
    pool = Problem([[1], [1]], [12], job_classes=["a", "b"])
    for first in ([2, 2], [3, 3]):
        assert hierarchy_certificate(pool, tree, None, [[0, 0], first, [6, 6]]).holds
    for first in ([6, 0], [0, 6], [9, 0]):  # all of it before the other has any
        found = hierarchy_certificate(pool, tree, None, [[0, 0], first, [6, 6]])
        assert found.residual == pytest.approx(1)


@pytest.mark.parametrize("part", [1 / 64, 64])
def test_certificates_do_not_depend_on_the_unit(part: float) -> None:
    bounds = {name: getattr(BOUNDED, name) * part for name in ("minimum", "maximum", "lends")}
    pool = LAB.replaced(demands=LAB.demands * part, capacities=LAB.capacities * part)
    for first in ([3, 1.5, 0], [2, 1, 0]):
        stages = [[0, 0, 0], first, [3, 1.5, 5], [3.5, 1.75, 5]]
        one, other = (
            hierarchy_certificate(*model, None, stages).residual
            for model in ((LAB, BOUNDED), (pool, lab(**bounds)))
        )
        assert one == other
        assert (one > 0.3) == (first[0] == 2)


def test_limits_are_no_bound_of_fairness() -> None:
    limited = LAB.replaced(limits=[1, np.inf, np.inf])
    # Train stops at one task; test and serve go on, the queues level by level.
    assert hierarchy_certificate(limited, lab(), None, [[0, 0, 0], [1, 2.5, 6]]).holds
    assert not hierarchy_certificate(limited, lab(), None, [[0, 0, 0], [1, 2.75, 5.5]]).holds
    assert not hierarchy_certificate(limited, lab(), None, [[0, 0, 0], [1.5, 2.25, 6]]).holds


def test_a_reserve_is_for_its_queue() -> None:
    # Only GPU is guaranteed, so no task is (it needs CPU too), but four GPU are kept: the lab alone has them.
    pool = Problem([[1, 1], [0, 1]], [12, 12], job_classes=["lab", "web"])
    bounds = {"minimum": [[0, 0], [0, 4], [0, 0]], "lends": 0, "weights": [1, 1, 9]}
    tree = Tree(["all", "lab", "web"], [-1, 0, 0], job_classes=["lab", "web"], class_nodes=[1, 2], **bounds)  # type: ignore[arg-type]
    first = 8 / 9
    stages = [[0, 0], [first, 8], [4, 8]]
    assert hierarchy_certificate(pool, tree, None, stages).holds
    assert hierarchy_certificate(pool, tree, None, stages[:2]).residual > 0.5
    assert queue_stops(pool, tree, None, np.array(stages[1])) == [(), (), ("resource 2",)]
    ended = fill_tasks(pool, HierarchicalShare(tree))
    assert ended.tasks.tolist() == [4, 8]


def test_tables_of_queues() -> None:
    tasks = np.array([3.5, 1.75, 5.0])
    np.testing.assert_allclose(queue_shares(LAB, BOUNDED, tasks), [1, 7 / 12, 5 / 12])
    bounds = QueueBounds(LAB, BOUNDED, tasks > 0)
    np.testing.assert_allclose(bounds.counted(tasks), [[12], [7], [5]])
    np.testing.assert_allclose(bounds.counted(np.array([0, 0, 5.0])), [[9], [0], [5]])
    assert queue_stops(LAB, BOUNDED, None, tasks) == [
        ("GPU", "GPU (maximum of all/web)"), ("GPU",), ("GPU (maximum of all/web)", "GPU")
    ]  # fmt: skip
    assert queue_stops(LAB, BOUNDED, [1, 1, 0], tasks * [1, 1, 0])[1:] == [(), ("no job",)]


def test_bad_arguments() -> None:
    with pytest.raises(ModelError, match=r"stages must have shape \(n_stages \+ 1, 3\)"):
        hierarchy_certificate(LAB, BOUNDED, None, [[1, 2]])
    with pytest.raises(ModelError, match="measure must be"):
        hierarchy_certificate(LAB, BOUNDED, None, [[1, 2, 3]], measure="all")
    with pytest.raises(ModelError, match="growth must have shape"):
        hierarchy_certificate(LAB, BOUNDED, None, [[1, 2, 3]], growth=[1])
    with pytest.raises(ModelError, match="held must have one row per class"):
        hierarchy_certificate(LAB, BOUNDED, None, [[1, 2, 3]], held=[[1]])


@pytest.mark.parametrize("seed", [1, 2, 5, 44, pytest.param(None, marks=pytest.mark.long)])
def test_a_millionth_too_much_is_noticed(seed: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernel is run as it is written for a few cases, compiled for many.
    monkeypatch.setattr(compiling, "SMALL", -1.0 if seed is None else np.inf)
    monkeypatch.setattr(compiling, "PATIENCE", np.inf)
    rng, spoiled = np.random.default_rng(1), 0
    for case in range(150) if seed is None else [seed]:
        pool, tree, counts = random_queues(case, 14)
        naive, measure = case % 5 == 4, "borrowed" if case % 7 == 5 else "total"
        policy = Hierarchical(tree, naive=naive, measure=measure)
        filling = hierarchical._Filling(policy, pool, 1, record=True)
        tasks = filling.tasks(counts)
        assert filling.certificate(counts, tasks).residual < 1e-12
        running = rng.permutation(np.flatnonzero(tasks > 1e-6))
        if running.size < 2:
            continue
        giver, taker = running[:2]
        spoiled += 1
        for rows in (filling.stages, tasks[None]):
            rows[:, giver] *= 1 - 1e-6
            rows[:, taker] *= 1 + 1e-6
        assert filling.certificate(counts, tasks).residual > 1e-9
    assert spoiled >= (1 if seed is not None else 135)
