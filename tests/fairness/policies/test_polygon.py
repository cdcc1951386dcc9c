"""Alpha-fair tasks of two classes against the definition: no feasible tasks are better, to first order."""

from __future__ import annotations

import numpy as np
import pytest

from fairness import AlphaFair, Problem
from fairness.exact.small_polytopes import enumerate_vertices
from fairness.model.nonzeros import nonzeros
from fairness.policies import proportional
from fairness.policies.engines.polygon import _edges, edge_tasks
from fairness.policies.proportional import _solve


def corners(problem, counts):
    """All corners of what two classes can run."""
    bounds = [
        *([*column, 1.0] for column in problem.task_shares.T),
        *([-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
        *(
            [*row, most]
            for row, most in zip(np.eye(2), counts * problem.limits, strict=True)
            if most < np.inf
        ),
    ]
    return np.array(list(enumerate_vertices([list(map(float, row)) for row in bounds], 2, 1e-12)))


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
            better = corners(problem, counts) @ gradient
            assert len(better) >= 3
            assert better.max() <= (1.0 + 1e-9) * (gradient @ tasks)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_tasks_are_those_of_the_prices(alpha):
    rng = np.random.default_rng(3)
    for _ in range(50):
        problem = random_problem(rng)
        counts = rng.integers(0, 6, (20, 2)).astype(float)
        tasks = AlphaFair(alpha)(problem, counts)
        np.testing.assert_allclose(
            tasks, _solve(problem, counts, alpha, priced=True)[0], rtol=1e-10, atol=1e-12
        )
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
    shares = nonzeros(np.array([[0.0, 2.0], [2.0, 1.0]]))
    edge_tasks(shares, limits, counts, tasks, np.ones(2), 1.0, np.zeros(2), residuals)
    assert residuals[0] == np.inf


def test_a_state_that_is_left_to_the_prices_changes_no_other(monkeypatch):
    def doubtful(*arguments):
        edge_tasks(*arguments)
        arguments[-1][arguments[2][:, 0] == 7.0] = np.inf

    problem, policy = Problem([[9.0, 1.0], [2.0, 7.0]], [1.0, 1.0]), AlphaFair(0.7)
    states = np.stack([np.arange(1.0, 30.0), np.full(29, 3.0)], axis=1)
    expected = policy(problem, states)
    monkeypatch.setattr(proportional, "edge_tasks", doubtful)
    tasks, left = policy(problem, states), states[:, 0] == 7.0
    np.testing.assert_array_equal(tasks[~left], expected[~left])
    np.testing.assert_array_equal(tasks[left], _solve(problem, states[left], 0.7, priced=True)[0])
    np.testing.assert_allclose(tasks, expected, rtol=1e-12)
