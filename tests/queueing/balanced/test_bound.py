from __future__ import annotations

import numpy as np
import pytest

from fairness import Problem
from fairness.errors import ModelError, UnstableError
from fairness.testing import KINDS, random_problem
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.model.system import System


def test_formula():
    # Relative loads 0.5 and 0.25; sigma (max a/C + sum_j (a/C) r/(1 - r)).
    system = System(Problem([[2, 0], [1, 1]], [4, 2]), [0.5, 0.5], [1, 2])
    assert system.relative_loads == pytest.approx([0.5, 0.5])
    bound = duration_bound(system)
    assert bound.mean_durations == pytest.approx([1 * (0.5 + 0.5), 2 * (0.5 + 0.25 + 0.5)])
    assert bound.mean_jobs == pytest.approx([0.5, 1.25])
    assert bound.service_rates == pytest.approx([1.0, 0.8])
    assert bound.least_durations == pytest.approx([1 * 0.5 / 0.5, 2 * 0.5 / 0.5])
    assert "at most" in repr(bound)


def test_bound_holds_for_balanced_fairness_on_random_systems():
    rng = np.random.default_rng(7)
    ratios, below = [], []
    for k in range(60):
        n = 2 if k < 45 else 3
        problem = random_problem(rng, n, int(rng.integers(1, 5)), kind=KINDS[k % 3])
        load = rng.uniform(0.1, 0.9 if n == 2 else 0.6)
        system = System.with_load(problem, rng.uniform(0.05, 1, n), load, 10 ** rng.uniform(-1, 1, n))
        exact, bound = balanced_fairness(system, tail=1e-10), duration_bound(system)
        ratios.append(bound.mean_jobs / exact.mean_jobs)
        # The exact means are short by at most mean_jobs_error, about 1e-8.
        assert np.all(bound.mean_jobs >= exact.mean_jobs - exact.mean_jobs_error - 1e-12 * exact.mean_jobs)
        assert np.all(bound.service_rates <= exact.service_rates * (1 + 1e-7))
        below.append(bound.least_durations / exact.mean_durations)
        assert np.all(below[-1] <= 1 + exact.mean_jobs_error / exact.mean_jobs + 1e-12)
    assert np.concatenate(below).min() < 0.95
    assert np.concatenate(ratios).max() > 1.05  # else the test would compare a thing with itself


def test_one_resource_gives_equality():
    system = System(Problem([[2], [1], [3]], [4]), [0.4, 0.5, 0.1], [1, 2, 0.5])
    # Truncation of the exact value: 1e-12 times the box.
    exact = balanced_fairness(system).mean_durations
    assert duration_bound(system).mean_durations == pytest.approx(exact, rel=1e-10)
    assert duration_bound(system).least_durations == pytest.approx(exact, rel=1e-10)


def test_fewer_resources_may_take_longer():
    # Why the lower bound takes each resource alone, and not several of them.
    demands = np.array([[0.8, 0.1, 0.0], [0.0, 0.1, 0.15]])
    loads = [0.9, 1.5]
    three = balanced_fairness(System(Problem(demands, np.ones(3)), loads))
    two = balanced_fairness(System(Problem(demands[:, 1:], np.ones(2)), loads))
    assert three.mean_jobs[1] < 0.99 * two.mean_jobs[1]


def test_classes_without_arrivals():
    bound = duration_bound(System(Problem([[1, 0], [1, 0], [1, 1]], [2, 0]), [1.0, 0.0, 0.0], [1, 3, 1]))
    # An occasional job shares with the others; one that is blocked never ends.
    assert bound.mean_durations == pytest.approx([1.0, 3.0, np.inf])
    assert bound.least_durations == pytest.approx([1.0, 3.0, np.inf])
    assert bound.mean_jobs == pytest.approx([1.0, 0.0, 0.0])
    assert bound.service_rates == pytest.approx([1.0, 1.0, 0.0])


def test_errors():
    with pytest.raises(ModelError, match=r"limits\[1\] \('B'\) is finite; use balanced_fairness"):
        duration_bound(
            System(Problem([[1], [1]], [1], limits=[np.inf, 2], job_classes=["A", "B"]), [0.1, 0.1])
        )
    with pytest.raises(UnstableError):
        duration_bound(System(Problem([[1]], [1]), [1.0]))
