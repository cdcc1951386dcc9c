"""Fair shares of schedulers are those of the hierarchical policies: a second method, with its own engine."""

import numpy as np
import pytest

from fairness import Hierarchical, MaxMin, Problem, Tree, allocate
from fairness.schedulers import kai_fair_shares, yarn_fair_shares
from tests.schedulers.test_volcano import BLOCKING, RESCALING

QUEUES = list("abcde")


def shared(total, requests, weights, minimum, measure):
    """Of one resource, among queues with one class each that requests so much."""
    tree = Tree(
        ["root", *QUEUES], [-1, *[0] * 5], weights=[1, *weights], job_classes=QUEUES, class_nodes=range(1, 6),
        minimum=np.array([0, *minimum])[:, None],
    )  # fmt: skip
    pool = Problem(np.ones((5, 1)), [total], limits=requests, job_classes=QUEUES)
    return Hierarchical(tree, MaxMin(), measure=measure)(pool, np.ones(5))


@pytest.mark.parametrize("seed", range(5))
def test_shares_with_minima(seed):
    rng = np.random.default_rng(seed)
    weights, minimum = rng.integers(1, 5, 5).astype(float), rng.integers(0, 4, 5).astype(float)
    requests = minimum + rng.integers(1, 9, 5)
    total = minimum.sum() + 7.0
    # YARN counts all that a queue has, KAI what lies above its quota. Sums of a dozen numbers up to 30.
    yarn = yarn_fair_shares(total, weights, minimum=minimum, maximum=requests)
    np.testing.assert_allclose(shared(total, requests, weights, minimum, "total"), yarn, rtol=1e-13)
    kai = kai_fair_shares(total, requests, deserved=minimum, weights=weights)
    np.testing.assert_allclose(shared(total, requests, weights, minimum, "borrowed"), kai, rtol=1e-13)


@pytest.mark.parametrize(("tree", "demands", "tasks", "total", "expected"), [RESCALING, BLOCKING])
def test_hdrf_of_volcano_as_a_continuous_limit(tree, demands, tasks, total, expected):
    pool = Problem(demands, total, limits=tasks, job_classes=tree.job_classes)
    np.testing.assert_allclose(allocate(pool, Hierarchical(tree)).tasks, expected, rtol=1e-12)


def divided(total, queues, active=None):
    """Tasks of one resource; queues as nested data, classes demand one unit and have requests."""
    tree = Tree.from_dict({"root": {"queues": queues}})
    requests = [REQUESTS.get(name, 10**6) for name in tree.job_classes]
    pool = Problem(np.ones((len(requests), 1)), [total], limits=requests, job_classes=tree.job_classes)
    present = [1.0 if active is None or name in active else 0.0 for name in tree.job_classes]
    tasks = Hierarchical(tree, MaxMin())(pool, present)
    return dict(zip(tree.job_classes, tasks, strict=True))


def below(weight, **weights):
    """A queue with one queue for each class."""
    return {"weight": weight, "queues": {f"q{n}": {"weight": w, "classes": [n]} for n, w in weights.items()}}


# Volcano, docs/design/fairshare.md (commit ed72c7c): what the namespaces of its three clusters request.
REQUESTS = {"1a": 5, "1b": 10, "1c": 10, "1d": 2, "2a": 5, "2b": 10, "2c": 10, "2d": 2, "3b": 5, "3c": 20}
YARN = {
    "parentA": below(8, A1=1, A2=1, A3=1, A4=1),
    "parentB": below(1, B1=1, B2=1),
    "default": below(1, d=1),
}


@pytest.mark.parametrize(
    ("total", "queues", "active", "expected"),
    [
        (16, {"q1": below(1, **{"1a": 1, "1b": 1}), "q2": below(1, **{"1c": 1, "1d": 1})}, None,
         {"1a": 4, "1b": 4, "1c": 6, "1d": 2}),
        (16, {"q1": below(1, **{"2a": 3, "2b": 1}), "q2": below(3, **{"2c": 2, "2d": 6})}, None,
         {"2a": 3, "2b": 1, "2c": 10, "2d": 2}),
        # In the third, q1 has four cores assigned and runs as much.
        (16, {"q1": below(1, **{"3a": 2}), "q2": below(3, **{"3b": 2, "3c": 6})}, None,
         {"3a": 4, "3b": 3, "3c": 9}),
        # Kueue, KEP-1714 (commit ff69552), story 3: the 300 GPUs of a cohort that has no work itself.
        (300, {"CS": below(1, CS=1), "C1": below(1, A=1, B=1, C=3), "C2": below(1, D=1)}, "ABCD",
         {"CS": 0, "A": 30, "B": 30, "C": 90, "D": 150}),
        # YARN, TestFairSchedulerFairShare (commit 0097b15), in percent.
        (100, YARN, ["A1"], {"A1": 100}),
        (100, YARN, ["A1", "A2", "B1", "d"], {"A1": 40, "A2": 40, "B1": 10, "d": 10}),
        (100, YARN, ["A1", "A2"], {"A1": 50, "A2": 50}),
        (100, YARN, None, dict.fromkeys(["A1", "A2", "A3", "A4"], 20) | {"B1": 5, "B2": 5, "d": 10}),
    ],
)  # fmt: skip
def test_queues_in_queues(total, queues, active, expected):
    found = divided(total, queues, active)
    for name, tasks in found.items():
        np.testing.assert_allclose(tasks, expected.get(name, 0), rtol=1e-13, err_msg=name)
