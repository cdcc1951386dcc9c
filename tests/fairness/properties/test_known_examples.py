"""Published counterexamples: the checkers and the proof in fractions must say what the papers say.

Ghodsi et al. (NSDI 2011) for pools; Khamse-Ashari et al. (ICC 2017) for clusters, with placements that were
certified by its Theorem 1 or found by hand.
"""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from fairness import DRF, AlphaFair, AssetFair, Cluster, MaxMin, Problem, ProportionalFair
from fairness.policies.servers.per_server import PerServerDRF
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRF, CDRFH, DRFH, TSF
from fairness.properties.changes.changed_model import Grow, Join, Leave, Lie, Units
from fairness.properties.definitions.catalogue import property_named
from fairness.properties.protocol.property import division_of
from tests.fairness.properties.instances import answered, exactly, judged, verdict

TIMED = PSDSF(division="time")
MIRRORED = Cluster([[1, 3], [3, 1]], [[4, 2], [2, 4]])
CONSTRAINED = Cluster([[F(1, 10), 1], [1, F(1, 10)]], [[10, 1], [1, 10]], eligible=[[1, 1], [0, 1]])
# RAM is dominant for all wherever they run, and 6, 6 and 12 GB are max-min fair by weight.
FIGURE_1 = Cluster([[1, 2, 10], [1, 2, 1], [F(1, 2), 1, 0]], [[9, 12, 100], [12, 12, 0]], weights=[1, 1, 2])
WIDE = Cluster([[F(1, 5), 1], [1, F(1, 5)]], [[2, 12], [12, 2]])
HIDDEN = Cluster([[3, 1], [1, 3]], [[2, 1], [4, 3]])
HIDE = Lie((0,), eligible=((False, True),))
CEEI, SWAPPED = Problem([[16, 1], [1, 2]], [100, 100]), Problem([[2, 1], [1, 2]], [1, 1])
LEAVING = Problem([[4, 1], [1, 16], [16, 1]], [100, 100])
LIED = Lie((0,), ((16, 8),))
UNLIKE, ALIKE = Problem([[1, 3], [1, 1]], [30, 30]), Problem([[2, 2], [1, 2]], [70, 70])
BOTH_FULL, CROSSED = Problem([[3, 2], [4, 1]], [21, 21]), Problem([[1, 3], [3, 2]], [1, 1])
LINK = Problem([[1], [3]], [8])
GROWING = Problem([[2, 2], [1, 2], [1, 1]], [105, 105])


def proved(policy, key, model, change=None):
    """The proof in fractions and the checker's finding of what the policy answers; they agree."""
    division = division_of(policy)
    after = None if change is None else answered(policy, change.apply(model))
    finding = judged(property_named(key), model, answered(policy, model), change, after, division)
    result = verdict(policy, key, model, change)
    assert result.confirmed == (not finding.holds)
    return result, finding


ALONE = "class {} runs {} tasks; 1/2 of everything, alone, would run 1/2 x {} = {}"
LIAR = "class 1 runs {} tasks; with what the lie gives it, {}"


@pytest.mark.parametrize(
    ("policy", "key", "model", "change", "users", "violation", "words"),
    [
        (AssetFair(), "SI", UNLIKE, None, (1,), F(1, 5), ALONE.format(2, 12, 30, 15)),
        (AssetFair(), "SI", ALIKE, None, (0,), F(1, 7), ALONE.format(1, 15, 35, "35/2")),
        (TSF(), "SI", CONSTRAINED, None, (0,), F(9, 11), ALONE.format(1, 1, 11, "11/2")),
        (MaxMin(), "SI", LINK, None, (0,), F(1, 2), ""),  # 2 tasks instead of 4
        # 15 tasks instead of 35/2, as with the two classes alone; Join lists classes in any order.
        (AssetFair(), "DSI", GROWING, Join((0, 1)), (0,), F(1, 7), ""),
        (AssetFair(), "DSI", GROWING, Join((1, 0)), (0,), F(1, 7), ""),
        (MaxMin(), "EF", LINK, None, (0,), F(2, 3), ""),  # 2 tasks, with the 6 units of class 2 it has 6
        (MaxMin(), "SRF", LINK, None, (0,), None, ""),
        (MaxMin(), "SRF", LINK.replaced(demands=[[3], [1]], weights=[1, 3]), None, (1,), None, ""),
        # Class 1 holds 9 units, class 2 holds 12; all that class 2 does not need for 9 would be 12/3 tasks.
        (AssetFair(), "BF", BOTH_FULL, None, (0,), None, "class 1 runs 3 tasks"),
        (CDRFH(), "BF", FIGURE_1, None, (0,), None, ""),
        (TSF(), "BF", FIGURE_1, None, (0,), None, ""),
        (
            ProportionalFair(),
            "SP",
            CEEI,
            LIED,
            (0,),
            1 - F(100, 31) / F(25, 6),
            LIAR.format("100/31", "25/6"),
        ),
        (ProportionalFair(), "GSP", CEEI, LIED, (0,), None, ""),
        (PSDSF(), "SP", HIDDEN, HIDE, (0,), 1 - F(44, 39) / F(52, 45), LIAR.format("44/39", "52/45")),
        (DRF(), "RM", SWAPPED, Grow((1, 0)), (1,), F(1, 4), "class 2 runs 1/3 tasks before and 1/4 after"),
        # 1/5 before; 1/8 of both after, and 1/4 in the old tasks of class 1.
        (MaxMin(), "SC", CROSSED, Units((1, 1), (2, 1)), (0, 1), F(3, 8), ""),
        (PSDSF(), "PE", MIRRORED, None, (0, 1), F(1, 9), "(1/4, 5/4)"),  # 4/3 instead of 3/2 each
        (PSDSF(), "PE", HIDDEN, None, (0,), None, ""),  # where hiding a server pays
        (PerServerDRF(), "PE", WIDE, None, (0, 1), F(2, 5), ""),  # 6 instead of 10
    ],
)
def test_the_violation_is_found_and_proved(policy, key, model, change, users, violation, words):
    result, finding = proved(policy, key, model, change)
    assert result.confirmed
    assert finding.users == users
    assert violation is None or result.violation == violation
    assert words in result.text


@pytest.mark.parametrize(
    ("policy", "keys", "model", "change"),
    [
        (DRF(), "RM", SWAPPED, Grow((1, 1))),
        (DRF(), "SC", CROSSED, Units((1, 3), (2, F(1, 2)))),
        (MaxMin(), "SC", CROSSED, Units((5, 3), (1, 1))),
        (DRF(), "SI SRF BF EF PE", LINK, None),
        (DRF(), "SRF", LINK.replaced(demands=[[3], [1]], weights=[1, 3]), None),
        (DRF(), "DSI", GROWING, Join((0, 1))),
        (AlphaFair(2), "SI", Problem([[2], [2]], [1]), None),
        (TIMED, "PE", MIRRORED, None),
        (TIMED, "SP", HIDDEN, HIDE),
        (PSDSF(), "SP", HIDDEN, Lie((0,), eligible=((True, True),))),  # the truth told in full is no lie
        (PSDSF(), "SI EF PE", CONSTRAINED, None),
        (TIMED, "SI", CONSTRAINED, None),
        (PSDSF(), "SI EF BF PE", FIGURE_1, None),
        (TIMED, "SI EF BF PE", FIGURE_1, None),
        (DRF(), "SI EF PE", Problem([[1, 4], [3, 1]], [9, 18]), None),
        (DRFH(), "PE", WIDE, None),
        (CDRF(), "PE", WIDE, None),
    ],
)
def test_what_is_no_violation_is_neither_found_nor_proved(policy, keys, model, change):
    for key in keys.split():
        assert not proved(policy, key, model, change)[0].confirmed


def test_ceei_is_not_population_monotone():
    # The allocation of the three is irrational; these digits are those that the paper rounds.
    before, after = np.array([11.283, 5.351, 3.095]), np.array([500 / 21, 100 / 21])
    finding = property_named("PM").check(LEAVING, before, Leave((2,)), after)
    assert finding.users == (1,)
    np.testing.assert_allclose(finding.violation, 1 - 100 / 21 / 5.351, rtol=1e-12)
    result = verdict(ProportionalFair(), "PM", LEAVING, Leave((2,)))
    assert result.confirmed
    # A bound, to the four digits printed.
    assert float(result.violation) == pytest.approx(1 - 100 / 21 / 5.351, rel=1e-3)
    assert "100/21 after" in result.text
    # Without class 2 nobody loses.
    assert not verdict(ProportionalFair(), "PM", LEAVING, Leave((1,))).confirmed


def test_an_irrational_violation_is_confirmed_with_bounds():
    """alpha = 2 lacks the sharing incentive: 1/(1 + sqrt 3) of the link against a half."""
    result = verdict(AlphaFair(2), "SI", Problem([[1], [3]], [1]))
    assert result.confirmed
    # Tasks x, y maximise -1/x - 1/y on x + 3 y = 1, so x = sqrt 3 y = 1/(1 + sqrt 3) = 0.366.
    assert float(result.violation) == pytest.approx(1 - 2 / (1 + math.sqrt(3)), rel=1e-12)


def test_group_lies_count_if_nobody_loses():
    # Two liars under CEEI: class 1 gains by its lie, class 2 says the truth and falls from 1500/31 to 100/3.
    lie = Lie((0, 1), ((16, 8), (1, 2)))
    assert not verdict(ProportionalFair(), "GSP", CEEI, lie).confirmed
    assert "one liar" in verdict(ProportionalFair(), "SP", CEEI, lie).text


def test_without_a_common_bottleneck_its_fairness_is_not_violated():
    assert "no resource is dominant" in verdict(AssetFair(), "BF", SWAPPED).text


def test_how_placements_are_proved():
    assert "Theorem 1" in verdict(PSDSF(), "PE", MIRRORED).how
    assert verdict(PSDSF(), "SP", HIDDEN, HIDE).how.endswith("may depend on the choice")


def test_a_liar_under_time_division_holds_what_it_claimed_not_the_server():
    """PS-DSF is strategy-proof by the resources of the claimed tasks, not by the time given."""
    cluster = Cluster([[2, 1], [1, 1]], [[1, 1], [2, 1]], weights=[2, 1])
    lie = Lie((0,), demands=((1, 1),))
    # After the lie: 1/3 of a task on server 1, in 1/3 of the time, and 1 on server 2, in all of the time.
    assert answered(TIMED, lie.apply(cluster)).tolist()[0] == [F(1, 3), 1]
    result, _ = proved(TIMED, "SP", cluster, lie)
    assert not result.confirmed
    # By time it would be 1/3 x 1/2 + 1 = 7/6 of its true tasks; by resources (1/3 + 1)/2 = 2/3, less than 1.
    assert "class 1 runs 1 tasks; with what the lie gives it, 2/3" in result.text


def test_a_hidden_server_that_nobody_else_uses_drops_out():
    cluster = Cluster([[1], [1]], [[2], [4]], eligible=[[1, 1], [0, 1]])
    assert HIDE.apply(cluster).n_servers == 1
    assert proved(TSF(), "SP", cluster, HIDE)[0].violation < 0


def test_resource_division_is_not_pareto_efficient():
    small, alone = Cluster([[1, 2], [3, 1]], [[2, 1], [1, 1]]), exactly([[0, F(1, 2)], [F(2, 3), 0]])
    pareto = property_named("PE")
    # The published better point is one that the program may choose from.
    published = F(1, 10) / (F(1, 2) + F(1, 2)) + (F(4, 5) - F(2, 3)) / (F(2, 3) + F(1, 3))
    assert judged(pareto, small, alone).violation >= published
    assert judged(pareto, small, exactly([[F(1, 2), 0], [0, F(1, 3)]])).violation > 0
    # Under time division each alone on a server is efficient.
    assert judged(pareto, small, alone, division="time").violation == 0
    # One of the two PS-DSF points of this cluster dominates the other.
    cluster = Cluster([[2, 6, 3], [2, 2, 5]], [[6, 6, 5], [11, 8, 2], [1, 7, 8]], weights=[2, 1])
    worse = exactly([[F(20, 33), F(2, 3), F(1, 3)], [F(7, 11), 0, F(1, 6)]])
    assert not judged(pareto, cluster, worse).holds
    assert all(judged(property_named(key), cluster, worse).holds for key in ("SI", "EF"))
