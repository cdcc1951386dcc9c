"""The exchange and TDRF against their definitions; the paper has its own tests."""

from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest

from fairness import DRF, ModelError, Problem, allocate
from fairness.evidence.pools import feasibility_residual, relative_usage
from fairness.testing import check_policy, random_problem
from fairness.timed.exchange import exchange
from fairness.timed.tdrf import TDRF, integer_tdrf
from fairness.timed.timeline import timeline
from proofs.definitions.pools.mechanisms import whole_task_order
from proofs.definitions.pools.timed import exchanged


def random_exchange(rng):
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    return rng.integers(0, 10, (n, m)), rng.random((n, m)) < 0.5, rng.permutation(n).tolist()


def test_exchange_of_random_contributions():
    rng = np.random.default_rng(1)
    for _ in range(300):
        brought, usable, order = random_exchange(rng)
        result = exchange(brought, usable, order=order)
        expected = exchanged(brought.tolist(), usable.astype(int).tolist(), [k + 1 for k in order])
        assert result.holdings.tolist() == expected
        assert not result.left_over[usable].any()
        assert (result.gains >= 0).all()
        for i, j in combinations(range(len(brought)), 2):
            i_for_j = result.left_over[i][usable[j]].sum()
            j_for_i = result.left_over[j][usable[i]].sum()
            # What a later swap returns is usable, so nothing that could be swapped appears again.
            assert i_for_j == 0 or j_for_i == 0
        # The swaps one by one; one for one, everybody's total stays the same.
        held = brought.astype(object)
        for swap in result.swaps:
            assert not usable[swap.first, swap.gives]
            assert not usable[swap.second, swap.takes]
            assert usable[swap.second, swap.gives]
            assert usable[swap.first, swap.takes]
            assert swap.amount == min(held[swap.first, swap.gives], held[swap.second, swap.takes]) > 0
            for user, sign in ((swap.first, -1), (swap.second, 1)):
                held[user, swap.gives] += sign * swap.amount
                held[user, swap.takes] -= sign * swap.amount
        assert (held == result.holdings + result.left_over).all()


def test_exchange_kinds_of_numbers():
    exact = exchange([[1, 0], [F(1, 3), 2]], [[0, 1], [1, 0]])
    assert exact.holdings.tolist() == [[0, 1], [F(4, 3), 0]]
    assert all(isinstance(v, F) for v in exact.holdings.flat)
    floats = exchange([[1, 0], [1 / 3, 2]], [[0, 1], [1, 0]])
    assert floats.holdings.dtype == float
    np.testing.assert_allclose(floats.holdings, [[0, 1], [4 / 3, 0]], rtol=1e-15)
    alone = exchange([[1, 2]], [[0, 1]])
    assert alone.holdings.tolist() == [[0, 2]]
    assert alone.swaps == ()


def random_tdrf(rng, problem, *, starters=0.0):
    joins = rng.integers(1, 9, problem.n_classes)
    return TDRF(np.where(rng.random(problem.n_classes) < starters, 0, joins).tolist())


def test_tdrf_is_weighted_drf():
    rng = np.random.default_rng(4)
    for kind in ("dense", "sparse", "integer"):
        for _ in range(40):
            problem = random_problem(rng, 4, 3, kind=kind, weighted=True, limited=True)
            policy = random_tdrf(rng, problem)
            weights = np.array([float(w) for w in policy.time_weights])
            counts = rng.integers(0, 3, 4).astype(float)
            expected = DRF()(problem.replaced(weights=problem.weights / weights), counts)
            np.testing.assert_allclose(policy(problem, counts), expected, rtol=1e-12)
            result = allocate(problem, policy, counts)
            assert result.certificate.holds
            np.testing.assert_allclose(result.levels, result.dominant_shares * weights, rtol=1e-12)


def test_tdrf_with_users_from_the_start():
    rng = np.random.default_rng(5)
    several = 0
    for kind in ("dense", "sparse", "integer"):
        for _ in range(40):
            problem = random_problem(rng, 4, 3, kind=kind, weighted=True)
            policy = random_tdrf(rng, problem, starters=0.4)
            counts = rng.integers(0, 3, 4).astype(float)
            result = allocate(problem, policy, counts)
            assert result.certificate.holds
            assert feasibility_residual(problem, counts, result.tasks) <= 1e-12
            # Nobody can gain alone.
            full = relative_usage(problem, result.tasks) >= 1 - 1e-9
            assert ((problem.demands[:, full] > 0).any(axis=1) | (counts == 0)).all()
            # The limit of starts that approach 0 from below: weights e and (t + e).
            near = TDRF([float(t) for t in policy.join_times], initial_time=-1e-7)(problem, counts)
            # The others lose up to e/t of a share, the starters as much; demands span two decades.
            np.testing.assert_allclose(result.tasks, near, atol=1e-4)
            several += 0 < (np.array(policy.time_weights) == 0).sum() < 4
    assert several > 60


def test_tdrf_passes_the_battery():
    class OfAnySize:
        """Join times 1, 2, 3, ... or, of the first class, at the start."""

        name = "TDRF"

        def __init__(self, first):
            self.first = first

        def __call__(self, problem, counts):
            return TDRF([self.first, *range(2, problem.n_classes + 1)])(problem, counts)

    # Relabelling and splitting would have to relabel and split the join times too.
    for first in (1, 0):
        check_policy(OfAnySize(first), skip={"relabelling", "splitting"})


def test_integer_tdrf_serves_the_lowest_weighted_share():
    rng = np.random.default_rng(6)
    for _ in range(150):
        n, m = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        demands = rng.integers(0, 4, (n, m))
        demands[~demands.any(axis=1), 0] = 1
        capacities = rng.integers(8, 25, m)
        holdings = rng.integers(0, 2, (n, m))
        joins = rng.integers(0, 5, n).tolist()
        filling = integer_tdrf(Problem(demands, capacities), joins, holdings=holdings)
        pool = demands.tolist(), capacities.tolist()
        order = [k - 1 for k in whole_task_order(*pool, joins, held=holdings.tolist())]
        assert list(filling.order) == order
        held = holdings + np.bincount(order, minlength=n)[:, None] * demands
        assert (filling.held == held).all()
        assert (filling.usage == held.sum(axis=0)).all()
        # The next one in the order of the levels does not fit.
        assert (held.sum(axis=0) + demands[filling.stopper] > capacities).any()
        assert filling.levels[filling.stopper] == filling.levels.min()


def test_timeline_intervals():
    line = timeline(
        [[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]],
        [[F(1, 10), 0], [0, F(1, 10)]],
        [1, 5],
        [3, 6],
        capacities=[1, 1],
    )
    # Nobody is there from 3 to 5.
    assert [(i.start, i.end, i.present) for i in line.intervals] == [(1, 3, (0,)), (5, 6, (1,))]
    assert line.intervals[0].exchange.left_over.tolist() == [[0, F(1, 2)]]
    assert line.intervals[0].filling.is_exact
    assert line.to_dataframe()["supported"].tolist() == [5.0, 5.0]
    assert line.to_dataframe()["started"].tolist() == [5, 5]
    together = timeline([[0.5, 0.5]] * 2, [[0.1, 0], [0, 0.1]], [1, 1], capacities=[1, 1], ties=[1, 0])
    assert together.intervals[0].exchange.holdings.tolist() == [[1, 0], [0, 1]]
    assert together.intervals[0].filling.tasks.tolist() == [0, 0]
    assert not together.intervals[0].excess.any()
    # 0.1 + 0.2 exceeds 0.3 by a rounding error only.
    summed = timeline([[0.1], [0.2]], [[1], [1]], [1, 1], capacities=[0.3])
    assert not summed.intervals[0].excess.any()


def test_timeline_order_and_ties_follow_the_users():
    contributions = [[3, 0, 0], [0, 3, 0], [0, 3, 0]]
    demands = [[0, 1, 0], [1, 0, 0], [1, 0, 0]]
    for first in (1, 2):
        line = timeline(
            contributions,
            demands,
            [1, 1, 1],
            capacities=[9, 9, 9],
            order=[first, 0, 3 - first],
            initial_time=0,
        )
        assert line.intervals[0].exchange.holdings[first].tolist() == [3, 0, 0]
    late = timeline(
        [[0], [0], [0]], [[1], [1], [1]], [1, 2, 2], [2, None, None], capacities=[1], ties=[0, 2, 1]
    )
    assert late.intervals[-1].present == (1, 2)
    assert late.intervals[-1].filling.tasks.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exchange([[1, -1]], [[1, 1]]), "contributions must be finite and >= 0"),
        (lambda: exchange([[1, 1]], [[1, 1, 1]]), "needs must have shape"),
        (lambda: exchange([[1, 1]], [[1, -1]]), "needs must be finite and >= 0"),
        (lambda: exchange([1, 1], [[1, 1]]), "contributions must have 2 dimensions"),
        (lambda: exchange([[1], [1]], [[1], [1]], order=[0, 0]), "order must list each user number"),
        (lambda: exchange([[1], [1]], [[1], [1]], order=[0.5, 1.5]), "order must list each user number"),
        (lambda: exchange([[1], [1]], [[1], [1]], order=["first", "second"]), "order must list each user"),
        (lambda: exchange([[1], [1]], [[1], [1]], order=1), "order must list each user number"),
        (lambda: TDRF([]), "join_times is empty"),
        (lambda: TDRF([1, float("nan")]), "join_times must hold finite numbers"),
        (lambda: TDRF(["soon"]), "join_times must hold finite numbers"),
        (lambda: TDRF(3), "join_times must list one time each; got 3"),
        (lambda: TDRF([1, 2], initial_time=2), "initial_time = 2 is later than"),
        (lambda: TDRF([1, 2], final_time=1), "final_time = 1 must be later"),
        (lambda: TDRF([0, 0], final_time=0), "final_time = 0 must be later"),
        (lambda: TDRF([1])(Problem([[1], [1]], [1]), [1, 1]), "join_times has 1 entries"),
        (lambda: integer_tdrf(Problem([[1], [1]], [1]), [1]), "join_times has 1 entries"),
        (lambda: integer_tdrf(Problem([[1]], [1]), [1], stop="now"), "stop must be one of"),
        (lambda: timeline([[1]], [[1]], [1, 2], capacities=[1]), "join_times has 2 entries"),
        (lambda: timeline([[1]], [[1]], [1], [1, 2], capacities=[1]), "leave_times has 2 entries"),
        (lambda: timeline([[1]], [[1]], [1], [], capacities=[1]), "leave_times has 0 entries"),
        (lambda: timeline(np.ones((0, 1)), np.ones((0, 1)), [], capacities=[1]), "give at least one user"),
        (lambda: timeline([[1]], [[1]], [1], [1], capacities=[1]), r"leave_times\[0\] = 1 must be later"),
        (lambda: timeline([[1]], [[1]], [1], capacities=[1], ties="last"), "ties must be"),
        (lambda: timeline([[1]], [[1]], [1], capacities=[1], ties=["first"]), "ties must list"),
        (lambda: timeline([[1]], [[1]], [1], capacities=[1], order=[1]), "order must list"),
        (lambda: timeline([[1]], [[1]], [1], capacities=[1], order=[]), "order must list"),
        (lambda: timeline([[1]], [[1, 1]], [1], capacities=[1]), "capacities must have shape"),
        (lambda: timeline([[1, 1]], [[1]], [1], capacities=[1]), "demands must have shape"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ModelError, match=message):
        call()


def test_a_picture_shows_users_with_as_many_tasks():
    brought, needs = [[0.5, 0.2], [0.4, 0.5], [0.1, 0.3]], [[0.1, 0.02], [0.03, 0.1], [0.05, 0.05]]
    found = timeline(brought, needs, [1, 2, 3], [5, None, None], capacities=[1, 1], initial_time=0)
    first, second, third = found.plot().lines
    np.testing.assert_allclose(first.get_ydata(), [10, 10, 6, 6, 5, 5, np.nan, np.nan])
    np.testing.assert_allclose(second.get_ydata(), [np.nan, np.nan, 5, 5, 5, 5, 6, 6])
    assert first.get_linewidth() > second.get_linewidth() > third.get_linewidth()


def test_times_are_numbers_that_floats_hold():
    for time in (float("inf"), float("nan"), 10**400, -(10**400)):
        with pytest.raises(ModelError, match="must hold finite numbers"):
            TDRF([time])
