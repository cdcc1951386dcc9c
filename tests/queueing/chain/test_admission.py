from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from fairness import DRF, MaxMin, Problem, ProportionalFair
from fairness.errors import ModelError, NotConvergedError
from fairness.testing import KINDS, random_problem
from queueing.chain.admission import admission
from queueing.chain.solvers.choose_solver import Elimination, Multilevel, Product
from queueing.chain.stationary import stationary
from queueing.model.system import System
from tests.own_policies import sharing
from tests.queueing.chain.chains import EXAMPLE, SOLVERS, rational_law


def erlang_b(servers, load):
    """Blocking by the recursion of Erlang's formula."""
    block = 1.0
    for k in range(1, servers + 1):
        block = load * block / (k + load * block)
    return block


@pytest.mark.parametrize(("servers", "load"), [(1, 0.3), (10, 7.0), (50, 60.0), (400, 390.0)])
def test_erlang_loss(servers, load):
    system = System(Problem([[2]], [2 * servers], limits=[1]), [load / 3], [3.0])
    for limit in ({"max_jobs": servers}, {"max_total": servers}):
        law = admission(system, DRF(), **limit)
        block = erlang_b(servers, load)
        assert law.blocking[0] == pytest.approx(block, rel=1e-12)
        assert law.mean_jobs[0] == pytest.approx(load * (1 - block), rel=1e-12)
        assert law.mean_durations[0] == pytest.approx(3, rel=1e-12)
        assert law.carried_loads[0] == pytest.approx(load * (1 - block), rel=1e-12)
        assert law.residual < 1e-14
        terms = np.cumprod([1.0, *(load / np.arange(1, servers + 1))])
        assert law.distribution == pytest.approx(terms / terms.sum(), rel=1e-12)
    direct = admission(system, DRF(), max_jobs=servers, solver=Elimination())
    assert direct.blocking[0] == pytest.approx(block, rel=1e-12)


@pytest.mark.parametrize("load", [0.5, 1.0, 1.7])
def test_mm1k(load):
    law = admission(System(Problem([[1]], [2]), [2 * load]), DRF(), max_jobs=20)
    weights = load ** np.arange(21)
    assert law.distribution == pytest.approx(weights / weights.sum(), rel=1e-12)
    assert law.blocking[0] == pytest.approx(weights[-1] / weights.sum(), rel=1e-12)


def kaufman_roberts(capacity, units, loads):
    """Blocking per class by the recursion k q(k) = sum_i b_i rho_i q(k - b_i)."""
    q = [Fraction(1)]
    for k in range(1, capacity + 1):
        q.append(sum(b * r * q[k - b] for b, r in zip(units, loads, strict=True) if b <= k) / k)
    return [float(sum(q[capacity - b + 1 :]) / sum(q)) for b in units]


@pytest.mark.parametrize("solver", [Elimination(), Multilevel(1e-12)])
@pytest.mark.parametrize(
    ("capacity", "units", "loads"),
    [(20, (1, 3), (6, 5)), (12, (1, 2, 5), (4, 2, 1)), (9, (1, 2, 2, 3), (2, 1, 1, 3))],
)
def test_kaufman_roberts(solver, capacity, units, loads):
    n = len(units)
    sizes = np.arange(1, n + 1) / 2
    problem = Problem(np.array(units)[:, None], [capacity], limits=np.ones(n))
    system = System(problem, loads / sizes, sizes)
    law = admission(system, DRF(), max_total=capacity, units=units, solver=solver)
    # Direct: rounding. Multilevel: the tolerance, and single states less exactly than means.
    rel = 1e-12 if solver == Elimination() else 1e-11
    assert law.blocking == pytest.approx(kaufman_roberts(capacity, units, loads), rel=rel)
    assert law.mean_durations == pytest.approx(sizes, rel=rel)
    assert law.max_jobs == tuple(capacity // b for b in units)
    held = np.tensordot(units, np.indices(law.distribution.shape), 1)
    assert (law.distribution[held > capacity] == 0).all()
    assert (law.distribution[held <= capacity] > 0).all()
    assert law.n_states == np.sum(held <= capacity)


@pytest.mark.parametrize("solver", SOLVERS)
def test_total_limit_of_processor_sharing_is_product_form(solver):
    loads, total = np.array([0.5, 0.4, 0.7]), 9
    law = admission(System(Problem(np.ones((3, 1)), [1]), loads), sharing, max_total=total, solver=solver)
    weights = loads.sum() ** np.arange(total + 1)
    # The total is M/M/1/K; given it the counts are multinomial.
    assert law.blocking == pytest.approx(np.full(3, weights[-1] / weights.sum()), rel=1e-11)
    mean = np.arange(total + 1) @ weights / weights.sum()
    assert law.mean_jobs == pytest.approx(mean * loads / loads.sum(), rel=1e-11)


def test_engset():
    users, servers, rate = 12, 5, 0.4
    system = System(Problem([[1]], [servers], limits=[1]), [rate])
    law = admission(system, DRF(), max_jobs=servers, populations=[users])

    def weights(m):
        return np.array([math.comb(m, k) * rate**k for k in range(servers + 1)])

    one, less = weights(users), weights(users - 1)
    assert law.distribution == pytest.approx(one / one.sum(), rel=1e-12)
    # Arriving users see the pool without themselves.
    assert law.blocking[0] == pytest.approx(less[-1] / less.sum(), rel=1e-12)
    assert law.offered_rates[0] == pytest.approx(rate * (users - law.mean_jobs[0]), rel=1e-12)
    # All admitted, and everybody served at once: every user is active with probability rate/(1 + rate).
    free = admission(System(Problem([[1]], [12], limits=[1]), [rate]), DRF(), populations=[users])
    assert free.blocking[0] == 0
    assert free.mean_jobs[0] == pytest.approx(users * rate / (1 + rate), rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_exact_rationals(solver):
    rng = np.random.default_rng(3)
    for k, (bounds, total, users) in enumerate(
        [
            ((4, 3), 5, (None, None)),
            ((2, 2, 3), 4, (None, 5, None)),
            ((3, 4), 7, (3, 6)),
            ((2, 1, 1, 2), 3, (None,) * 4),
        ]
    ):
        n = len(bounds)
        problem = random_problem(rng, n, 2, weighted=True, kind=KINDS[k % len(KINDS)])
        system = System.with_load(
            problem, rng.uniform(0.3, 1, n), (0.5, 1.5)[k % 2], rng.integers(1, 9, n) / 4
        )
        policy = (DRF(), ProportionalFair(), MaxMin())[k % 3]
        states = [x for x in itertools.product(*(range(b + 1) for b in bounds)) if sum(x) <= total]

        def rates(x, system=system, users=users):
            idle = [1 if m is None else m - y for m, y in zip(users, x, strict=True)]
            return system.arrival_rates * idle

        exact = rational_law(system, policy, states, rates)
        law = admission(system, policy, max_jobs=bounds, max_total=total, populations=users, solver=solver)
        # Direct: rounding of at most 30 unknowns. Multilevel: its tolerance of 1e-11 on the means.
        rel = 1e-13 if solver == Elimination() else 1e-10
        assert [law.distribution[x] for x in states] == pytest.approx([float(p) for p in exact], rel=rel)
        assert law.distribution.sum() == pytest.approx(1, rel=1e-14)
        for i in range(n):
            refused = [x[i] == bounds[i] or sum(x) == total for x in states]
            flow = [float(p) * rates(x)[i] for p, x in zip(exact, states, strict=True)]
            block = sum(f for f, no in zip(flow, refused, strict=True) if no) / sum(flow)
            assert law.blocking[i] == pytest.approx(block, rel=rel, abs=1e-15)
        # Conservation: what is carried is what runs.
        tasks = np.array([policy(problem, np.array(x, dtype=float)) for x in states])
        assert law.carried_loads == pytest.approx(np.array(exact, dtype=float) @ tasks, rel=10 * rel)
        assert law.mean_durations * law.carried_rates == pytest.approx(law.mean_jobs, rel=1e-14)


def test_per_class_limits_are_the_box_of_the_chain():
    system = System.with_load(EXAMPLE, [2, 1], 0.8, [1.0, 3.0])
    law = admission(system, DRF(), max_jobs=[20, 35])
    box = stationary(system, DRF(), shape=(21, 36))
    # The same chain, its arrivals refused by the box or by the limits.
    assert law.distribution == pytest.approx(box.distribution, rel=1e-10)
    assert law.blocking == pytest.approx([p[-1] for p in box.marginals], rel=1e-10)


@pytest.mark.parametrize("load", [0.3, 1.0, 5.0])
@pytest.mark.parametrize(
    "limits", [{"max_total": 30}, {"max_jobs": [40, None], "max_total": 50}, {"populations": [25, 25]}]
)
def test_methods_agree_at_any_load(load, limits):
    share = load / 12 if "populations" in limits else load
    system = System.with_load(EXAMPLE, [1, 2], share, [1.0, 0.2])
    one, other = (admission(system, DRF(), solver=solver, **limits) for solver in SOLVERS)
    assert one.mean_jobs == pytest.approx(other.mean_jobs, rel=1e-10)
    assert one.blocking == pytest.approx(other.blocking, rel=1e-9)
    assert max(one.residual, other.residual) < 1e-10


def test_large_regions_take_multilevel():
    problem = Problem([[1, 0.2], [0.3, 1], [0.5, 0.5]], [1, 1])
    law = admission(System.with_load(problem, [1, 1, 1], 1.3), DRF(), max_total=40, distribution=False)
    assert law.method == "multilevel"
    assert law.n_states == math.comb(43, 3)
    assert law.blocking == pytest.approx(np.full(3, law.blocking[0]), rel=1e-9)  # they see the same
    assert law.distribution is None


def test_policy_is_asked_inside_the_region_only():
    def strict(problem, counts):
        assert (counts.sum(axis=-1) <= 6).all()
        return sharing(problem, counts)

    law = admission(System(Problem(np.ones((2, 1)), [1]), [1, 2]), strict, max_total=6)
    assert law.n_states == 28


def test_closed_and_absent_classes():
    problem = Problem([[1], [1], [1]], [1], job_classes=["A", "B", "C"])
    law = admission(System(problem, [0.5, 0.4, 0.0]), DRF(), max_jobs=[5, 0, None])
    weights = 0.5 ** np.arange(6)
    assert law.blocking[:2] == pytest.approx([weights[-1] / weights.sum(), 1], rel=1e-12)
    assert np.isnan(law.blocking[2])
    assert np.isnan(law.mean_durations[1:]).all()
    assert law.offered_rates.tolist() == [0.5, 0.4, 0.0]
    assert law.distribution.shape == (6, 1, 1)
    nothing = admission(System(problem, [0.5, 0, 0]), DRF(), max_total=0)
    assert nothing.blocking[0] == 1
    assert nothing.mean_jobs.tolist() == [0, 0, 0]
    assert "units in all" in nothing.summary()
    # No users, no arrivals: nothing to be refused.
    users = admission(System(problem, [0.5, 0.4, 0]), DRF(), populations=[0, 3, None])
    assert np.isnan(users.blocking[[0, 2]]).all()
    assert users.blocking[1] == 0
    assert users.offered_rates[0] == 0


def test_bad_input():
    system = System.with_load(EXAMPLE, [1, 1], 2)
    for arguments, words in [
        ({}, "class 'A' has arrivals but no limit"),
        ({"max_jobs": [3, None]}, "class 'B' has arrivals but no limit"),
        ({"max_jobs": [3, -1]}, "max_jobs must be a whole number"),
        ({"max_jobs": 2.5}, "max_jobs must list 2"),
        ({"max_jobs": True}, "max_jobs must list 2"),
        ({"max_jobs": [1, 2, 3]}, "max_jobs must list 2"),
        ({"max_total": 1.5}, "max_total must be a whole number"),
        ({"max_total": 5, "units": [1, 0]}, "units must be a whole number >= 1"),
        ({"populations": "many"}, "populations must list"),
        ({"max_total": 5, "solver": "magic"}, "solver must"),
        ({"max_total": 5, "solver": Product()}, "one class"),
        ({"max_jobs": 10**8}, "GiB"),
    ]:
        with pytest.raises(ModelError, match=words):
            admission(system, DRF(), **arguments)
    with pytest.raises(ModelError, match=r"serves nobody in state \(0, 1\)"):
        admission(system, lambda problem, counts: np.minimum(counts, 1) * [1, 0], max_total=3)
    with pytest.raises(ModelError, match="two classes or more"):
        admission(System(Problem([[1]], [1]), [1]), DRF(), max_jobs=3, solver=Multilevel())
    five = System(Problem(np.eye(5), np.ones(5)), np.full(5, 0.5))
    with pytest.raises(ModelError, match="at most 4"):
        admission(five, DRF(), max_total=2)
    with pytest.raises(NotConvergedError, match="1 cycles") as failure:
        admission(system, DRF(), max_total=40, solver=Multilevel(max_cycles=1))
    assert failure.value.best.n_states == 861
