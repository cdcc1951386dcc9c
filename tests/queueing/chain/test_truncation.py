"""When a coarse grid reaches far enough: chains whose answers are set by hand, one grid after the other."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from queueing.chain import truncation

INF = np.inf


def grids_tried(monkeypatch, answers):
    """How many grids are tried, and the effect found, where they say (jobs at the end, effect) per class."""
    tried = []

    def around(states, up, rates, reach):
        beyond = np.array(answers[len(tried)][0], dtype=float)
        tried.append(reach)
        # A state for each class, with one job of it and the probability that this says.
        ends = np.arange(len(beyond))
        return SimpleNamespace(counts=np.eye(len(beyond)), law=beyond, ends=ends, poisson=lambda costs: None)

    def refused(*_):
        return np.array(answers[len(tried) - 1][1], dtype=float)

    monkeypatch.setattr(truncation, "CoarseChain", SimpleNamespace(around=around))
    monkeypatch.setattr(truncation, "refused", refused)
    states = SimpleNamespace(n_classes=len(answers[0][0]))
    found = truncation.followed(np.ones(states.n_classes), lambda counts: counts, states, np.ones(1))
    return len(tried), None if found is None else found[1].tolist()


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([([0.4], [10])], (1, [10])),  # at most a twentieth of the effect lies at the end
        ([([5], [10]), ([4], [10.4])], (2, [10.4])),  # neither more there than before, nor another effect
        ([([50], [100]), ([50], [104])], (2, [104])),
        ([([5e-3], [1e-2]), ([5e-3], [1.2e-2]), ([5e-3], [1.21e-2])], (3, [1.21e-2])),  # changed too much
        ([([5], [10]), ([6], [10]), ([6], [10])], (3, [10])),  # jobs pile up from the first to the second
        ([([5], [10]), ([6], [10]), ([7], [10]), ([8], [10])], (4, None)),
        ([([0, 0], [INF, 1]), ([0, 0], [2, 1])], (2, [2, 1])),  # no figure for one of them
        ([([0.1, 9], [10, 10]), ([0.1, 0.1], [10, 10])], (2, [10, 10])),
    ],
)  # fmt: skip
def test_a_grid_reaches_far_enough_for_every_class(monkeypatch, answers, expected):
    assert grids_tried(monkeypatch, answers) == expected
