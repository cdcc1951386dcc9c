"""Parkes, Procaccia, Shah, "Beyond dominant resource fairness", ACM TEAC 3(1), 2015: EDRF and bundles."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from fairness import DRF, Problem, allocate
from fairness.indivisible import LowestShare, SequentialMinMax, fill_tasks


def utility(bundle, demands):
    """Tasks that a bundle of resources supports."""
    return min(v / d for v, d in zip(bundle, demands, strict=True) if d > 0)


def test_edrf_worked_example():
    problem = Problem([[1, 0], [F(1, 2), 1], [0, 1]], [1, 1])
    result = allocate(problem, DRF(resource_weights=np.full((3, 2), 1 / 3)))
    held = result.tasks[:, None] * problem.demands
    # 1e-15: every number is a quotient of small integers, but 1/3 is rounded.
    np.testing.assert_allclose(held, [[3 / 4, 0], [1 / 4, 1 / 2], [0, 1 / 2]], rtol=1e-15, atol=1e-15)
    # Two rounds, of 3/2 and 3/4.
    np.testing.assert_allclose(result.levels, [9 / 4, 3 / 2, 3 / 2], rtol=1e-15)


def random_edrf(rng):
    """Demands with zeros, and entitlements per resource that sum to 1."""
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    demands = rng.random((n, m)) * (rng.random((n, m)) < 0.6)
    demands[~demands.any(axis=1), int(rng.integers(m))] = 1.0
    weights = rng.uniform(0.05, 1, (n, m))
    return Problem(demands, np.ones(m)), weights / weights.sum(axis=0)


def test_edrf_sharing_incentive():
    rng = np.random.default_rng(1)
    for _ in range(300):
        problem, weights = random_edrf(rng)
        result = allocate(problem, DRF(weights))
        for tasks, own, demand in zip(result.tasks, weights, problem.demands, strict=True):
            # The allocation is computed to about 1e-15 relative; 1e-12 leaves room for sums.
            assert tasks >= utility(own, demand) * (1 - 1e-12)
        # The first round reaches level 1 at least, which is why.
        assert (result.levels >= 1 - 1e-12).all()


def test_edrf_weighted_envy_freeness():
    rng = np.random.default_rng(2)
    for _ in range(300):
        problem, weights = random_edrf(rng)
        tasks = DRF(weights)(problem, np.ones(problem.n_classes))
        held = tasks[:, None] * problem.demands
        for i, j in product(range(problem.n_classes), repeat=2):
            scaled = weights[i] / weights[j] * held[j]
            assert utility(scaled, problem.demands[i]) <= tasks[i] * (1 + 1e-12)


def test_edrf_of_one_round_without_zero_demands():
    rng = np.random.default_rng(3)
    for _ in range(50):
        problem, weights = random_edrf(rng)
        problem = problem.replaced(demands=problem.demands + 0.01)
        rate = (weights / problem.demands).min(axis=1)
        expected = rate / (rate @ problem.demands).max()
        np.testing.assert_allclose(DRF(weights)(problem, np.ones(problem.n_classes)), expected, rtol=1e-12)


def test_edrf_is_strategyproof_against_random_lies():
    rng = np.random.default_rng(7)
    for _ in range(300):
        problem, weights = random_edrf(rng)
        counts = np.ones(problem.n_classes)
        claimed = problem.demands.copy()
        claimed[0] *= np.exp(rng.normal(0, rng.choice([0.05, 1]), problem.n_resources))
        held = DRF(weights)(problem.replaced(demands=claimed), counts)[0] * claimed[0]
        assert utility(held, problem.demands[0]) <= DRF(weights)(problem, counts)[0] * (1 + 1e-12)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_fairness_can_cost_a_factor_of_the_number_of_resources(m):
    """One agent for each resource alone and many that want all: their shares alone would add up to m."""
    many = 1000
    demands = np.vstack([np.eye(m), np.ones((many, m))])
    shares = allocate(Problem(demands, np.ones(m)), DRF()).dominant_shares
    np.testing.assert_allclose(shares, 1 / (many + 1), rtol=1e-12)
    assert shares.sum() == pytest.approx((many + m) / (many + 1), rel=1e-12)
    # The best welfare serves the first m only; the sharing incentive alone forces nearly the same loss.
    part = 1 / (many + m)
    assert m * (1 - many * part) + many * part <= 1 + m**2 * part


def random_bundles(rng):
    """Whole bundles: fractions of the pool as small integers over the capacities."""
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    demands = rng.integers(0, 7, (n, m))
    demands[~demands.any(axis=1), 0] = 1
    return Problem(demands, rng.integers(6, 21, m))


def feasible(problem, tasks):
    return bool((np.asarray(tasks) @ problem.demands <= problem.capacities).all())


def whole(problem, i, units):
    """Bundles of agent i in so many units of each resource."""
    return math.floor(utility(units, problem.as_fractions()[0][i]))


def test_sequential_minmax_is_pareto_optimal():
    """No other whole allocation is as good for all and better for one, by enumeration."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        problem = random_bundles(rng)
        tasks = fill_tasks(problem, SequentialMinMax()).tasks
        assert feasible(problem, tasks)
        alone = [whole(problem, i, problem.as_fractions()[1]) for i in range(problem.n_classes)]
        ranges = [range(int(k), top + 1) for k, top in zip(tasks, alone, strict=True)]
        if math.prod(map(len, ranges)) <= 3000:
            better = [
                other for other in product(*ranges) if sum(other) > tasks.sum() and feasible(problem, other)
            ]
        else:
            # Who can have more bundles can have one more, because demands are not negative.
            better = [k for k in np.eye(problem.n_classes, dtype=int) if feasible(problem, tasks + k)]
        assert not better


def test_sequential_minmax_sharing_incentive():
    """Everybody has at least the whole bundles in the n-th part of all resources."""
    rng = np.random.default_rng(5)
    for _ in range(400):
        problem = random_bundles(rng)
        tasks = fill_tasks(problem, SequentialMinMax()).tasks
        part = [c / problem.n_classes for c in problem.as_fractions()[1]]
        assert all(tasks[i] >= whole(problem, i, part) for i in range(problem.n_classes))


def test_sequential_minmax_envy_of_at_most_one_own_bundle():
    rng = np.random.default_rng(6)
    envy = 0
    for _ in range(400):
        problem = random_bundles(rng)
        tasks = fill_tasks(problem, SequentialMinMax()).tasks.tolist()
        demands = problem.as_fractions()[0]
        for i, j in product(range(problem.n_classes), repeat=2):
            seen = whole(problem, i, [tasks[j] * d for d in demands[j]])
            assert seen <= tasks[i] + 1
            envy += seen > tasks[i]
    # The statement is not empty: there is envy.
    assert envy > 0


def test_sequential_minmax_rewards_a_lie():
    """Pareto optimality and the sharing incentive exclude strategy-proofness; the smallest lie that pays."""
    assert fill_tasks(Problem([[3], [2]], [3]), SequentialMinMax()).tasks.tolist() == [0, 1]
    lie = fill_tasks(Problem([[1], [2]], [3]), SequentialMinMax()).tasks
    assert lie.tolist() == [3, 0]
    assert whole(Problem([[3], [2]], [3]), 0, [F(3)]) == 1


def test_envy_up_to_one_bundle_of_the_other_fails():
    """The usual definition, removing one of the other's bundles, is too strong."""
    problem = Problem([[1], [6]], [20])
    tasks = fill_tasks(problem, SequentialMinMax()).tasks
    assert tasks.tolist() == [14, 1]
    assert whole(problem, 1, [F(13)]) == 2 > tasks[1]
    assert whole(problem, 1, [F(14)]) == 2 <= tasks[1] + 1


@pytest.mark.parametrize("stop", ["first misfit", "skip"])
def test_the_lowest_current_share_violates_the_sharing_incentive(stop):
    """Why the share after the allocation matters."""
    problem = Problem([[4], [1]], [20])
    assert fill_tasks(problem, LowestShare(stop)).tasks.tolist() == [3, 8]
    assert whole(problem, 1, [F(10)]) == 10
    assert fill_tasks(problem, SequentialMinMax()).tasks[1] >= 10
