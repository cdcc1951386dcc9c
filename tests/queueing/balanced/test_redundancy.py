"""Redundancy-d: every job may run on d of k servers at once, drawn at random, which add up their speeds.

With a class per choice of d servers, and a resource for every set T of servers, on which the classes that may
run on no other server can do no more work than T, balanced fairness has the mean duration of the first-come
first-served queue with redundant copies, in closed form (Gardner et al., "Redundancy-d: the power of d
choices for redundancy", Operations Research 65, 2017; Bonald and Comte, "Balanced fair resource sharing in
computer clusters", Performance Evaluation 116, 2017):

E[T] = sum_{i=d}^{k} 1/(k mu C(k-1, d-1)/C(i-1, d-1) - k lambda).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fairness import Problem, one_state
from fairness.errors import ModelError
from queueing.balanced import plan as balanced_plans
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.stationary import stationary
from queueing.model.system import System
from queueing.simulation.simulate import simulate


def redundancy(k, d, load):
    """k servers of speed 1, jobs of mean size 1, ``load`` jobs per unit of time and server."""
    classes = list(combinations(range(k), d))
    servers = [set(t) for size in range(d, k + 1) for t in combinations(range(k), size)]
    demands = np.array([[float(t.issuperset(c)) for t in servers] for c in classes])
    rates = np.full(len(classes), k * load / len(classes))
    return System(Problem(demands, [float(len(t)) for t in servers]), rates)


def mean_duration(k, d, load):
    terms = (Fraction(math.comb(k - 1, d - 1), math.comb(i - 1, d - 1)) for i in range(d, k + 1))
    return sum(1 / (k * term - k * load) for term in terms)


def test_closed_form():
    assert mean_duration(4, 2, Fraction(7, 10)) == Fraction(1385, 1104)
    assert float(mean_duration(10, 2, Fraction(9, 10))) == pytest.approx(2.14329805996, abs=1e-11)
    assert float(mean_duration(100, 2, Fraction(9, 10))) == pytest.approx(1.76510330967, abs=1e-11)


@pytest.mark.parametrize(("k", "d", "load"), [(3, 2, 0.7), (3, 1, 0.5), (4, 3, 0.6)])
def test_few_classes_on_a_box(k, d, load):
    law = balanced_fairness(redundancy(k, d, load))
    # Errors of the truncation and rounding.
    assert law.mean_durations == pytest.approx(float(mean_duration(k, d, Fraction(load))), rel=1e-10)


def test_six_classes_of_two_servers_out_of_four(monkeypatch):
    monkeypatch.setattr(balanced_plans, "WORTH_PRUNING", 0.0)
    monkeypatch.setattr(balanced_plans, "box_seconds", lambda *_: 1e9)
    law = balanced_fairness(redundancy(4, 2, 0.4), tail=1e-7)
    assert law.methods == ("pruned",)
    exact = float(mean_duration(4, 2, Fraction(4, 10)))
    assert np.all(np.abs(law.mean_jobs - exact * law.system.arrival_rates) <= law.mean_jobs_error)
    assert law.mean_jobs_error.max() < 1e-6


@pytest.mark.long
def test_six_classes_at_high_load():
    law = balanced_fairness(redundancy(4, 2, 0.7), tail=1e-6)
    assert law.methods == ("pruned",)
    exact = 1385 / 1104
    assert np.all(np.abs(law.mean_durations - exact) <= law.mean_jobs_error / law.system.arrival_rates)
    assert law.mean_jobs_error.max() < 1e-4


def test_ten_classes_of_two_servers_out_of_five(monkeypatch):
    monkeypatch.setattr(balanced_plans, "WORTH_PRUNING", 0.0)
    monkeypatch.setattr(balanced_plans, "box_seconds", lambda *_: 1e9)
    law = balanced_fairness(redundancy(5, 2, 0.2), tail=1e-3)
    exact = float(mean_duration(5, 2, Fraction(2, 10)))
    assert np.all(np.abs(law.mean_jobs - exact * law.system.arrival_rates) <= law.mean_jobs_error)
    # What is dropped is known not to be more than this; the means are nearer.
    assert law.mean_durations == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize(("k", "d"), [(3, 2), (4, 2), (6, 2), (8, 2), (8, 3)])
def test_bounds_enclose_the_closed_form(k, d):
    for load in (0.1, 0.5, 0.9):
        bound = duration_bound(redundancy(k, d, load))
        exact = float(mean_duration(k, d, Fraction(load)))
        assert np.all(bound.least_durations <= exact)
        assert np.all(exact <= bound.mean_durations)


def test_what_is_out_of_reach_says_so_at_once():
    # 15 classes.
    with pytest.raises(ModelError, match=r"exceeds max_states=.* about .* years; .*duration_bound"):
        balanced_fairness(redundancy(6, 2, 0.9))


def balanced_jobs(k, d):
    """Balanced fairness of what is present, whose balance function is a recursion over fewer jobs."""
    classes = list(combinations(range(k), d))

    @cache
    def balance(counts):
        present = [i for i, jobs in enumerate(counts) if jobs]
        servers = len(set().union(*(classes[i] for i in present)))
        return sum(counts[i] * balance(without_one(counts, i)) for i in present) / servers if present else 1.0

    def without_one(counts, i):
        return (*counts[:i], counts[i] - 1, *counts[i + 1 :])

    @one_state
    def balanced(problem, counts):
        state, tasks = tuple(map(int, counts)), np.zeros(len(counts))
        for i in np.flatnonzero(counts):
            tasks[i] = state[i] * balance(without_one(state, i)) / balance(state)
        return tasks

    return balanced


def pooled(k, d, load):
    """The same classes in a pool of all servers: a table of 2^k resources is not needed to simulate."""
    n = math.comb(k, d)
    return System(Problem(np.ones((n, 1)), [float(k)]), np.full(n, k * load / n))


def test_the_policy_is_balanced_fairness():
    problem = redundancy(4, 2, 0.5).require_pool("this")
    law = balanced_fairness(redundancy(4, 2, 0.3), tail=1e-4)
    np.testing.assert_allclose(balanced_jobs(4, 2)(problem, [1, 1, 0, 0, 0, 0]), [1.5, 1.5, 0, 0, 0, 0])
    chain = stationary(redundancy(3, 2, 0.3), balanced_jobs(3, 2), tail=1e-8)
    np.testing.assert_allclose(chain.mean_durations, float(mean_duration(3, 2, Fraction(3, 10))), rtol=1e-6)
    assert law.mean_durations == pytest.approx(float(mean_duration(4, 2, Fraction(3, 10))), rel=1e-3)


@pytest.mark.parametrize(
    ("k", "d", "load", "events"),
    [
        (4, 2, 0.4, 6_000),
        pytest.param(10, 2, 0.1, 6_000, marks=pytest.mark.long),
        pytest.param(4, 2, 0.7, 20_000, marks=pytest.mark.long),
    ],
    ids=lambda given: str(given),
)
def test_simulations_agree_with_the_closed_form(k, d, load, events):
    result = simulate(pooled(k, d, load), balanced_jobs(k, d), events=events, rng=1)
    # A class of which no job was seen has no mean; it adds nothing to a run's total.
    totals = np.nansum(result.estimates["mean_jobs"].values, axis=1)
    # One false alarm in ten thousand seeds.
    half_width = stats.t.ppf(1 - 0.5e-4, len(totals) - 1) * stats.sem(totals)
    jobs = k * load * float(mean_duration(k, d, Fraction(load)))
    assert abs(totals.mean() - jobs) <= half_width < 0.15 * jobs
