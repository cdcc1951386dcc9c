"""Shares and orders of Apache YuniKorn, from pkg/common/resources/resources_test.go and
pkg/scheduler/objects/sorters_test.go at commit be3bb48 (2 July 2026); values from the definition."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import ModelError
from fairness.schedulers import (
    yunikorn_compare,
    yunikorn_fairness_ratio,
    yunikorn_queue_order,
    yunikorn_share,
    yunikorn_shares,
)

UNSET = math.nan
ALL = [1000, 1000, 1000, 1000]  # ephemeral storage, memory, pods, cores


@pytest.mark.parametrize(
    ("usage", "guaranteed", "fair_max", "expected"),
    [
        # TestGetFairShare, in its order.
        ([0], [1000], [99999], F(0)),
        ([100, 2500], [1000, 5000], [99999, 99999], F(2500, 5000)),
        ([100, 2500, 100], [1000, 5000, 2000], [99999] * 3, F(2500, 5000)),
        (ALL, [UNSET] * 4, [2000, 99999, 99999, 99999], F(1000, 2000)),
        (ALL, [UNSET, UNSET, 88888, UNSET], [2000, 99999, 99999, 99999], F(1000, 2000)),
        (ALL, [UNSET, UNSET, UNSET, 2000], [99999] * 4, F(1000, 2000)),
        ([0, 0, 0, 0], [UNSET] * 4, [99999] * 4, F(0)),
        ([1000, 1000, 1000, 10], [UNSET, UNSET, UNSET, 0], [5000] * 4, F(1)),
        ([1000, 1000, 1000, 0], [UNSET, UNSET, UNSET, 0], [5000] * 4, F(1000, 5000)),
        (ALL, [UNSET] * 4, [5000, 0, 5000, 5000], F(1)),
        ([1000, 0, 1000, 1000], [UNSET] * 4, [5000, 0, 5000, 4000], F(1000, 4000)),
        (ALL, [UNSET, UNSET, UNSET, -10], [5000] * 4, F(1)),
        ([1000, 1000, 1000, 0], [UNSET, UNSET, UNSET, -10], [5000, 2000, 5000, 5000], F(1000, 2000)),
        (ALL, [UNSET] * 4, [5000, 5000, 5000, -1000], F(1)),
        ([1000, 1000, 1000, 0], [UNSET] * 4, [5000, 5000, 5000, -1000], F(1000, 5000)),
        ([1000, 1000, 1000, -1000], [UNSET] * 4, [5000, 5000, 5000, 1000], F(1000, 5000)),
        (ALL, [UNSET] * 4, [1000] * 4, F(1)),
        ([], [], [], F(0)),
    ],
)
def test_fair_share(usage, guaranteed, fair_max, expected):
    assert yunikorn_share(usage, guaranteed, fair_max) == float(expected)
    assert yunikorn_share([F(u) for u in usage], guaranteed, fair_max) == expected


@pytest.mark.parametrize(
    ("usage", "total", "expected"),
    [
        # TestGetShares.
        ([0], [0], [0]),
        ([5, 0, -5], 0, [-5, 0, 5]),
        ([5, 0, -5], [5, 0, -5], [0, 1, 1]),
        ([5, 0, -5], [10, 10, 10], [-0.5, 0, 0.5]),
        ([10, 15], [15, 10], [10 / 15, 1.5]),
        ([5, 10], [15, 0], [5 / 15, 10]),
    ],
)
def test_shares(usage, total, expected):
    np.testing.assert_array_equal(yunikorn_shares(usage, total), expected)


@pytest.mark.parametrize(
    ("left", "right", "total", "expected"),
    [
        # TestCompUsageRatio; resources are large, zero, small, or first, second. Absent ones are left out.
        ([0], [0], [0], 0),
        ([5, 0, -5], [5, 0, -5], [0, 0, 0], 0),
        ([5, 0, -5], [5, 0, -5], [5, 0, -5], 0),
        ([5, 0, -5], [5, 0], [10, 10, 0], -1),
        ([5, 0], [5, 0, -5], [10, 10, 0], 1),
        ([10, 5], [5, 10], [15, 0], -1),
        ([5, 10], [10, 5], [15, 0], 1),
        ([5, 10], [10, 5], [0, 0], 0),
        # TestSortAppsFair: with app i at 100 (i + 1) of 500, then app 1 at 1000, then app 3 at -1000.
        ([100], [200], [500], -1),
        ([400], [1000], [500], -1),
        ([-1000], [100], [500], -1),
    ],
)
def test_usage_ratios(left, right, total, expected):
    shares = [yunikorn_shares(usage, total[: len(usage)]) for usage in (left, right)]
    assert yunikorn_compare(*shares) == expected
    assert yunikorn_compare(*shares[::-1]) == -expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # TestCompareShares.
        ([], [], 0),
        ([0, 5], [0, 5], 0),
        ([0, 10], [10], 0),
        ([10], [0, 10], 0),
        ([1, 10], [10], 1),
        ([10], [1, 10], -1),
        ([-10, 10], [10], -1),
        ([10], [-10, 10], 1),
        ([0, 10], [5], 1),
        ([-math.inf, 0, 0, math.inf], [math.inf], -1),
        ([-100, -10, 0, 1.1, 2.2, 3.3, 5, math.inf], [-99.99, -10, 0, 1.1, 2.2, 3.3, 5, math.inf], -1),
    ],
)
def test_compare(left, right, expected):
    assert yunikorn_compare(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right", "total", "expected"),
    [
        # TestFairnessRatio.
        (0, 0, 0, 1),
        (1, 0, 10, math.inf),
        (-1, 0, 10, -math.inf),
        (F(2**63 - 1), 1, F(2**63 - 1), 2**63 - 1),
        (F(2**63 - 1), -1, F(2**63 - 1), 1 - 2**63),
        (90, 1, 100, 90),
        (-90, 1, 100, -90),
        (1, 90, 100, (1 / 100) / (90 / 100)),
        (-1, 90, 100, -(1 / 100) / (90 / 100)),
    ],
)
def test_fairness_ratio(left, right, total, expected):
    assert yunikorn_fairness_ratio([left], [right], [total]) == expected


@pytest.mark.parametrize(
    ("left", "right", "guarantees", "expected"),
    [
        # TestCompUsageRatioSeparately: pods guaranteed to the left and to the right.
        (100, 100, (200, 800), 1),
        (100, 100, (800, 200), -1),
        (200, 100, (UNSET, UNSET), 1),
        (100, 200, (UNSET, UNSET), -1),
        (100, 100, (UNSET, UNSET), 0),
    ],
)
def test_queues_are_compared_by_their_own_guarantees(left, right, guarantees, expected):
    shares = yunikorn_share(
        [[left] * 4, [right] * 4], [[UNSET, UNSET, pods, UNSET] for pods in guarantees], np.full((2, 4), 1000)
    )
    assert np.sign(shares[0] - shares[1]) == expected


GUARANTEED = [500, 300, 200, 200]
EQUAL = [[800, 400], [400, 300], [200, 200], [200, 200]], [[400, 200], [200, 150], [100, 100], [100, 100]]


@pytest.mark.parametrize(
    ("usage", "guaranteed", "priorities", "fair", "priority_first"),
    [
        # TestSortQueuesWithGuarantees: ratios .6 .67 .5 .5, then .4 1 .5 .5, then .3 .4 .5 .5, then all .5.
        ([300, 200, 100, 100], GUARANTEED, [1, 1, 1, 3], [3, 2, 0, 1], [3, 2, 0, 1]),
        ([200, 300, 100, 100], GUARANTEED, [1, 1, 1, 3], [0, 3, 2, 1], [3, 0, 2, 1]),
        ([150, 120, 100, 100], GUARANTEED, [1, 1, 1, 3], [0, 1, 3, 2], [3, 0, 1, 2]),
        (EQUAL[1], EQUAL[0], [1, 1, 1, 3], [3, 0, 1, 2], None),
        # TestSortQueuesNoGuarantees: of 1000. The second call sorts what the first left as 3, 2, 0, 1.
        ([300, 200, 100, 100], None, [1, 0, 2, 3], [3, 2, 1, 0], [3, 2, 0, 1]),
        ([200, 300, 100, 100], None, [1, 0, 2, 3], [3, 2, 0, 1], [3, 2, 0, 1]),
    ],
)
def test_sorted_queues(usage, guaranteed, priorities, fair, priority_first):
    usage = np.array(usage).reshape(4, -1)
    limits = (
        (UNSET, np.full(usage.shape, 1000)) if guaranteed is None else (np.reshape(guaranteed, usage.shape),)
    )
    assert yunikorn_queue_order(usage, *limits, priorities=priorities).tolist() == fair
    if priority_first is not None:
        found = yunikorn_queue_order(usage, *limits, priorities=priorities, priority_first=True)
        assert found.tolist() == priority_first


def test_more_pending_goes_first_among_equals():
    """sorters.go: of equal queues, one that waits for nowhere less and somewhere more passes the other."""
    assert yunikorn_queue_order(
        [[1], [1], [2]], fair_max=np.full((3, 1), 10), pending=[[1], [2], [9]]
    ).tolist() == [
        1,
        0,
        2,
    ]
    assert yunikorn_queue_order([[1, 1]] * 2, fair_max=[[9, 9]] * 2, pending=[[1, 2], [2, 1]]).tolist() == [
        0,
        1,
    ]


def test_refusals():
    with pytest.raises(ModelError, match="guaranteed has shape"):
        yunikorn_share([1, 2], [1, 2, 3])
    with pytest.raises(ModelError, match="list of shares"):
        yunikorn_compare([[1]], [1])
    with pytest.raises(ModelError, match="usage must be a number"):
        yunikorn_share([math.nan])
