"""Ghodsi et al., "Dominant resource fairness", NSDI 2011: the worked examples that one pool can hold."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import DRF, AssetFair, Cluster, Problem, ProportionalFair, allocate
from fairness.indivisible import deviation, fill_cluster, fill_tasks

POOL = Problem([[1, 4], [3, 1]], [9, 18])
THREE = [[4, 1], [1, 16], [16, 1]]


@pytest.mark.parametrize(
    ("policy", "demands", "capacities", "tasks"),
    [
        (DRF(), [[1, 4], [3, 1]], [9, 18], [3, 2]),
        (AssetFair(), [[1, 4], [3, 1]], [9, 18], [63 / 25, 54 / 25]),
        (ProportionalFair(), [[1, 4], [3, 1]], [9, 18], [45 / 11, 18 / 11]),
        # Asset fairness lacks the sharing incentive (two cases) and bottleneck fairness.
        (AssetFair(), [[1, 3], [1, 1]], [30, 30], [6, 12]),
        (AssetFair(), [[2, 2], [1, 2]], [70, 70], [15, 20]),
        (AssetFair(), [[3, 2], [4, 1]], [21, 21], [3, 3]),
        # CEEI rewards a lie.
        (ProportionalFair(), [[16, 1], [1, 2]], [100, 100], [100 / 31, 1500 / 31]),
        (ProportionalFair(), [[16, 8], [1, 2]], [100, 100], [25 / 6, 100 / 3]),
        # User 2 loses when user 3 leaves.
        (ProportionalFair(), THREE[:2], [100, 100], [500 / 21, 100 / 21]),
        # User 2 loses when the first resource grows.
        (DRF(), [[2, 1], [1, 2]], [1, 1], [1 / 3, 1 / 3]),
        (DRF(), [[2, 1], [1, 2]], [2, 1], [1 / 2, 1 / 4]),
    ],
)
def test_allocations(policy, demands, capacities, tasks):
    np.testing.assert_allclose(allocate(Problem(demands, capacities), policy).tasks, tasks, rtol=1e-12)


def test_ceei_prices():
    prices = allocate(POOL, ProportionalFair()).prices
    np.testing.assert_allclose(prices, [1 / 5, 1 / 90], rtol=1e-12)


def test_ceei_of_three_users_as_printed():
    tasks = ProportionalFair()(Problem(THREE, [100, 100]), [1, 1, 1])
    np.testing.assert_allclose(tasks, [11.283, 5.351, 3.095], atol=5e-4)


def test_progressive_filling_order():
    filling = fill_tasks(POOL, ties=[1, 0])
    assert filling.order == (1, 0, 0, 1, 0)
    assert filling.tasks.tolist() == [3, 2]
    assert filling.dominant_shares.tolist() == [F(2, 3), F(2, 3)]
    # The first pick is arbitrary.
    other = fill_tasks(POOL, ties=[0, 1])
    assert other.order == (0, 1, 0, 1, 0)
    assert other.tasks.tolist() == [3, 2]


def test_weighted_drf():
    """Shares are divided by the weights: with 2 : 1 the continuous allocation is (54/13, 18/13)."""
    weighted = POOL.replaced(weights=[2, 1])
    result = allocate(weighted, DRF())
    # Both are one quotient of small integers, computed with a few roundings.
    np.testing.assert_allclose(result.tasks, [54 / 13, 18 / 13], rtol=1e-14)
    filling = fill_tasks(weighted)
    assert deviation(filling).continuous.tolist() == [F(54, 13) * F(4, 18) / 2, F(18, 13) * F(3, 9)]
    assert filling.tasks.tolist() == [4, 1]


def test_k_machines_can_lose_more_than_one_max_task():
    """What each machine cannot use adds up: read as a lower bound the statement is false."""
    cluster = Cluster([[2]], [[3], [3], [3]])
    found = deviation(fill_cluster(cluster, server_rule="first fit", stop="first misfit"))
    assert found.continuous[0] - found.shares[0] == F(3, 2) * found.one_task
