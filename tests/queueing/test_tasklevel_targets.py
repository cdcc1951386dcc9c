"""Schedulers that follow a fluid policy: tables and visited states alike, and dozens of classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from fairness import DRF, PSDSF, MaxMin, Problem, ProportionalFair
from queueing import PFScheduler, System, TargetScheduler, Tasks, simulate, task_trace
from queueing.simulation import visited
from queueing.simulation.tasks.engine.preparation import TaskRuns
from tests.queueing.simulated import SURE, erlang_c, same_trace
from tests.queueing.tasklevel_reference import HALVES, POOL, TALK, replay


def traces(monkeypatch, system, scheduler, horizon, tasks, states):
    """A run as it is, and one whose table may hold only so many states."""
    record = task_trace(system, scheduler, horizon, tasks=tasks, rng=2)
    with monkeypatch.context() as patch:
        patch.setattr(visited, "LARGEST_TABLE", states)
        patch.setattr(visited, "LARGEST_OF_CLUSTER", states)
        return record, task_trace(system, scheduler, horizon, tasks=tasks, rng=2)


@pytest.mark.parametrize("states", [0, 1100], ids=["never a table", "a table that is left"])
@pytest.mark.parametrize(
    ("problem", "policy"), [(TALK, DRF()), (TALK, ProportionalFair()), (POOL, MaxMin()), (HALVES, PSDSF())]
)
def test_tables_and_visits_make_the_same_events(problem, policy, states, monkeypatch):
    # Above the capacity, so that counts leave the first table of 1,024 states.
    system = System.with_load(problem, [1] * problem.n_classes, 1.5)
    scheduler, tasks = TargetScheduler(policy), Tasks(per_job=2)
    record, other = traces(monkeypatch, system, scheduler, 150 / system.arrival_rates.sum(), tasks, states)
    side = max(2, int(1024 ** (1 / problem.n_classes) + 1e-9))
    assert len(record.task_jobs) > 100
    assert record.jobs.max() > side or problem is HALVES
    same_trace(record, other)


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


def test_single_tasks_of_thirty_classes_are_the_multiserver_queue():
    """Whoever is served, the number of jobs is that of M/M/c; false alarms once in a million seeds."""
    servers, load = 4, 0.7
    system = System(Problem(np.ones((30, 1)), [servers]), np.full(30, load * servers / 30))
    result = simulate(system, PFScheduler(), tasks=Tasks(per_job=1), events=10_000, rng=1)
    exact = load * servers + erlang_c(servers, load * servers) * load / (1 - load)
    totals = result.estimates["mean_jobs"].values.sum(axis=1)
    error = totals.std(ddof=1) / np.sqrt(len(totals))
    half = error * stats.t.isf((1 - SURE) / 2, len(totals) - 1)
    assert abs(totals.mean() - exact) < half < 0.5 * exact
