"""Divisions, shares and orders against their definitions and second methods, on random instances (seeded).

In fractions nothing is rounded, so that these tests have no false alarms; tolerances of floats say why.
"""

from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pytest

from fairness import DRF, MaxMin, ModelError, Problem
from fairness.schedulers import (
    armada_fair_shares,
    cumulative_dominant_share,
    dominant_share,
    kai_fair_shares,
    kueue_consumed,
    kueue_shares,
    share_order,
    weighted_division,
    yarn_drf_order,
    yarn_fair_shares,
    yunikorn_compare,
    yunikorn_shares,
)

SEEDS = range(12)


def small(rng, n, least=0, zeros=0.3):
    """Fractions with small numerators, so that ties and zeros are frequent."""
    drawn = rng.integers(max(least, 1), 7, n) * (rng.random(n) >= zeros if least == 0 else 1)
    return [F(int(v), int(d)) for v, d in zip(drawn, rng.integers(1, 4, n), strict=True)]


def is_fair(shares, total, weights, minimum, maximum):
    """ComputeFairShares: there is one R, and every queue has R w between its bounds."""
    least = [min(m, M) for m, M in zip(minimum, maximum, strict=True)]
    if sum(shares) != total:
        short = sum(shares) < total
        return list(shares) == (
            [M if w > 0 else m for w, m, M in zip(weights, least, maximum, strict=True)] if short else least
        )
    low = [x / w for x, w, m in zip(shares, weights, least, strict=True) if w > 0 and x > m]
    high = [x / w for x, w, M in zip(shares, weights, maximum, strict=True) if w > 0 and x < M]
    bounded = all(m <= x <= M for x, m, M in zip(shares, least, maximum, strict=True))
    unweighted = all(x == m for x, w, m in zip(shares, weights, least, strict=True) if w == 0)
    # Whoever is above its minimum is at or below the level, whoever is below its maximum at or above it.
    return bounded and unweighted and max(low, default=0) <= min(high, default=float("inf"))


@pytest.mark.parametrize("seed", SEEDS)
def test_division_is_fair(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    weights, minimum, extra = small(rng, n), small(rng, n), small(rng, n)
    maximum = [m + e if rng.random() < 0.7 else float("inf") for m, e in zip(minimum, extra, strict=True)]
    total = F(int(rng.integers(0, 30)), 2)
    shares = weighted_division(total, weights, minimum=minimum, maximum=maximum)
    assert is_fair(list(shares), total, weights, minimum, maximum)
    floats = weighted_division(
        float(total),
        np.array(weights, float),
        minimum=np.array(minimum, float),
        maximum=np.array(maximum, float),
    )
    # A dozen roundings of sums of numbers up to 30.
    np.testing.assert_allclose(floats, shares.astype(float), rtol=1e-13, atol=1e-13)
    if sum(shares) == total and len(shares) > 1 and shares[0] >= 1:
        spoiled = [shares[0] - F(1, 2), shares[1] + F(1, 2), *shares[2:]]
        assert (
            spoiled == list(shares)
            or not is_fair(spoiled, total, weights, minimum, maximum)
            or weights[0] == 0
        )


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_division_without_minimum_is_max_min(seed):
    """The policy fills one resource with classes that demand one unit each, up to their limits."""
    rng = np.random.default_rng(seed)
    weights, maximum = rng.random(5) + 0.1, np.where(rng.random(5) < 0.5, rng.random(5), np.inf)
    tasks = MaxMin()(Problem(np.ones((5, 1)), [2.0], weights=weights, limits=maximum), np.ones(5))
    np.testing.assert_allclose(weighted_division(2.0, weights, maximum=maximum), tasks, rtol=1e-12)


def test_division_over_many_decades():
    """Small weights beside large ones that are satisfied: their level comes from sums of their own."""
    weights = np.array([1e-20, 1e20, 1.0])
    shares = weighted_division(10.0, weights, maximum=[np.inf, 2.0, 3.0])
    np.testing.assert_allclose(shares, [5, 2, 3], rtol=1e-15)


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_dominant_shares_are_those_of_drf(seed):
    rng = np.random.default_rng(seed)
    problem = Problem(rng.random((4, 3)), rng.random(3) + 0.5, weights=rng.random(4) + 0.5)
    tasks = DRF()(problem, np.ones(4))
    shares = dominant_share(tasks[:, None] * problem.demands, problem.capacities, problem.weights)
    # One resource is full and all demand it: all shares are the level of the filling.
    np.testing.assert_allclose(shares, shares[0], rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_share_order_agrees_with_every_pair(seed):
    rng = np.random.default_rng(seed)
    usage = [small(rng, 3) for _ in range(6)]
    order = share_order(usage, [4, 5, 6], names=list("fedcba"))
    shares = [yunikorn_shares(row, [4, 5, 6]) for row in usage]
    for i, j in pairwise(order):
        compared = yunikorn_compare(shares[i], shares[j])
        assert compared < 0 or (compared == 0 and i > j)  # names run against the positions


@pytest.mark.parametrize("seed", SEEDS)
def test_drf_order_agrees_with_every_pair(seed):
    """DominantResourceFairnessPolicy in words, with weights > 0 and a minimum for all that is used."""
    rng = np.random.default_rng(seed)
    cluster = [F(12), F(8), F(20)]
    usage = [small(rng, 3) for _ in range(6)]
    minimum = [small(rng, 3, least=1) for _ in range(6)]
    weights = small(rng, 6, least=1)
    order = yarn_drf_order(usage, cluster, weights, minimum=minimum).tolist()

    def compare(a, b):
        ratios = [[u / c for u, c in zip(usage[k], cluster, strict=True)] for k in (a, b)]
        ways = [sorted(range(3), key=lambda j, r=r: (-r[j], j)) for r in ratios]
        needy = [usage[k][way[0]] < minimum[k][way[0]] for k, way in zip((a, b), ways, strict=True)]
        if needy[0] != needy[1]:
            return -1 if needy[0] else 1
        parts = [
            [(usage[k][j] / minimum[k][j]) if needy[0] else r[j] / weights[k] for j in way]
            for k, way, r in zip((a, b), ways, ratios, strict=True)
        ]
        return (parts[0] > parts[1]) - (parts[0] < parts[1])

    for place, a in enumerate(order):
        for b in order[place + 1 :]:
            compared = compare(a, b)
            assert compared < 0 or (compared == 0 and a < b)


@pytest.mark.parametrize("seed", SEEDS)
def test_kai_divides_what_is_left_by_priority(seed):
    rng = np.random.default_rng(seed)
    n = 5
    requests, deserved, weights = small(rng, n), small(rng, n), small(rng, n)
    priorities = rng.integers(0, 3, n)
    total = F(int(rng.integers(0, 25)))
    found = kai_fair_shares(total, requests, deserved=deserved, weights=weights, priorities=priorities)
    expected = [min(d, r) for d, r in zip(deserved, requests, strict=True)]
    left = max(total - sum(expected), 0)
    for priority in (2, 1, 0):
        mine = [i for i in range(n) if priorities[i] == priority]
        if mine:
            missing = [requests[i] - expected[i] for i in mine]
            more = weighted_division(left, [weights[i] for i in mine], maximum=missing)
            left -= sum(more)
            for i, share in zip(mine, more, strict=True):
                expected[i] += share
    assert found.tolist() == expected
    coded = kai_fair_shares(
        total, requests, deserved=deserved, weights=weights, priorities=priorities, as_coded=True
    )
    assert sum(coded) <= max(total, sum(np.minimum(deserved, requests)))


@pytest.mark.parametrize("seed", SEEDS)
def test_armada_rounds_leave_little(seed):
    rng = np.random.default_rng(seed)
    weights, demands = rng.random(4) + 0.1, rng.random(4)
    exact, coded = (armada_fair_shares(weights, demands, as_coded=flag) for flag in (False, True))
    # Four queues are satisfied in four rounds; only the last hundredth may stay undivided.
    lacking = exact.demand_capped - coded.demand_capped
    assert abs(lacking).sum() <= 0.01 + 1e-12
    assert (coded.uncapped >= exact.uncapped - 0.01 - 1e-12).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_kueue_lendable_is_what_one_could_use_alone(seed):
    """All that the parent could have, by trying: use bubbles up until a quota or a limit stops it."""
    rng = np.random.default_rng(seed)
    n = 6
    parents = [-1, *(int(rng.integers(0, v)) for v in range(1, n))]
    nominal, lending, borrowing = small(rng, n), small(rng, n), small(rng, n)
    lending = [x if rng.random() < 0.5 else float("inf") for x in lending]
    borrowing = [x if rng.random() < 0.5 else float("inf") for x in borrowing]
    quota, kept = list(nominal), [F(0)] * n
    for v in range(n - 1, 0, -1):
        kept[v] = max(quota[v] - lending[v], F(0))
        quota[parents[v]] += quota[v] - kept[v]

    def fits(node, amount):
        while node > 0:
            if amount > quota[node] + borrowing[node]:
                return False
            amount, node = max(amount - kept[node], F(0)), parents[node]
        return amount <= quota[0]

    usage = [F(0)] * n
    leaf = n - 1
    usage[leaf] = quota[leaf] + 1
    shares = kueue_shares(
        parents, np.array(nominal)[:, None], np.array(usage)[:, None],
        lending_limits=np.array(lending)[:, None], borrowing_limits=np.array(borrowing)[:, None],
    )  # fmt: skip
    if shares.ratios[leaf] == 0:  # nothing to be lent
        assert not fits(parents[leaf], F(1, 1000))
    else:
        lendable = 1000 / shares.ratios[leaf]
        assert fits(parents[leaf], lendable)
        assert not fits(parents[leaf], lendable + F(1, 1000))


@pytest.mark.parametrize("seed", SEEDS)
def test_kueue_use_bubbles_up(seed):
    """resource_node.go, addUsage: workloads one by one; what a node keeps does not reach its parent."""
    rng = np.random.default_rng(seed)
    n = 6
    parents = [-1, *(int(rng.integers(0, v)) for v in range(1, n))]
    leaves = sorted(set(range(1, n)) - set(parents))
    nominal, lending = small(rng, n), small(rng, n)
    quota, kept, used, own = list(nominal), [F(0)] * n, [F(0)] * n, [F(0)] * n
    for v in range(n - 1, 0, -1):
        kept[v] = max(quota[v] - lending[v], F(0))
        quota[parents[v]] += quota[v] - kept[v]
    for leaf, amount in zip(rng.choice(leaves, 8).tolist(), small(rng, 8), strict=True):
        own[leaf] += amount
        v = leaf
        while v >= 0 and amount > 0:
            beyond = amount - max(kept[v] - used[v], F(0))
            used[v], amount, v = used[v] + amount, max(beyond, F(0)), parents[v]
    could = list(quota)
    for v in range(1, n):
        could[v] = kept[v] + could[parents[v]]
    columns = (np.array(values)[:, None] for values in (nominal, own))
    shares = kueue_shares(parents, *columns, lending_limits=np.array(lending)[:, None])
    for v in range(1, n):
        borrowed, lendable = max(used[v] - quota[v], F(0)), could[parents[v]]
        assert bool(shares.borrowing[v]) == (borrowed > 0)
        assert shares.ratios[v] == (1000 * borrowed / lendable if lendable else 0)


def test_the_past():
    """A moving average with a half-life is the cumulative share over h / ln 2."""
    rng = np.random.default_rng(1)
    durations, usage = rng.random(20) + 0.1, rng.random((20, 3, 2))
    total, half_life = [2.0, 3.0], 0.7
    average = np.zeros(3)
    for elapsed, held in zip(durations, usage, strict=True):
        average = kueue_consumed(average, dominant_share(held, total), elapsed, half_life)
    found = cumulative_dominant_share(durations, usage, total, half_life=half_life)
    np.testing.assert_allclose(found * np.log(2) / half_life, average, rtol=1e-13)
    without = cumulative_dominant_share(durations, usage, total)
    np.testing.assert_allclose(without, durations @ dominant_share(usage, total), rtol=1e-13)
    assert cumulative_dominant_share([F(1, 2)], [[F(1), F(2)]], [2, 3]) == F(1, 3)


def test_yarn_as_coded_is_of_one_level():
    """Whole shares reach the total, and exceed it by less than one unit a queue."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        weights = rng.integers(1, 9, 5)
        coded = yarn_fair_shares(1000, weights, maximum=[300] * 5, as_coded=True)
        assert 1000 <= coded.sum() < 1005
        # One level: all that are not at their maximum are R w, cut off.
        free = coded < 300
        assert (coded[free] / weights[free]).max() < ((coded[free] + 1) / weights[free]).min()


def test_refusals():
    with pytest.raises(ModelError, match="weights must be >= 0"):
        weighted_division(1, [-1])
    with pytest.raises(ModelError, match=r"total must be one number, of one resource; got shape \(2,\)"):
        weighted_division([1, 2], [1, 1])
    with pytest.raises(ModelError, match="usage must be an array of numbers"):
        dominant_share(["a"], [1])
    with pytest.raises(ModelError, match="total has shape"):
        dominant_share([[1, 2]], [1, 2, 3])
    with pytest.raises(ModelError, match="half_life must be > 0"):
        cumulative_dominant_share([1], [[1]], [1], half_life=0)
    with pytest.raises(ModelError, match="durations has shape"):
        cumulative_dominant_share([1, 2], [[1]], [1])
    with pytest.raises(ModelError, match="3 names for 2 queues"):
        share_order([[1], [2]], [1], names="abc")
    import pandas as pd

    with pytest.raises(ModelError, match=r"by position, not by label; pass usage\.to_numpy"):
        dominant_share(pd.DataFrame({"CPU": [1]}, index=["a"]), [1])
