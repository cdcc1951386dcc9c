"""Policies state by state: the same as tables to the bit, and closed forms for dozens of classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fairness import (
    DRF,
    PSDSF,
    AlphaFair,
    BottleneckMax,
    Cluster,
    MaxMin,
    ModelError,
    NotConvergedError,
    Problem,
    ProportionalFair,
)
from fairness.catalogue import CATALOGUE
from fairness.protocol.following import follow
from queueing import Deterministic, JobTrace, System, simulate
from queueing.balanced.fairness import balanced_fairness
from queueing.networks.topology import linear_network
from queueing.simulation import policy_rows

POOLS = [
    Problem([[1]], [1]),
    Problem([[1, 0.1, 0.5], [0.1, 1, 0.4], [0.3, 0.3, 1]], [1, 1, 1], limits=[2, np.inf, 0.5]),
    Problem(np.eye(5) + 0.2, np.ones(5), weights=[1, 2, 3, 4, 5]),
]


@pytest.fixture
def by_visits(monkeypatch):
    """Simulate as if every table were too large."""

    def run(*arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(policy_rows, "LARGEST_TABLE", 0)
            patch.setattr(policy_rows, "LARGEST_OF_CLUSTER", 0)
            return simulate(*arguments, **options)

    return run


def same(one, other):
    assert one.estimates.keys() == other.estimates.keys() != set()
    assert all(
        np.array_equal(one.estimates[k].values, other.estimates[k].values, equal_nan=True)
        for k in one.estimates
    )


@pytest.mark.parametrize("problem", POOLS, ids=lambda problem: f"{problem.n_classes} classes")
@pytest.mark.parametrize("policy", [DRF(), MaxMin(), BottleneckMax()])
@pytest.mark.parametrize("effort", [{"events": 4000}, {"jobs": 1500}])
def test_visits_and_tables_agree_to_the_bit(problem, policy, effort, by_visits, monkeypatch):
    monkeypatch.setattr(policy_rows, "SMALL_TABLE", 2**22)  # states, however short the runs
    system = System.with_load(problem, mix=np.ones(problem.n_classes), load=0.4)
    table, visits = (run(system, policy, replications=2, rng=5, **effort) for run in (simulate, by_visits))
    same(table, visits)
    assert table.table_shape is not None
    assert visits.table_shape is None


def test_prices_that_go_on_from_state_to_state_agree_to_rounding(by_visits):
    system = System.with_load(POOLS[1], mix=[1, 1, 1], load=0.7)
    for policy in (ProportionalFair(), AlphaFair(2.0)):
        table, visits = (
            run(system, policy, replications=2, rng=5, events=4000) for run in (simulate, by_visits)
        )
        for name, estimate in table.estimates.items():
            # 1e-10: what a state is certified to.
            np.testing.assert_allclose(visits.estimates[name].values, estimate.values, rtol=1e-10)


def test_clusters_and_own_policies(by_visits):
    cluster = Cluster([[1, 2], [2, 1]], [[4, 4], [3, 6]])
    system = System.with_load(cluster, mix=[1, 1], load=0.6)
    same(*(run(system, PSDSF(), replications=2, rng=5, events=1000) for run in (simulate, by_visits)))

    def halves(problem, counts):
        return np.where(np.asarray(counts) > 0, 0.5, 0.0)

    system = System(Problem([[1], [1]], [1]), [0.1, 0.2])
    same(*(run(system, halves, replications=2, rng=5, jobs=500) for run in (simulate, by_visits)))

    def wrong(problem, counts):
        return np.full_like(np.asarray(counts, dtype=float), 0.7)

    with pytest.raises(ModelError, match="where no job is present"):
        by_visits(system, wrong, replications=2, rng=5, jobs=500)


def test_states_that_were_forgotten_are_asked_for_again(by_visits, monkeypatch):
    system = System.with_load(POOLS[1], mix=[1, 1, 1], load=0.7)
    whole = by_visits(system, DRF(), replications=2, rng=5, events=4000)
    monkeypatch.setattr(policy_rows, "ROOM", 600)  # some nine states
    same(whole, by_visits(system, DRF(), replications=2, rng=5, events=4000))


@pytest.mark.long
def test_threads_and_processes_give_the_same_runs_and_keep_to_the_time(by_visits):
    system = System.with_load(POOLS[1], mix=[1, 1, 1], load=0.7)
    whole = by_visits(system, DRF(), replications=2, rng=5, events=2000)
    same(whole, by_visits(system, DRF(), replications=2, rng=5, events=2000, n_jobs=2))
    source = pickle.loads(pickle.dumps(policy_rows.PolicySource(thousand_classes(), DRF(), None)))
    assert source.table is None
    assert len(source.reader().at(np.zeros(1000, dtype=np.int64)).tasks) > 1000
    with pytest.raises(NotConvergedError, match="time_limit=0 seconds are over"):
        by_visits(system, DRF(), rng=5, events=2000, n_jobs=2, time_limit=0)


def thousand_classes():
    return System(Problem(np.ones((1000, 1)), [1]), np.full(1000, 0.9 / 1000))


@pytest.mark.long
def test_a_thousand_classes():
    result = simulate(thousand_classes(), DRF(), level="jobs", jobs=20_000, replications=2, rng=1)
    # Processor sharing: 9 jobs of all classes together.
    assert 6 < result.mean_jobs.sum() < 13


def test_recorded_jobs_of_many_classes_may_overload():
    pool = Problem(np.ones((200, 1)), [1])
    names = [pool.job_classes[k % 200] for k in range(400)]
    system = System.from_trace(JobTrace(pool, np.arange(400.0), names, np.full(400, 2.0)))
    result = simulate(system, DRF(), warmup=0, replications=2)
    # All arrive in 400 units of time, which do half of the work.
    assert result.table_shape is None
    assert result.mean_jobs.sum() > 50


@pytest.mark.parametrize("policy", [entry.policy for entry in CATALOGUE], ids=lambda policy: policy.name)
def test_followers_answer_as_their_policies(policy):
    rng = np.random.default_rng(3)
    problem = Problem(
        rng.choice([0, 1, 2, 3], (8, 4), p=[0.4, 0.2, 0.2, 0.2]) + np.eye(8, 4),
        [5, 6, 7, 0],
        weights=rng.uniform(1, 2, 8),
        limits=[np.inf] * 6 + [0.5, 1.0],
    )
    follower, counts = follow(problem, policy), np.zeros(8)
    for _ in range(60):
        counts = np.maximum(counts + rng.integers(-1, 2, 8), 0)
        np.testing.assert_allclose(follower(counts), policy(problem, counts), rtol=1e-9, atol=1e-12)


# With 1 - 1e-4 for each of some hundred intervals, a false alarm comes once in a hundred seeds.
SURE = 1 - 1e-4


@pytest.mark.long
def test_processor_sharing_with_fifty_classes():
    """One resource: E[x_i] = rho_i/(1 - rho), whatever the law of the sizes."""
    problem = Problem(np.ones((50, 1)), [1])
    loads = 0.8 * np.arange(1, 51) / np.arange(1, 51).sum()
    for system in (System(problem, loads), System(problem, loads, sizes=Deterministic())):
        result = simulate(system, DRF(), level="jobs", jobs=15_000, rng=1, confidence=SURE)
        assert result.table_shape is None
        assert (abs(result.mean_jobs - loads / 0.2) <= result.half_widths["mean_jobs"]).all()


@pytest.mark.long
def test_proportional_fairness_on_a_line_of_twenty_links():
    """PF is balanced fairness on a line of equal links, which is known in closed form."""
    system = System.with_load(linear_network(20), mix=[1] + [2] * 20, load=0.5)
    result = simulate(system, ProportionalFair(), events=60_000, rng=2, confidence=SURE)
    exact = balanced_fairness(system).mean_jobs
    assert (abs(result.mean_jobs - exact) <= result.half_widths["mean_jobs"]).all()
    assert (result.half_widths["mean_jobs"] < 0.25 * exact).all()
