"""Exact allocations and enclosures against printed rationals, closed forms, and the float policies."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import (
    DRF,
    AlphaFair,
    AssetFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    Problem,
    ProportionalFair,
)
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRFH, TSF
from fairness.properties.exact.enclosure import Enclosure, Unproved, enclose
from fairness.properties.exact.pools import alpha_fair, bottleneck_max, radii
from fairness.properties.exact.rational import near, rational, solve, vertex
from fairness.properties.exact.servers import stops, totals
from tests.fairness.properties.instances import answered, integer_pool

TRIANGLE = [[1, 1, 1], [2, 1, F(3, 2)], [1, 2, F(3, 2)]]


def fractions(*values):
    """Fractions from strings like "3/29"."""
    return [F(v) for v in values]


@pytest.mark.parametrize(
    ("demands", "maxmin", "drf", "pf", "bmf"),
    [
        ([[1, 3], [3, 2]], "1/5 1/5", "1/5 1/5", "1/6 1/4", "1/6 1/4"),
        ([[1, 3], [4, 2]], "1/5 1/5", "2/9 1/6", "1/5 1/5", "1/5 1/5"),
        (TRIANGLE, "1/4 1/4 1/4", "2/5 1/5 1/5", "1/3 2/9 2/9", None),
        ([[4, 1], [2, 1], [1, 4]], "1/7 1/7 1/7", "1/9 2/9 1/9", None, "3/29 6/29 5/29"),
        ([[3, 1], [2, 1], [1, 3]], None, "1/7 3/14 1/7", None, "4/31 6/31 7/31"),
        ([[1, 10], [10, 1]], None, None, "1/11 1/11", "1/11 1/11"),
    ],
)
def test_worked_examples_of_bottleneck_max_fairness(demands, maxmin, drf, pf, bmf):
    """Bonald and Roberts (arXiv:1410.0782) and their slides of 2014."""
    pool = Problem(demands, [1] * len(demands[0]))
    policies = (MaxMin(), DRF(), ProportionalFair(), BottleneckMax())
    for policy, expected in zip(policies, (maxmin, drf, pf, bmf), strict=True):
        if expected is not None:
            assert answered(policy, pool).tolist() == fractions(*expected.split())


def test_a_subclass_that_answers_otherwise_has_no_definition():
    class Half(DRF):
        def __call__(self, problem, counts):
            return super().__call__(problem, counts) / 2

    class Renamed(DRF):
        name = "mine"

    pool = Problem([[1, 4], [3, 1]], [9, 18])
    assert "no exact definition known" in enclose(Half(), pool).reason
    assert answered(Renamed(), pool).tolist() == [3, 2]


GHODSI, HALVES = Problem([[1, 4], [3, 1]], [9, 18]), Problem([[1, 0], [F(1, 2), 1], [0, 1]], [1, 1])
CROSSED, LINK = Problem([[1, 2], [2, 1]], [1, 1]), Problem([[1], [1]], [5], weights=[4, 1])
LIAR, BLOCKED = Problem([[16, 8], [1, 2]], [100, 100]), Problem([[1, 1], [1, 0]], [4, 0])
EVERY = (MaxMin(), DRF(), AssetFair(), BottleneckMax(), ProportionalFair(), AlphaFair(2))


@pytest.mark.parametrize(
    ("policy", "pool", "expected"),
    [
        # Ghodsi et al., NSDI 2011: the main example, and weights 2:1.
        (DRF(), GHODSI, "3 2"),
        (AssetFair(), GHODSI, "63/25 54/25"),
        (ProportionalFair(), GHODSI, "45/11 18/11"),
        (DRF(), GHODSI.replaced(weights=[2, 1]), "54/13 18/13"),
        (ProportionalFair(), LIAR, "25/6 100/3"),
        (DRF(resource_weights=[[1, 1]] * 3), HALVES, "3/4 1/2 1/2"),
        # Class 1 is measured by resource 1 (1/1 < 4/2), class 2 by resource 2: equal tasks fill both.
        (DRF(resource_weights=[[1, 4], [4, 1]]), CROSSED, "1/3 1/3"),
        # With 1 and 1/2 it is 1/2 each way: rates min(1/1, .5/2) = 1/4 and min(1/2, .5/1) = 1/2.
        (DRF(resource_weights=[[1, 0.5], [1, 0.5]]), CROSSED, "1/5 2/5"),
        # A job of weight w counts like w jobs: one link, weights 4 and 1.
        (AlphaFair(3), LINK, "4 1"),
        (AlphaFair(math.inf), LINK, "4 1"),
        # A class that demands what is not there gets nothing.
        *((policy, BLOCKED, "0 4") for policy in EVERY),
    ],
)
def test_worked_examples_of_pools(policy, pool, expected):
    assert answered(policy, pool).tolist() == fractions(*expected.split())


def test_proportional_fairness_encloses_the_closed_form():
    root = math.isqrt(39 * 10**80)  # sqrt(39) lies between root/10^40 and (root + 1)/10^40
    low, high = F(root, 10**40), F(root + 1, 10**40)
    pool = Problem([[4, 1], [2, 1], [1, 4]], [1, 1])
    found = enclose(ProportionalFair(), pool, ProportionalFair()(pool, [1, 1, 1]))
    closed = [
        (-F(1, 10) + low / 30, -F(1, 10) + high / 30),
        (F(9, 14) - high / 14, F(9, 14) - low / 14),
        (F(4, 35) + low / 105, F(4, 35) + high / 105),
    ]
    for (least, most), lower, upper in zip(closed, found.lower, found.upper, strict=True):
        assert lower < least < most < upper
    assert 0 < found.radius < F(1, 10**20)


def test_alpha_fairness_encloses_the_closed_form_of_a_line():
    # A flow over two links and one flow on each: x^-2 = 2 (1 - x)^-2, so x = 1/(1 + sqrt 2) = sqrt 2 - 1.
    root = math.isqrt(2 * 10**80)
    low, high = F(root, 10**40) - 1, F(root + 1, 10**40) - 1
    line = Problem([[1, 1], [1, 0], [0, 1]], [1, 1])
    found = enclose(AlphaFair(2), line, AlphaFair(2)(line, [1, 1, 1]))
    for lower, upper, least, most in zip(
        found.lower, found.upper, (low, 1 - high, 1 - high), (high, 1 - low, 1 - low), strict=True
    ):
        assert lower < least < most < upper
    assert found.radius < F(1, 10**20)


def small_pool(rng, weighted):
    return integer_pool(rng, int(rng.integers(1, 5)), int(rng.integers(1, 4)), weighted=weighted)


@pytest.mark.long
def test_enclosures_hold_what_the_float_policies_answer():
    """Two ways that share nothing; integers 0 to 4 are full of ties and of resources full at price 0."""
    rng = np.random.default_rng(7)
    for k in range(120):
        pool = small_pool(rng, k % 2 == 1)
        for policy in (*EVERY, AlphaFair(3)):
            tasks = policy(pool, np.ones(pool.n_classes))
            found = enclose(policy, pool, tasks)
            assert isinstance(found, Enclosure), (policy, pool, found)
            assert found.radius < F(1, 10**15)
            # 1e-9: the accuracy of the float policies; the enclosure is far narrower.
            np.testing.assert_allclose(found.lower.astype(float), tasks, rtol=1e-9, atol=1e-9)


def test_the_gap_bounds_the_distance_of_any_point():
    """Far from the optimum too, where the constants of the bound count."""
    rng = np.random.default_rng(10)
    closest = math.inf
    for k in range(60):
        pool = small_pool(rng, k % 2 == 1)
        pool = pool.replaced(
            capacities=pool.as_fractions()[1] if k % 4 < 2 else [F(50 * c) for c in pool.capacities]
        )
        model = rational(pool)
        for alpha in (1, 2, 4):
            right = AlphaFair(alpha)(pool, np.ones(pool.n_classes))
            part = near(rng.uniform(0.5, 1), 1e-3)
            tasks = [part * v for v in enclose(DRF(), pool).lower]
            marginal = [(w / x) ** alpha for w, x in zip(model.weights, tasks, strict=True)]
            costs = [sum(row[0]) for row in model.shares]
            prices = [max(g / c for g, c in zip(marginal, costs, strict=True))] * pool.n_resources
            bounds = radii(model, alpha, tasks, prices)
            ratio = np.array(bounds, dtype=float) / np.maximum(
                np.abs(np.array(tasks, dtype=float) - right), 1e-300
            )
            assert (ratio >= 1).all(), (pool, alpha)
            closest = min(closest, ratio.min())
    assert closest < 2  # so constants twice as strict would fail
    with pytest.raises(ModelError, match="tasks must fit"):
        radii(rational(Problem([[1]], [1])), 1, [F(2)], [F(1)])
    with pytest.raises(ModelError, match="every task cost"):
        radii(rational(Problem([[1]], [1])), 1, [F(1, 2)], [F(1)])


def test_enclosures_do_not_depend_on_the_hint():
    rng = np.random.default_rng(8)
    pool = Problem([[4, 1], [2, 1], [1, 4]], [1, 1])
    for policy in (ProportionalFair(), AlphaFair(2)):
        tasks = policy(pool, [1, 1, 1])
        found = enclose(policy, pool, tasks)
        rough = enclose(policy, pool, tasks * (1 + 1e-8 * rng.normal(size=3)))
        assert (np.maximum(found.lower, rough.lower) <= np.minimum(found.upper, rough.upper)).all()


def test_a_wrong_hint_gives_no_narrow_wrong_enclosure():
    """DRF's allocation as a hint for others: no proof, or bounds around the right allocation all the same."""
    rng = np.random.default_rng(9)
    refused = 0
    for _ in range(60):
        pool = small_pool(rng, False)
        ones = np.ones(pool.n_classes)
        hint = DRF()(pool, ones)
        for policy in (BottleneckMax(), ProportionalFair(), AlphaFair(2)):
            right = policy(pool, ones)
            found = enclose(policy, pool, hint)
            if isinstance(found, Unproved):
                refused += 1
            elif not isinstance(policy, BottleneckMax):  # of which there may be several allocations
                assert (found.lower.astype(float) <= right * (1 + 1e-9)).all()
                assert (found.upper.astype(float) >= right * (1 - 1e-9)).all()
    assert refused > 0
    three = Problem([[1, 3], [3, 2]], [1, 1])
    assert isinstance(enclose(BottleneckMax(), three, [1 / 5, 1 / 5]), Unproved)
    # Efficient but no largest share for class 2; not efficient; over capacity.
    assert isinstance(bottleneck_max(rational(three), np.array([0.2, 0.2])), Unproved)
    assert isinstance(bottleneck_max(rational(three), np.array([0.1, 0.2])), Unproved)
    assert isinstance(bottleneck_max(rational(three), np.array([0.3, 0.3])), Unproved)
    assert isinstance(alpha_fair(rational(three), 1, np.array([0.0, 0.5])), Unproved)


def test_bottleneck_max_says_whether_it_is_the_only_one():
    only = enclose(BottleneckMax(), Problem([[1, 3], [4, 2]], [1, 1]), [1 / 5, 1 / 5])
    assert only.how.endswith("the only such allocation")
    pool = Problem(TRIANGLE, [1, 1, 1])
    for hint in ((2 / 5, 1 / 5, 1 / 5), (1 / 3, 2 / 9, 2 / 9), (0.37, 0.21, 0.21)):  # (1 - 3u, u, u)
        found = enclose(BottleneckMax(), pool, hint)
        assert found.how.endswith("one of several such allocations")
        assert found.lower.tolist() == [1 - 3 * found.lower[1], found.lower[1], found.lower[1]]
        assert float(found.lower[1]) == pytest.approx(hint[1], abs=1e-12)
    for hint in ((0.46, 0.18, 0.18), (0.31, 0.23, 0.23)):  # on the same line, outside the segment
        assert isinstance(enclose(BottleneckMax(), pool, hint), Unproved)


def test_what_cannot_be_enclosed_says_why():
    assert "rational for integers" in enclose(AlphaFair(0.5), CROSSED, [1 / 3, 1 / 3]).reason
    assert "no exact definition" in enclose(lambda problem, counts: counts, CROSSED).reason


@pytest.mark.parametrize(
    ("policy", "pool", "hint", "words"),
    [
        (ProportionalFair(), CROSSED, None, "hint is missing"),
        (ProportionalFair(), CROSSED, [1, 2, 3], "hint must have shape"),
        (DRF(), Problem([[0.5]], [1]), None, "given as floats"),
        (DRF(), CROSSED.replaced(limits=[1, 1]), None, "limits"),
        (DRF(resource_weights=[[1, 1]]), CROSSED, None, "resource_weights has shape"),
    ],
)
def test_what_makes_no_sense_is_refused(policy, pool, hint, words):
    with pytest.raises(ModelError, match=words):
        enclose(policy, pool, hint)


# --- clusters ------------------------------------------------------------------------------------------

FIGURE_1 = Cluster([[1, 2, 10], [1, 2, 1], [F(1, 2), 1, 0]], [[9, 12, 100], [12, 12, 0]], weights=[1, 1, 2])
FOUR_USERS = Cluster(
    [[F(3, 2), 1, 10], [1, 2, 10], [F(1, 2), 1, 0], [1, F(1, 2), 0]], [[9, 12, 100], [12, 12, 0]]
)


# Two PS-DSF placements of one cluster; three wireless channels and two users (section IV); an example where
# task share fairness with equal weights gives 1 instead of 5.5; two mirrored servers (Wang, Liang and Li).
TWO_POINTS = Cluster([[2, 6, 3], [2, 2, 5]], [[6, 6, 5], [11, 8, 2], [1, 7, 8]], weights=[2, 1])
CHANNELS = Cluster([[1], [1]], [[1]] * 3, gamma=[[1, 1, F(1, 2)], [F(1, 3), F(2, 3), F(2, 3)]])
UNSHARED = Cluster([[F(1, 10), 1], [1, F(1, 10)]], [[10, 1], [1, 10]], eligible=[[1, 1], [0, 1]])
MIRRORED = Cluster([[F(1, 5), 1], [1, F(1, 5)]], [[2, 12], [12, 2]])
TIMED = PSDSF(division="time")
SIX, SHARED = [[3, 0], [3, 0], [1e-13, 12]], [[3.6, 0], [3.6, 0], [1e-10, 8], [0, 8]]
CHANNEL_TASKS = [[1, 0.5, 0], [0, 1 / 3, 2 / 3]]
POOLED = [[60 / 23, 0], [72 / 23, 0], [12 / 23, 12]]


def with_places(three, four):
    """Leximin tasks of the four users: classes 3 and 4 may trade places, all at level 7/16."""
    return [[2.625, 0], [2.625, 0], [three, 10.5 - three], [four, 9.1875 - four]]


@pytest.mark.parametrize(
    ("policy", "cluster", "hint", "expected"),
    [
        (PSDSF(), FIGURE_1, SIX, "3 3 12"),
        (TIMED, FIGURE_1, SIX, "3 3 12"),
        (PSDSF(), FIGURE_1, [[2.5, 0], [3.5, 0], [0, 12]], None),
        (TIMED, FIGURE_1, [[2.5, 0], [3.5, 0], [0, 12]], None),
        (PSDSF(), FOUR_USERS, SHARED, "18/5 18/5 8 8"),
        (TIMED, FOUR_USERS, [[3, 0], [3, 0], [0, 6], [0, 6]], "3 3 6 6"),
        (TIMED, FOUR_USERS, SHARED, None),  # what is right under one division is wrong under the other
        (PSDSF(), TWO_POINTS, [[6 / 7, 2 / 3, 1 / 9], [3 / 7, 0, 7 / 18]], "103/63 103/126"),
        (PSDSF(), TWO_POINTS, [[20 / 33, 2 / 3, 1 / 3], [7 / 11, 0, 1 / 6]], "53/33 53/66"),
        (PSDSF(), CHANNELS, CHANNEL_TASKS, "3/2 1"),
        (TIMED, CHANNELS, CHANNEL_TASKS, "3/2 1"),
        (TSF(), FIGURE_1, [[2, 0], [2, 0], [4, 12]], "2 2 16"),
        (CDRFH(), FIGURE_1, POOLED, "60/23 72/23 288/23"),
        (TSF(), FIGURE_1, POOLED, None),
        (TSF(), FOUR_USERS, with_places(3, 15 / 16), "21/8 21/8 21/2 147/16"),
        (TSF(), FOUR_USERS, with_places(7 / 2, 11 / 16), "21/8 21/8 21/2 147/16"),
        (TSF(), UNSHARED, [[1, 0], [0, 1]], "1 1"),
        # Feasible but not leximin: class 1 alone, both lower, and the levels in the wrong order.
        (TSF(), UNSHARED, [[1, 10], [0, 0]], None),
        (TSF(), UNSHARED, [[0.5, 0], [0, 0.5]], None),
        (TSF(), UNSHARED, [[1, 5], [0, 0.5]], None),
        (CDRFH(), MIRRORED, [[10, 0], [0, 10]], "10 10"),
        (PerServerDRF(), MIRRORED, [[5, 1], [1, 5]], "6 6"),
    ],
)
def test_worked_examples_of_clusters(policy, cluster, hint, expected):
    """Khamse-Ashari et al. (arXiv:1611.00404), Figures 1 to 3 and sections III and IV, among others."""
    found = enclose(policy, cluster, np.array(hint, dtype=float))
    if expected is None:
        assert isinstance(found, Unproved)
    else:
        assert totals(found.lower.tolist()) == fractions(*expected.split())
        np.testing.assert_allclose(found.lower.astype(float), hint, atol=1e-9)
        assert ("need not be the only one" in found.how) == (policy == PSDSF())


def test_prices_that_stop_nobody_prove_nothing():
    """Two classes share one resource: the whole must cost what the tasks of those who may not lose cost."""
    model = rational(Cluster([[1], [1]], [[2]]))
    tasks = [F(1), F(1)]
    assert stops(model, tasks, [0, 1], [0, 1], [[F(3)]])
    assert not stops(model, tasks, [0], [0], [[F(3)]])  # class 2 could give way
    assert not stops(model, tasks, [0, 1], [0, 1], [[F(0)]])  # free: nobody is stopped
    assert not stops(model, tasks, [0, 1], [0, 1], [[F(-1)]])
    assert not stops(model, [F(1), F(1, 2)], [0, 1], [0], [[F(1)]])  # a part of the resource is left over


# --- the tools -----------------------------------------------------------------------------------------


def test_near_finds_simple_fractions():
    assert near(1 / 3 + 1e-12, 1e-9) == F(1, 3)
    assert near(math.pi, 1e-2) == F(22, 7)
    assert near(0.1, 0.0) == F(0.1)


def test_solve_keeps_to_the_hint():
    one, zero = F(1), F(0)
    assert solve([([one, one], one)], [0.25, 0.75]) == [F(1, 4), F(3, 4)]
    assert solve([([one, zero], one), ([one, zero], F(2))], [1.0, 0.0]) is None  # a contradiction
    assert solve([([one, zero], one)], [2.0, 0.0]) is None  # far from the hint
    assert solve([], [0.5]) == [F(1, 2)]


def test_vertex_is_exact_or_none():
    one = F(1)
    assert vertex([one, F(2)], [([one, F(3)], one), ([F(3), one], one)]) == [F(1, 4), F(1, 4)]
    assert vertex([one], [([one], -one)]) is None  # infeasible
    assert vertex([one], [([-one], one)]) is None  # unbounded
