"""Ghodsi et al., "Dominant resource fairness", NSDI 2011: the worked examples that one pool can hold."""

import numpy as np
import pytest

from fairness import DRF, AssetFair, Problem, ProportionalFair, allocate

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
    np.testing.assert_allclose(before.dominant_shares, [2 / 3, 2 / 3])
    after = allocate(Problem([[2, 1], [1, 2]], [2, 1]), DRF())
    assert after.dominant_shares[1] == pytest.approx(1 / 2)
