r"""What a box cuts off the means, estimated by the fluid path of the jobs that it refuses.

A chain on a box refuses the arrivals that would leave it. Let :math:`Q` be the generator without a box,
:math:`\pi` its law, :math:`\pi_K` the law on the box, and :math:`h_k` a solution of Poisson's equation
:math:`Q h_k = E[x_k] - x_k`: up to a constant, :math:`h_k(x)` is how much jobs of class :math:`k` exceed
their mean, summed over all time, after a start in :math:`x` [1]_. Since :math:`\pi_K Q` is what the refused
arrivals would have moved,

.. math:: E[x_k] - E_K[x_k] = \sum_i \lambda_i \sum_{x:\,x_i = K_i - 1} \pi_K(x)
          \big(h_k(x + e_i) - h_k(x)\big) .

This identity holds for any box, small or large; only :math:`h_k` is unknown. The states concerned are far
from the origin, where the chain follows its fluid limit and :math:`h_k` is about the integral of
:math:`x_k` along the fluid path. Paths are followed on a coarse grid of the box, as a chain that moves from
point to point along each axis, in the direction and at the speed of the drift
:math:`\lambda_i - \varphi_i(x)/\sigma_i` (an upwind scheme). It has a thousand states for two classes, and
one LU factorisation gives the effect of each face on each mean.

One class served at rate :math:`\mu` has :math:`h(x + 1) - h(x) = (x + 1)/(\mu - \lambda)`; the fluid gives
:math:`x/(\mu - \lambda)`. In general it leaves out what chance does on the way, and paths that would leave
the box stay on its faces. What is reported is the sum of the absolute effects of the faces times
``SAFETY``: an estimate, not a bound.

References
----------
.. [1] P. W. Glynn and S. P. Meyn, "A Liapounov bound for solutions of the Poisson equation", Annals of
   Probability 24(2), 1996. DOI 10.1214/aop/1039639370.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.policy import Policy
from queueing.chain.solvers.box_rates import box_rates
from queueing.model.system import System
from queueing.states.box import along, sides
from queueing.states.lower_set import LowerSet

__all__ = ["SAFETY", "set_truncation_error", "truncation_error"]

POINTS = {1: 65, 2: 33, 3: 13, 4: 8, 5: 6, 6: 5}
"""Grid points per axis, by the number of classes."""
FEWEST = 4
"""Grid points per axis for more classes; less where the grid has too many points."""
MOST_POINTS = 12_000
"""Points of the grid, at most: one factorisation takes some seconds."""
MOST_LISTED = 200_000
"""Points of the box around a grid, at most."""
CHUNK = 50_000
"""States at the faces that are handled together."""
SAFETY = 2.5
"""Times the effect in the fluid, which is 0.43 to 1.04 of the true one on 214 means of the tests' kind."""


def truncation_error(up: FloatArray, down: FloatArray, law: FloatArray) -> FloatArray:
    """Estimated error of the mean counts by refused arrivals, jobs; infinite where the fluid stays away.

    Parameters
    ----------
    up : ndarray of shape (n,), jobs per unit of time
        Arrival rates.
    down : ndarray of shape (n, *shape), jobs per unit of time
        Death rates.
    law : ndarray of shape ``shape``
        Law on the box; at least two states along every axis.

    Returns
    -------
    ndarray of shape (n,), jobs
    """
    n = law.ndim
    if n == 0:
        return np.zeros(0)
    points = POINTS.get(n, FEWEST)
    while math.prod(min(size, points) for size in law.shape) > MOST_POINTS and points > 2:
        points -= 1
    grid = [_points(size, points) for size in law.shape]
    if math.prod(map(len, grid)) > MOST_POINTS:
        return np.full(n, math.inf)
    drift = np.stack([up[i] - down[i][np.ix_(*grid)] for i in range(n)])
    moved = np.stack([_moved(up[i], law, grid, i).ravel() for i in range(n)])
    return _effects(drift, moved, grid, None)


def set_truncation_error(
    system: System, policy: Policy, axes: Sequence[int], states: LowerSet, law: FloatArray
) -> FloatArray:
    """The same for a lower set of the counts of the classes ``axes``.

    The grid is that of the box around the set, as far as its cells touch the set; the policy is asked there,
    also in states outside. Between grid points :math:`h` is interpolated linearly in every count. Infinite
    beyond 13 classes, where even two points per axis make too large a grid.
    """
    n, up = states.n_classes, system.arrival_rates[list(axes)]
    found = _grid_of(states)
    if found is None:
        return np.full(n, math.inf)
    grid, counts, inside = found
    sizes = tuple(map(len, grid))
    here = np.zeros((int(inside.sum()), system.n_classes))
    here[:, axes] = counts[inside]
    served = policy_tasks(system.problem, policy, here)[:, axes] / system.mean_sizes[list(axes)]
    drift = np.zeros((n, len(inside)))
    drift[:, inside] = up[:, None] - served.T
    moved = np.zeros((n, len(inside)))
    for i in range(n):
        ends = np.flatnonzero(states.ends(i))
        for begin in range(0, len(ends), CHUNK):
            part = ends[begin : begin + CHUNK]
            number, weight = _slopes(states.counts(part), up[i] * law[part], grid, i)
            moved[i] += np.bincount(number, weight, minlength=len(inside))
    return _effects(drift.reshape(n, *sizes), moved[:, inside], grid, inside.reshape(sizes))


def _grid_of(
    states: LowerSet,
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.bool_]] | None:
    """Grid of the box around a set, the counts at its points, and which of them cells of the set touch.

    None if these are too many even with two points per axis.
    """
    n = states.n_classes
    for points in range(POINTS.get(n, FEWEST), 1, -1):
        grid = [_points(size, points) for size in states.shape]
        if math.prod(map(len, grid)) > MOST_LISTED:
            continue
        numbers = np.indices(tuple(map(len, grid))).reshape(n, -1)
        counts, lowest = (
            np.stack([axis[k] for axis, k in zip(grid, some, strict=True)], axis=1)
            for some in (numbers, np.maximum(numbers - 1, 0))
        )
        # Corners of a cell whose lowest corner is in the set.
        inside = states.places(lowest) >= 0
        if inside.sum() <= MOST_POINTS:
            return grid, counts, inside
    return None


def _slopes(
    counts: NDArray[np.int64], flow: FloatArray, grid: Sequence[NDArray[np.int64]], axis: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """The sum of flow times the slope of h along an axis at the counts: points of the grid, and weights."""
    who, number, weight = np.arange(len(counts)), np.zeros(len(counts), dtype=np.int64), flow
    for k, points in enumerate(grid):
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
    return number, weight


def _effects(
    drift: FloatArray, moved: FloatArray, grid: Sequence[NDArray[np.int64]], inside: NDArray[np.bool_] | None
) -> FloatArray:
    """Effect of what every face would move, ``moved`` of shape (n_faces, n_points), on the mean counts."""
    n, rates = len(grid), _fluid(drift, grid, inside)
    states = rates.shape[0]
    # mu Q = -(what the face would move), for every face; each mu sums to 0, which replaces one equation. The
    # last column is the stationary law of the fluid: where it settles.
    right = np.zeros((states, n + 1))
    right[:, :n] = -moved.T
    right[-1, :n] = 0.0
    out = rates.sum(axis=1)
    # Unknowns are mu times the rate out of a state: rates may differ by many orders.
    pace = np.where(out > 0, out, 1.0)
    matrix = sparse.diags_array(1.0 / pace) @ (rates - sparse.diags_array(out))
    matrix = matrix.T.tocsr()[:-1]
    # Weights relative to the largest keep that equation on the scale of the others.
    sums = pace.min() / pace
    right[-1, n] = pace.min()
    matrix = sparse.vstack([matrix, sparse.csr_array(sums[None])], format="csc")
    try:
        excess = splu(matrix, permc_spec="MMD_AT_PLUS_A").solve(right) / pace[:, None]
    except RuntimeError:  # exactly singular: paths end in different places
        return np.full(n, math.inf)
    whole = np.ones(tuple(map(len, grid)), dtype=bool) if inside is None else inside
    counts = np.stack(np.meshgrid(*grid, indexing="ij"))[:, whole]
    ends = np.zeros(whole.shape, dtype=bool)
    for i in range(n):
        low, high = sides(i)
        there = np.zeros_like(whole)
        there[low] = whole[high]
        ends |= ~there
    settled = excess[ends[whole], n].sum()
    effect = np.abs(counts @ excess[:, :n]).sum(axis=1)
    return np.where(np.isfinite(effect) & (settled < 0.5), SAFETY * effect, math.inf)


def _points(size: int, points: int) -> NDArray[np.int64]:
    """Counts from 0 to size - 1, denser near 0, where the drift bends most."""
    return np.unique(np.round((size - 1) * np.linspace(0.0, 1.0, points) ** 1.5).astype(np.int64))


def _fluid(
    drift: FloatArray, grid: Sequence[NDArray[np.int64]], inside: NDArray[np.bool_] | None
) -> sparse.csr_array:
    """Rates between the grid points: along each axis the drift over the gap; shape (n_points, n_points)."""
    rise, fall = np.zeros((2, *drift.shape))
    for i, points in enumerate(grid):
        (low, high), gap = sides(i), along(np.diff(points), i, len(grid))
        rise[i][low] = np.maximum(drift[i][low], 0.0) / gap
        fall[i][high] = np.maximum(-drift[i][high], 0.0) / gap
    return box_rates(rise, fall, inside)


def _moved(birth: float, law: FloatArray, grid: Sequence[NDArray[np.int64]], axis: int) -> FloatArray:
    """Flow that the face of an axis refuses, on the grid: as a functional of h, its slope at the face."""
    flow = birth * np.take(law, -1, axis=axis)
    others = [points for i, points in enumerate(grid) if i != axis]
    for k, points in enumerate(others):
        flow = np.moveaxis(np.tensordot(flow, _hats(points), axes=(k, 0)), -1, k)
    moved = np.zeros(tuple(map(len, grid)))
    along = np.moveaxis(moved, axis, -1)
    gap = grid[axis][-1] - grid[axis][-2]
    along[..., -1] += flow / gap
    along[..., -2] -= flow / gap
    return moved


def _hats(points: NDArray[np.int64]) -> FloatArray:
    """Weights of linear interpolation from grid points to all counts, shape (points[-1] + 1, n_points)."""
    counts = np.arange(points[-1] + 1)
    return np.stack([np.interp(counts, points, row) for row in np.eye(len(points))], axis=1)
