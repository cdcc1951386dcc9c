r"""Balance equations on a box, solved directly, and their residual.

The chain gains a job of class i at the constant rate ``up[i]`` and loses one at rate ``down[i]`` of shape
``shape``; what would leave the box does not happen.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from fairness.problem import FloatArray
from queueing.grid import mean_counts

__all__ = ["EPSILON", "balance_residual", "birth_death", "factorised"]

EPSILON = float(np.finfo(float).eps)


def birth_death(birth: float, death: FloatArray) -> FloatArray:
    """Law of one class: pi(k)/pi(k - 1) = birth/death(k); death has shape (K,)."""
    # Logarithms, because the largest probability may be many orders above that of the empty state.
    log_law = np.concatenate([[0.0], np.cumsum(np.log(birth) - np.log(death[1:]))])
    law: FloatArray = np.exp(log_law - log_law.max())
    return law / law.sum()


def factorised(up: FloatArray, down: FloatArray, pin: int) -> tuple[FloatArray, float]:
    """Law by sparse LU factorisation, with the probability of one likely state (flat index) pinned.

    The pinned system is that of an M-matrix, for which elimination without pivoting is stable. Also returns
    the relative change of the mean counts by one step of iterative refinement, an estimate of their error;
    infinite where that is beyond its reach.
    """
    shape = down.shape[1:]
    states = math.prod(shape)
    out = np.zeros(shape)
    diagonals, offsets = [], []
    for i, rate in enumerate(up):
        low, high = _faces(len(shape), i)
        # Row y, column x: minus the rate from x to y. dia_array stores entry (x - offset, x) at place x.
        arrive, leave = np.zeros(shape), np.zeros(shape)
        arrive[low] = -rate
        leave[high] = -down[i][high]
        out -= arrive + leave
        stride = math.prod(shape[i + 1 :])
        diagonals += [arrive.ravel(), leave.ravel()]
        offsets += [-stride, stride]
    right = np.zeros(states)
    for diagonal, offset in zip(diagonals, offsets, strict=True):
        if 0 <= pin - offset < states:
            right[pin - offset] -= diagonal[pin]
        diagonal[pin] = 0.0
        if 0 <= pin + offset < states:
            diagonal[pin + offset] = 0.0
    centre = out.ravel()
    centre[pin] = right[pin] = 1.0
    matrix = sparse.dia_array((np.array([*diagonals, centre]), [*offsets, 0]), shape=(states, states)).tocsc()
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    law = factors.solve(right)
    refined = law + factors.solve(right - matrix @ law)
    refined = np.maximum(refined, 0.0)
    before, after = (mean_counts((v / v.sum()).reshape(shape)) for v in (law, refined))
    # Beside rates larger by 1/EPSILON those of a slow class are lost in the sums, and refinement cannot see
    # it. Every class has arrivals, so a mean of 0 is an underflow.
    pace = np.maximum(up, down.reshape(len(up), -1).max(axis=1))
    lost = pace.min() < EPSILON * pace.max() or not after.all()
    change = math.inf if lost else float(np.max(np.abs(after - before) / after))
    return (refined / refined.sum()).reshape(shape), max(change, EPSILON)


def _faces(n_axes: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """All states but the last, and all but the first, along one axis."""
    head = (slice(None),) * axis
    tail = (slice(None),) * (n_axes - axis - 1)
    return (*head, slice(None, -1), *tail), (*head, slice(1, None), *tail)


def balance_residual(up: FloatArray, down: FloatArray, law: FloatArray) -> float:
    """Sum of |inflow - outflow| over the sum of all flows."""
    if not len(up):
        return 0.0
    surplus, total = np.zeros(law.shape), 0.0
    for i, rate in enumerate(up):
        low, high = _faces(law.ndim, i)
        births, deaths = rate * law[low], down[i][high] * law[high]
        total += float(births.sum() + deaths.sum())
        births -= deaths
        surplus[high] += births
        surplus[low] -= births
    return float(np.abs(surplus).sum() / total)
