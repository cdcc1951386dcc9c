"""Ghodsi et al., "Dominant resource fairness", NSDI 2011: the worked examples that one pool can hold."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import DRF, AssetFair, Cluster, Problem, ProportionalFair, allocate
from fairness.indivisible import LowestShare, deviation, fill_cluster, fill_tasks

POOL = Problem([[1, 4], [3, 1]], [9, 18])


def test_main_example():
    assert allocate(POOL, DRF()).tasks.tolist() == [3, 2]
    np.testing.assert_allclose(AssetFair()(POOL, [1, 1]), [63 / 25, 54 / 25], rtol=1e-14)
    np.testing.assert_allclose(ProportionalFair()(POOL, [1, 1]), [45 / 11, 18 / 11], rtol=1e-12)


@pytest.mark.parametrize(
    ("demands", "capacity", "tasks"),
    [([[1, 3], [1, 1]], 30, (6, 12)), ([[2, 2], [1, 2]], 70, (15, 20)), ([[3, 2], [4, 1]], 21, (3, 3))],
)
def test_asset_fairness_counterexamples(demands, capacity, tasks):
    result = allocate(Problem(demands, [capacity, capacity]), AssetFair())
    np.testing.assert_allclose(result.tasks, tasks, rtol=1e-14)


def test_asset_fairness_violates_the_sharing_incentive():
    result = allocate(Problem([[1, 3], [1, 1]], [30, 30]), AssetFair())
    # User 1 holds (6, 18), less than half of each resource but one.
    np.testing.assert_allclose(result.tasks[0] * np.array([1, 3]), [6, 18], rtol=1e-14)
    assert result.dominant_shares[0] == pytest.approx(18 / 30)
    result = allocate(Problem([[2, 2], [1, 2]], [70, 70]), AssetFair())
    assert result.dominant_shares[0] == pytest.approx(3 / 7)


def test_ceei_rewards_a_lie():
    ceei = ProportionalFair()
    honest = ceei(Problem([[16, 1], [1, 2]], [100, 100]), [1, 1])
    np.testing.assert_allclose(honest, [100 / 31, 1500 / 31], rtol=1e-12)
    lying = ceei(Problem([[16, 8], [1, 2]], [100, 100]), [1, 1])
    np.testing.assert_allclose(lying, [25 / 6, 100 / 3], rtol=1e-12)


def test_ceei_is_not_population_monotone():
    ceei = ProportionalFair()
    three = ceei(Problem([[4, 1], [1, 16], [16, 1]], [100, 100]), [1, 1, 1])
    np.testing.assert_allclose(three, [11.283, 5.351, 3.095], atol=5e-4)
    two = ceei(Problem([[4, 1], [1, 16]], [100, 100]), [1, 1])
    np.testing.assert_allclose(two, [500 / 21, 100 / 21], rtol=1e-12)
    assert two[1] < three[1]


def test_drf_is_not_resource_monotone():
    before = allocate(Problem([[2, 1], [1, 2]], [1, 1]), DRF())
    np.testing.assert_allclose(before.tasks, [1 / 3, 1 / 3], rtol=1e-14)
    np.testing.assert_allclose(before.dominant_shares, [2 / 3, 2 / 3])
    after = allocate(Problem([[2, 1], [1, 2]], [2, 1]), DRF())
    assert after.dominant_shares[1] == pytest.approx(1 / 2)


def test_dominant_resources_of_the_main_example():
    # A needs 1/9 of the CPUs and 4/18 of the memory; B needs 3/9 and 1/18.
    result = allocate(POOL, DRF())
    assert POOL.task_shares.argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(result.dominant_shares, [2 / 3, 2 / 3], rtol=1e-15)
    np.testing.assert_allclose(result.usage, [9, 14], rtol=1e-15)


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


def test_asset_fairness_equalises_the_bills():
    # A CPU costs 2, a GB costs 1: 6 per task of A, 7 per task of B.
    tasks = AssetFair()(POOL, [1, 1])
    assert 6 * tasks[0] == pytest.approx(7 * tasks[1], rel=1e-14)


def test_asset_fairness_violates_bottleneck_fairness():
    result = allocate(Problem([[3, 2], [4, 1]], [21, 21]), AssetFair())
    # Resource 1 is dominant for both, yet they get 9 and 12 of 21 units.
    np.testing.assert_allclose(result.shares[:, 0], [3 / 7, 4 / 7], rtol=1e-14)


def integer_pool(rng):
    demands = rng.integers(0, 6, (int(rng.integers(2, 6)), int(rng.integers(1, 4))))
    demands[~demands.any(axis=1), 0] = 1
    return Problem(demands, rng.integers(5, 40, demands.shape[1]))


def test_discrete_shares_differ_by_at_most_one_task():
    """Task by task for the poorest, to the first misfit; the bound is attained."""
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(1500):
        filling = fill_tasks(integer_pool(rng))
        assert filling.largest_gap <= filling.gap_bound
        ratios.append(filling.largest_gap / filling.gap_bound)
    assert max(ratios) == 1


def test_a_max_task_has_the_largest_one_task_share():
    rng = np.random.default_rng(2)
    for _ in range(50):
        pool = integer_pool(rng)
        demands, capacities = pool.as_fractions()
        max_task = [max(column) for column in zip(*demands, strict=True)]
        share = max(v / c for v, c in zip(max_task, capacities, strict=True))
        assert share == fill_tasks(pool).gap_bound


def test_k_machines_that_hold_a_max_task():
    """Any two dominant shares differ by at most one max-task; none exceeds the continuous one by more."""
    rng = np.random.default_rng(3)
    for _ in range(150):
        demands = rng.integers(1, 6, (int(rng.integers(2, 5)), 2))
        machine = demands.max(axis=0) + rng.integers(0, 10, 2)
        cluster = Cluster(demands, [machine] * int(rng.integers(1, 8)))
        filling = fill_cluster(cluster, server_rule="first fit", stop="first misfit")
        found = deviation(filling)
        assert found.holds_max_task
        assert found.gap <= found.one_task
        assert found.above <= found.one_task


def test_k_machines_can_lose_more_than_one_max_task():
    """What each machine cannot use adds up: read as a lower bound the statement is false."""
    cluster = Cluster([[2]], [[3], [3], [3]])
    found = deviation(fill_cluster(cluster, server_rule="first fit", stop="first misfit"))
    assert found.continuous[0] - found.shares[0] == F(3, 2) * found.one_task


def test_filling_may_go_on_after_the_first_misfit():
    """As in Mesos, where an offer that does not fit is declined."""
    pool = Problem([[1, 4], [3, 1]], [12, 9])
    assert fill_tasks(pool).tasks.tolist() == [1, 2]
    assert fill_tasks(pool, LowestShare("skip")).tasks.tolist() == [1, 3]
