"""Shares of Kueue, from its tests at commit ff69552 (22 August 2026); quotas in cores and GPUs."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError
from fairness.schedulers import (
    kueue_admission_usage,
    kueue_consumed,
    kueue_order,
    kueue_preempts,
    kueue_shares,
)

INF = math.inf
MOST = 2**63 - 1
CPU, GPU = 0, 1
FLAT = [-1, 0, 0]  # test-cohort, cq, lending-cq
NONE = [0, 0]
TWO = {"nominal": [NONE, [2, 5], [8, 5]]}


def gpus(*values):
    return [[v] for v in values]


# pkg/cache/scheduler/fair_sharing_test.go, TestDominantResourceShare: arguments, weight of cq, share of cq,
# what is dominant, exact share. All other nodes of a flat cohort have a share of 0.
DOMINANT = {
    "usage below nominal": (TWO | {"usage": [NONE, [1, 2], NONE]}, 1, 0, -1, 0),
    "usage above nominal": (TWO | {"usage": [NONE, [3, 7], NONE]}, 1, 200, GPU, 200),
    "usage slightly above nominal in a cohort with large quotas": (
        {"nominal": gpus(0, 500, 1000), "usage": gpus(0, 501, 0)}, 1, 1, 0, F(1000, 1500),
    ),
    "usage way above nominal in a cohort with large quotas and weights": (
        {"nominal": gpus(0, 500, 1000), "usage": gpus(0, 800, 0)}, 300, 1, 0, F(200, 300),
    ),
    "one resource above nominal": (TWO | {"usage": [NONE, [3, 3], NONE]}, 1, 100, CPU, 100),
    "usage with workload above nominal": (TWO | {"usage": [NONE, [5, 6], NONE]}, 1, 300, CPU, 300),
    "A resource with zero lendable": (
        {"nominal": [NONE, [2, 2], [8, 64]], "usage": [NONE, [5, 5], NONE],
         "lending_limits": [[INF, INF], [INF, 0], [INF, 0]]}, 1, 300, CPU, 300,
    ),
    "multiple flavors": (  # on-demand, spot, default of one resource
        {"nominal": [[0, 0, 0], [20, 80, 0], [0, 0, 100]], "usage": [[0, 0, 0], [25, 5, 0], [0, 0, 0]],
         "resource_of": [0, 0, 0]}, 1, 25, 0, 25,
    ),
    "above nominal with integer weight": (
        {"nominal": gpus(0, 5, 5), "usage": gpus(0, 7, 0)}, 2, 100, 0, 100,
    ),
    "above nominal with decimal weight": (
        {"nominal": gpus(0, 5, 5), "usage": gpus(0, 7, 0)}, F(1, 2), 400, 0, 400,
    ),
    "above nominal with zero weight": (
        {"nominal": gpus(0, 5, 10), "usage": gpus(0, 7, 0)}, 0, MOST, 0, INF,
    ),
    "borrowing against unlimited lendable capacity (exabyte-scale quota)": (
        {"nominal": gpus(0, 0, MOST), "usage": gpus(0, 1000, 0)}, 1, 1, 0, F(10**6, MOST),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DOMINANT)
def test_dominant_resource_share(name):
    arguments, weight, status, dominant, exact = DOMINANT[name]
    weights = [F(1), F(weight), F(1)]
    coded = kueue_shares(FLAT, **arguments, weights=weights, as_coded=True)
    assert coded.shares.tolist() == [0, status, 0]
    assert coded.dominant.tolist() == [-1, dominant, -1]
    assert coded.borrowing.tolist() == [False, exact > 0, False]
    assert kueue_shares(FLAT, **arguments, weights=weights).shares.tolist() == [0, exact, 0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # Of the same test, root, child-cohort, cq: "cohort has resource share", "resource share defined for
        # resources only available at the root cohort", "resource share affected by borrowing limit".
        ({"nominal": gpus(45, 0, 5), "weights": [1, 2, 1]}, [0, 50, 100]),
        ({"nominal": gpus(50, 0, 0), "weights": [1, 2, 1]}, [0, 100, 200]),
        ({"nominal": gpus(50, 0, 0), "borrowing_limits": gpus(INF, 10, INF)}, [0, 200, 1000]),
    ],
)
def test_cohorts_within_cohorts(arguments, expected):
    shares = kueue_shares([-1, 0, 1], usage=gpus(0, 0, 10), **arguments)
    assert shares.shares.tolist() == expected
    assert shares.borrowing.tolist() == [False, True, True]


def test_no_cohort():
    assert kueue_shares([-1], [[2000, 5]], [[1, 2]]).shares.tolist() == [0]


@pytest.mark.parametrize(
    ("usage", "borrowed_on", "borrowing"),
    [
        # TestIsBorrowingOn: quotas of 2 cores and 5 GPUs; which quotas cq borrows on.
        ([3, 0], [CPU], True),
        ([1, 7], [GPU], True),
        ([3, 7], [CPU, GPU], True),
        ([1, 2], [], False),
    ],
)
def test_borrowing(usage, borrowed_on, borrowing):
    shares = kueue_shares(FLAT, TWO["nominal"], [NONE, usage, NONE])
    assert shares.borrowing[1] == borrowing
    assert np.flatnonzero(np.array(usage) > TWO["nominal"][1]).tolist() == borrowed_on


@pytest.mark.parametrize(
    ("ratio", "weight", "expected"),
    [(100, 0, INF), (0, 1, 0), (400, 2, 200), (10, 4, 2.5)],  # TestPreciseWeightedShareSerialized
)
def test_precise_weighted_share(ratio, weight, expected):
    shares = kueue_shares([-1, 0], gpus(1000, 0), gpus(0, ratio), weights=[1, weight])
    assert (shares.ratios[1], shares.shares[1]) == (ratio, expected)


@pytest.mark.parametrize(
    ("parents", "nominal", "usage", "expected"),
    [
        # pkg/scheduler/preemption/fairsharing/ordering_test.go: all, preemptor, then targets, largest first.
        ([-1, 0, 0], [0, 4, 5], [0, 0, 2], []),  # "non-borrowing CQ is pruned even with candidates"
        ([-1, 0, 0, 0], [0, 4, 2, 2], [0, 0, 5, 3], [2, 3]),  # "higher DRS CQ returned before lower DRS CQ"
        # "hierarchical cohorts: higher-DRS subtree visited first": the two cohorts, then their queues
        ([-1, 0, 0, 0, 2, 3], [0, 4, 0, 0, 2, 2], [0, 0, 0, 0, 5, 3], [2, 3]),
    ],
)
def test_targets_from_the_largest_share(parents, nominal, usage, expected):
    shares = kueue_shares(parents, gpus(*nominal), gpus(*usage))
    siblings = [v for v in range(2, len(parents)) if parents[v] == 0 and shares.borrowing[v]]
    order = kueue_order(shares.shares[siblings], shares.ratios[siblings])
    assert [siblings[k] for k in order[::-1]] == expected


FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"


def shares_of(*usage):
    """Of the cohort, and of queues a, b, c with 3 cores each."""
    return kueue_shares([-1, 0, 0, 0], gpus(0, 3, 3, 3), [[F(0)], *([F(u)] for u in usage)]).shares


# pkg/scheduler/preemption/preemption_fair_test.go: what a, b and c use before, the incoming workload of a,
# the workload of b that would make room, and which strategies allow it.


@pytest.mark.parametrize(
    ("used", "incoming", "preempted", "allowed"),
    [
        ([3, 5, 1], 1, 1, {FINAL, INITIAL}),  # "reclaim borrowable quota from user using the most"
        ([3, 5, 0], 2, 1, set()),  # "can't preempt when it would switch the imbalance"
        ([2, 7, 0], 5, 7, set()),  # "can't preempt huge workload if the incoming is also huge": 4 against 4
        ([0, 5, 1], F(7, 2), 1, {FINAL, INITIAL}),  # "prefer to preempt workloads that don't make ...": b2
        ([0, 5, 1], F(7, 2), 2, {INITIAL}),  # ... b1 "would have been possible under rule S2-b"
    ],
)
def test_preemption_strategies(used, incoming, preempted, allowed):
    a, b, c = used
    preemptor = shares_of(a + incoming, b, c)[1]
    before, after = shares_of(a, b, c)[2], shares_of(a, b - preempted, c)[2]
    assert {s for s in (FINAL, INITIAL) if kueue_preempts(preemptor, before, after, strategy=s)} == allowed


def test_a_preemption_is_not_answered():
    """ "scenario above does not flap": b comes back with 2 against the 3.5 of a, which it had lost to."""
    a, b, c = F(7, 2), F(5, 2), F(5, 2)
    preemptor = shares_of(a, b + 2, c)[2]
    before, after = shares_of(a, b, c)[1], shares_of(0, b, c)[1]
    assert not any(kueue_preempts(preemptor, before, after, strategy=s) for s in (FINAL, INITIAL))


@pytest.mark.parametrize(
    ("consumed", "penalty", "weight", "resource_weights", "expected"),
    [
        # pkg/util/admissionfairsharing/admission_fair_sharing_test.go, TestCalculateUsageWithDRA
        ([2], [0], 1, [1], 2),
        ([2], [0], 1, [3], 6),
        ([4, 2], [0, 0], 1, [1, 5], 14),
        ([10], [0], 1, [0], 0),
        ([0], [3], 1, [1], 3),
        ([2], [1], 2, [4], 6),
        # TestCalculateUsageWithNonPositiveWeight
        ([0], [0], 0, [1], INF),
        ([4], [0], 0, [1], INF),
    ],
)
def test_admission_usage(consumed, penalty, weight, resource_weights, expected):
    assert (
        kueue_admission_usage(consumed, penalty, weights=weight, resource_weights=resource_weights)
        == expected
    )


def test_consumed_converges_on_the_half_life_curve():
    """TestCalculateDecayedConsumedConvergesToUsage: 1, 1.5 and 1.75 of 2; here with samples every hour."""
    consumed = np.zeros(1)
    for expected in (1, 1.5, 1.75):
        for _ in range(168):
            consumed = kueue_consumed(consumed, [2], 1, 168)
        # Hundreds of roundings, each of some 1e-16.
        np.testing.assert_allclose(consumed, [expected], rtol=1e-11)


def test_refusals():
    with pytest.raises(ModelError, match="a cycle"):
        kueue_shares([-1, 2, 1], gpus(0, 1, 1), gpus(0, 1, 1))
    with pytest.raises(ModelError, match="nominal must be finite"):
        kueue_shares([-1, 0], gpus(0, INF), gpus(0, 1))
    with pytest.raises(ModelError, match="usage has shape"):
        kueue_shares([-1, 0], gpus(0, 1), gpus(0, 1, 2))
    with pytest.raises(ModelError, match="must be one of 'LessThanOrEqualToFinalShare'"):
        kueue_preempts(1, 2, 3, strategy="Equal")
    with pytest.raises(ModelError, match="target_after must be a number"):
        kueue_preempts(1, 2, float("nan"))
    with pytest.raises(ModelError, match="elapsed must be a finite number >= 0; got -1"):
        kueue_consumed([1], [2], elapsed=-1, half_life=168)
    with pytest.raises(ModelError, match="half_life must be a finite number >= 0; got nan"):
        kueue_consumed([1], [2], elapsed=1, half_life=float("nan"))
    with pytest.raises(ModelError, match="resource_of must have 1 entries"):
        kueue_shares([-1, 0], gpus(0, 1), gpus(0, 1), resource_of=[0, 1])
