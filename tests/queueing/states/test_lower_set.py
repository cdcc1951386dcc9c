"""Lower sets of states: against lists of all states of the box around them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fairness import ModelError
from queueing.states import lower_set
from queueing.states.lower_set import LowerSet, guessed_states

FACES = [
    np.full((1, 1), 1 / 3),
    np.full((1, 3), 1 / 5),
    np.array([[1 / 4, 1 / 2, 1 / 3]]),
    np.array([[1 / 4, 0, 1 / 3, 0], [0, 1 / 2, 1 / 3, 1 / 5], [1 / 6, 1 / 6, 1 / 6, 1 / 6]]),
    np.array([[2.0, 1 / 3], [0, 1 / 7]]),
]


def listed(faces):
    """All states by brute force, in lexicographic order."""
    most = [int(np.floor(1 / column[column > 0].max() + 1e-9)) for column in faces.T]
    box = itertools.product(*(range(k + 1) for k in most))
    return np.array([x for x in box if (faces @ x <= 1 + 1e-9).all()])


@pytest.mark.parametrize("faces", FACES, ids=range(len(FACES)))
def test_states_and_their_places(faces):
    states, expected = LowerSet.within(faces), listed(faces)
    assert np.array_equal(states.counts(), expected)
    assert states.n_states == len(expected)
    assert states.shape == tuple((expected.max(axis=0) + 1).tolist())
    some = np.array([0, len(expected) - 1])
    assert np.array_equal(states.counts(some), expected[some])
    # Every state of a box around the set, and beyond it, is found or refused.
    around = np.array(list(itertools.product(*(range(-1, k + 2) for k in states.shape))))
    place = {tuple(x): k for k, x in enumerate(expected.tolist())}
    assert states.places(around).tolist() == [place.get(tuple(x), -1) for x in around.tolist()]


@pytest.mark.parametrize("faces", FACES, ids=range(len(FACES)))
def test_rows_and_their_neighbours(faces):
    states = LowerSet.within(faces)
    counts = states.counts()
    for r, (head, start) in enumerate(zip(states.heads, states.rows[:-1], strict=True)):
        assert (counts[start : states.rows[r + 1], :-1] == head).all()
        assert counts[start, -1] == 0
        for i in range(states.n_classes - 1):
            for row, step in ((states.below[i, r], -1), (states.above[i, r], 1)):
                head = counts[start, :-1].copy()
                head[i] += step
                there = states.places(np.append(head, 0)[None])[0]
                assert (states.rows[row] if row >= 0 else -1) == there


@pytest.mark.parametrize("faces", FACES, ids=range(len(FACES)))
def test_sums_and_blocks(faces):
    states = LowerSet.within(faces)
    counts, values = states.counts(), np.random.default_rng(0).random(states.n_states)
    for i, sums in enumerate(states.marginals(values)):
        assert sums == pytest.approx([values[counts[:, i] == x].sum() for x in range(states.shape[i])])
    for block in ([2] * states.n_classes, [1 + i % 2 for i in range(states.n_classes)]):
        coarse = states.coarsened(block)
        assert coarse.counts().tolist() == np.unique(counts // block, axis=0).tolist()
        assert (coarse.places(counts // block) >= 0).all()


def test_boxes_and_simplices():
    box = LowerSet.box((3, 1, 4))
    assert box.is_box
    assert np.array_equal(box.counts(), np.argwhere(np.ones((3, 1, 4))))
    values = np.random.default_rng(0).random(12)
    assert [list(m) for m in box.marginals(values)] == [
        list(values.reshape(3, 1, 4).sum(axis=k)) for k in ((1, 2), (0, 2), (0, 1))
    ]
    simplex = LowerSet.simplex((12, 12, 12, 12, 12))
    assert simplex.n_states == 6188  # 17 choose 5
    assert not simplex.is_box


def test_too_many_states_are_refused_and_guessed():
    faces = np.full((1, 12), 1 / 60)
    with pytest.raises(ModelError, match=r"more than 1,000,000 states within these faces"):
        LowerSet.within(faces, most=1e6)
    assert guessed_states(faces) == pytest.approx(1.5363e13, rel=0.1)  # 72 choose 12
    # Ways are random: the relative error is about 4 standard errors at most, which a fixed seed keeps.
    faces = FACES[3] / 4
    assert guessed_states(faces) == pytest.approx(LowerSet.within(faces).n_states, rel=0.2)


def test_nodes_are_taken_in_parts(monkeypatch):
    whole = [LowerSet.within(faces).starts for faces in FACES]
    monkeypatch.setattr(lower_set, "TOGETHER", 5)
    for faces, expected in zip(FACES, whole, strict=True):
        assert all(map(np.array_equal, LowerSet.within(faces).starts, expected))


def test_faces_that_leave_a_class_free_are_refused():
    for faces in (np.array([[1.0, 0.0]]), np.array([[1.0, -1.0]]), np.ones(2)):
        with pytest.raises(ModelError, match="faces must be weights >= 0, with a positive one"):
            LowerSet.within(faces)


@pytest.mark.parametrize("faces", FACES, ids=range(len(FACES)))
def test_pairs_of_neighbours(faces):
    states = LowerSet.within(faces)
    counts = states.counts()
    for i in range(states.n_classes):
        less, more = states.pairs(i)
        assert np.array_equal(counts[more], counts[less] + np.eye(states.n_classes, dtype=int)[i])
        assert np.array_equal(np.sort(more), np.flatnonzero(counts[:, i] > 0))
