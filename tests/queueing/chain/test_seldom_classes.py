"""Classes that are seldom present, and keep others waiting by the thousand while they are."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.claims.chains import Priority, measure
from benchmarks.claims.closed_forms import discriminatory_means, priority_means
from fairness import DRF, MaxMin, NotConvergedError, Problem
from queueing import Multilevel, System, stationary
from queueing.chain.solvers.elimination import birth_death_law
from queueing.chain.tails import Tails, decay
from queueing.model.laws import Erlang


def shared(weights, loads, sizes):
    """One server under discriminatory processor sharing, and its mean counts."""
    loads, sizes = np.array(loads, dtype=float), np.array(sizes, dtype=float)
    pool = Problem(np.ones((len(loads), 1)), [1], weights=weights)
    return System(pool, loads / sizes, sizes), discriminatory_means(np.array(weights), loads / sizes, sizes)


def test_the_closed_form_of_two_classes():
    # E[N_1] = rho_1/(1 - rho) (1 + mu_1 rho_2 (g_2 - g_1)/(mu_1 g_1 (1 - rho_1) + mu_2 g_2 (1 - rho_2)))
    assert shared((1, 4), (0.3, 0.2), (1, 0.5))[1] == pytest.approx([0.65070423, 0.29859155], rel=1e-7)
    assert shared((3, 1), (0.5, 0.35), (2, 0.7))[1] == pytest.approx([2.63829787, 4.31914894], rel=1e-8)
    rates, sizes = np.array([0.2, 0.3]), np.array([1.0, 2.0])
    # One class with priority is alone; of all jobs together the work is that of any order.
    assert priority_means(rates, sizes)[0] == pytest.approx(0.2 / 0.8)
    work = (rates * sizes**2).sum() / (1 - 0.8)
    assert priority_means(rates, sizes) @ sizes == pytest.approx(work)


@pytest.mark.parametrize(
    ("weights", "loads", "sizes"),
    [
        pytest.param((1e6, 1), (3e-11, 0.3), (1e5, 1e-5), marks=pytest.mark.long),
        ((1000, 1), (1e-11, 0.7), (100, 0.01)),
        pytest.param((1e6, 1), (1e-10, 0.3), (1e4, 1e-4), marks=pytest.mark.long),
    ],
)
def test_what_waits_while_a_seldom_class_is_there(weights, loads, sizes):
    system, exact = shared(weights, loads, sizes)
    law = stationary(system, DRF(), distribution=False)
    assert law.mean_jobs == pytest.approx(exact, rel=1e-9)
    assert (np.abs(law.mean_jobs - exact) <= law.mean_jobs_error).all()
    # A box by what is in all, as large as that of processor sharing: far off, and it says so.
    small = stationary(system, DRF(), shape=(2, 25))
    assert (np.abs(small.mean_jobs - exact) <= small.mean_jobs_error).all()
    assert (small.mean_jobs_error <= 2 * np.abs(small.mean_jobs - exact)).all()
    assert small.mean_jobs[0] < 0.75 * exact[0]


def test_a_priority_that_keeps_too_many_waiting_is_refused_with_its_error():
    # Some 3e9 jobs of the second class wait while one of the first is served.
    rates, sizes = np.array([3e-16, 3e4]), np.array([1e5, 1e-5])
    system, exact = System(Problem([[1], [1]], [1]), rates, sizes), priority_means(rates, sizes)
    assert exact[1] > 0.5  # though the second class alone has .43
    with pytest.raises(NotConvergedError, match="more while a class is present that seldom is") as caught:
        stationary(system, Priority(), max_states=100_000)
    best = caught.value.best
    assert (np.abs(best.mean_jobs - exact) <= best.mean_jobs_error).all()
    assert (best.mean_jobs_error <= 2 * np.abs(best.mean_jobs - exact)).all()


def test_a_seldom_class_without_weights():
    system = System(Problem([[1, 0.3], [0, 0.01]], [1, 1]), [8.66e-7, 69.99997], [1, 1])
    rough, fine = (stationary(system, MaxMin(), tail=tail) for tail in (1e-4, 1e-9))
    assert (np.abs(rough.mean_jobs - fine.mean_jobs) <= rough.mean_jobs_error).all()
    assert rough.mean_jobs[0] == pytest.approx(fine.mean_jobs[0], rel=0.02)


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 12), marks=pytest.mark.long)])
def test_random_systems_with_a_seldom_class(seeds):
    claims = [claim for number in seeds for claim in measure("seldom", number, seed=3)]
    assert len(claims) >= 2 * len(seeds)
    assert max(claim.understatement for claim in claims) <= 3


@pytest.mark.long
def test_seldom_classes_of_phases_and_of_many():
    rates, sizes = np.array([1e-7, 0.4]), [Erlang(2, mean=50), Erlang(2, mean=1)]
    pool = Problem([[1], [1]], [1], weights=[100, 1])
    system = System(pool, rates, sizes=sizes)
    law = stationary(system, DRF(), tail=1e-4, solver=Multilevel(1e-6))
    wide = stationary(system, DRF(), shape=(3, 2 * law.shape[1]), solver=Multilevel(1e-6))
    assert (np.abs(law.mean_jobs - wide.mean_jobs) <= law.mean_jobs_error).all()
    assert law.shape[1] > 40  # in all some 20 would do
    system, exact = shared([300, 1, 1, 1, 1], [1e-8, 0.1, 0.1, 0.1, 0.1], [10, 1, 1, 1, 1])
    many = stationary(system, DRF(), tail=1e-3, solver=Multilevel(1e-8))
    assert (np.abs(many.mean_jobs - exact) <= many.mean_jobs_error).all()
    assert many.mean_jobs[0] == pytest.approx(exact[0], rel=0.05)


def test_tails_given_that_a_class_is_present():
    ratio, chance = 0.5, 1e-5
    usual, waiting = 0.3 ** np.arange(30), 0.9 ** np.arange(30)
    law = np.stack([usual / usual.sum() * (1 - chance), waiting / waiting.sum() * chance])
    tails = Tails.of_box(law)
    (outside, pace), (given, slower) = tails.outside[1], tails.given[1]
    assert (pace, slower) == pytest.approx((0.9, 0.9))
    assert given == pytest.approx(0.9**30 / (1 - 0.9**30), rel=1e-9)
    assert outside == pytest.approx(chance * given, rel=1e-3)
    # The own count of the seldom class decays as its law does, though only two states are there.
    assert tails.given[0] == pytest.approx((decay(law.sum(axis=1))[0] / chance, chance), rel=1e-3)
    flat = np.stack([usual, np.full(30, chance / 30)])
    assert np.isinf(Tails.of_box(flat / flat.sum()).given[1][0])
    assert Tails.of_box(flat / flat.sum()).mass == pytest.approx(chance, rel=0.5)
    assert not Tails.of_box(flat / flat.sum()).within(1e-3)
    assert decay(ratio ** np.arange(12.0)) == pytest.approx((0.5**11, 0.5))


def test_a_million_tiny_probabilities_beside_a_large_one_are_not_lost():
    # One by one, 1e6 weights of 1e-17 would add nothing to 1.
    up, down = np.full(1_000_000, 1.0), np.full(1_000_000, 1.0)
    down[0] = 1e17
    law = birth_death_law(up, down)
    assert law[0] == pytest.approx(1 - 1e-11, abs=1e-14)
    assert law.sum() == pytest.approx(1, abs=1e-15)
