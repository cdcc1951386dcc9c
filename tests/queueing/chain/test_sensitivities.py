"""Derivatives of mean counts: closed forms, differences of whole laws, and the dual prices of the optimum."""

import numpy as np
import pytest

from fairness import DRF, AlphaFair, Cluster, Problem, ProportionalFair
from fairness.errors import ModelError, NotConvergedError, UnstableError
from queueing import Erlang, MaxWeight, OnOff, System, sensitivities, stationary

PAIR = Problem([[10, 1], [1, 10]], [10, 10])
SYSTEM = System.with_load(PAIR, [3, 1], 0.6, mean_sizes=[1, 0.5])
SMALL = 1e-4


def difference(change, policy, box):
    """Central difference of the means of two systems that differ by SMALL, relatively, on a larger box."""
    up, down = (stationary(change(sign * SMALL), policy, shape=box).mean_jobs for sign in (1, -1))
    return (up - down) / (2 * SMALL)


def moved(values, k, by):
    values = values.copy()
    values[k] *= 1 + by
    return values


@pytest.mark.parametrize("policy", [ProportionalFair(), DRF(), AlphaFair(2)])
def test_differences_of_laws(policy):
    found = sensitivities(SYSTEM, policy, tail=1e-8)
    box = tuple(k + 15 for k in stationary(SYSTEM, policy, tail=1e-8).shape)
    rates, sizes = SYSTEM.arrival_rates, SYSTEM.mean_sizes
    for k in range(2):
        for slopes, at, change in (
            (found.arrival_rates, rates, lambda by, k=k: System(PAIR, moved(rates, k, by), sizes)),
            (found.mean_sizes, sizes, lambda by, k=k: System(PAIR, rates, moved(sizes, k, by))),
            (
                found.capacities,
                PAIR.capacities,
                lambda by, k=k: System(PAIR.replaced(capacities=moved(PAIR.capacities, k, by)), rates, sizes),
            ),
            (
                found.weights,
                PAIR.weights,
                lambda by, k=k: System(PAIR.replaced(weights=moved(PAIR.weights, k, by)), rates, sizes),
            ),
        ):
            own = difference(change, policy, box) / at[k]
            # A difference over both sides of a kink is the mean of both derivatives.
            assert np.abs(slopes.value[k] - own) == pytest.approx(0, abs=slopes.error[k].max() + 1e-5)


def test_one_queue():
    # x = r/(C - r), r = lambda sigma.
    found = sensitivities(System(Problem([[1]], [3]), [1.0], [2.0]), DRF())
    assert found.mean_jobs == pytest.approx([2])
    assert found.arrival_rates.value == pytest.approx(np.array([[3 * 2]]))
    assert found.mean_sizes.value == pytest.approx(np.array([[3 * 1]]))
    assert found.capacities.value == pytest.approx(np.array([[-2]]), rel=1e-5)
    assert found.weights.value == pytest.approx(np.array([[0]]), abs=1e-8)


def test_scaling_all_changes_nothing():
    found = sensitivities(SYSTEM, ProportionalFair(), tail=1e-8)
    assert found.identity < 1e-6
    rates = SYSTEM.arrival_rates @ found.arrival_rates.value
    assert rates == pytest.approx(SYSTEM.mean_sizes @ found.mean_sizes.value, rel=1e-6)
    assert rates == pytest.approx(-PAIR.capacities @ found.capacities.value, rel=1e-5)
    limited = System(Problem([[1]], [3], limits=[1]), [1.0])
    assert np.isnan(sensitivities(limited, DRF()).identity)


def test_kinks_have_two_sides():
    # Equal classes share by DRF: to each side of equal weights the other one waits less.
    system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.5)
    found = sensitivities(system, DRF(), tail=1e-7)
    both = found.weights.value.sum(axis=1), found.weights.kink.sum(axis=1)
    assert both[0] == pytest.approx([0, 0], abs=1e-6)
    assert (both[1] > 0.01).all()
    for weight, sign in ((1 + 1e-4, 1), (1 - 1e-4, -1)):
        pool = system.problem.replaced(weights=[weight, 1])
        more, none = (
            stationary(System(p, system.arrival_rates), DRF(), tail=1e-8).mean_jobs.sum()
            for p in (pool, system.problem)
        )
        assert (more - none) / (weight - 1) == pytest.approx(sign * both[1][0], rel=1e-2)


def test_classes_that_never_come():
    system = System(PAIR, [0.3, 0.0])
    found = sensitivities(system, ProportionalFair(), tail=1e-7)
    alone = sensitivities(System(Problem([[10, 1]], [10, 10]), [0.3]), ProportionalFair(), tail=1e-7)
    assert found.arrival_rates.value[0, 0] == pytest.approx(alone.arrival_rates.value[0, 0], rel=1e-6)
    assert not found.arrival_rates.value[1].any()


@pytest.mark.parametrize(
    ("system", "error", "told"),
    [
        (System(PAIR, [0.1, 0.1], sizes=Erlang(2)), ModelError, "needs exponential sizes"),
        (System(PAIR, [0.1, 0.1], arrivals=OnOff(1, 1)), ModelError, "needs Poisson arrivals"),
        (System(Cluster([[1]], [[1]]), [0.1]), ModelError, "pool"),
        (System(PAIR, [1, 1]), UnstableError, "load"),
        (System(Problem(np.ones((5, 1)), [9]), [1] * 5), ModelError, "at most 4"),
    ],
)
def test_refusals(system, error, told):
    with pytest.raises(error, match=told):
        sensitivities(system, DRF())


def test_too_few_states():
    with pytest.raises(NotConvergedError, match="max_states"):
        sensitivities(System.with_load(Problem(np.eye(3), [1] * 3), [1] * 3, 0.8), DRF(), max_states=2000)


def test_means_that_jump_have_no_derivatives_and_nobody_who_never_comes():
    with pytest.raises(ModelError, match="policy is MaxWeight: means jump"):
        sensitivities(System(Problem([[2], [3]], [7]), [0.8, 0.6]), MaxWeight(), tail=1e-6)
    with pytest.raises(ModelError, match="arrival_rates are all 0"):
        sensitivities(System(Problem([[1]], [1]), [0]), DRF())
