"""Nobody is below the bound: every policy of the catalogue, every order of whole jobs, on random systems."""

import numpy as np
import pytest

from capacity import is_stable
from fairness import CATALOGUE, Problem
from queueing import (
    EASY,
    FCFS,
    MaxWeight,
    Priorities,
    ServerFilling,
    System,
    optimal,
    simulate,
    stationary,
)

ORDERS = (FCFS(), FCFS(lookahead=1), MaxWeight(), Priorities("most"), Priorities("least"))


def means_and_errors(system, order):
    law = stationary(system, order, tail=1e-6) if order.by_counts else stationary(system, order)
    return law.mean_jobs.sum(), law.mean_jobs_error.sum()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_ten_random_systems(seed):
    rng = np.random.default_rng([2026, seed])
    for _ in range(10):
        pool = Problem(rng.integers(1, 4, (2, 2)), rng.integers(3, 6, 2))
        mix = System(pool, rng.uniform(0.2, 1, 2), rng.uniform(0.5, 2, 2))
        # Fewer than any of the orders can carry.
        load = rng.uniform(0.2, 0.6) / max(is_stable(mix, FCFS()).relative_load, 1e-9)
        system = System(pool, load * mix.arrival_rates, mix.mean_sizes)
        lower = optimal(system, precision=1e-3).lower
        for entry in CATALOGUE:
            law = stationary(system, entry.policy, tail=1e-7)
            assert law.mean_jobs.sum() + law.mean_jobs_error.sum() >= lower, entry.policy
        for order in ORDERS:
            mean, error = means_and_errors(system, order)
            assert mean + error >= lower, order


@pytest.mark.long
def test_servers_that_are_filled_and_orders_that_are_simulated():
    rng = np.random.default_rng(2027)
    for _ in range(2):
        pool = Problem([[1], [rng.choice([2, 4])]], [4])
        system = System(pool, rng.uniform(0.3, 0.5, 2))
        lower = optimal(system, precision=1e-3).lower
        assert stationary(system, ServerFilling()).mean_jobs.sum() >= lower
        for order in (EASY([1, 1]), Priorities(preemptive=False), FCFS(lookahead=np.inf)):
            run = simulate(system, order, events=5_000, replications=4, rng=1)
            assert (run.mean_jobs + 2 * run.half_widths["mean_jobs"]).sum() >= lower, order
