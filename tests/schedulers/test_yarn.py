"""Shares and orders of Apache Hadoop YARN, from its tests in scheduler/fair and scheduler/capacity."""

from fractions import Fraction as F
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from fairness import ModelError
from fairness.schedulers import (
    yarn_capacity_order,
    yarn_drf_order,
    yarn_fair_order,
    yarn_fair_shares,
    yarn_used_capacity,
)

MILLION = 10**6
INF = float("inf")
HALF = F(1, 2)


@pytest.mark.parametrize(
    ("total", "weights", "minimum", "maximum", "expected"),
    [
        # TestComputeFairShares (commit 0f809af): testEqualSharing to testCPU.
        (40, [1, 1, 1, 1], 0, INF, [10, 10, 10, 10]),
        (40, [1, 1, 1, 1], 0, [100, 50, 11, 3], [13, 13, 11, 3]),
        (40, [1, 1, 1, 1], [20, 18, 0, 2], INF, [20, 18, 0, 2]),
        (45, [2, 1, 1, HALF], 0, INF, [20, 10, 10, 5]),
        (45, [2, 1, 1, HALF], 0, [10, 11, 30, 20], [10, 11, 16, 8]),
        (45, [2, 1, 1, HALF], [20, 0, 5, 15], INF, [20, 5, 5, 15]),
        (40 * MILLION, [1, 1, 1, 1], 0, INF, [10 * MILLION] * 4),
        (40, [], 0, INF, []),
    ],
)
def test_fair_shares(total, weights, minimum, maximum, expected):
    """The comments of the upstream tests tell the same division in words."""
    exact = yarn_fair_shares(F(total), [F(w) for w in weights], minimum=minimum, maximum=maximum)
    assert exact.tolist() == expected
    floats = np.array(weights, dtype=float)
    assert yarn_fair_shares(total, floats, minimum=minimum, maximum=maximum).tolist() == expected
    coded = yarn_fair_shares(total, floats, minimum=minimum, maximum=maximum, as_coded=True)
    assert coded.tolist() == expected


# TestFairSchedulerFairShare (commit 0097b15): weights, and the queues below.
WEIGHTS = {"parentA": 8, "parentB": 1, "default": 1}
CHILDREN = {"parentA": ["A1", "A2", "A3", "A4"], "parentB": ["B1", "B2"], "default": ["default"]}


def shares_below(total, active, **options):
    """Fair shares of the active queues, level by level."""
    parents = [p for p in WEIGHTS if set(CHILDREN[p]) & set(active)]
    found = {}
    for parent, share in zip(
        parents, yarn_fair_shares(total, [WEIGHTS[p] for p in parents], **options), strict=True
    ):
        children = [c for c in CHILDREN[parent] if c in active]
        found |= dict(zip(children, yarn_fair_shares(share, [1] * len(children), **options), strict=True))
    return found


@pytest.mark.parametrize(
    ("active", "percent"),
    [
        (["A1"], {"A1": 100}),  # testFairShareOneAppRunning
        (["A1", "A2", "A3"], {"A1": F(100, 3), "A2": F(100, 3), "A3": F(100, 3)}),  # ...UnderSameParent
        # testFairShareMultipleActiveQueuesUnderDifferentParent, and ...WithDRF... for memory and cores
        (["A1", "A2", "B1", "default"], {"A1": 40, "A2": 40, "B1": 10, "default": 10}),
        (["A1", "A2"], {"A1": 50, "A2": 50}),  # testFairShareResetsToZeroWhenAppsComplete
        (["A2"], {"A2": 100}),
        # verifySteadyFairShareMemory: all queues, active or not
        ([c for below in CHILDREN.values() for c in below],
         dict.fromkeys(CHILDREN["parentA"], 20) | {"B1": 5, "B2": 5, "default": 10}),
    ],
)  # fmt: skip
def test_fair_shares_of_queues_in_queues(active, percent):
    memory = 16 * 1024
    exact = shares_below(F(memory), active)
    assert {queue: share / memory * 100 for queue, share in exact.items()} == percent
    for queue, share in shares_below(memory, active, as_coded=True).items():
        assert abs(share / memory * 100 - percent[queue]) < 0.1


def test_the_search_for_the_level_ends():
    """testResourceUsedWithWeightToResourceRatio: minima that overflow an int."""
    most = 2**31 - 1
    assert yarn_fair_shares(most, [1, 1], minimum=most, as_coded=True).tolist() == [most, most]
    assert yarn_fair_shares(most, [1, 1], minimum=most).tolist() == [most, most]


@pytest.mark.parametrize(
    ("cluster", "first", "second"),
    [
        # TestDominantResourceFairnessPolicy (commit 09b476e): the first is to come first. Usage of memory and
        # cores, weight, minimum of both.
        ((8000, 4), ((1000, 1), 1, (0, 0)), ((2000, 1), 1, (0, 0))),  # testSameDominantResource
        ((8000, 8), ((4000, 3), 1, (0, 0)), ((2000, 5), 1, (0, 0))),  # testDifferentDominantResource
        ((8000, 8), ((2000, 5), 1, (0, 6)), ((4000, 3), 1, (0, 0))),  # testOneIsNeedy
        ((8000, 100), ((2000, 5), 1, (0, 0)), ((4000, 3), 1, (0, 0))),  # testBothAreNeedy
        ((8000, 100), ((2000, 5), 1, (3000, 6)), ((4000, 3), 1, (5000, 4))),
        ((8000, 8), ((3000, 1), 2, (0, 0)), ((2000, 1), 1, (0, 0))),  # testEvenWeightsSameDominantResource
        ((8000, 8), ((1000, 3), 2, (0, 0)), ((1000, 2), 1, (0, 0))),
        (
            (8000, 8),
            ((1000, 3), 2, (0, 0)),
            ((2000, 1), 1, (0, 0)),
        ),  # testEvenWeightsDifferentDominantResource
        ((8000, 8), ((3000, 1), 2, (0, 0)), ((1000, 2), 1, (0, 0))),
        # testCompareSchedulablesWithClusterResourceChanges
        ((4000, 5), ((1000, 2), 1, (0, 0)), ((2000, 1), 1, (0, 0))),
        ((8000, 6), ((2000, 1), 1, (0, 0)), ((1000, 2), 1, (0, 0))),
    ],
)
def test_drf_order(cluster, first, second):
    for queues, expected in (((first, second), [0, 1]), ((second, first), [1, 0])):
        usage, weights, minimum = map(list, zip(*queues, strict=True))
        # Start times and names say the opposite.
        found = yarn_drf_order(
            usage, cluster, weights, minimum=minimum, start_times=[-k for k in expected], names=["a", "b"]
        )
        assert found.tolist() == expected


def test_drf_order_of_three_resources():
    """testCalculateClusterAndFairRatios and testCalculateMinShareRatios: 10 of 100, 5 of 10, 2 of 5."""
    capacity = [100, 10, 5]
    # Dominant are the cores at .5, then the third at .4: against .5, .4, .09 the last decides.
    usage = [[10, 5, 2], [9, 5, 2], [10, 4.9, 2]]
    assert yarn_drf_order(usage, capacity).tolist() == [2, 1, 0]
    # Needy of the cores, 5 of 10; the third resource has no minimum and so an infinite ratio.
    minimum = [[5, 10, 0], [5, 10, 4], [0, 0, 0]]
    assert yarn_drf_order([[10, 5, 2]] * 3, capacity, minimum=minimum).tolist() == [1, 0, 2]


def test_the_example_of_fair_share_policy():
    """FairSharePolicy (commit 0815704): 8 out of a min share of 10 comes after 50 out of 100."""
    assert yarn_fair_order([8, 50], minimum=[10, 100]).tolist() == [1, 0]


def compared(one, other):
    """FairSharePolicy's comparator, as its documentation words it: -1 if the first comes first."""
    (name1, start1, usage1, weight1), (name2, start2, usage2, weight2) = one, other
    if weight1 > 0 and weight2 > 0:
        keys = F(usage1, weight1), F(usage2, weight2)
    elif weight1 == weight2:
        keys = usage1, usage2
    else:
        keys = -weight1, -weight2
    left, right = (keys[0], start1, name1), (keys[1], start2, name2)
    return (left > right) - (left < right)


def test_fair_order_is_that_of_the_comparator():
    """TestSchedulingPolicy.testFairShareComparatorTransitivity: its 81 queues, all triples' order in one.

    Usage 0, 2 or 4 with a demand of 4, weights 0, 1 or 2, three start times, three names, no min share.
    """
    queues = list(product("ABC", [1, 2, 3], [0, 2, 4], [0, 1, 2]))
    names, starts, usage, weights = zip(*queues, strict=True)
    order = yarn_fair_order(usage, weights, demand=4, start_times=starts, names=names)
    for i, j in pairwise(order):
        assert compared(queues[i], queues[j]) <= 0
    for i, j in permutations(range(0, 81, 7), 2):
        assert (compared(queues[i], queues[j]) < 0) == (order.tolist().index(i) < order.tolist().index(j))


@pytest.mark.parametrize(
    ("usage", "options", "expected"),
    [
        ([0, 5], {"demand": [0, 9]}, [1, 0]),  # who demands nothing goes last
        ([4, 1], {"minimum": [5, 0]}, [0, 1]),  # below the min share before all others
        ([4, 1], {"minimum": [5, 0], "demand": [4, 9]}, [1, 0]),  # of which no more than the demand counts
        ([4, 4], {"weights": [1, 2]}, [1, 0]),
        ([1, 1], {"start_times": [5, 4]}, [1, 0]),
        ([1, 1], {"names": ["b", "a"]}, [1, 0]),
    ],
)
def test_fair_order_by_the_words_of_the_policy(usage, options, expected):
    assert yarn_fair_order(usage, **options).tolist() == expected


@pytest.mark.parametrize(
    ("used", "absolute", "priorities", "expected"),
    [
        # TestPriorityUtilizationQueueOrderingPolicy (commit 070ad84), testUtilizationOrdering.
        ([0.1], [0.2], 0, "a"),
        ([0.1, 0.0], [0.2, 0.3], 0, "ba"),
        ([0.1, 0.0, 0.2], [0.2, 0.3, 0.4], 0, "bac"),
        # testPriorityUtilizationOrdering, cases 2 to 14 and 17 to 19.
        ([0.2, 0.1], [0.2, 0.3], [1, 1], "ba"),
        ([1.1, 1.2], [0.2, 0.3], [1, 1], "ab"),
        ([0.1, 1.2], [0.2, 0.3], [1, 1], "ab"),
        ([1.1, 1.2], [0.2, 0.3], [1, 2], "ba"),
        ([0.1, 0.2], [0.2, 0.3], [1, 2], "ba"),
        ([0.1, 1.2], [0.2, 0.3], [1, 2], "ab"),
        ([0.1, 1.2], [0.2, 0.3], [2, 1], "ab"),
        ([0.1, 1.0], [0.2, 0.3], [1, 2], "ab"),
        ([0.1, 1.0], [0.2, 0.3], [2, 1], "ab"),
        ([0.1, 1.0], [0.2, 0.3], [1, 1], "ab"),
        ([1.0, 1.0], [0.2, 0.3], [1, 2], "ba"),
        ([1.2, 1.0, 0.2, 1.1, 0.2], [0.2, 0.1, 0.1, 0.3, 0.3], [1, 2, 0, 0, 3], "ecbad"),
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 2, 0, 0, 3], "ebacd"),
        ([0.1, 1.2], [0.0, 0.3], [1, 1], "ba"),
        ([0.1, 1.2], [0.3, 0.0], [1, 1], "ab"),
        ([1.2, 1.0, 0.2, 1.1, 0.2], [0.0, 0.0, 0.1, 0.3, 0.3], [1, 2, 0, 0, 3], "ecdba"),
    ],
)
def test_capacity_order(used, absolute, priorities, expected):
    found = yarn_capacity_order(used, absolute, priorities=priorities)
    assert "".join("abcde"[k] for k in found) == expected


@pytest.mark.parametrize(
    ("used", "absolute", "priorities", "accessible", "expected"),
    [
        ([0.1, 0.0, 0.2], [0.2, 0.3, 0.4], 0, "ac", "acb"),  # testUtilizationOrdering, case 6
        ([1.2, 1.0, 0.2, 1.1, 0.2], [0.2, 0.1, 0.1, 0.3, 0.3], [1, 2, 0, 0, 3], "ad", "adecb"),  # case 16
    ],
)
def test_capacity_order_with_a_partition(used, absolute, priorities, accessible, expected):
    allowed = [name in accessible for name in "abcde"[: len(used)]]
    found = yarn_capacity_order(used, absolute, priorities=priorities, accessible=allowed)
    assert "".join("abcde"[k] for k in found) == expected


def test_used_capacity():
    """Used over guaranteed: 30 of 50 GB and 2 of 5 cores; 10 of 75 GB and 9 of 7.5 cores; no guarantee."""
    used = yarn_used_capacity([[30, 2], [10, 9], [1, 1]], [100, 10], [F(1, 2), F(3, 4), 0])
    assert used.tolist() == [F(3, 5), F(6, 5), 0]


def test_shares_as_coded_are_of_whole_numbers():
    # Half a unit beyond a whole one is nothing: maxima of 1.5 hold 1, and the search for 3 would never end.
    assert yarn_fair_shares(10, [1, 1], maximum=[1.5, 1.5], as_coded=True).tolist() == [1, 1]
    assert yarn_fair_shares(10, [1, 1], minimum=[7.5, 0], as_coded=True).tolist() == [7, 3]


def test_refusals():
    with pytest.raises(ModelError, match="weights must be finite"):
        yarn_fair_shares(1, [INF])
    with pytest.raises(ModelError, match="minimum has shape"):
        yarn_fair_shares(1, [1, 1], minimum=[1, 2, 3])
    with pytest.raises(ModelError, match="total must be >= 0"):
        yarn_fair_shares(-1, [1])
    with pytest.raises(ModelError, match="n_queues, n_resources"):
        yarn_drf_order([1, 2], [1])
