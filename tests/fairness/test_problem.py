"""Problem: what it accepts, what it derives, and how it complains."""

import numpy as np
import pytest

from fairness import ModelError, Problem

GOOD = {"demands": [[1, 4], [3, 1]], "capacities": [9, 18]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"capacities": [1, 2, 3]},
            r"demands has shape \(2, 2\), so capacities must have shape \(2,\); got \(3,\)",
        ),
        ({"demands": [1, 2]}, "demands must have 2 dimensions; got shape"),
        ({"demands": [[1, 2], [3]]}, "rows of equal length"),
        ({"demands": [["x", 2]]}, "demands must be an array of numbers"),
        ({"demands": [[1 + 2j, 1], [1, 1]]}, "demands must be an array of numbers.*complex"),
        ({"demands": [[10**400, 1], [1, 1]]}, "demands must be an array of numbers.*too large"),
        (
            {"demands": [[1, 1e-200], [1, 1]], "capacities": [1, 1e200]},
            r"demands\[0, 1\] = 1e-200 over capacities\[1\] = 1e\+200 .* beyond the range of floats",
        ),
        ({"capacities": [1, 1e-310]}, r"demands\[0, 1\] = 4 over capacities\[1\] = 1e-310"),
        ({"demands": np.empty((0, 2))}, "at least one class and one resource"),
        ({"demands": np.empty((2, 0)), "capacities": []}, "at least one class and one resource"),
        ({"demands": [[1, np.nan], [1, 1]]}, r"demands must be finite and >= 0; got nan at index \(0, 1\)"),
        ({"demands": [[1, -2], [1, 1]]}, r"got -2.0 at index \(0, 1\) \('class 1', 'resource 2'\)"),
        ({"capacities": [np.inf, 1]}, r"capacities must be finite and >= 0; got inf at index \(0,\)"),
        ({"weights": [1, 0]}, r"weights must be finite and > 0; got 0.0 at index \(1,\) \('class 2'\)"),
        ({"weights": [1]}, r"so weights must have shape \(2,\)"),
        ({"limits": [1, -1]}, "limits must be > 0"),
        ({"limits": [np.nan, 1]}, "limits must be > 0"),
        ({"job_classes": ["A"]}, "job_classes must list 2 names"),
        ({"job_classes": ["A", "A"]}, "'A' occurs more than once"),
        ({"resources": "ab"}, "got the single string 'ab'"),
        ({"demands": [[0, 0], [1, 1]]}, r"'class 1' demands nothing and has no limit.*limits\[0\]"),
    ],
)
def test_bad_input_names_argument_place_and_remedy(change, message):
    with pytest.raises(ModelError, match=message):
        Problem(**(GOOD | change))


def test_zero_capacity_blocks_exactly_the_classes_that_demand_it():
    problem = Problem([[1, 0], [1, 2]], [3, 0])
    assert problem.blocked.tolist() == [False, True]
    assert problem.task_shares.tolist() == [[1 / 3, 0], [1 / 3, 0]]


def test_repr_of_a_large_problem_is_one_line():
    assert repr(Problem(np.ones((50, 2)), [1, 1])) == "Problem(50 classes x 2 resources)"
