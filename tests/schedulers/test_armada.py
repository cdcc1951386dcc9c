"""Costs and fair shares of Armada, from internal/scheduler/scheduling at commit 207cc9e (21 August 2026)."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError
from fairness.schedulers import armada_fair_shares, armada_fairness_error, dominant_share

FOO_BAR = [1, 1, 0]


@pytest.mark.parametrize(
    ("total", "multipliers", "allocation", "weight", "expected"),
    [
        # fairness_test.go, TestDominantResourceFairness; resources foo, bar, baz.
        ([1, 2, 3], FOO_BAR, ["1/2", 0, 0], 1, "1/2"),
        ([1, 2, 3], FOO_BAR, [0, "1/2", 0], 1, "1/4"),
        ([1, 2, 3], FOO_BAR, ["1/2", "11/10", 0], 1, "11/20"),
        ([1, 2, 3], FOO_BAR, ["1/2", 0, 3], 1, "1/2"),
        ([1, 0, 3], FOO_BAR, ["1/2", 2, 0], 1, "1/2"),
        ([1, 2, 3], FOO_BAR, ["1/2", 0, 0], 2, "1/4"),
        ([1, 2, 3], [4, 1, 0], ["1/2", "11/10", 0], 1, "2"),
        ([1, 2, 3], [1, "1/2", 0], ["1/2", 2, 0], 1, "1/2"),
    ],
)
def test_cost(total, multipliers, allocation, weight, expected):
    allocation, multipliers = ([F(v) for v in row] for row in (allocation, multipliers))
    assert dominant_share(allocation, total, weight, multipliers=multipliers) == F(expected)
    assert dominant_share(
        np.array(allocation, float), total, weight, multipliers=np.array(multipliers, float)
    ) == (pytest.approx(float(F(expected)), rel=1e-15))


LITTLE, MUCH = F(1, 100), F(10)
THIRD = F(1, 3)
# scheduling_test.go, TestCalculateFairShares: weights, demands (shares of 100 cores), the three shares.
FAIR = [
    ([1], [MUCH], [1], [1], [1]),
    ([1], [LITTLE], [1], [LITTLE], [1]),
    ([1, 1], [MUCH, MUCH], [F(1, 2)] * 2, [F(1, 2)] * 2, [F(1, 2)] * 2),
    ([1, 1], [LITTLE, LITTLE], [F(1, 2)] * 2, [LITTLE] * 2, [F(99, 100)] * 2),
    ([1, 1], [LITTLE, MUCH], [F(1, 2)] * 2, [LITTLE, F(99, 100)], [F(1, 2), F(99, 100)]),
    ([1, 3], [MUCH, MUCH], [F(1, 4), F(3, 4)], [F(1, 4), F(3, 4)], [F(1, 4), F(3, 4)]),
    ([1, 3], [LITTLE, MUCH], [F(1, 4), F(3, 4)], [LITTLE, F(99, 100)], [F(1, 4), F(99, 100)]),
    ([1, 3], [MUCH, LITTLE], [F(1, 4), F(3, 4)], [F(99, 100), LITTLE], [F(99, 100), F(3, 4)]),
    ([1, 1, 1], [0, 0, 0], [THIRD] * 3, [0, 0, 0], [1, 1, 1]),
    ([1, 1, 1], [1, 1, 1], [THIRD] * 3, [THIRD] * 3, [THIRD] * 3),  # "No capacity": every demand counts 1
]
# "three queues, equal weights. Adjusted fair share requires multiple iterations": see test_deviations.
THREE = ([1, 1, 1], [LITTLE, F(2, 5), MUCH])


@pytest.mark.parametrize(("weights", "demands", "fair", "capped", "uncapped"), FAIR)
def test_fair_shares(weights, demands, fair, capped, uncapped):
    exact = armada_fair_shares([F(w) for w in weights], demands)
    assert [list(shares) for shares in exact] == [fair, capped, uncapped]
    coded = armada_fair_shares(weights, [float(d) for d in demands], as_coded=True)
    # Sums of at most ten rounds of a few roundings each.
    for found, expected in zip(coded, (fair, capped, uncapped), strict=True):
        np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-14)


def test_three_queues_as_coded():
    fair, capped, uncapped = armada_fair_shares(THREE[0], [float(d) for d in THREE[1]], as_coded=True)
    np.testing.assert_allclose(fair, [1 / 3] * 3, rtol=1e-15)
    np.testing.assert_allclose(capped, [0.01, 0.4, 0.59], rtol=1e-15)
    np.testing.assert_allclose(uncapped, [0.3808333333333333, 0.495, 0.59], rtol=1e-15)


@pytest.mark.parametrize(
    ("weights", "demands", "expected"),
    [
        # TestCalculateTheoreticalShare: a new queue of weight 1 with infinite demand beside others.
        ([], [], F(1)),
        ([1], [MUCH], F(1, 2)),
        ([1, 1], [MUCH, MUCH], F(1, 3)),
        ([F(1, 2)], [MUCH], F(2, 3)),
        ([2], [MUCH], F(1, 3)),
        ([1], [LITTLE], F(99, 100)),
    ],
)
def test_theoretical_share(weights, demands, expected):
    shares = armada_fair_shares([*map(F, weights), F(1)], [*demands, F(10**9)])
    assert shares.demand_capped[-1] == expected


def test_refusals():
    with pytest.raises(ModelError, match="weights must be > 0"):
        armada_fair_shares([1, 0], [1, 1])
    with pytest.raises(ModelError, match="weights must be finite"):
        armada_fair_shares([1, np.inf], [1, np.inf])


@pytest.mark.parametrize(
    ("adjusted", "actual", "expected"),
    [
        # TestCalculateFairnessError.
        (["1/2"], ["1/2"], 0),
        (["1/2", "1/2"], ["1/2", "1/2"], 0),
        (["1/2"], ["2/5"], F(1, 10)),
        (["1/2", "1/2"], ["2/5", "1/10"], F(1, 2)),
        (["1/2"], [1], 0),
        ([], [], 0),
    ],
)
def test_fairness_error(adjusted, actual, expected):
    assert armada_fairness_error([F(v) for v in adjusted], [F(v) for v in actual]) == expected
