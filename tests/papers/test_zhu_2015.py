"""C. Zhu, "Dominant resource fairness with time constraints in cloud computing": Algorithm 2 and timelines.

The exchange, TDRF and the claims that do not hold are statements, whose values the library gives too. The
experiment has four users who join at t_1 < t_2 < t_3 < t_4 (no numbers are printed).
"""

from fractions import Fraction as F

import numpy as np
import pytest

from fairness import Problem
from fairness.timed.tdrf import TDRF, integer_tdrf
from fairness.timed.timeline import timeline
from proofs.catalogue.tdrf import claims
from proofs.definitions import fractions

POOL = Problem(**claims.POOL, job_classes=["A", "B"], resources=["cpu", "ram"])


def tenths(*values):
    return [F(v, 10) for v in values]


CONTRIBUTIONS, DEMANDS = fractions(claims.BROUGHT), fractions(claims.NEEDS)


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


def test_pareto_efficiency_fails():
    """Theorem 3. At t_1 holdings support 2 and 1.5 tasks, and Algorithm 2 stops at once."""
    (first, *_) = timeline(
        CONTRIBUTIONS, DEMANDS, [1, 1, 2, 4], [3, None, None, None], capacities=[1, 1, 1]
    ).intervals
    assert first.supported.tolist() == [2, F(3, 2)]
    assert first.filling.tasks.tolist() == [0, 0]
    assert first.filling.stopped_by == (("resource 1",), ("resource 3",))


def test_algorithm_2_stops_although_others_fit():
    pool = Problem([[1, 4], [3, 1]], [12, 9])
    assert integer_tdrf(pool, [1, 1]).tasks.tolist() == [1, 2]
    assert integer_tdrf(pool, [1, 1], stop="skip").tasks.tolist() == [1, 3]


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
