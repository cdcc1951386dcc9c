r"""Finite sets of states that hold, with a state, all states below it: simplices, boxes, others between.

Where several classes share resources, many jobs of all classes at once are far less likely than many jobs of
one. A box that holds what is likely of every class holds about :math:`n!` times the states of the simplex
:math:`\sum_i x_i/N_i \le 1`; other *faces*, :math:`\sum_i w_i x_i \le 1` with :math:`w \ge 0`, cut off more.

States come in lexicographic order, as the leaves of a tree: a node at depth :math:`d` is a choice of the
first :math:`d` counts, and its children, one for each next count, are numbered in a row. So
:math:`\text{child}(v, x) = \text{starts}_d(v) + x`: a state is found in :math:`n` steps, in a table of a few
numbers per *row*, the states that differ in the last count only. In such a set the row of :math:`x - e_i` is
never shorter than that of :math:`x`, and it begins with the same count, 0: whole rows are neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import frozen
from fairness.errors import ModelError
from fairness.model.problem import FloatArray

__all__ = ["LowerSet", "Whole", "guessed_states"]

Whole = NDArray[np.int64]

ROUNDING = 1e-9
"""A state beyond a face by so little, relatively, lies on it."""
TOGETHER = 2**20
"""Nodes times faces that are handled together: all of them may not fit in memory."""
DESCENTS = 20_000
"""Random ways from the root to a leaf, by which a set too large to be listed is counted."""


@dataclass(frozen=True, eq=False, repr=False)
class LowerSet:
    """States of job counts in lexicographic order; made by :meth:`within`, :meth:`simplex` or :meth:`box`.

    Attributes
    ----------
    starts : tuple of ndarray
        ``starts[d]``, shape (nodes at depth d + 1,): where the children of each node begin among those of
        depth d + 1, and where the last ones end. The nodes at depth n_classes are the states.

    Examples
    --------
    >>> states = LowerSet.simplex((3, 2))
    >>> states.counts().tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0], [3, 0]]
    >>> states.places(np.array([[1, 1], [2, 1]])).tolist()
    [4, -1]
    """

    starts: tuple[Whole, ...]

    @classmethod
    def within(cls, faces: FloatArray, most: float = math.inf) -> LowerSet:
        """The states x with ``faces @ x <= 1``.

        Parameters
        ----------
        faces : ndarray of shape (n_faces, n_classes)
            Weights >= 0, some positive one for every class.
        most : float
            Most states.

        Raises
        ------
        ModelError
            If there are more than ``most`` states, before they are listed.
        """
        faces = np.asarray(faces, dtype=float)
        if faces.ndim != 2 or not (faces >= 0).all() or not (faces > 0).any(axis=0).all():
            raise ModelError.of("faces", "must be weights >= 0, with a positive one for every class")
        heads, starts = np.zeros((1, 0), dtype=np.int64), []
        for d in range(faces.shape[1]):
            size = _rooms(heads, faces)
            starts.append(np.concatenate([[0], np.cumsum(size)]))
            if starts[-1][-1] > most:
                raise ModelError(f"there are more than {most:,.0f} states within these faces")
            if d < faces.shape[1] - 1:
                count = np.arange(starts[-1][-1]) - np.repeat(starts[-1][:-1], size)
                heads = np.column_stack([np.repeat(heads, size, axis=0), count])
        return cls(tuple(frozen(row) for row in starts))

    @classmethod
    def simplex(cls, sizes: Sequence[int]) -> LowerSet:
        """The states with sum_i x_i/sizes[i] <= 1, at most sizes[i] >= 1 jobs of class i."""
        return cls.within(1.0 / np.array(sizes, dtype=float)[None])

    @classmethod
    def box(cls, shape: Sequence[int]) -> LowerSet:
        """The states with x_i < shape[i]."""
        nodes = np.cumprod([1, *shape], dtype=np.int64).tolist()[: len(shape)]
        rows = (np.arange(k + 1, dtype=np.int64) * size for k, size in zip(nodes, shape, strict=True))
        return cls(tuple(frozen(row) for row in rows))

    def __repr__(self) -> str:
        return f"LowerSet({self.n_states} states within {' x '.join(map(str, self.shape))})"

    @property
    def n_classes(self) -> int:
        """Classes that are counted."""
        return len(self.starts)

    @property
    def n_states(self) -> int:
        """States of the set."""
        return int(self.starts[-1][-1]) if self.starts else 1

    @property
    def rows(self) -> Whole:
        """Where each row of states begins, and where the last one ends; shape (n_rows + 1,)."""
        return self.starts[-1]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The smallest box that holds the set: states per class when all others are empty."""
        # The first node at each depth is that of empty classes.
        return tuple(int(row[1]) for row in self.starts)

    @cached_property
    def is_box(self) -> bool:
        """Whether the set is the whole box that holds it."""
        return self.n_states == math.prod(self.shape)

    @cached_property
    def heads(self) -> Whole:
        """Counts of all classes but the last in each row; shape (n_rows, n_classes - 1)."""
        return frozen(self._unranked(np.arange(len(self.rows) - 1), self.n_classes - 1))

    @cached_property
    def below(self) -> Whole:
        """Row with one job of class i less, -1 where there is none; shape (n_classes - 1, n_rows)."""
        heads = self.heads.copy()
        result = np.empty(heads.shape[::-1], dtype=np.int64)
        for i in range(len(result)):
            heads[:, i] -= 1
            result[i] = self.places(heads)
            heads[:, i] += 1
        return frozen(result)

    @cached_property
    def above(self) -> Whole:
        """Row with one job of class i more, -1 where there is none; shape (n_classes - 1, n_rows)."""
        result = np.full_like(self.below, -1)
        for i, row in enumerate(self.below):
            there = np.flatnonzero(row >= 0)
            result[i, row[there]] = there
        return frozen(result)

    def counts(self, places: Whole | None = None) -> Whole:
        """Counts of the states at the places, by default of all; shape (len(places), n_classes)."""
        return self._unranked(np.arange(self.n_states) if places is None else places, self.n_classes)

    def places(self, counts: Whole) -> Whole:
        """Places of states, -1 where one is not in the set; counts of shape (k, n_classes) or fewer columns.

        With the first d counts only: places among the nodes of depth d.
        """
        node, inside = np.zeros(len(counts), dtype=np.int64), np.ones(len(counts), dtype=bool)
        for starts, x in zip(self.starts, counts.T, strict=False):
            size = starts[node + 1] - starts[node]
            inside &= (x >= 0) & (x < size)
            node = starts[node] + np.where(inside, x, 0)
        return np.where(inside, node, -1)

    def marginals(self, values: FloatArray) -> tuple[FloatArray, ...]:
        """Sums of values, (n_states,), over all counts but one each; entry i has shape (shape[i],)."""
        return tuple(self.marginal(values, i) for i in range(self.n_classes))

    def marginal(self, values: FloatArray, axis: int) -> FloatArray:
        """Sums over all counts but that of one class; shape (shape[axis],)."""
        if self.is_box:
            others = tuple(k for k in range(self.n_classes) if k != axis)
            sums: FloatArray = values.reshape(self.shape).sum(axis=others)
            return sums
        if axis == self.n_classes - 1:
            jobs = np.arange(self.n_states) - np.repeat(self.rows[:-1], np.diff(self.rows))
            return np.bincount(jobs, values).astype(float)
        rows = np.add.reduceat(values, self.rows[:-1])
        return np.bincount(self.heads[:, axis], rows).astype(float)

    def pairs(self, axis: int) -> tuple[Whole, Whole]:
        """Places of all pairs of states that differ by one job of a class: without it, and with it."""
        size = np.diff(self.rows)
        if axis == self.n_classes - 1:
            more = np.delete(np.arange(self.n_states), self.rows[:-1])
            return more - 1, more
        there = np.flatnonzero(self.below[axis] >= 0)
        shift = np.repeat(self.rows[there] - self.rows[self.below[axis, there]], size[there])
        more = np.concatenate([[0], np.cumsum(size[there])])
        more = np.arange(more[-1]) + np.repeat(self.rows[there] - more[:-1], size[there])
        return more - shift, more

    def ends(self, axis: int) -> NDArray[np.bool_]:
        """Whether one job more of a class would leave the set, for every state; shape (n_states,)."""
        result = np.ones(self.n_states, dtype=bool)
        result[self.pairs(axis)[0]] = False
        return result

    def coarsened(self, block: Sequence[int]) -> LowerSet:
        """The states z whose multiples (block[i] z_i) are in the set.

        Those are the blocks of states, block[i] along axis i, that hold a state of the set; and, for the same
        block along every axis, the states of the same set on a smaller scale.
        """
        kept, result = np.zeros(1, dtype=np.int64), []
        for starts, width in zip(self.starts, block, strict=True):
            size = -(-(starts[kept + 1] - starts[kept]) // width)
            rows = np.concatenate([[0], np.cumsum(size)])
            kept = np.repeat(starts[kept], size) + width * (np.arange(rows[-1]) - np.repeat(rows[:-1], size))
            result.append(frozen(rows))
        return LowerSet(tuple(result))

    def _unranked(self, places: Whole, depth: int) -> Whole:
        """The first counts of nodes at a depth; shape (len(places), depth)."""
        result = np.empty((len(places), depth), dtype=np.int64)
        node = places
        for d in range(depth - 1, -1, -1):
            parent = np.searchsorted(self.starts[d], node, side="right") - 1
            result[:, d] = node - self.starts[d][parent]
            node = parent
        return result


def guessed_states(faces: FloatArray) -> float:
    """About how many states lie within faces, without listing them (Knuth's estimate of the size of a tree).

    The inverse of the probability of a random way from the root to a leaf is, on average over the ways, the
    number of leaves [1]_. Children are as likely as their shares of a simplex. The seed is fixed.

    References
    ----------
    .. [1] D. E. Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29,
       1975. DOI 10.1090/S0025-5718-1975-0373371-6.

    Examples
    --------
    >>> faces = np.full((1, 5), 1 / 40)
    >>> round(guessed_states(faces) / LowerSet.within(faces).n_states, 1)
    1.0
    """
    rng = np.random.default_rng(0)
    used, found = np.zeros((DESCENTS, len(faces))), np.ones(DESCENTS)
    for d in range(faces.shape[1]):
        size, power = _lengths(used, faces[:, d]), faces.shape[1] - d
        left = np.floor(size * rng.random(DESCENTS) ** (1.0 / power))
        found /= ((left + 1.0) / size) ** power - (left / size) ** power
        used += (size - 1 - left)[:, None] * faces[:, d]
    return float(found.mean())


def _rooms(heads: Whole, faces: FloatArray) -> Whole:
    """Counts of the next class that fit, from 0, beside the first ones, ``heads`` of shape (k, d)."""
    d = heads.shape[1]
    faces = faces[faces[:, d] > 0]
    result, step = np.empty(len(heads), dtype=np.int64), max(1, TOGETHER // len(faces))
    for begin in range(0, len(heads), step):
        part = slice(begin, begin + step)
        used = np.zeros((len(heads[part]), len(faces)))
        # Always in this order: rounding is monotone, so that the set is a lower one.
        for i in range(d):
            used += heads[part, i, None] * faces[:, i]
        result[part] = _lengths(used, faces[:, d])
    return result


def _lengths(used: FloatArray, weights: FloatArray) -> Whole:
    """Counts of the next class that fit, from 0, where ``used`` (k, n_faces) of the faces is taken."""
    some = weights > 0
    room = np.min((1.0 + ROUNDING - used[:, some]) / weights[some], axis=1)
    return np.maximum(room, 0.0).astype(np.int64) + 1
