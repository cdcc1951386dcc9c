"""Allocation: what a person reads, and what the driver refuses."""

import numpy as np
import pytest

from fairness import DRF, Problem, allocate

POOL = Problem([[1, 4], [3, 1]], [9, 18], job_classes=["A", "B"], resources=["cpu", "ram"])


def test_by_hand():
    result = allocate(POOL, DRF())
    assert result.tasks.tolist() == [3, 2]
    assert result.usage.tolist() == [9, 14]
    assert result.saturated.tolist() == [True, False]
    assert result.bottlenecks == (("cpu",), ("cpu",))
    np.testing.assert_allclose(result.dominant_shares, [2 / 3, 2 / 3], rtol=1e-15)
    # Two rounds; both resources stop class 2.
    rounds = allocate(Problem([[1, 0], [0.5, 1], [0, 1]], [1, 1]), DRF([[1, 1]] * 3))
    assert rounds.bottlenecks == (("resource 1",), ("resource 1", "resource 2"), ("resource 2",))
    np.testing.assert_allclose(rounds.levels, [3 / 4, 1 / 2, 1 / 2], rtol=1e-15)


def test_dataframe_has_one_row_per_class():
    frame = allocate(POOL, DRF(), [1, 0]).to_dataframe()
    assert frame.index.tolist() == ["A", "B"]
    assert frame.loc["A", "tasks"] == 4.5
    assert frame.loc["B", "dominant_share"] == 0
    assert frame["usage of ram"].sum() == 18


def test_a_plain_function_is_a_policy():
    def half_each(problem, counts):
        return np.where(np.asarray(counts) > 0, 0.5 / problem.task_shares.max(axis=1), 0)

    result = allocate(POOL, half_each)
    assert result.name == "half_each"
    assert result.tasks.tolist() == [2.25, 1.5]
    assert result.certificate.holds


class Half(DRF):
    """Answers otherwise than its base, whose solution it inherits."""

    name = "half"

    def __call__(self, problem, counts):
        return super().__call__(problem, counts) / 2


def test_a_subclass_that_answers_otherwise_is_asked_itself():
    result = allocate(POOL, Half())
    assert result.tasks.tolist() == [1.5, 1.0]
    assert (result.levels, result.certificate.claim) == (None, "within all capacities and limits")
    assert result.certificate.holds


def test_an_infeasible_policy_is_found_out():
    result = allocate(POOL, lambda problem, counts: np.array([9.0, 9.0]))
    assert not result.certificate.holds
    assert result.certificate.residual == pytest.approx(3.0)


def test_summary_says_what_stops_a_class():
    lines = allocate(POOL, DRF(), [1, 0]).summary().splitlines()
    assert lines[2].split()[-1] == "ram"
    assert lines[3].endswith("no job")
    wasteful = allocate(POOL, lambda problem, counts: np.array([1.0, 0.0])).summary().splitlines()
    assert wasteful[2].endswith("nothing")
    assert wasteful[3].endswith("nothing")
    limited = allocate(Problem([[1], [1]], [9], limits=[2, 3]), DRF()).summary().splitlines()
    assert limited[2].endswith("limit")
