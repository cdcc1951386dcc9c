"""What captions of the gallery of loads say follows from the intervals of the run that draws them."""

from types import SimpleNamespace

import numpy as np
import pytest

from examples.capacity_figures import best_possible, insensitivity, random_cluster
from queueing.simulation.replications import Estimate


def estimate(value, error):
    """Three replications; half-widths are 4.3 errors at 95 %."""
    value = np.array(value, dtype=float)
    return Estimate(value, np.full(len(value), error), np.tile(value, (3, 1)), random_cluster.CONFIDENCE)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([2.01, 2.01, 2.01], "which policy is lowest cannot be told apart here, as intervals overlap."),
        (
            [3, 2.01, 1],
            "lowest under A (mostly CPU), B (with GPUs), on this cluster, with these jobs; "
            "which policy is lowest cannot be told apart here in the group mostly RAM, as intervals overlap.",
        ),
        (
            [3, 3, 3],
            "lowest under A (mostly CPU), A (mostly RAM), A (with GPUs), on this cluster, with these jobs.",
        ),
    ],
)
def test_a_policy_is_the_lowest_where_its_interval_lies_below_all_others(second, said):
    means = {"A": estimate([2, 2, 2], 0.01), "B": estimate(second, 0.01), "C": estimate([9, 9, 9], 0.01)}
    assert random_cluster._said(means).endswith(said)


def test_without_intervals_no_policy_is_the_lowest():
    means = {"A": estimate([2, 2, 2], np.inf), "B": estimate([3, 3, 3], np.inf)}
    assert "cannot be told apart here" in random_cluster._said(means)


def test_the_interval_of_a_group_knows_that_its_classes_err_together():
    """Two classes that err in the same way: the mean of both errs as much as each."""
    values = np.array([[1.0, 2.0, 5.0, 7.0], [1.5, 2.5, 5.0, 7.0], [2.0, 3.0, 5.0, 7.0]])
    durations = Estimate(values.mean(axis=0), np.zeros(4), values, random_cluster.CONFIDENCE)
    run = SimpleNamespace(estimates={"mean_durations": durations})
    found = random_cluster._of_groups(run, np.ones(4), np.array([0, 0, 1, 2]))
    assert found.value.tolist() == [2, 5, 7]
    assert found.standard_error == pytest.approx([0.5 / np.sqrt(3), 0, 0])


def test_changes_are_told_only_where_an_interval_excludes_none():
    noise = {("PF", "deterministic"): estimate([1.001, 0.999], 0.01)}
    assert "no change can be told from noise: each of the 2 intervals contains 0" in insensitivity._said(
        noise, ["PF"]
    )
    sure = noise | {("DRF", "deterministic"): estimate([1.2, 1.0], 0.01)}
    text = insensitivity._said(sure, ["PF", "DRF"])
    assert "PF -0.1 to +0.1, DRF +0.0 to +20.0; the intervals that do not contain 0 are 1 of 4." in text
    assert "The policies are not insensitive" in text


def test_how_far_from_the_limit_is_said_at_the_highest_load():
    text = best_possible._said([0.1, 0.5], {0.7: [1.0, 1.01], 0.9: [1.02, 1.2]})
    assert "at loads up to 0.9 PF has at most 1.20 times the least" in text
    assert "20 to 40 per cent of e at load 0.9" in text
