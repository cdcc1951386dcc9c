r"""Rates of a chain of counts that moves one job at a time, and evidence for its law.

The evidence is how far a law is from balance, and what rounding alone does to its means. The chain gains a
job of class i at the rate ``up[i]``, constant or per state, and loses one at rate ``down[i]`` of shape
``shape``; what would leave the box does not happen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from fairness.model.problem import FloatArray
from queueing.states.box import mean_counts, sides

__all__ = [
    "EPSILON",
    "balance_residual",
    "box_rates",
    "gathered",
    "grid_factors",
    "outflow",
    "rounding_error",
]

EPSILON = float(np.finfo(float).eps)


def outflow(up: FloatArray, down: FloatArray) -> FloatArray:
    """Rate out of each state, from arrival rates (n,) and death rates (n, *shape)."""
    out: FloatArray = down.sum(axis=0)
    for i, rate in enumerate(up):
        low, _ = sides(i)
        out[low] += rate
    return out


def box_rates(up: FloatArray, down: FloatArray, inside: NDArray[np.bool_] | None = None) -> sparse.csr_array:
    """Rates from row to column, without a diagonal, between the states ``inside``; by default all.

    ``up`` has shape (n,) or (n, *shape), ``down`` (n, *shape); what would leave the box does not happen.
    """
    shape = down.shape[1:]
    if inside is None:
        inside = np.ones(shape, dtype=bool)
    states = int(inside.sum())
    number = np.full(shape, -1)
    number[inside] = np.arange(states)
    moves = []
    for i in range(len(down)):
        low, high = sides(i)
        both = inside[high] & inside[low]
        below, above = number[low][both], number[high][both]
        moves.append((below, above, np.broadcast_to(up[i], shape)[low][both]))
        moves.append((above, below, down[i][high][both]))
    return gathered(moves, states)


def gathered(moves: Sequence[tuple[NDArray[Any], NDArray[Any], FloatArray]], states: int) -> sparse.csr_array:
    """Rates of some moves, (from, to, rate) in parts, as an array."""
    rows, columns, values = (np.concatenate(part) for part in zip(*moves, strict=True))
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(states, states)))


def grid_factors(matrix: sparse.csc_array, **panels: int) -> SuperLU:
    """LU factors of minus a generator whose rates lead to and fro; without pivots, as it is an M-matrix."""
    options = {"SymmetricMode": True}
    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options, **panels)


def rounding_error(marginals: Sequence[FloatArray], eliminated: int = 0) -> float:
    """Relative error of the means by the rounding of rates and laws, after so many states were eliminated.

    A mean such as u/(1 - u) changes by 1/(1 - u) = 1 + (mean) times the relative change of a rate; roundings
    of an elimination add up like a random walk, and, far less, all in one direction along the longest axis.
    The factors are from measurement.
    """
    jobs = float(mean_counts(marginals).sum())
    longest = max(map(len, marginals), default=0) if eliminated else 0
    return 4.0 * EPSILON * (4.0 + jobs + math.sqrt(eliminated) + longest / 10)


def balance_residual(
    up: FloatArray,
    down: FloatArray,
    law: FloatArray,
    neighbours: Callable[[int], tuple[Any, Any]] = sides,
) -> float:
    """Sum of |inflow - outflow| over the sum of all flows; ``up`` per class, or per class and state.

    ``neighbours`` gives, for a class, the places of the states in which one more job of it may arrive, and
    those of the states that this leads to; by default on a box.
    """
    if not len(up):
        return 0.0
    surplus, total = np.zeros(law.shape), 0.0
    for i, rate in enumerate(up):
        low, high = neighbours(i)
        births = (rate[low] if rate.ndim else rate) * law[low]
        deaths = down[i][high] * law[high]
        total += float(births.sum() + deaths.sum())
        births -= deaths
        surplus[high] += births
        surplus[low] -= births
    return float(np.abs(surplus).sum() / total)
