"""The checkers: against independent statements in fractions, on examples by hand, and what they refuse."""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import DRF, Cluster, ModelError, Problem
from fairness.policies.servers.psdsf import PSDSF
from fairness.properties.changes.changed_model import Grow, Join, Leave, Lie, Units
from fairness.properties.definitions import envy_freeness
from fairness.properties.definitions.bottleneck_fairness import common_bottleneck
from fairness.properties.definitions.catalogue import PROPERTIES, property_named
from fairness.properties.definitions.dynamic_incentive import contribution_finding
from fairness.properties.definitions.pareto_efficiency import largest_gain
from fairness.properties.protocol.arithmetic import read
from fairness.properties.protocol.property import Question
from tests.fairness.properties.instances import (
    answered,
    exactly,
    integer_cluster,
    judged,
    random_allocation,
    small_models,
)

SI, EF, PE, BF, SRF = (property_named(key) for key in ("SI", "EF", "PE", "BF", "SRF"))


@pytest.mark.parametrize("prop", PROPERTIES, ids=lambda prop: prop.key)
def test_checkers_say_what_the_statements_say(prop):
    """Of random allocations, and where there is no change also of those of DRF and PS-DSF."""
    met = set()
    for rng, given, division in small_models(1, 20):
        model = prop.suit(given)
        assert model.is_rational
        if not prop.compares:
            fair = PSDSF(division=division) if isinstance(model, Cluster) else DRF()
            for allocation in (random_allocation(rng, model, division), answered(fair, model)):
                finding = judged(prop, model, allocation, division=division)
                met.add((type(model), finding.holds))
        for change in prop.changes(model, rng, 4):
            before = random_allocation(rng, model, division)
            after = random_allocation(rng, change.apply(model), division)
            finding = judged(prop, model, before, change, after, division)
            met.add((type(model), finding.holds))
            if prop.key == "SC":
                same = before.T / np.array([F(t) for t in change.tasks], dtype=object)
                assert judged(prop, model, before, change, same.T, division).violation == 0
    assert met == {(Problem, True), (Problem, False), (Cluster, True), (Cluster, False)}


def test_envy_in_blocks(monkeypatch):
    rng = np.random.default_rng(9)
    cluster = integer_cluster(rng, 5, 3, 2)
    placement = random_allocation(rng, cluster)
    whole = EF.check(cluster, placement)
    monkeypatch.setattr(envy_freeness, "BLOCK", 2 * placement.size * 2)
    assert EF.check(cluster, placement) == whole


def test_efficient_placements_are_found_efficient():
    # The placement that attains the largest gain leaves none.
    for rng, model, division in small_models(4, 10):
        allocation = random_allocation(rng, model, division)
        gain, better = largest_gain(read(Question(model, allocation, division=division)))
        assert gain >= 0
        assert PE.check(model, better.reshape(allocation.shape), division=division).violation == 0


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


# Class 1 demands what is not there, or a class is alone.
BLOCKED, ALONE = Problem([[1, 1], [0, 1]], [0, 4]), Problem([[1, 2]], [3, 4])
BOTH_FULL, SINGLE = Problem([[3, 2], [4, 1]], [21, 21]), Problem([[1], [3]], [8])
EVEN = Cluster([[1], [1]], [[2], [2]])
UNEVEN = Cluster([[1], [1]], [[1], [9]], eligible=[[True, True], [True, False]])
PAIR, PAIR_LIE = Problem([[1, 2], [2, 1]], [9, 9]), Lie((0, 1), ((1, 3), (3, 1)))
SINGLE_LIE = Lie((0,), ((1, 3),))
PARTLY = Cluster([[1, 1], [1, 2]], [[4, 4], [2, 2]], eligible=[[True, True], [True, False]])
# Nobody else uses the server that class 1 hides; class 2 may not use the one that it claims.
HIDES, CLAIMS = Lie((0,), eligible=((True, False),)), Lie((1,), eligible=((True, True),))


@pytest.mark.parametrize(
    ("key", "model", "change", "before", "after", "violation", "users", "words"),
    [
        ("SI", BLOCKED, None, [0, 4], None, 0, (), ""),
        ("EF", BLOCKED, None, [0, 4], None, 0, (), ""),
        ("PE", BLOCKED, None, [0, 4], None, 0, (), "every class demands a full resource"),
        ("PE", BLOCKED, None, [0, 2], None, F(1, 2), (1,), "can run 2 more with what is left over"),
        ("EF", ALONE, None, [2], None, -1, (), "nobody to envy"),
        ("SI", ALONE, None, [2], None, 0, (), ""),
        ("SI", ALONE, None, [0], None, 1, (0,), ""),
        ("SI", PAIR, None, [2, 3], None, F(1, 9), (0,), "part (1/2) of everything, alone, would run 9/4"),
        ("BF", BOTH_FULL, None, [F(7, 2), F(21, 8)], None, 0, (), "full and shared max-min"),
        ("BF", BOTH_FULL, None, [F(63, 20), F(189, 80)], None, F(1, 10), (), "is free"),
        ("BF", BOTH_FULL, None, [F(21, 4), F(21, 16)], None, F(2, 3), (1,), ""),
        ("SRF", SINGLE, None, [4, F(4, 3)], None, 0, (), "full and shared max-min"),
        ("SRF", SINGLE, None, [F(18, 5), F(6, 5)], None, F(1, 10), (), "is free"),
        ("SRF", SINGLE, None, [2, 2], None, F(2, 3), (0,), ""),
        ("BF", EVEN, None, [[1, F(1, 2)]] * 2, None, F(1, 2), (), "1/2 of resource 1 of server 2, which"),
        ("BF", EVEN, None, [[2, 1], [0, 1]], None, F(2, 3), (1,), "holds 1 of resource 1 of server 1"),
        # Class 1 has ten times as much, but holds only a trace of what class 2 could have.
        ("BF", UNEVEN, None, [[F(1, 10), 9], [F(9, 10), 0]], None, F(1, 10), (1,), "by weight; class 2"),
        # A group in which somebody loses does not count; a single liar may have run nothing before.
        ("GSP", PAIR, PAIR_LIE, [3, 3], [5, 1], F(-2, 3), (), ""),
        ("GSP", PAIR, PAIR_LIE, [3, 3], [4, 3], F(1, 3), (0,), ""),
        ("GSP", PAIR, PAIR_LIE, [3, 3], [3, 3], 0, (), ""),
        ("SP", PAIR, SINGLE_LIE, [0, 5], [1, 4], F(2, 9), (0,), ""),
        ("SP", PAIR, SINGLE_LIE, [0, 5], [0, 5], 0, (), ""),
        ("SP", PARTLY, HIDES, [[1, 2], [1, 0]], [[4], [0]], F(1, 3), (0,), "hides that it may use server 2"),
        ("SP", PARTLY, CLAIMS, [[2, 2], [1, 0]], [[2, 0], [1, 1]], 0, (), "claims that it may use server 2"),
        # Who loses by a departure, by more capacity, in other units, or by having joined.
        ("PM", PAIR.replaced(demands=[[1, 2]] * 2), Leave((0,)), [2, 2], [1], F(1, 2), (1,), ""),
        ("RM", PAIR, Grow((1, 0)), [3, 3], [2, 4], F(1, 3), (0,), ""),
        ("SC", PAIR, Units((1, 1), (2, 1)), [3, 3], [F(3, 2), 4], F(1, 4), (1,), ""),
        ("DSI", PAIR, Join((1,)), [3, 3], [1], F(5, 9), (1,), ""),
    ],
)
def test_examples_by_hand(key, model, change, before, after, violation, users, words):
    finding = judged(property_named(key), model, exactly(before), change, after and exactly(after))
    assert finding.violation == violation
    assert finding.users == users
    assert words in finding.text


def test_in_floats_a_loss_of_rounding_size_is_none():
    gain = property_named("GSP").check(PAIR, np.array([3.0, 3.0]), PAIR_LIE, np.array([4.0, 3 - 1e-10]))
    assert gain.violation > 0.3


def test_contributions_of_any_size():
    # Chunyan Zhu's two users on (9, 9): with 4 tasks and 1 task the second one loses by having joined.
    pool = Problem([[2, 1], [1, 3]], [9, 9])
    half = [[F(9, 2)] * 2] * 2
    finding = contribution_finding(pool, half, exactly([4, 1]))
    assert finding.violation == F(1, 3)
    assert finding.users == (1,)
    assert contribution_finding(pool, half, np.array([4.0, 1.0])).violation == pytest.approx(1 / 3)
    assert contribution_finding(pool, [[8, 4], [0, 5]], np.array([4.0, 0.0])).holds
    for contributions, words in (
        ([[1, 2]], "contributions must have shape"),
        ([[1, 2], [-1, 2]], ">= 0"),
        ([[0.5, 2], [1, 2]], "contributions must consist"),
    ):
        with pytest.raises(ModelError, match=words):
            contribution_finding(pool, contributions, exactly([4, 1]))


def test_huge_scales():
    rng = np.random.default_rng(8)
    for _ in range(10):
        cluster = integer_cluster(rng, 3, 2, 2)
        placement = random_allocation(rng, cluster).astype(float)
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


SERVERS = Cluster([[1, 2]], [[3, 4], [1, 1]])
THREES = np.array([3.0, 3.0])


@pytest.mark.parametrize(
    ("key", "model", "tasks", "words"),
    [
        ("SI", ALONE, [[1.0]], r"must list job_classes: \(1,\); got shape \(1, 1\)"),
        ("SI", SERVERS, [1.0], r"must list job_classes x servers: \(1, 2\)"),
        ("SI", ALONE, [-1.0], ">= 0"),
        ("SI", ALONE, [np.nan], ">= 0"),
        *((one.key, one.suit(ALONE), [np.inf], "finite and >= 0") for one in (SI, EF, PE, BF, SRF)),
        ("SI", ALONE, ["a"], "array of numbers"),
        ("PE", ALONE.replaced(limits=[1]), [1.0], "limits play no part"),
        ("SI", ALONE, np.array([0.5], dtype=object), "fractions"),
        ("SI", Problem([[1.5, 2]], [3, 4]), exactly([1]), "floats"),
        ("PE", ALONE, [3.0], "exceeds a capacity"),
        ("PE", SERVERS, exactly([[2, 1]]), "exceeds a capacity"),
        ("BF", PAIR, THREES, "suit"),
    ],
)
def test_bad_allocations_are_refused(key, model, tasks, words):
    with pytest.raises(ModelError, match=words):
        property_named(key).check(model, np.array(tasks))


def test_an_unknown_division_is_refused():
    with pytest.raises(ModelError, match="division"):
        SI.check(SERVERS, np.zeros((1, 2)), division="space")


@pytest.mark.parametrize(
    ("key", "change", "words"),
    [
        *((one.key, None, "compares two allocations") for one in PROPERTIES if one.compares),
        *((key, Leave((0,)), "compares two allocations") for key in ("SP", "GSP", "RM", "SC", "DSI")),
        ("PM", Join((0,)), "compares two allocations"),
        ("PM", Leave((0,)), "one row per class, 1"),
        ("SP", Lie((0,), ((1, 2, 3),)), "2 entries per liar"),
        ("SP", Lie((0,), ((1,),)), "2 entries per liar"),
        ("SP", Lie((0,), eligible=((True,),)), "eligible must be None on a pool"),
        ("SP", Lie((7,), ((1, 2),)), "users must be below 2"),
        ("SP", Lie((0, 1), ((1, 2), (1, 2))), "about one liar; got 2"),
        ("GSP", Lie((0, 2), ((1, 2), (1, 2))), "users must be below 2"),
        ("PM", Leave((0, 1)), "nobody would be left"),
        ("DSI", Join((2,)), "users must be below 2"),
        ("RM", Grow((1, 1), 0), "None on a pool"),
        ("SC", Units((1, 1), (1,)), "2 factors"),
    ],
)
def test_changes_that_do_not_fit_are_refused(key, change, words):
    with pytest.raises(ModelError, match=words):
        property_named(key).check(PAIR, THREES, change, THREES)


def test_fractions_before_need_fractions_after():
    with pytest.raises(ModelError, match="fractions"):
        property_named("RM").check(PAIR, exactly([3, 3]), Grow((1, 0)), THREES)


def test_of_asks_the_policy():
    pool, rm = Problem([[2, 1], [1, 2]], [1, 1]), property_named("RM")
    assert rm.of(DRF(), pool, changes=30).violation > 0.2
    assert rm.of(DRF(), pool, changes=0).violation == -np.inf
    assert property_named("PM").of(DRF(), Problem([[1]], [1])).text == "no change to ask about"
    assert Units((1, 1), (1, 1)).text(pool) == "the units stay"
