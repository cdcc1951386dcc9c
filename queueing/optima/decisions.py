"""A set of states with the moves between them, and what a policy can choose in each, in floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from fairness.model.problem import FloatArray
from queueing.certificates.departures import Departures

__all__ = ["Decisions", "States"]

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a state costs, and the rates out of it that can be chosen; classes without arrivals are left out.

    Attributes
    ----------
    departures : Departures
    costs : ndarray of shape (n,), per job and unit of time
    """

    departures: Departures
    costs: FloatArray

    @cached_property
    def arrival_rates(self) -> FloatArray:
        """(n,), jobs per unit of time."""
        return np.array(self.departures.arrival_rates, dtype=float)

    @cached_property
    def vertices(self) -> list[FloatArray]:
        """Departure rates at the vertices, (n_vertices, n), pattern by pattern."""
        return [
            np.array(points, dtype=float).reshape(len(points), -1)
            for points in self.departures.vertices.values()
        ]

    @property
    def n(self) -> int:
        """Number of classes."""
        return len(self.costs)


class States:
    r"""The states in an ellipsoid, :math:`\sum_i (x_i/s_i)^2 < 1`, and the moves between them.

    Sets where a quadratic function of the counts is small look like that.

    Attributes
    ----------
    shape : tuple of int
        The s: so many states have jobs of class i alone, or none.
    counts : ndarray of int of shape (n_states, n)
        Rising, the first class foremost; the first state is empty.
    costs : ndarray of shape (n_states,)
    up, down : ndarray of int of shape (n, n_states)
        Place of the state with a job more, or less, of a class; -1 where it is outside.
    """

    def __init__(self, decisions: Decisions, shape: tuple[int, ...]) -> None:
        self.decisions, self.shape, n = decisions, shape, len(shape)
        axes = np.meshgrid(*((np.arange(side) / side) ** 2 for side in shape), indexing="ij", sparse=True)
        inside = np.less(sum(axes), 1.0)
        self.counts = np.argwhere(inside)
        self.costs = self.counts @ decisions.costs
        self._padded = padded = np.full([side + 2 for side in shape], -1)
        inner = [slice(1, -1)] * n
        padded[tuple(inner)][inside] = np.arange(len(self.counts))

        def moved(i: int, by: slice) -> Places:
            return padded[(*inner[:i], by, *inner[i + 1 :])][inside]

        self.up = np.array([moved(i, slice(2, None)) for i in range(n)])
        self.down = np.array([moved(i, slice(None, -2)) for i in range(n)])
        caps = decisions.departures.caps
        pattern = np.ravel_multi_index(tuple(np.minimum(self.counts, caps).T), tuple(cap + 1 for cap in caps))
        # The rows of each pattern, from one sort.
        order = np.argsort(pattern, kind="stable")
        ends = np.searchsorted(pattern[order], np.arange(len(decisions.vertices) + 1))
        self.rows = [order[a:b] for a, b in pairwise(ends)]

    @staticmethod
    def number(shape: tuple[int, ...]) -> float:
        """How many states there are, about."""
        return (
            math.prod(shape) * math.pi ** (len(shape) / 2) / math.gamma(len(shape) / 2 + 1) / 2 ** len(shape)
        )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.counts)

    def places(self, counts: Places) -> Places:
        """Places of states that are inside."""
        found: Places = self._padded[tuple(counts.T + 1)]
        return found

    def inner(self, part: float) -> NDArray[np.bool_]:
        """The states in the ellipsoid with sides that are this part of those of all."""
        return np.asarray(((self.counts / self.shape) ** 2).sum(axis=1) < part**2)

    @cached_property
    def border(self) -> NDArray[np.bool_]:
        """States with a neighbour outside."""
        return np.asarray((self.up < 0).any(axis=0))

    @cached_property
    def tips(self) -> Places:
        """Places of the states with jobs of one class alone, as many as there are, (n,)."""
        counts, n = self.counts, self.decisions.n
        others = counts.sum(axis=1, keepdims=True) - counts
        return np.array([np.where(others[:, i] == 0, counts[:, i], -1).argmax() for i in range(n)])

    def falls(self, h: FloatArray) -> FloatArray:
        """Change of h when a job of each class leaves, (n, n_states)."""
        change: FloatArray = np.append(h, 0.0)[self.down] - h
        return change

    def improved(
        self, h: FloatArray, chosen: FloatArray | None, least: float
    ) -> tuple[FloatArray, FloatArray]:
        """Departure rates (n_states, n) that make the mean change of h least, and that change by departures.

        Those that are ``chosen`` stay where the gain would be below ``least``.
        """
        falls = self.falls(h)
        if chosen is None:
            best, new = np.full(self.n_states, np.inf), np.zeros(self.counts.shape)
        else:
            best, new = np.einsum("ki,ik->k", chosen, falls), chosen.copy()
        for rows, points in zip(self.rows, self.decisions.vertices, strict=True):
            if len(rows):
                values = points @ falls[:, rows]
                choice = values.argmin(axis=0)
                value = values[choice, np.arange(len(rows))]
                better = value < best[rows] - least
                new[rows[better]] = points[choice[better]]
                best[rows[better]] = value[better]
        return new, best

    def factors(self, places: Places, chosen: FloatArray, *, reflected: bool) -> SuperLU:
        """Factors of the generator on some of the states, with the departure rates that are chosen.

        Who leaves them is gone; if ``reflected``, arrivals that would leave the ellipsoid are refused.
        """
        k, rates = len(places), self.decisions.arrival_rates
        where = np.full(self.n_states + 1, -1)  # the last for those outside
        where[places] = np.arange(k)
        moves = [(self.up[i][places], np.full(k, rates[i])) for i in range(len(rates))]
        moves += [(self.down[i][places], chosen[places, i]) for i in range(len(rates))]
        diagonal, entries = np.zeros(k), []
        for number, (target, rate) in enumerate(moves):
            kept = (where[target] >= 0) & (rate > 0)
            entries.append((rate[kept], np.flatnonzero(kept), where[target[kept]]))
            refused = reflected and number < len(rates)
            diagonal -= np.where(target < 0, 0.0, rate) if refused else rate
        entries.append((diagonal, np.arange(k), np.arange(k)))
        values, rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
        matrix = sparse.csc_array((values, (rows, columns)), shape=(k, k))
        # Rows are diagonally dominant: pivots on the diagonal, and an order that keeps the factors sparse.
        return splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
