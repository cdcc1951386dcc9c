from __future__ import annotations

import math
import types

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, MaxMin, Problem
from fairness.errors import ModelError
from fairness.testing import random_problem
from queueing import simulate
from queueing.chain.stationary import stationary
from queueing.model.system import System
from queueing.simulation.counts import walk
from queueing.simulation.replications import estimate_ratio
from queueing.states.table import tabulate
from tests.queueing.simulated import SURE, off, same

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


def test_kernel_gives_the_same_numbers_uncompiled():
    table = tabulate(POOL, DRF(), (4, 4))
    system = System.with_load(POOL, [1, 1], 0.9)
    out = []
    for kernel in (walk, walk.py_func):
        counts, totals = np.zeros(2, np.int64), np.zeros(3)
        generator = np.random.default_rng(3)
        made = kernel(
            table.tasks.reshape(-1, 2),
            np.array([4, 4]),
            system.arrival_rates,
            np.ones(2),
            counts,
            totals,
            generator,
            1000,
        )
        out.append((made, counts.tolist(), totals.tolist()))
    assert out[0] == out[1]
    assert out[0][0] < 1000
    assert max(out[0][1]) == 4


def test_first_visit_counts_with_its_expected_holding_time():
    system = System(Problem([[1]], [1]), [0.5])
    result = simulate(system, DRF(), events=1, warmup=0, replications=2, start=[50])
    assert result.mean_jobs == pytest.approx([50])
    assert result.time == pytest.approx(2 / 1.5)


def test_result_does_not_depend_on_the_first_table():
    system = System.with_load(POOL, [3, 1], 0.8)
    results = [
        simulate(system, DRF(), events=20_000, replications=3, rng=7, table=tabulate(POOL, DRF(), shape))
        for shape in [(1, 1), (3, 5), (200, 300)]
    ]
    same(results[0], results[1])
    same(results[0], results[2])
    assert results[0].table_shape != results[2].table_shape
    assert results[2].table_shape == (200, 300)


# Known laws


def test_one_resource_is_multiclass_processor_sharing():
    # DRF on one resource shares it equally; E[x_i] = r_i/(1 - r), r_i the relative load of the class.
    system = System(Problem([[2.0], [1.0], [3.0]], [4.0]), [0.4, 0.5, 0.1], [1.0, 2.0, 0.5])
    loads = system.loads * [2, 1, 3] / 4
    exact = loads / (1 - loads.sum())
    result = simulate(system, DRF(), events=1_000_000, replications=30, rng=11)
    assert (off(result.estimates["mean_jobs"], exact) < 1).all()
    assert (off(result.estimates["mean_durations"], exact / system.arrival_rates) < 1).all()
    assert (off(result.estimates["service_rates"], system.loads / exact) < 1).all()
    # A relative precision of 2 % shows that the test could have failed.
    assert (result.estimates["mean_jobs"].half_width_at(SURE) < 0.02 * exact).all()


def test_limits_give_the_multiserver_queue():
    # One task per job on c units: M/M/c, E[x] = rho + C(c, rho) rho/(c - rho) with Erlang's C.
    c, rho = 3, 2.1
    terms = [rho**k / math.factorial(k) for k in range(c)]
    last = rho**c / math.factorial(c) * c / (c - rho)
    exact = rho + last / (sum(terms) + last) * rho / (c - rho)
    system = System(Problem([[1]], [c], limits=[1]), [rho])
    result = simulate(system, DRF(), events=200_000, replications=20, rng=12)
    assert off(result.estimates["mean_jobs"], exact) < 1


@pytest.mark.parametrize("policy", [DRF(), MaxMin()])
def test_agrees_with_the_chain(policy):
    problem = Problem([[1.0, 0.2], [0.3, 1.0]], [1.0, 1.0], weights=[1, 2], limits=[np.inf, 0.6])
    system = System.with_load(problem, [1, 0.5], 0.7, [1.0, 0.5])
    law = stationary(system, policy)
    result = simulate(system, policy, events=200_000, replications=30, rng=13)
    # The tail mass of the chain, 1e-9, is far below the statistical error.
    assert (off(result.estimates["mean_jobs"], law.mean_jobs) < 1).all()
    assert (result.estimates["mean_jobs"].half_width_at(SURE) < 0.03 * law.mean_jobs).all()


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


def test_what_a_reader_sees():
    system = System.with_load(POOL, [1, 1], 0.5)
    result = simulate(system, DRF(), events=5000, replications=4, warmup=0.2, rng=1)
    assert result.events == 16_000
    assert result.policy == "DRF"
    assert result.estimates["mean_jobs"].values.shape == (4, 2)
    frame = result.to_dataframe()
    assert list(frame.index) == ["class 1", "class 2"]
    np.testing.assert_array_equal(frame["service_rates"], result.service_rates)
    np.testing.assert_array_equal(frame["mean_jobs_half_width"], result.half_widths["mean_jobs"])
    assert "4 replications, 16,000 events" in repr(result)
    assert "95% intervals" in result.summary()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": [1.5, 0]}, "start must list 2 whole numbers"),
        ({"start": [-1, 0]}, "finite and >= 0"),
        ({"start": [1]}, "last axis must list the 2 job classes"),
        ({"start": [1e300, 0]}, r"whole numbers of jobs, <= 2\*\*53"),
        ({"table": "small"}, "table must be made for the same problem .* got 'small'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ModelError, match=message):
        simulate(System(POOL, [0.1, 0.1]), DRF(), **({"events": 100} | arguments))


def test_bad_systems_and_tables():
    system = System(POOL, [0.1, 0.1])
    with pytest.raises(ModelError, match="table must be made for the same problem and the policy DRF"):
        simulate(system, DRF(), table=tabulate(POOL, MaxMin(), 3))
    # The same name, but another policy.
    favour = DRF(resource_weights=[[2, 2], [1, 1]])
    with pytest.raises(ModelError, match="table must be made for"):
        simulate(system, favour, table=tabulate(POOL, DRF(), 3))
    with pytest.raises(ModelError, match="returned shape"):
        simulate(system, lambda problem, counts: np.ones(3))


def test_a_class_that_was_never_present_is_an_error():
    # Its estimates would be 0 +- 0.
    with pytest.raises(ModelError, match=r"no job of class 'class 2' was present .* give more events"):
        simulate(System(POOL, [0.5, 1e-9]), DRF(), events=1000, rng=1)


def test_too_many_classes_for_a_table():
    system = System(Problem(np.ones((60, 1)), [1]), np.full(60, 0.01))
    with pytest.raises(ModelError, match=r"2 states for each of the 60 classes .* simulate fewer classes"):
        simulate(system, DRF())


def test_a_table_that_outgrows_the_memory_is_an_error(monkeypatch):
    # A policy that wastes half of the pool is unstable at load 0.9, although the pool is not overloaded.
    def lazy(problem, counts):
        return DRF()(problem, counts) / 2

    memory = types.SimpleNamespace(available=100_000)
    monkeypatch.setattr("fairness.machine.memory.psutil.virtual_memory", lambda: memory)
    with pytest.raises(ModelError, match=r"lazy has reached state .* may be unstable at this load"):
        simulate(System(Problem([[1]], [1]), [0.9]), lazy, rng=1)


def test_a_large_table_of_a_stable_system_is_not_blamed_on_the_policy(monkeypatch):
    # Three classes at load 0.7 under DRF: stable by a theorem; small enough to start without a guess.
    memory = types.SimpleNamespace(available=100_000)
    monkeypatch.setattr("fairness.machine.memory.psutil.virtual_memory", lambda: memory)
    system = System.with_load(Problem(np.eye(3) + 1, np.full(3, 9.0)), np.ones(3), 0.7)
    with pytest.raises(ModelError, match=r"has reached state .*; simulate fewer classes") as caught:
        simulate(system, DRF(), rng=1)
    assert "unstable" not in str(caught.value)
