from __future__ import annotations

import joblib
import numpy as np
import pytest

from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.errors import ModelError
from queueing.states import table as module
from queueing.states.box import grid_counts
from queueing.states.table import tabulate

POOL = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"])


@pytest.mark.parametrize("shape", [(7,), (5, 6), (3, 4, 5), (1, 6, 1, 2)])
def test_table_is_the_policy(shape, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 7)  # chunks that end in the middle of rows
    problem = Problem(np.arange(1, 2 * len(shape) + 1).reshape(-1, 2), [5, 6])
    table = tabulate(problem, DRF(), shape)
    assert table.shape == shape
    assert table.tasks.flags.c_contiguous
    assert np.array_equal(table.tasks, DRF()(problem, grid_counts(shape)))
    assert "DRF on" in repr(table)
    with pytest.raises(ValueError, match="read-only"):
        table.tasks[0] = 1


def test_known_states_are_not_computed_again(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 5)
    seen = []

    def policy(problem, counts):
        seen.extend(map(tuple, counts))
        return MaxMin()(problem, counts)

    first = tabulate(POOL, policy, (4, 6))
    seen.clear()
    second = tabulate(POOL, policy, (6, 5), known=first)
    assert sorted(seen) == [(x, y) for x in (4, 5) for y in range(5)]
    assert np.array_equal(second.tasks, MaxMin()(POOL, grid_counts((6, 5))))
    seen.clear()
    with joblib.parallel_config(backend="threading"):
        for n_jobs in (1, 2):
            small = tabulate(POOL, policy, (2, 2), known=second, n_jobs=n_jobs)
            assert np.array_equal(small.tasks, second.tasks[:2, :2])
    assert seen == []


@pytest.mark.parametrize("policy", [ProportionalFair(), BottleneckMax()])
def test_a_table_depends_neither_on_time_nor_on_workers(policy, monkeypatch):
    """Prices go on from state to state, so where batches end must not depend on how long they take."""
    fast = tabulate(POOL, policy, (40, 50))
    with joblib.parallel_config(backend="threading"):
        np.testing.assert_array_equal(tabulate(POOL, policy, (40, 50), n_jobs=2).tasks, fast.tasks)
    monkeypatch.setattr(module, "CHUNK_SECONDS", 1e-9)
    np.testing.assert_array_equal(tabulate(POOL, policy, (40, 50)).tasks, fast.tasks)


def test_compilation_is_not_taken_for_the_speed_of_a_table(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("fairness.machine.work.time.monotonic", lambda: now[0])
    monkeypatch.setattr("fairness.machine.work.time.process_time", lambda: now[0])

    def slow_at_first(problem, policy, counts):
        # A minute of compilation, as on a fresh machine; then a million states a second.
        now[0] += 1e-6 * len(counts) + (60.0 if now[0] == 0 else 0.0)
        return np.zeros(counts.shape)

    monkeypatch.setattr(module, "policy_tasks", slow_at_first)
    monkeypatch.setattr("fairness.machine.work.TOO_LONG", 600.0)
    assert tabulate(POOL, ProportionalFair(), (1000, 1000)).tasks.shape == (1000, 1000, 2)
    assert now[0] == pytest.approx(61.0, abs=1e-3)


def test_errors():
    small, other = tabulate(POOL, DRF(), 2), DRF(resource_weights=[[1, 2], [3, 4]])  # of the same name
    crowd = Problem(np.ones((400, 1)), [1])
    for problem, policy, shape, known, message in [
        (POOL, DRF(), (3,), None, "shape must give 2 positive integers"),
        (POOL, DRF(), 10**7, None, "the table of DRF on 10000000 x 10000000 states needs"),
        (crowd, DRF(), 10**4, None, r"the table of DRF on .* \(400 classes\) states needs inf GiB"),
        (POOL, MaxMin(), 3, small, "made for the same problem and the policy"),
        (POOL, other, 3, small, "made for the same problem and the policy"),
        (POOL, lambda problem, counts: counts[:, 0], 3, None, r"shape \(9,\) for counts of shape \(9, 2\)"),
        (POOL, lambda problem, counts: counts * np.nan, 3, None, r"gave nan tasks to class 'A' in state \[0"),
        (POOL, lambda problem, counts: counts + 1.0, 3, None, "0 where no job is present"),
    ]:
        with pytest.raises(ModelError, match=message):
            tabulate(problem, policy, shape, known=known)
    assert tabulate(POOL, DRF(), 3, known=small).shape == (3, 3)
