from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import expm

from fairness import DRF, MaxMin, Problem, ProportionalFair
from fairness.errors import ModelError, NotConvergedError, UnstableError
from queueing import simulate
from queueing.chain.stationary import stationary
from queueing.chain.tagged import tagged_duration
from queueing.model.system import System
from queueing.states.table import tabulate
from tests.queueing.chain.chains import EXAMPLE, random_system, rate_matrix, stepped


def from_definition(system, policy, index, shape):
    """Initial law and sub-generator of the chain with a tagged job, state by state."""
    law = stationary(system, policy, shape=shape).distribution
    tasks = tabulate(system.problem, policy, shape).tasks
    states = [x for x in np.ndindex(shape) if x[index] < shape[index] - 1]

    def each(x, i):
        """Rate at which each job of class i leaves while x others and the tagged one are there."""
        present = stepped(x, index, 1)
        return tasks[present][i] / present[i] / system.mean_sizes[i] if present[i] else 0.0

    def moves(x):
        for i in range(len(x)):
            yield stepped(x, i, 1), system.arrival_rates[i]
            yield stepped(x, i, -1), each(x, i) * x[i]

    rates = rate_matrix(states, moves)
    leaving = [each(x, index) for x in states]
    first = np.array([law[x] for x in states])
    return first / first.sum(), rates - np.diag(rates.sum(axis=1) + leaving)


@pytest.mark.long
def test_random_systems_agree_with_the_definition():
    rng = np.random.default_rng(7)
    times = np.array([0.1, 1.0, 4.0, 30.0])
    for k, shape in enumerate([(9,), (6, 7), (2, 4), (4, 3, 5), (3, 2, 3, 3)]):
        n = len(shape)
        system = random_system(rng, k, n)
        policy = (DRF(), ProportionalFair(), MaxMin())[k % 3]
        for index in range(n):
            law = tagged_duration(system, policy, index, shape=shape)
            first, rates = from_definition(system, policy, index, shape)
            once = np.linalg.solve(-rates, np.ones(len(first)))
            twice = 2 * np.linalg.solve(-rates, once)
            # The tolerance 1e-11 of the stationary law, whose small parts are less accurate.
            assert law.mean == pytest.approx(first @ once, rel=1e-10)
            assert law.variance == pytest.approx(first @ twice - (first @ once) ** 2, rel=1e-9)
            exact = [(first @ expm(rates * t)).sum() for t in times]
            assert law.survival(times) == pytest.approx(exact, abs=1e-11)
            assert law.little_error < 1e-9


def test_processor_sharing_has_the_variance_of_coffman_muntz_and_trotter():
    for load in (0.2, 0.7, 0.9):
        system = System(Problem([[2]], [3]), [load * 1.5 / 4], [4.0])
        law = tagged_duration(system, DRF(), 0, tail=1e-14)
        alone = 4 / 1.5
        assert law.mean == pytest.approx(alone / (1 - load), rel=1e-10)
        # 1e-9: the tail 1e-14 times the squares of the durations that begin there.
        exact = alone**2 * (2 + load) / ((2 - load) * (1 - load) ** 2)
        assert law.variance == pytest.approx(exact, rel=1e-9)
        assert law.scv == pytest.approx(law.variance / law.mean**2)


@pytest.mark.parametrize("tail", [1e-3, 1e-6, 1e-9])
def test_errors_of_the_moments_tell_what_the_box_cuts_off(tail):
    pool = Problem([[2]], [3])
    for load in (0.2, 0.7, 0.9):
        law = tagged_duration(System(pool, [load * 1.5 / 4], [4.0]), DRF(), 0, tail=tail)
        alone = 4 / 1.5
        mean, variance = alone / (1 - load), alone**2 * (2 + load) / ((2 - load) * (1 - load) ** 2)
        assert 1 < law.mean_error * mean / abs(law.mean - mean) < 3
        assert 1 < law.variance_error * variance / abs(law.variance - variance) < 4
    system = System.with_load(EXAMPLE, [2, 1], 0.7)
    law, exact = (tagged_duration(system, DRF(), 0, tail=part) for part in (tail, 1e-12))
    assert 1 < law.mean_error / abs(law.mean / exact.mean - 1) < 3
    assert 1 < law.variance_error / abs(law.variance / exact.variance - 1) < 4
    assert "of the variance; off Little's law" in law.summary()


def test_jobs_that_do_not_meet_last_as_long_as_their_sizes():
    system = System(Problem([[1], [1]], [1000], limits=[1, 2]), [3.0, 1.0], [2.0, 0.5])
    times = np.array([0.0, 0.3, 5.0, 40.0])
    for index, mean in ((0, 2.0), (1, 0.25)):
        law = tagged_duration(system, DRF(), index)
        # Truncation of uniformisation, and rounding.
        assert law.survival(times) == pytest.approx(np.exp(-times / mean), abs=2e-12)
        assert law.quantile([0.5, 0.999]) == pytest.approx(-mean * np.log([0.5, 0.001]), rel=1e-8)


def test_simulated_durations_follow_the_law():
    system = System.with_load(EXAMPLE, [3, 1], 0.7, [1.0, 2.0])
    result = simulate(system, DRF(), jobs=60_000, replications=8, rng=5, record=True)
    for index, name in enumerate("AB"):
        law = tagged_duration(system, DRF(), name, tail=1e-7)
        half = result.half_widths["mean_durations"][index]
        assert abs(result.mean_durations[index] - law.mean) < 5 * half
        durations = result.record.loc[result.record.job_class == name, "duration"].to_numpy()
        # Neighbours meet the same jobs: every 150th duration is nearly independent of the last.
        thin = durations[::150]
        levels = np.linspace(0.05, 0.95, 10)
        places = np.searchsorted(law.quantile(levels), thin)
        observed, expected = np.bincount(places, minlength=11), np.diff([0, *levels, 1]) * len(thin)
        assert stats.chisquare(observed, expected).pvalue > 1e-6
        for level in (0.5, 0.9, 0.99):
            estimate = result.duration_quantiles[level]
            gap = abs(estimate.value[index] - law.quantile(level))
            assert gap < 5 * estimate.half_width[index]


def test_quantiles_invert_the_distribution_function():
    law = tagged_duration(System.with_load(EXAMPLE, [1, 1], 0.8), DRF(), 1, shape=60)
    levels = np.array([[1e-6, 0.5], [0.9, 0.999999]])
    times = law.quantile(levels)
    assert times.shape == (2, 2)
    assert law.cdf(times) == pytest.approx(levels, abs=1e-12)
    assert law.survival([-1.0, 0.0, 1e15]).tolist() == [1, 1, 0]
    # Asked in another order, the same.
    again = tagged_duration(law.system, DRF(), "B", shape=60)
    assert np.array_equal(again.survival(times[::-1]), law.survival(times)[::-1])
    table = law.to_dataframe()
    assert table.index.tolist() == ["B"]
    assert table["q0.5"].iloc[0] == times[0, 1]
    assert "Little" in repr(law)


def test_bad_arguments_are_refused():
    system, silent = System.with_load(EXAMPLE, [1, 1], 0.5), System(EXAMPLE, [0.5, 0])
    four, five = (System(Problem(np.eye(k), np.ones(k)), [0.9] * k) for k in (4, 5))
    for given, name, arguments, message in [
        *((system, wrong, {"shape": 5}, "job_class") for wrong in ("C", 2, -3, 0.5, None, True)),
        *((system, "A", {"shape": 5, "max_steps": k}, "max_steps") for k in (0, 2.5, "many")),
        (system, "A", {"shape": 5, "tolerance": 0.1}, "tolerance"),
        (system, "A", {"shape": 1}, "shape"),
        (silent, "B", {"shape": 5}, "no arrivals"),
        (four, 0, {"shape": 60}, "GiB"),
        (five, 0, {"tail": 1e-2}, "5 classes have arrivals; .* at most 4"),
    ]:
        with pytest.raises(ModelError, match=message):
            tagged_duration(given, DRF(), name, **arguments)
    with pytest.raises(UnstableError):
        tagged_duration(System.with_load(EXAMPLE, [1, 1], 1.1), DRF(), "A")
    law = tagged_duration(system, DRF(), "A", shape=5)
    for level in (0, 1, -0.1, 1 - 1e-12, np.nan):
        with pytest.raises(ModelError, match="levels"):
            law.quantile(level)
    with pytest.raises(ModelError, match="times"):
        law.survival([1.0, np.inf])


def test_steps_that_do_not_suffice_are_said():
    law = tagged_duration(System.with_load(EXAMPLE, [1, 1], 0.5), DRF(), "A", shape=10, max_steps=200)
    assert law.cdf(1.0) > 0
    with pytest.raises(NotConvergedError, match="max_steps"):
        law.quantile(0.99999999)
