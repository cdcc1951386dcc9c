"""Properties of one allocation: checkers against their brute-force twins, in fractions and in floats."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy.optimize import linprog

from fairness import DRF, Cluster, ModelError, Problem
from fairness.properties.definitions import envy_freeness
from fairness.properties.definitions.bottleneck_fairness import BottleneckFairness, common_bottleneck
from fairness.properties.definitions.envy_freeness import EnvyFreeness
from fairness.properties.definitions.pareto_efficiency import ParetoEfficiency, largest_gain
from fairness.properties.definitions.sharing_incentive import SharingIncentive
from fairness.properties.definitions.single_resource import SingleResourceFairness
from fairness.properties.protocol.arithmetic import read
from fairness.properties.protocol.property import Question
from tests.fairness.properties import twins

SI, EF, PE, BF, SRF = (
    SharingIncentive(),
    EnvyFreeness(),
    ParetoEfficiency(),
    BottleneckFairness(),
    SingleResourceFairness(),
)


def models(seed, number=25):
    """Pools and clusters of small integers, with zeros, weights, constraints and effective capacities."""
    rng = np.random.default_rng(seed)
    for k in range(number):
        n, m, s = (int(v) for v in rng.integers(1, 4, 3))
        yield rng, twins.integer_pool(rng, n, m), "resource"
        yield rng, twins.integer_cluster(rng, n, s, m, effective=k % 3 == 0), "time" if k % 2 else "resource"


def test_sharing_incentive_twin():
    kinds = set()
    for rng, model, division in models(1):
        placement = twins.random_placement(rng, model, division)
        finding = SI.check(model, twins.as_allocation(model, placement), division=division)
        assert finding.violation == twins.shortfall(model, placement)
        assert finding.tolerance == 0
        assert finding.holds == (not finding.users)
        kinds.add(finding.holds)
        rounded = SI.check(model, twins.floats(twins.as_allocation(model, placement)), division=division)
        # A few roundings of numbers of order 1.
        assert rounded.violation == pytest.approx(float(finding.violation), abs=1e-12)
    assert kinds == {True, False}


def test_envy_twin():
    kinds = set()
    for rng, model, division in models(2):
        placement = twins.random_placement(rng, model, division)
        finding = EF.check(model, twins.as_allocation(model, placement), division=division)
        assert finding.violation == twins.envy(model, placement, division)
        kinds.add(finding.holds)
        rounded = EF.check(model, twins.floats(twins.as_allocation(model, placement)), division=division)
        # A few roundings of numbers of order 1.
        assert rounded.violation == pytest.approx(float(finding.violation), abs=1e-12)
    assert kinds == {True, False}


def test_envy_in_blocks(monkeypatch):
    rng = np.random.default_rng(9)
    cluster = twins.integer_cluster(rng, 5, 3, 2)
    placement = twins.random_placement(rng, cluster)
    whole = EF.check(cluster, placement)
    monkeypatch.setattr(envy_freeness, "BLOCK", 2 * placement.size * 2)
    assert EF.check(cluster, placement) == whole


def test_pareto_twin():
    kinds = {Problem: set(), Cluster: set()}
    for rng, model, division in models(3):
        placement = twins.random_placement(rng, model, division)
        finding = PE.check(model, twins.as_allocation(model, placement), division=division)
        gains = twins.can_gain(model, placement, division)
        assert finding.holds == (not any(gains))
        kinds[type(model)].add(finding.holds)
        if not finding.holds:
            assert "feasible" in finding.text or "left over" in finding.text
            assert all(gains[user] for user in finding.users)
        rounded = PE.check(model, twins.floats(twins.as_allocation(model, placement)), division=division)
        # HiGHS is asked for 1e-10; gains are of order 1.
        assert rounded.violation == pytest.approx(float(finding.violation), abs=1e-8)
    assert kinds == {Problem: {True, False}, Cluster: {True, False}}


def test_efficient_placements_are_found_efficient():
    # The placement that attains the largest gain leaves none.
    for rng, model, division in models(4, 10):
        placement = twins.random_placement(rng, model, division)
        gain, better = largest_gain(
            read(Question(model, twins.as_allocation(model, placement), division=division))
        )
        assert gain >= 0
        assert PE.check(model, twins.as_allocation(model, better), division=division).violation == 0


def test_pareto_of_pools_against_a_linear_program():
    rng = np.random.default_rng(5)
    for _ in range(40):
        pool = twins.integer_pool(rng, int(rng.integers(1, 5)), int(rng.integers(1, 4)))
        tasks = twins.floats(twins.random_placement(rng, pool, full=bool(rng.integers(2)))[:, 0])
        best = linprog(
            -np.ones(pool.n_classes),
            A_ub=pool.demands.T,
            b_ub=pool.capacities,
            bounds=[(0.999999999 * t, None) for t in tasks],
        )
        # A gain of small integers is either 0 or much larger than 1e-6.
        assert PE.check(pool, tasks).holds == (-best.fun - tasks.sum() < 1e-6)


def test_bottleneck_twin_on_clusters():
    rng = np.random.default_rng(6)
    kinds = set()
    for _ in range(40):
        n, s, m = (int(v) for v in rng.integers(1, 4, 3))
        model = BF.suit(twins.integer_cluster(rng, n, s, m))
        assert model.is_rational
        assert common_bottleneck(model) is not None
        r = common_bottleneck(model)
        demands, capacities, gamma, weights = twins.parts(model)
        eligible = [[g > 0 for g in row] for row in gamma]
        capacity = [c[r] for c in capacities]
        fair = twins.fair_amounts(capacity, eligible, weights)
        placed = twins.place_amounts(capacity, eligible, fair)
        needs = np.array([row[r] for row in demands], dtype=object)[:, None]
        for division in ("resource", "time"):
            finding = BF.check(model, placed / needs, division=division)
            assert finding.violation == 0
            assert BF.check(model, twins.floats(placed / needs), division=division).violation < 1e-12
            other = twins.random_placement(rng, model, division)
            finding = BF.check(model, other, division=division)
            assert finding.holds == ((other * needs).sum(axis=1).tolist() == fair)
            kinds.add(finding.holds)
    assert kinds == {True, False}


def test_bottleneck_and_single_resource_twins_on_pools():
    rng = np.random.default_rng(7)
    for _ in range(30):
        n, m = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        for one in (BF, SRF):
            pool = one.suit(twins.integer_pool(rng, n, m))
            assert pool.is_rational
            assert one.applies(pool)
            demands, [capacity], _, weights = twins.parts(pool)
            r = common_bottleneck(pool)
            equal = [capacity[r] * w / sum(weights) / d[r] for w, d in zip(weights, demands, strict=True)]
            assert one.check(pool, np.array(equal, dtype=object)).violation == 0
            assert one.check(pool, DRF()(pool, np.ones(n))).violation < 1e-12
            if n > 1:
                unequal = np.array(equal, dtype=object)
                unequal[0] += unequal[1] * demands[1][r] / demands[0][r] / 2
                unequal[1] /= 2
                finding = one.check(pool, unequal)
                assert finding.violation > 0
                assert finding.users == (1,)
            idle = one.check(pool, np.array(equal, dtype=object) * F(9, 10))
            assert idle.violation == F(1, 10)
            assert "is free" in idle.text


def test_suit_keeps_what_fits_and_stays_small():
    fits = Problem([[3, 2], [4, 1]], [21, 21])
    assert BF.suit(fits) is fits
    raised = BF.suit(Problem([[1, 2], [5, 2]], [3, 4]))
    assert raised.as_fractions()[0] == [[2, 2], [5, 2]]
    halves = Problem([[F(1, 2), 2], [3, 0]], [3, 4])
    assert BF.suit(halves).as_fractions()[0] == [[F(3, 2), 2], [3, 0]]
    assert BF.applies(BF.suit(Problem([[0.1, 0.7], [0.3, 0.3]], [0.3, 0.7])))
    assert SRF.suit(Problem([[0, 2], [2, 5]], [3, 4])).as_fractions() == ([[1], [2]], [3])
    cluster = Cluster(
        [[1, 2], [0, 3]], [[0, 4], [2, 1]], eligible=[[False, True], [True, True]], weights=[1, 2]
    )
    single, raised = SRF.suit(cluster), BF.suit(cluster)
    assert single.capacities.tolist() == [[1], [2]]
    assert SRF.applies(single)
    assert BF.applies(raised)
    assert raised.eligible.tolist() == cluster.eligible.tolist()
    assert raised.weights.tolist() == [1, 2]
    effective = cluster.replaced(gamma=[[0, 1], [1, 2]])
    assert not BF.applies(effective)
    assert BF.applies(BF.suit(effective))
    assert SRF.applies(SRF.suit(effective))


def test_ties_of_rational_shares_survive_rounding():
    # (1/3)/(1/7) = (7/10)/(3/10), but not in floats.
    tied = [F(1, 3), F(7, 10)]
    pool = Problem([tied, [1, F(7, 10)]], [F(1, 7), F(3, 10)])
    assert pool.task_shares[0, 0] != pool.task_shares[0, 1]
    assert common_bottleneck(pool) == 0
    apart = Problem([[F(1, 3) - F(1, 10**9), F(7, 10)], [1, F(7, 10)]], [F(1, 7), F(3, 10)])
    assert common_bottleneck(apart) is None


def test_a_slip_of_rounding_size_is_scaled_back_before_a_better_placement_is_sought():
    cluster = Cluster([[1, 2], [2, 1]], [[3, 4], [5, 2]])
    best = largest_gain(read(Question(cluster, np.zeros((2, 2)))))[1]
    assert PE.check(cluster, best * (1 + 1e-7)).holds
    # A larger one leaves a gap of its own size, never an infeasible program.
    assert abs(PE.check(cluster, best * (1 + 1e-4)).violation) < 1e-6
    with pytest.raises(ModelError, match="exceeds a capacity"):
        PE.check(cluster, best * 1.01)


def test_bottleneck_must_be_dominant_on_every_server_in_use():
    demands, capacities = [[1, 2], [1, 1]], [[1, 1], [3, 1]]
    assert common_bottleneck(Cluster(demands, capacities)) == 1
    assert common_bottleneck(Cluster(demands, [[1, 1], [1, 3]])) is None
    only = [[True, False], [False, True]]
    assert common_bottleneck(Cluster(demands, [[1, 1], [1, 3]], eligible=only)) is None
    assert common_bottleneck(Cluster(demands, [[1, 1], [3, 2]], eligible=only)) == 1
    with pytest.raises(ModelError, match="suit"):
        BF.check(Problem([[1, 2], [2, 1]], [1, 1]), np.array([0.1, 0.1]))


def test_blocked_classes_and_classes_alone():
    pool = Problem([[1, 1], [0, 1]], [0, 4])
    tasks = np.array([0.0, 4.0])
    assert SI.check(pool, tasks).violation == 0
    assert EF.check(pool, tasks).holds
    assert PE.check(pool, tasks).holds
    assert not PE.check(pool, tasks / 2).holds
    exact = np.array([F(0), F(4)], dtype=object)
    assert SI.check(pool, exact).violation == 0
    assert PE.check(pool, exact).violation == 0
    alone = Problem([[1, 2]], [3, 4])
    assert EF.check(alone, np.array([2.0])).holds
    assert SI.check(alone, np.array([2.0])).violation == 0
    assert SI.check(alone, np.array([0.0])).violation == 1


def test_huge_scales():
    rng = np.random.default_rng(8)
    for _ in range(10):
        cluster = twins.integer_cluster(rng, 3, 2, 2)
        placement = twins.floats(twins.random_placement(rng, cluster))
        findings = [one.check(cluster, placement).violation for one in (SI, EF, PE)]
        large = Cluster(
            cluster.demands * [[1e-6], [1], [1e9]] * [1e12, 1e-9],
            cluster.capacities * [1e12, 1e-9],
            eligible=cluster.eligible,
            weights=cluster.weights,
        )
        moved = placement / np.array([[1e-6], [1], [1e9]])
        # Units change nothing but roundings, and those of HiGHS.
        np.testing.assert_allclose(
            [one.check(large, moved).violation for one in (SI, EF, PE)], findings, atol=1e-8
        )


def test_bad_allocations_are_refused():
    pool, cluster = Problem([[1, 2]], [3, 4]), Cluster([[1, 2]], [[3, 4], [1, 1]])
    with pytest.raises(ModelError, match=r"shape \(n_classes,\) = \(1,\)"):
        SI.check(pool, np.array([[1.0]]))
    with pytest.raises(ModelError, match=r"\(n_classes, n_servers\) = \(1, 2\)"):
        SI.check(cluster, np.array([1.0]))
    with pytest.raises(ModelError, match=">= 0"):
        SI.check(pool, np.array([-1.0]))
    with pytest.raises(ModelError, match=">= 0"):
        SI.check(pool, np.array([np.nan]))
    for one in (SI, EF, PE, BF, SRF):
        with pytest.raises(ModelError, match="finite and >= 0"):
            one.check(one.suit(pool), np.array([np.inf]))
    with pytest.raises(ModelError, match="array of numbers"):
        SI.check(pool, np.array(["a"]))
    with pytest.raises(ModelError, match="limits play no part"):
        PE.check(pool.replaced(limits=[1]), np.array([1.0]))
    with pytest.raises(ModelError, match="fractions"):
        SI.check(pool, np.array([0.5], dtype=object))
    with pytest.raises(ModelError, match="floats"):
        SI.check(Problem([[1.5, 2]], [3, 4]), np.array([F(1)], dtype=object))
    with pytest.raises(ModelError, match="exceeds a capacity"):
        PE.check(pool, np.array([3.0]))
    with pytest.raises(ModelError, match="exceeds a capacity"):
        PE.check(cluster, np.array([[F(2), F(1)]], dtype=object))
    with pytest.raises(ModelError, match="division"):
        SI.check(cluster, np.zeros((1, 2)), division="space")
