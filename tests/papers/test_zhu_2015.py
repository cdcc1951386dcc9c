"""C. Zhu, "Dominant resource fairness with time constraints in cloud computing": what holds, what does not.

Section 2.2 is the exchange, 2.3 plain DRF, 2.4 TDRF (its Algorithm 2 is the form with whole tasks), 2.5 the
properties; the experiment has four users who join at t_1 < t_2 < t_3 < t_4 (no numbers are printed).
"""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import DRF, Problem, allocate
from fairness.timed.exchange import exchange
from fairness.timed.tdrf import TDRF, integer_tdrf
from fairness.timed.timeline import timeline
from proofs.catalogue.tdrf import claims
from proofs.catalogue.tdrf.mechanism import SECTION_22
from proofs.definitions import fractions

POOL = Problem(**claims.POOL, job_classes=["A", "B"], resources=["cpu", "ram"])


def tenths(*values):
    return [F(v, 10) for v in values]


CONTRIBUTIONS, DEMANDS = fractions(claims.BROUGHT), fractions(claims.NEEDS)


def swapped(*users, order=None):
    """Exchange among some of the four users, numbered from 1."""
    rows = [u - 1 for u in users]
    return exchange([CONTRIBUTIONS[k] for k in rows], [DEMANDS[k] for k in rows], order=order)


# Section 2.2 and the experiment: the exchange.


def test_section_2_2_exchange():
    result = exchange(*map(fractions, SECTION_22.values()))
    assert result.holdings.tolist() == [tenths(0, 6, 3), tenths(6, 0, 3)]
    assert result.left_over.tolist() == [tenths(0, 0, 0), tenths(0, 3, 0)]
    assert result.gains.tolist() == [tenths(0, 5, 0), tenths(5, 0, 0)]


def test_experiment_exchange_at_t1():
    assert swapped(1, 2).holdings.tolist() == [tenths(9, 2, 0), tenths(0, 3, 9)]


def test_experiment_exchange_at_t3_is_not_as_printed():
    """Printed: (0, .3, .9) for user 2 and (.1, 0, .5) for user 3."""
    result = swapped(2, 3)
    assert result.holdings.tolist() == [tenths(0, 7, 5), tenths(5, 0, 2)]
    # The printed amounts of resource 3 are twice what the two brought.
    assert result.contributions.sum(axis=0)[2] == F(7, 10) == F(9 + 5, 10) / 2


def test_experiment_exchange_at_t4_is_not_as_printed():
    """Printed: (.7, .2, 0) for user 4."""
    result = swapped(2, 3, 4)
    assert result.holdings.tolist() == [tenths(0, 7, 5), tenths(5, 0, 4), tenths(2, 4, 0)]
    other = swapped(2, 3, 4, order=[2, 0, 1])
    assert other.holdings.tolist() == [tenths(0, 3, 9), tenths(1, 0, 3), tenths(6, 3, 0)]
    # .7 is all of resource 1 that the three brought, so user 3 would lose what it can use itself.
    assert result.contributions.sum(axis=0)[0] == F(7, 10)


def test_no_order_gives_the_printed_holdings_of_user_4():
    from itertools import permutations

    gains = [swapped(2, 3, 4, order=order).holdings[2].tolist() for order in permutations(range(3))]
    assert tenths(7, 2, 0) not in gains
    assert max(row[0] for row in gains) == F(6, 10)


# Sections 2.3 and 2.4: DRF and TDRF.


def test_section_2_3_drf():
    assert allocate(POOL, DRF()).tasks.tolist() == [3, 2]


@pytest.mark.parametrize(
    ("ratio", "tasks"),
    [
        (F(8, 3), (4, 1)),
        (1, (3, 2)),
        (2, (F(27, 7), F(9, 7))),
        (3, (F(81, 20), F(9, 10))),
    ],
)
def test_section_2_4_depends_on_the_ratio_of_the_time_weights(ratio, tasks):
    """(4, 1), the printed result, needs w_B/w_A = 8/3."""
    for unit in (3, F(1, 7)):
        result = allocate(POOL, TDRF([unit, ratio * unit]))
        assert result.certificate.holds
        # Filling with a handful of roundings.
        np.testing.assert_allclose(result.tasks, [float(v) for v in tasks], rtol=1e-14)
        np.testing.assert_allclose(*result.levels, rtol=1e-14)


@pytest.mark.parametrize(
    ("ratio", "ties_to_a", "ties_to_b"),
    [
        (F(1, 4), [1, 2], [1, 2]),
        (F(1, 3), [2, 2], [1, 2]),
        (F(1, 2), [2, 2], [2, 2]),
        (F(2, 3), [3, 2], [2, 2]),
        (1, [3, 2], [3, 2]),
        (F(19, 10), [3, 2], [3, 2]),
        (2, [4, 1], [3, 2]),
        (F(21, 10), [4, 1], [4, 1]),
        (F(8, 3), [4, 1], [4, 1]),
        (100, [4, 1], [4, 1]),
    ],
)
def test_algorithm_2_thresholds(ratio, ties_to_a, ties_to_b):
    assert integer_tdrf(POOL, [1, ratio], ties=[0, 1]).tasks.tolist() == ties_to_a
    assert integer_tdrf(POOL, [1, ratio], ties=[1, 0]).tasks.tolist() == ties_to_b


def test_the_end_of_the_system_cancels():
    for end in (8, 9, 1000):
        policy = TDRF([3, 8], 0, end)
        np.testing.assert_allclose(policy(POOL, [1, 1]), [4, 1], rtol=1e-14)
        assert policy.time_weights == (F(3, end), F(8, end))
        assert integer_tdrf(POOL, [3, 8], 0, end).order == integer_tdrf(POOL, [3, 8]).order


# Claims that do not hold.


def test_claim_drf_violates_strategy_proofness_is_false():
    """Abstract and conclusion; no random lie about demands pays (and section 2.3 says that DRF is fine)."""
    rng = np.random.default_rng(1)
    drf = DRF()
    for _ in range(300):
        n, m = int(rng.integers(2, 5)), int(rng.integers(2, 4))
        demands = rng.uniform(0.1, 3, (n, m))
        honest = drf(Problem(demands, np.ones(m)), np.ones(n))
        claimed = demands.copy()
        claimed[0] *= np.exp(rng.normal(0, rng.choice([0.05, 1]), m))
        tasks = drf(Problem(claimed, np.ones(m)), np.ones(n))[0]
        useful = (tasks * claimed[0] / demands[0]).min()
        # Rounding of two fillings.
        assert useful <= honest[0] * (1 + 1e-12)


def test_the_first_user_starves_the_others():
    """Time weight 0: the share times weight is always 0, so A is always the poorest."""
    for ties in ([0, 1], [1, 0]):
        filling = integer_tdrf(POOL, [3, 8], initial_time=3, ties=ties)
        # With ties to B it gets one task before A has the only lowest share for good.
        assert filling.tasks.tolist() == ([4, 0] if ties == [0, 1] else [4, 1])
    result = allocate(POOL, TDRF([3, 8], initial_time=3))
    assert result.tasks.tolist() == [4.5, 0]
    assert result.certificate.holds
    # The limit of starts that come closer.
    for gap in (1e-3, 1e-6, 1e-9):
        near = TDRF([3 + gap, 8], initial_time=3)(POOL, [1, 1])
        np.testing.assert_allclose(near, [4.5, 0], atol=10 * gap)


def test_pareto_efficiency_fails():
    """Theorem 3. At t_1 holdings support 2 and 1.5 tasks, and Algorithm 2 stops at once; DRF gives 10/3."""
    (first, *_) = timeline(
        CONTRIBUTIONS, DEMANDS, [1, 1, 2, 4], [3, None, None, None], capacities=[1, 1, 1]
    ).intervals
    assert first.supported.tolist() == [2, F(3, 2)]
    assert first.filling.tasks.tolist() == [0, 0]
    assert first.filling.stopped_by == (("resource 1",), ("resource 3",))
    drf = DRF()(Problem(DEMANDS[:2], [1, 1, 1]), [1, 1])
    np.testing.assert_allclose(drf, [10 / 3, 10 / 3], rtol=1e-14)
    assert (drf > first.supported.astype(float)).all()
    # User 1 holds .9 of resource 1; its two tasks need .4.
    assert first.exchange.holdings[0, 0] - 2 * DEMANDS[0][0] == F(1, 2)


def test_algorithm_2_stops_although_others_fit():
    pool = Problem([[1, 4], [3, 1]], [12, 9])
    assert integer_tdrf(pool, [1, 1]).tasks.tolist() == [1, 2]
    assert integer_tdrf(pool, [1, 1], stop="skip").tasks.tolist() == [1, 3]


def test_sharing_incentive_fails_for_late_users():
    # Half of the pool would run 3/2 tasks.
    np.testing.assert_allclose(TDRF([3, 8])(POOL, [1, 1])[1], 1, rtol=1e-14)


def test_dynamic_sharing_incentive_is_defined_the_wrong_way_round():
    """Section 2.5 wants k' <= k; the exchange gives more of some resources and less of others."""
    result = swapped(1, 2)
    assert result.holdings[0, 0] == F(9, 10) > result.contributions[0, 0] == F(5, 10)
    assert result.holdings[0, 2] == 0 < result.contributions[0, 2]
    # What does hold: nobody loses what it can use.
    rng = np.random.default_rng(2)
    for _ in range(200):
        n, m = (int(v) for v in rng.integers(1, 6, 2))
        other = exchange(rng.integers(0, 10, (n, m)), rng.random((n, m)) < 0.6, order=rng.permutation(n))
        assert (other.gains >= 0).all()


def test_joining_early_and_idling_pays():
    """Theorem 2 considers only lies about machines. B joins at 3 instead of 8 and idles until then."""
    assert TDRF([3, 3])(POOL, [1, 1])[1] > 1.9 > 1.1 > TDRF([3, 8])(POOL, [1, 1])[1]
    assert integer_tdrf(POOL, [3, 3]).tasks[1] == 2 > integer_tdrf(POOL, [3, 8]).tasks[1] == 1


def test_overstating_a_contribution_pays():
    """User 1 of section 2.2 says .8 of resource 1 instead of .5, and gets .8 of resource 2 for it."""
    honest = exchange(*map(fractions, SECTION_22.values()))
    lying = exchange([tenths(8, 1, 3), tenths(1, 8, 3)], [[0, 1, 1], [1, 0, 1]])
    assert lying.holdings[0].tolist() == tenths(0, 9, 3)
    assert honest.holdings[0].tolist() == tenths(0, 6, 3)


def test_who_stays_longer_does_not_get_more():
    """The weight uses the join time alone: the user who leaves first gets most, whenever anybody leaves."""
    none = [[0, 0], [0, 0]]
    shares = []
    for leave in (9, 100, None):
        line = timeline(none, [[1, 2], [3, 1]], [3, 8], [leave, None], capacities=[9, 9], initial_time=0)
        both = next(interval for interval in line.intervals if interval.present == (0, 1))
        shares.append(both.filling.tasks.tolist())
    # A leaves at 9 and B stays for ever, but B joined late.
    assert shares == [[4, 1]] * 3


def test_contributions_exceed_the_resources():
    """R = (1, 1, 1), but users 1, 2, 3 bring (1, 1.1, 1.1), and 2, 3, 4 bring (.7, 1.1, 1.2)."""
    line = timeline(CONTRIBUTIONS, DEMANDS, [1, 1, 2, 4], [3, None, None, None], capacities=[1, 1, 1])
    totals = [interval.exchange.contributions.sum(axis=0).tolist() for interval in line.intervals]
    assert [interval.present for interval in line.intervals] == [(0, 1), (0, 1, 2), (1, 2), (1, 2, 3)]
    assert totals[1] == tenths(10, 11, 11)
    assert totals[3] == tenths(7, 11, 12)
    assert line.intervals[1].excess.tolist() == tenths(0, 1, 1)
    assert line.intervals[3].excess.tolist() == tenths(0, 1, 2)
    assert line.intervals[0].excess.tolist() == tenths(0, 0, 0)
    assert "contributions of resource 3 exceed its capacity by 0.2" in repr(line)


def test_the_experiment_has_zero_demands():
    """Section 2.1 assumes that all demands are positive; with zeros, filling must go on after one is full."""
    assert any(v == 0 for row in DEMANDS for v in row)
    result = allocate(Problem(DEMANDS[:3], [1, 1, 1]), TDRF([1, 1, 1]))
    assert result.certificate.holds
    # Resource 3 stops users 2 and 3 at the share 1/2; user 1 does not need it and goes on.
    np.testing.assert_allclose(result.levels, [5 / 6, 1 / 2, 1 / 2], rtol=1e-14)
