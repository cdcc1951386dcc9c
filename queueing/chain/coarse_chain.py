r"""A chain of counts on a coarse grid that reaches far beyond a box: what happens after states are left.

The grid has all small counts, ever fewer large ones up to the end of the box, and powers beyond. At a point
whose neighbours on an axis are :math:`g` counts less and :math:`g'` more, birth and death rates are taken as
constant, :math:`\lambda` and :math:`d`. A walk with these rates reaches the upper neighbour first with
probability

.. math:: p = \frac{1 - R^g}{1 - R^{g + g'}}, \qquad R = \frac{d}{\lambda},

after the mean time :math:`t = (g' p - g(1 - p))/(\lambda - d)` [1]_. So the chain on the grid goes up at the
rate :math:`p/t` and down at the rate :math:`(1 - p)/t`: where gaps are 1 these are the rates of the chain
itself, and where they are wide both the drift and the noise are right while the other counts stay. Where the
drift turns with them there is too much noise, as a wide gap is crossed at once or not at all.

Poisson's equation :math:`Q h_k = E[x_k] - x_k` is solved on the grid by elimination without subtractions
(:mod:`queueing.chain.solvers.poisson_steps`), however far apart the rates are.

References
----------
.. [1] W. Feller, "An Introduction to Probability Theory and Its Applications", vol. 1, Wiley 1968, ch. XIV.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fairness.model.problem import FloatArray
from queueing.chain.solvers.balance import box_rates
from queueing.chain.solvers.poisson_steps import PoissonStep, poisson_step
from queueing.states.box import along
from queueing.states.lower_set import LowerSet
from queueing.states.table import DeathRates

__all__ = ["BirthRates", "CoarseChain", "births_in"]

BirthRates = FloatArray | DeathRates
"""Arrival rates, (n,), or what gives those in any states."""

Whole = NDArray[np.int64]

MOST_POINTS = {1: 1_000, 2: 6_000, 3: 5_000, 4: 5_000}
"""Points of the grid, at most, by the number of classes: so that one elimination takes less than a second."""
MANY = 4_000
"""The same of more classes."""
FEW = 1_500
"""Points that a grid may have in any case; else no more than the set has states: a policy may be slow."""
MOST_LISTED = 600_000
"""Points of the box around a grid, at most."""
RATIOS = (1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0, 200.0)
"""Of neighbouring counts, where they are large: the smallest is taken that the grid has room for."""
EVEN = 1e-4
"""Decay of the walk over both gaps below which it is taken to have no drift."""


class CoarseChain:
    """A chain of counts on a grid that is coarser, and reaches further, than a set of states.

    Parameters
    ----------
    states : LowerSet
        The set; at least two states along every axis.
    up : ndarray of shape (n,), jobs per unit of time, or callable
        Arrival rates, > 0; those of any states.
    rates : callable
        Death rates of any states.

    Attributes
    ----------
    counts : ndarray of shape (n_points, n)
        Counts at the points.
    ends : ndarray of bool of shape (n_points,)
        Points where the grid ends along some axis.
    rates : sparse array of shape (n_points, n_points)
        Rates from row to column.
    """

    counts: Whole
    ends: NDArray[np.bool_]
    rates: sparse.csr_array

    def __init__(self, grid: Sequence[Whole], inside: NDArray[np.bool_], up: BirthRates, rates: DeathRates):
        self._grid, n = grid, len(grid)
        self._number = np.full(inside.shape, -1)
        self._number[inside] = np.arange(inside.sum())
        places = np.nonzero(inside)
        self.counts = np.stack([axis[k] for axis, k in zip(grid, places, strict=True)], axis=1)
        self.ends = np.any([k == len(axis) - 1 for axis, k in zip(grid, places, strict=True)], axis=0)
        down = np.zeros((n, *inside.shape))
        down[:, inside] = rates(self.counts).T
        births = np.ones((n, *inside.shape))
        births[:, inside] = births_in(up, self.counts).T
        rise, fall = _rates_between(births, down, grid)
        self.rates = box_rates(rise, fall, inside)

    @cached_property
    def _solve(self) -> PoissonStep:
        return poisson_step(self.rates, ordered=True)

    def with_rates(self, up: BirthRates, rates: DeathRates) -> CoarseChain:
        """The chain with other rates on the same grid."""
        return CoarseChain(self._grid, self._number >= 0, up, rates)

    @classmethod
    def around(cls, states: LowerSet, up: BirthRates, rates: DeathRates, reach: float) -> CoarseChain | None:
        """The chain that reaches so many times as far as a set; None where this takes too many points."""
        found = _grid_around(states, reach)
        return None if found is None else cls(*found, up, rates)

    @property
    def law(self) -> FloatArray:
        """Stationary law of the points, (n_points,)."""
        return self._solve.law

    def poisson(self, costs: FloatArray) -> FloatArray:
        """Functions h with Q h = E[f] - f, a column for each column f of ``costs``; (n_points, n_costs)."""
        return np.stack([self._solve(np.array(column)) for column in costs.T], axis=1)

    def values(self, h: FloatArray, counts: Whole) -> FloatArray:
        """H at states of the set, (k, n_functions), interpolated linearly in every count."""
        return self._interpolated(h, counts, None)

    def slopes(self, h: FloatArray, counts: Whole, axis: int) -> FloatArray:
        """h(x + e_i) - h(x) at states x of the set, for the class of an axis; (k, n_functions)."""
        return self._interpolated(h, counts, axis)

    def _interpolated(self, h: FloatArray, counts: Whole, axis: int | None) -> FloatArray:
        result = np.zeros((len(counts), h.shape[1]))
        who = np.arange(len(counts))
        number, weight = np.zeros(len(counts), dtype=np.int64), np.ones(len(counts))
        for k, points in enumerate(self._grid):
            x = counts[who, k]
            cell = np.minimum(np.searchsorted(points, x, side="right") - 1, len(points) - 2)
            gap = points[cell + 1] - points[cell]
            high = 1.0 / gap if k == axis else (x - points[cell]) / gap
            low = -high if k == axis else 1.0 - high
            # Most counts lie on the grid, and only one of the two has a weight.
            number = number * len(points) + cell
            both = np.concatenate([np.flatnonzero(low), np.flatnonzero(high)])
            number = np.concatenate([number[low != 0], number[high != 0] + 1])
            weight = np.concatenate([(weight * low)[low != 0], (weight * high)[high != 0]])
            who = who[both]
        np.add.at(result, who, weight[:, None] * h[self._number.ravel()[number]])
        return result


def births_in(up: BirthRates, counts: Whole) -> FloatArray:
    """Birth rates in states, (k, n)."""
    return up(counts) if callable(up) else np.broadcast_to(up, counts.shape)


def _grid_around(states: LowerSet, reach: float) -> tuple[list[Whole], NDArray[np.bool_]] | None:
    """Grid around a set, and which of its points are kept.

    Kept are the corners of cells that touch the set stretched to twice its size, counts beyond the end of an
    axis standing for the end; of four classes and more one count at a time is beyond. None if these are too
    many even with no point between 0 and the end.
    """
    n, ends = states.n_classes, np.array(states.shape)
    most = min(MOST_POINTS.get(n, MANY), max(FEW, states.n_states))
    for ratio in (*RATIOS, math.inf, None):
        grid = [_points(size, reach, ratio) for size in states.shape]
        shape = tuple(map(len, grid))
        if math.prod(shape) > MOST_LISTED:
            continue
        numbers = np.maximum(np.indices(shape).reshape(n, -1) - 1, 0)
        lowest = np.stack([axis[k] for axis, k in zip(grid, numbers, strict=True)], axis=1)
        inside = states.places(np.minimum(lowest, ends - 1) // 2) >= 0
        if n > 3:
            inside &= (lowest >= ends).sum(axis=1) <= 1
        if inside.sum() <= most:
            return grid, inside.reshape(shape)
    return None


def _points(size: int, reach: float, ratio: float | None) -> Whole:
    """Counts from 0 to ``size``, the first ones all, then with a ratio, and on to ``reach`` times as many.

    With an infinite ratio only 0 and the ends, with None without the last count of the set.
    """
    if ratio is None or ratio == math.inf:
        return np.unique(np.round([0, size - 1 if ratio else 0, size, reach * size]).astype(np.int64))
    dense = math.ceil(1.0 / (ratio - 1.0))  # up to there the ratio is below 1 + 1/x
    near = dense * ratio ** np.arange(max(0.0, math.log(size / dense) / math.log(ratio)))
    steps = math.ceil(math.log(reach) / math.log(ratio))
    beyond = size * reach ** (np.arange(1.0, steps + 1) / steps)
    counts = np.concatenate([np.arange(min(dense, size)), near, [size - 1, size], beyond])
    return np.unique(np.round(counts).astype(np.int64))


def _rates_between(up: FloatArray, down: FloatArray, grid: Sequence[Whole]) -> tuple[FloatArray, FloatArray]:
    """Rates to the next and to the last point along each axis, (n, *shape)."""
    rise, fall = np.zeros((2, *down.shape))
    for i, points in enumerate(grid):
        gaps = np.diff(points).astype(float)
        below, above = (along(g, i, len(grid)) for g in (np.r_[1.0, gaps], np.r_[gaps, gaps[-1]]))
        with np.errstate(divide="ignore", invalid="ignore"):
            tilt = np.log(down[i] / up[i])  # R = exp(tilt)
            steep, upwards = np.abs(tilt), tilt < 0
            # Gaps with the drift and against it, and the probabilities that the walk ends there.
            gap, other = np.where(upwards, above, below), np.where(upwards, below, above)
            both = -np.expm1(-steep * (gap + other))
            there, back = (
                -np.expm1(-steep * other) / both,
                np.exp(-steep * other) * -np.expm1(-steep * gap) / both,
            )
            pace = np.abs(up[i] - down[i]) / (gap * there - other * back)
        even = steep * (gap + other) < EVEN
        there, back = np.where(even, other / (gap + other), there), np.where(even, gap / (gap + other), back)
        pace = np.where(even, (up[i] + down[i]) / (gap * other), pace)
        rise[i] = pace * np.where(upwards, there, back)
        fall[i] = pace * np.where(upwards, back, there)
    return rise, fall
