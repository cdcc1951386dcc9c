"""Published counterexamples, as exact allocations: the checkers must say what the papers say.

Ghodsi et al. (NSDI 2011) for pools; Khamse-Ashari et al. (ICC 2017) for clusters, with placements that were
certified by its Theorem 1 or found by hand.
"""

from fractions import Fraction as F

import numpy as np

from fairness import Cluster, Problem
from fairness.properties.changes.changed_model import Grow, Leave, Lie
from fairness.properties.definitions.bottleneck_fairness import BottleneckFairness, common_bottleneck
from fairness.properties.definitions.envy_freeness import EnvyFreeness
from fairness.properties.definitions.pareto_efficiency import ParetoEfficiency
from fairness.properties.definitions.population_monotonicity import PopulationMonotonicity
from fairness.properties.definitions.resource_monotonicity import ResourceMonotonicity
from fairness.properties.definitions.sharing_incentive import SharingIncentive
from fairness.properties.definitions.strategy_proofness import GroupStrategyProofness, StrategyProofness

SI, EF, PE, BF = SharingIncentive(), EnvyFreeness(), ParetoEfficiency(), BottleneckFairness()
SP, GSP = StrategyProofness(), GroupStrategyProofness()


def exact(values):
    array = np.array(values, dtype=object)
    return np.array([F(v) for v in array.ravel()], dtype=object).reshape(array.shape)


def test_asset_fairness_violates_the_sharing_incentive():
    finding = SI.check(Problem([[1, 3], [1, 1]], [30, 30]), exact([6, 12]))
    assert finding.violation == F(1, 5)
    assert finding.users == (1,)
    assert finding.text == "class 2 runs 12 tasks; its equal part (1/2) of everything, alone, would run 15"
    finding = SI.check(Problem([[2, 2], [1, 2]], [70, 70]), exact([15, 20]))
    assert finding.violation == F(1, 7)
    assert finding.text == "class 1 runs 15 tasks; its equal part (1/2) of everything, alone, would run 35/2"


def test_asset_fairness_violates_bottleneck_fairness():
    finding = BF.check(Problem([[3, 2], [4, 1]], [21, 21]), exact([3, 3]))
    assert finding.violation == F(1, 4)
    assert finding.users == (0,)


def test_ceei_rewards_a_lie():
    pool, lie = Problem([[16, 1], [1, 2]], [100, 100]), Lie((0,), ((16, 8),))
    for one in (SP, GSP):
        finding = one.check(pool, exact([F(100, 31), F(1500, 31)]), lie, exact([F(25, 6), F(100, 3)]))
        assert finding.violation == F(7, 24)
        assert finding.users == (0,)


def test_ceei_is_not_population_monotone():
    pool = Problem([[4, 1], [1, 16], [16, 1]], [100, 100])
    # The allocation of the three is irrational; these digits are those that the paper rounds.
    before, after = np.array([11.283, 5.351, 3.095]), np.array([500 / 21, 100 / 21])
    finding = PopulationMonotonicity().check(pool, before, Leave((2,)), after)
    assert finding.users == (1,)
    np.testing.assert_allclose(finding.violation, 1 - 100 / 21 / 5.351, rtol=1e-12)


def test_drf_is_not_resource_monotone():
    finding = ResourceMonotonicity().check(
        Problem([[2, 1], [1, 2]], [1, 1]), exact([F(1, 3), F(1, 3)]), Grow((1, 0)), exact([F(1, 2), F(1, 4)])
    )
    assert finding.violation == F(1, 4)
    assert finding.users == (1,)


def test_drf_main_example_has_all_properties_of_one_allocation():
    pool, tasks = Problem([[1, 4], [3, 1]], [9, 18]), exact([3, 2])
    assert all(one.check(pool, tasks).holds for one in (SI, EF, PE))
    assert not PE.check(pool, exact([3, F(19, 10)])).holds


def test_tsf_with_equal_weights_violates_the_sharing_incentive():
    cluster = Cluster(
        [[F(1, 10), 1], [1, F(1, 10)]], [[10, 1], [1, 10]], eligible=[[True, True], [False, True]]
    )
    finding = SI.check(cluster, exact([[1, 0], [0, 1]]))
    assert finding.violation == F(9, 11)
    assert finding.text == "class 1 runs 1 tasks; its equal part (1/2) of everything, alone, would run 11/2"
    psdsf = exact([[1, F(9, 2)], [0, F(11, 20)]])
    assert SI.check(cluster, psdsf).violation == 0
    assert EF.check(cluster, psdsf).holds
    assert PE.check(cluster, psdsf).holds


def test_figure_1_bottleneck_fairness():
    cluster = Cluster(
        [[1, 2, 10], [1, 2, 1], [F(1, 2), 1, 0]], [[9, 12, 100], [12, 12, 0]], weights=[1, 1, 2]
    )
    assert common_bottleneck(cluster) == 1
    psdsf = exact([[3, 0], [3, 0], [0, 12]])
    tsf = exact([[2, 0], [2, 0], [4, 12]])
    cdrfh = exact([[F(60, 23), 0], [F(72, 23), 0], [F(12, 23), 12]])
    for division in ("resource", "time"):
        assert all(one.check(cluster, psdsf, division=division).violation <= 0 for one in (SI, EF, BF))
        assert PE.check(cluster, psdsf, division=division).violation == 0
    assert BF.check(cluster, tsf).violation == F(1, 3)
    assert not BF.check(cluster, cdrfh).holds
    assert "of RAM" not in BF.check(cluster, tsf).text
    assert "class 3 holds 1/3 of resource 2 of server 1" in BF.check(cluster, tsf).text


def test_resource_division_is_not_pareto_efficient():
    finding = PE.check(Cluster([[1, 3], [3, 1]], [[4, 2], [2, 4]]), exact([[0, F(4, 3)], [F(4, 3), 0]]))
    assert not finding.holds
    assert finding.users == (0, 1)
    small = Cluster([[1, 2], [3, 1]], [[2, 1], [1, 1]])
    alone = exact([[0, F(1, 2)], [F(2, 3), 0]])
    finding = PE.check(small, alone)
    assert not finding.holds
    # The published better point is one that the program may choose from.
    assert finding.violation >= F(1, 10) / (F(1, 2) + F(1, 2)) + (F(4, 5) - F(2, 3)) / (F(2, 3) + F(1, 3))
    assert PE.check(small, exact([[F(1, 2), 0], [0, F(1, 3)]])).violation > 0
    # Under time division each alone on a server is efficient.
    assert PE.check(small, alone, division="time").violation == 0


def test_one_of_two_psdsf_points_dominates_the_other():
    cluster = Cluster([[2, 6, 3], [2, 2, 5]], [[6, 6, 5], [11, 8, 2], [1, 7, 8]], weights=[2, 1])
    worse = exact([[F(20, 33), F(2, 3), F(1, 3)], [F(7, 11), 0, F(1, 6)]])
    better = exact([[F(6, 7), F(2, 3), F(1, 9)], [F(3, 7), 0, F(7, 18)]])
    assert better.sum(axis=1).tolist() == [F(103, 63), F(103, 126)]
    assert worse.sum(axis=1).tolist() == [F(53, 33), F(53, 66)]
    assert not PE.check(cluster, worse).holds
    assert SI.check(cluster, worse).holds
    assert EF.check(cluster, worse).holds


def test_resource_division_rewards_hiding_a_server():
    cluster = Cluster([[3, 1], [1, 3]], [[2, 1], [4, 3]])
    truth = exact([[F(2, 3), F(6, 13)], [0, F(11, 13)]])
    lie = Lie((0,), eligible=((False, True),))
    after = exact([[0, F(52, 45)], [F(1, 3), F(8, 15)]])
    assert after.sum(axis=1).tolist() == [F(52, 45), F(13, 15)]
    for one in (SP, GSP):
        finding = one.check(cluster, truth, lie, after)
        assert finding.violation == F(52, 45) / F(44, 39) - 1
        assert finding.text == (
            "class 1 hides that it may use server 1 and can then run 52/45 tasks instead of 44/39"
        )
    # Both gain, and both could: the truthful point is not efficient.
    assert not PE.check(cluster, truth).holds
