"""Alpha-fair tasks of two classes against the definition: no feasible tasks are better, to first order."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from fairness import AlphaFair, Problem
from fairness.policies.engines.polygon import _edges, edge_tasks
from fairness.policies.proportional import _solve


def corners(shares, most):
    """All corners of what two classes can run, as crossings of any two of the bounds that break no other."""
    rows = np.vstack([shares.T, np.diag(1.0 / most), -np.eye(2)])
    right = np.concatenate([np.ones(len(shares.T) + 2), np.zeros(2)])
    found = []
    for pair in combinations(range(len(rows)), 2):
        with np.errstate(all="ignore"):
            matrix = rows[list(pair)]
            if abs(np.linalg.det(matrix)) > 1e-12 * np.abs(matrix).max() ** 2:
                point = np.linalg.solve(matrix, right[list(pair)])
                if (rows @ point <= right + 1e-9 * np.maximum(np.abs(rows) @ np.abs(point), 1.0)).all():
                    found.append(point)
    return np.array(found)


def random_problem(rng):
    m = int(rng.integers(1, 7))
    demands = [rng.random((2, m)) + 0.01, rng.integers(0, 4, (2, m)), rng.integers(1, 4, (2, m))][
        rng.integers(3)
    ].astype(float)
    demands[demands.sum(axis=1) == 0] = 1.0
    limits = np.where(rng.random(2) < 0.4, rng.random(2) / demands.max(axis=1), np.inf)
    return Problem(demands, rng.uniform(0.5, 2.0, m), weights=10.0 ** rng.uniform(-1, 1, 2), limits=limits)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.0, 5.0])
def test_nothing_feasible_is_better(alpha):
    rng = np.random.default_rng(int(10 * alpha))
    for _ in range(100):
        problem = random_problem(rng)
        for counts in rng.integers(1, 7, (4, 2)).astype(float):
            tasks = AlphaFair(alpha)(problem, counts)
            gradient = (counts * problem.weights / tasks) ** alpha
            better = corners(problem.task_shares, np.minimum(counts * problem.limits, 1e6)) @ gradient
            assert len(better) >= 3
            assert better.max() <= (1.0 + 1e-9) * (gradient @ tasks)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_tasks_are_those_of_the_prices(alpha):
    rng = np.random.default_rng(3)
    for _ in range(50):
        problem = random_problem(rng)
        counts = rng.integers(0, 6, (20, 2)).astype(float)
        tasks = AlphaFair(alpha)(problem, counts)
        np.testing.assert_allclose(tasks, _solve(problem, counts, alpha)[0], rtol=1e-10, atol=1e-12)
        # A state has the same tasks, to the last digit, in whatever batch it is asked for.
        alone = np.array([AlphaFair(alpha)(problem, state) for state in counts])
        np.testing.assert_array_equal(tasks, alone)


def test_edges_are_what_some_direction_meets():
    # The lines 1, v + .6 and 2v are seen; v/2 + .7 is below two of them everywhere, v + .4 below one.
    shares = np.array([[0.0, 1.0, 0.5, 2.0, 1.0], [1.0, 0.6, 0.7, 0.0, 0.4]])
    edges = _edges(shares)
    np.testing.assert_array_equal(edges.first, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(edges.second, [1.0, 0.6, 0.0])
    np.testing.assert_allclose(edges.corners, [0.4, 0.6])


def test_a_ratio_beyond_the_numbers_is_left_to_the_prices():
    tasks, residuals = np.empty((1, 2)), np.zeros(1)
    counts, limits = np.array([[1e-200, 1e200]]), np.array([np.inf, np.inf])
    edge_tasks(np.array([[0.0, 2.0], [2.0, 1.0]]), limits, counts, tasks, np.ones(2), 1.0, residuals)
    assert residuals[0] == np.inf
