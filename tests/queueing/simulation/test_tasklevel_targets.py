"""Schedulers that follow a fluid policy: tables and visited states alike, and dozens of classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, PSDSF, MaxMin, Problem, ProportionalFair
from queueing import PFScheduler, System, TargetScheduler, Tasks, simulate, task_trace
from queueing.simulation import policy_rows
from queueing.simulation.tasks.runs import TaskRun, TaskRuns
from queueing.simulation.tasks.state import TASKS_STARTED
from queueing.states.growing_table import largest_counts
from tests.oracles.tasklevel_reference import HALVES, POOL, TALK, replay
from tests.queueing.simulation.simulated import SURE, erlang_c


@pytest.mark.parametrize("states", [0, 1100], ids=["never a table", "a table that is left"])
@pytest.mark.parametrize(
    ("problem", "policy"), [(TALK, DRF()), (TALK, ProportionalFair()), (POOL, MaxMin()), (HALVES, PSDSF())]
)
def test_tables_and_visits_make_the_same_events(problem, policy, states, monkeypatch):
    # Above the capacity, so that counts leave the first table of 1,024 states.
    system = System.with_load(problem, [1] * problem.n_classes, 1.5)

    def starts():
        prepared = TaskRuns(system, TargetScheduler(policy), Tasks(per_job=2), 1e9)
        run = TaskRun(prepared, np.random.default_rng(2), record=True)
        by_table = prepared.source.table is not None
        run.go(10**9, 150 / system.arrival_rates.sum())
        return by_table, run, run.log.tasks[: run.state.counters[TASKS_STARTED]]

    by_table, run, record = starts()
    assert by_table
    assert run.reader.shape is not None
    assert len(record) > 100
    monkeypatch.setattr(policy_rows, "LARGEST_TABLE", states)
    monkeypatch.setattr(policy_rows, "LARGEST_OF_CLUSTER", states)
    monkeypatch.setattr(policy_rows, "MANY", 20.0)  # a system whose load tells nothing begins with a table
    by_table, run, other = starts()
    assert by_table == (states > 0 and problem.n_classes == 2)
    assert (run.reader.shape is None) or problem is HALVES
    np.testing.assert_array_equal(other, record)


def test_few_changes_need_no_table():
    system = System.with_load(many(8), np.ones(8), 0.7)
    prepared = TaskRuns(system, PFScheduler(), Tasks(per_job=10), 2e5)
    changes = 2e5 * 2 * system.arrival_rates.sum() / prepared.event_rate
    assert changes < np.prod(1 + largest_counts(system, changes)) < policy_rows.LARGEST_TABLE
    assert prepared.source.table is None


def test_runs_read_the_grid_that_they_needed_themselves():
    """So a run that others have gone ahead of leaves a table where it would alone."""
    system = System.with_load(TALK, [1, 1], 0.7)
    source = TaskRuns(system, PFScheduler(), Tasks()).source
    ahead, behind = source.reader(), source.reader()
    ahead.at(np.array([200, 3]))
    assert source.table.table.shape == (256, 32)
    lookup = behind.at(np.array([3, 40]))
    assert (ahead.shape, behind.shape, lookup.shape.tolist()) == ((256, 32), (32, 64), [32, 64])
    row = int(3 * lookup.stride[0] + 40)
    np.testing.assert_allclose(lookup.tasks[row], ProportionalFair()(TALK, [3, 40]), rtol=1e-9)
    assert behind.at(np.array([10_000, 10_000])).slots.size > 0  # states that no table should have
    assert behind.shape is None
    copy = pickle.loads(pickle.dumps(source)).reader()
    assert copy.shape == (32, 32)


def many(n, seed=0):
    rng = np.random.default_rng(seed)
    return Problem(rng.integers(1, 5, (n, 3)), [12, 12, 12], weights=rng.integers(1, 3, n))


@pytest.mark.parametrize("policy", [DRF(), ProportionalFair()])
def test_every_start_of_a_dozen_classes(policy):
    system = System.with_load(many(12), np.ones(12), 1.1)
    scheduler, tasks = TargetScheduler(policy, blocking=False), Tasks(per_job=3)
    record = task_trace(system, scheduler, 80 / system.arrival_rates.sum(), tasks=tasks, rng=1)
    assert replay(record, scheduler, tasks).starts > 100


@pytest.mark.long
def test_single_tasks_of_thirty_classes_are_the_multiserver_queue():
    """Whoever is served, the number of jobs is that of M/M/c; false alarms once in a million seeds."""
    servers, load = 4, 0.7
    system = System(Problem(np.ones((30, 1)), [servers]), np.full(30, load * servers / 30))
    result = simulate(system, PFScheduler(), tasks=Tasks(per_job=1), events=5_000, rng=1)
    exact = load * servers + erlang_c(servers, load * servers) * load / (1 - load)
    totals = result.estimates["mean_jobs"].values.sum(axis=1)
    error = totals.std(ddof=1) / np.sqrt(len(totals))
    half = error * stats.t.isf((1 - SURE) / 2, len(totals) - 1)
    assert abs(totals.mean() - exact) < half < 0.5 * exact
