"""A set of states with the moves between them, and what a policy can choose in each, in floats."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import SuperLU

from fairness.arguments.validation import IntArray
from fairness.errors import NotConvergedError
from fairness.model.problem import FloatArray
from queueing.certificates.cost_certificate import Numbers
from queueing.chain.solvers.balance import grid_factors
from queueing.states.lower_set import LowerSet

__all__ = ["States"]


class States:
    r"""The states with :math:`\sum_{i \in S} x_i/s_i \le \sqrt{|S|}` for all sets S of classes; their moves.

    These faces touch an ellipsoid: sets where a quadratic function of the counts is small look like that.

    Attributes
    ----------
    shape : tuple of int
        The s.
    counts : ndarray of int of shape (n_states, n)
        Of the classes with arrivals; the first state is empty.
    costs : ndarray of shape (n_states,), per unit of time
    arrival_rates : ndarray of shape (n,)
    vertices : list of ndarray of shape (n_vertices, n)
        Departure rates at the vertices of what can run, by the pattern.
    rows : list of ndarray of int
        The states of each pattern.
    up, down : ndarray of int of shape (n, n_states)
        Place of the state with a job more, or less, of a class; -1 where it is outside.
    """

    def __init__(self, numbers: Numbers, shape: tuple[int, ...]) -> None:
        self.numbers, self.shape, n = numbers, shape, len(shape)
        subsets = [list(one) for size in range(1, n + 1) for one in combinations(range(n), size)]
        self.faces = np.zeros((len(subsets), n))
        for row, subset in zip(self.faces, subsets, strict=True):
            row[subset] = 1.0 / np.array(shape)[subset] / math.sqrt(len(subset))
        self.set = LowerSet.within(self.faces)
        self.counts, self.n_states = self.set.counts(), self.set.n_states
        self.costs = self.counts @ np.array(numbers.costs, dtype=float)
        self.arrival_rates = np.array(numbers.arrival_rates, dtype=float)
        self.vertices = [np.array(points, dtype=float) for points in numbers.patterns.values()]
        self.up, self.down = np.full((2, n, self.n_states), -1)
        for i in range(n):
            less, more = self.set.pairs(i)
            self.up[i, less], self.down[i, more] = more, less
        pattern = numbers.running.patterns_of(self.counts)
        order = np.argsort(pattern, kind="stable")
        ends = np.searchsorted(pattern[order], np.arange(len(self.vertices) + 1))
        self.rows = [order[a:b] for a, b in pairwise(ends)]

    @staticmethod
    def number(shape: tuple[int, ...]) -> float:
        """How many states there are, about, or a few more."""
        return math.prod(shape) * {1: 1.0, 2: 0.83, 3: 0.61}[len(shape)]

    def inner(self, part: float) -> NDArray[np.bool_]:
        """The states that are there with sides that are this part of those of all."""
        return np.asarray((self.counts @ self.faces.T <= part).all(axis=1))

    @cached_property
    def border(self) -> NDArray[np.bool_]:
        """States with a neighbour outside."""
        return np.asarray((self.up < 0).any(axis=0))

    @cached_property
    def tips(self) -> IntArray:
        """Places of the states with jobs of one class alone, as many as there are, (n,)."""
        return self.set.places(np.diag(np.array(self.set.shape) - 1))

    @cached_property
    def often(self) -> int:
        """Place of a state that is seen often: the nearest to where jobs can just run the loads."""
        sizes = np.array(self.numbers.mean_sizes, dtype=float)
        jobs = np.floor(self.arrival_rates * sizes / self.numbers.running.limits)
        return int(np.square((self.counts - jobs) / self.shape).sum(axis=1).argmin())

    @cached_property
    def fastest(self) -> float:
        """Largest rate at which jobs leave."""
        return float(max(points.sum(axis=1).max() for points in self.vertices))

    def rises(self, h: FloatArray) -> FloatArray:
        """Change of h by arrivals per unit of time, (n_states,)."""
        change: FloatArray = self.arrival_rates @ (np.append(h, 0.0)[self.up] - h)
        return change

    def falls(self, h: FloatArray) -> FloatArray:
        """Change of h when a job of each class leaves, (n, n_states)."""
        change: FloatArray = np.append(h, 0.0)[self.down] - h
        return change

    def improved(self, h: FloatArray, chosen: FloatArray | None, least: float) -> FloatArray:
        """Departure rates (n_states, n) that make the mean change of h least.

        Those that are ``chosen`` stay where the gain would be below ``least``.
        """
        falls = self.falls(h)
        new = np.zeros(self.counts.shape) if chosen is None else chosen.copy()
        best = np.full(self.n_states, np.inf) if chosen is None else np.einsum("ki,ik->k", chosen, falls)
        for rows, points in zip(self.rows, self.vertices, strict=True):
            if len(rows):
                values = points @ falls[:, rows]
                choice = values.argmin(axis=0)
                better = values.min(axis=0) < best[rows] - least
                new[rows[better]] = points[choice[better]]
        return new

    def factors(self, places: IntArray, chosen: FloatArray, *, reflected: bool) -> SuperLU:
        """Factors of the generator on some of the states, with the departure rates that are chosen.

        Who leaves them is gone; if ``reflected``, arrivals that would leave the whole set are refused.

        Raises
        ------
        NotConvergedError
            If floats cannot tell that anybody leaves.
        """
        k, n = len(places), len(self.shape)
        where = np.full(self.n_states + 1, -1)  # the last for those outside
        where[places] = np.arange(k)
        moves = [(self.up[i][places], np.full(k, self.arrival_rates[i])) for i in range(n)]
        moves += [(self.down[i][places], chosen[places, i]) for i in range(n)]
        diagonal, entries = np.zeros(k), []
        for number, (target, rate) in enumerate(moves):
            kept = (where[target] >= 0) & (rate > 0)
            entries.append((rate[kept], np.flatnonzero(kept), where[target[kept]]))
            diagonal -= np.where(target < 0, 0.0, rate) if reflected and number < n else rate
        entries.append((diagonal, np.arange(k), np.arange(k)))
        values, rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
        matrix = sparse.csc_array((values, (rows, columns)), shape=(k, k))
        # Rows are diagonally dominant: pivots on the diagonal, and an order that keeps the factors sparse.
        # Of grids of counts panels of few columns take two thirds of the time of SuperLU's own.
        try:
            return grid_factors(matrix, panel_size=4, relax=1)
        except RuntimeError as error:
            told = f"{k:,} states are left too seldom for floats: {str(error).lower()}"
            raise NotConvergedError(told) from None
