r"""Means over subsets of classes that are there independently of each other, by as few subsets as possible.

Let class i of k be there with probability :math:`\theta_i`, and let :math:`g(S)` be known for subsets S. Then

.. math:: E[g] = \sum_S \prod_{i\in S}\theta_i\prod_{i\notin S}(1-\theta_i)\,g(S),

:math:`2^k` terms. Policies are simpler than that: under strict priorities, as soon as one class is there,
those behind it do not matter. So g is cut into *leaves*: some classes fixed as there, some as not, g the same
whatever the others do. A mean is then a sum over leaves. Here there is one g for the tasks of the classes
outside, and one for the tasks of each of the k classes while it is there.

Up to :data:`FEW` classes every subset is a leaf. Beyond, a set of subsets is a leaf if g agrees where all
free classes are away, where all are there, and at random subsets in between; else it is cut along the class
that changes g most. What was seen for some subsets is no proof for all: :meth:`Leaves.spread` is for asking
again wherever the leaves are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairness.model.problem import FloatArray

__all__ = ["ALIKE", "FEW", "MOST", "Leaves", "TooManyLeaves", "every_subset", "few_leaves"]

BoolArray = NDArray[np.bool_]

FEW = 6
"""Most classes of which all subsets are listed."""

MOST = 4096
"""Most leaves: as many as the subsets of twelve classes."""

ALIKE = 1e-6
"""Tasks that differ by less than this part of the largest are the same: the few take a little of the many."""

BETWEEN = 4
"""Random subsets at which a leaf is checked, in pairs that complement each other."""


class TooManyLeaves(Exception):
    """More than ``MOST`` leaves are needed."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of all targets: that of the classes outside first, then one for each of the k classes.

    Attributes
    ----------
    states : ndarray of bool, shape (n_states, k)
        Subsets to be asked about.
    present, absent : ndarray of bool, shape (n_leaves, k)
        Classes that a leaf fixes; of a class's own leaves never itself.
    low, high : ndarray of int, shape (n_leaves,)
        Rows of ``states`` with none and with all of the free classes.
    first : ndarray of int, shape (k + 2,)
        Where the leaves of each target begin; the last entry is the number of leaves.
    """

    states: BoolArray
    present: BoolArray
    absent: BoolArray
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    first: NDArray[np.intp]

    def weights(self, theta: FloatArray) -> FloatArray:
        """Probability of every leaf, (n_leaves,)."""
        there = np.where(self.present, theta, 1.0).prod(axis=1)
        return np.asarray(there * np.where(self.absent, 1.0 - theta, 1.0).prod(axis=1))

    def mean(self, theta: FloatArray, tasks: FloatArray) -> FloatArray:
        """Mean tasks of all classes, right for those outside; ``tasks`` has one row per state."""
        part = slice(self.first[0], self.first[1])
        return np.asarray(self.weights(theta)[part] @ tasks[self.low[part]])

    def own(self, tasks: FloatArray) -> FloatArray:
        """Tasks of the class that a leaf belongs to, for all leaves but those of the classes outside."""
        target = np.repeat(np.arange(len(self.first) - 2), np.diff(self.first[1:]))
        return np.asarray(tasks[self.low[self.first[1] :], target])

    def when_present(self, theta: FloatArray, own: FloatArray) -> FloatArray:
        """Mean tasks of each of the k classes while it is there, (k,)."""
        begin = self.first[1]
        return np.asarray(np.add.reduceat(self.weights(theta)[begin:] * own, self.first[1:-1] - begin))

    def spread(self, tasks: FloatArray, members: NDArray[np.intp]) -> float:
        """Largest difference between the two ends of a leaf, which is 0 if it still is one."""
        split = self.first[1]
        outside = np.delete(tasks, members, axis=1)
        gap = np.abs(outside[self.low[:split]] - outside[self.high[:split]]).max(initial=0.0)
        inside = tasks[:, members]
        target = np.repeat(np.arange(len(members)), np.diff(self.first[1:]))
        own = np.abs(inside[self.low[split:], target] - inside[self.high[split:], target])
        return float(max(gap, own.max(initial=0.0)))


def every_subset(k: int) -> Leaves:
    """All subsets of k classes, each by itself."""
    states = (np.arange(2**k)[:, None] >> np.arange(k)) & 1 == 1
    rows = [np.arange(2**k), *(np.flatnonzero(states[:, i]) for i in range(k))]
    present, absent = states[np.concatenate(rows)], ~states[np.concatenate(rows)]
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    for i in range(k):
        present[first[i + 1] : first[i + 2], i] = False
    low = np.concatenate(rows)
    return Leaves(states, present, absent, low, low, first)


def few_leaves(
    ask: Callable[[BoolArray], FloatArray], members: NDArray[np.intp], stream: np.random.Generator
) -> Leaves:
    """Leaves for the classes ``members``; ``ask`` gives the tasks of all classes for subsets of members.

    Raises
    ------
    TooManyLeaves
    """
    k = len(members)
    index: dict[bytes, int] = {}
    states: list[BoolArray] = []
    leaves: list[tuple[BoolArray, BoolArray, int, int]] = []
    first = [0]

    def row(subset: BoolArray) -> int:
        key = subset.tobytes()
        if key not in index:
            index[key] = len(states)
            states.append(subset)
        return index[key]

    for target in range(-1, k):
        nodes = [(np.zeros(k, bool), np.zeros(k, bool))]
        while nodes:
            present, absent = nodes.pop()
            here = present.copy()
            if target >= 0:
                here[target] = True
            free = np.flatnonzero(~(here | absent))
            answers, subsets = _around(ask, here, free, members, target, stream)
            scale = float(np.abs(answers).max(initial=0.0))
            if not len(free) or np.abs(answers[: 2 + BETWEEN] - answers[0]).max() <= ALIKE * scale:
                leaves.append((present, absent, row(subsets[0]), row(subsets[1])))
                if len(leaves) + len(nodes) > MOST:
                    raise TooManyLeaves
                continue
            flips = 2 + BETWEEN + np.arange(len(free))
            effect = np.abs(answers[flips] - answers[0]).max(axis=1)
            effect += np.abs(answers[flips + len(free)] - answers[1]).max(axis=1)
            cut = free[int(effect.argmax())]
            for side in (present, absent):
                child = side.copy()
                child[cut] = True
                nodes.append((child, absent) if side is present else (present, child))
        first.append(len(leaves))
    there, away, low, high = zip(*leaves, strict=True)
    return Leaves(
        np.array(states), np.array(there), np.array(away), np.array(low), np.array(high), np.array(first)
    )


def _around(
    ask: Callable[[BoolArray], FloatArray],
    here: BoolArray,
    free: NDArray[np.intp],
    members: NDArray[np.intp],
    target: int,
    stream: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Tasks of the target at the subsets of a node: both ends, some between, both ends but for one class."""
    m = len(free)
    choice = stream.random((BETWEEN // 2, m)) < 0.5
    parts = np.concatenate(
        [np.zeros((1, m), bool), np.ones((1, m), bool), choice, ~choice, np.eye(m) > 0, np.eye(m) == 0]
    )
    subsets = np.repeat(here[None, :], len(parts), axis=0)
    subsets[:, free] = parts
    tasks = ask(subsets)
    return (np.delete(tasks, members, axis=1) if target < 0 else tasks[:, [members[target]]]), subsets
