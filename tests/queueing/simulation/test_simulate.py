from __future__ import annotations

import types

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, MaxMin, Problem
from fairness.errors import ModelError, NotConvergedError
from fairness.testing import random_problem
from queueing import simulate
from queueing.model.system import System
from queueing.simulation.replications import estimate_ratio
from queueing.states.table import tabulate

POOL = Problem([[10, 1], [1, 10]], [10, 10], resources=["cpu", "ram"])


# The kernel


def naive_walk(system, policy, start, events, generator):
    """The same walk in plain Python, with the policy called in every state."""
    counts, area, time = np.array(start), np.zeros(system.n_classes), 0.0
    for _ in range(events):
        tasks = policy(system.problem, counts)
        rates = np.concatenate([system.arrival_rates, tasks / system.mean_sizes])
        area += counts / rates.sum()
        time += 1 / rates.sum()
        jump = int(np.searchsorted(np.cumsum(rates), generator.random() * rates.sum(), side="right"))
        counts[jump % system.n_classes] += 1 if jump < system.n_classes else -1
    return area, time


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_jump_is_that_of_a_naive_walk(n):
    rng = np.random.default_rng(n)
    problem = random_problem(rng, n, 2, weighted=True)
    system = System.with_load(problem, rng.uniform(0.1, 1, n), 0.8, rng.uniform(0.5, 2, n))
    start = rng.integers(0, 5, n)
    result = simulate(system, DRF(), events=300, warmup=0, replications=2, rng=5, start=start)
    for k, generator in enumerate(np.random.default_rng(5).spawn(2)):
        area, time = naive_walk(system, DRF(), start, 300, generator)
        # 1e-12: 300 additions in another order.
        np.testing.assert_allclose(result.estimates["mean_jobs"].values[k], area / time, rtol=1e-12)


def test_first_visit_counts_with_its_expected_holding_time():
    system = System(Problem([[1]], [1]), [0.5])
    result = simulate(system, DRF(), events=1, warmup=0, replications=2, start=[50])
    assert result.mean_jobs == pytest.approx([50])
    assert result.time == pytest.approx(2 / 1.5)


# Intervals


def test_ratio_of_constant_denominators_is_the_usual_student_interval():
    values = np.random.default_rng(0).normal(size=(7, 3))
    estimate = estimate_ratio(values * 4, np.full((7, 1), 4.0), 0.9)
    low, high = stats.t.interval(0.9, 6, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(estimate.value - estimate.half_width, low, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(estimate.value + estimate.half_width, high, rtol=1e-12, atol=1e-12)


def test_ratio_of_varying_denominators_agrees_with_the_jackknife():
    rng = np.random.default_rng(1)
    bottom = rng.uniform(0.9, 1.1, (400, 1))
    top = 3 * bottom + rng.normal(0, 0.1, (400, 1))
    estimate = estimate_ratio(top, bottom, 0.95)
    left_out = (top.sum() - top) / (bottom.sum() - bottom)
    jackknife = np.sqrt(399 / 400 * ((left_out - left_out.mean()) ** 2).sum())
    # The two differ by O(1/400).
    assert estimate.standard_error == pytest.approx([jackknife], rel=0.01)


def test_little_holds_exactly_between_the_estimates():
    system = System.with_load(POOL, [2, 1], 0.6, [1.0, 3.0])
    result = simulate(system, DRF(), events=5000, rng=1)
    assert result.mean_durations == pytest.approx(result.mean_jobs / system.arrival_rates, rel=1e-14)
    assert result.service_rates == pytest.approx(system.loads / result.mean_jobs, rel=1e-14)


# Results and errors


SMALL = System(POOL, [0.1, 0.1])
FAVOUR = DRF(resource_weights=[[2, 2], [1, 1]])  # the same name, but another policy


@pytest.mark.parametrize(
    ("system", "policy", "options", "message"),
    [
        (SMALL, DRF(), {"start": [1.5, 0]}, "start must list 2 whole numbers"),
        (SMALL, DRF(), {"start": [-1, 0]}, "finite and >= 0"),
        (SMALL, DRF(), {"start": [1]}, "last axis must list the 2 job classes"),
        (SMALL, DRF(), {"start": [1e300, 0]}, r"whole numbers of jobs, <= 2\*\*53"),
        (SMALL, DRF(), {"table": "small"}, "table must be made for the same problem .* got 'small'"),
        (SMALL, DRF(), {"table": tabulate(POOL, MaxMin(), 3)}, "for the same problem and the policy DRF"),
        (SMALL, FAVOUR, {"table": tabulate(POOL, DRF(), 3)}, "table must be made for"),
        (SMALL, lambda problem, counts: np.ones(3), {}, "returned shape"),
    ],
)
def test_bad_arguments(system, policy, options, message):
    with pytest.raises(ModelError, match=message):
        simulate(system, policy, events=1000, **options)


def half(problem, counts):
    """About half; as that is not a matter of proportions alone, the fluid limit does not say what it is."""
    return DRF()(problem, counts) / (2 + 1e-3 / (1 + counts.sum(axis=-1, keepdims=True)))


@pytest.mark.parametrize(
    ("problem", "policy", "load", "message"),
    [
        # A policy that wastes half of the pool is unstable at load 0.9, although the pool is not overloaded.
        (Problem([[1]], [1]), half, 0.9, r"half has reached state .* may be unstable at this load"),
        # Three classes under DRF are stable by a theorem; small enough to start without a guess.
        (Problem(np.eye(3) + 1, [9, 9, 9]), DRF(), 0.7, r"has reached state .*; simulate less"),
    ],
)
def test_a_table_that_outgrows_the_memory_is_an_error(problem, policy, load, message, monkeypatch):
    memory = types.SimpleNamespace(available=100_000)
    monkeypatch.setattr("fairness.machine.memory.psutil.virtual_memory", lambda: memory)
    monkeypatch.setattr("fairness.machine.memory.UNASKED", 2**20)
    with pytest.raises(ModelError, match=message) as caught:
        simulate(System.with_load(problem, np.ones(problem.n_classes), load), policy, rng=1)
    assert ("unstable" in str(caught.value)) == (policy is half)


def test_a_class_of_which_no_job_comes_has_no_estimate():
    run = simulate(System(POOL, [0.5, 1e-9]), DRF(), events=2000, rng=1)
    assert run.unseen == ("class 2",)
    assert np.isnan([run.mean_jobs[1], run.mean_durations[1], run.service_rates[1]]).all()
    assert run.mean_jobs[0] > 0
    assert np.isinf(run.precision)
    assert "no job was seen of 'class 2'; give more events" in run.summary()
    with pytest.raises(NotConvergedError):
        simulate(System(POOL, [0.5, 1e-9]), DRF(), events=2000, precision=0.5, max_replications=20, rng=1)
