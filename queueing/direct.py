r"""Balance equations on a box, solved directly, and their residual.

The chain gains a job of class i at the constant rate ``up[i]`` and loses one at rate ``down[i]`` of shape
``shape``; what would leave the box does not happen.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from fairness.problem import FloatArray
from queueing.grid import mean_counts

__all__ = ["EPSILON", "balance_residual", "birth_death", "factor_bytes", "factorised", "factorised_part"]

EPSILON = float(np.finfo(float).eps)


def birth_death(birth: float, death: FloatArray) -> FloatArray:
    """Law of one class: pi(k)/pi(k - 1) = birth/death(k); death has shape (K,)."""
    # Logarithms, because the largest probability may be many orders above that of the empty state.
    log_law = np.concatenate([[0.0], np.cumsum(np.log(birth) - np.log(death[1:]))])
    law: FloatArray = np.exp(log_law - log_law.max())
    return law / law.sum()


def factor_bytes(n_axes: int, states: int) -> float:
    """Bytes per state that LU factorisation takes at its peak, for two to four classes.

    Entries of the factors per state with minimum degree ordering, and 16 bytes for each: measured on boxes of
    10^4 to 10^6 states (two classes) and 3,000 to 30,000 (three and four).
    """
    fill = 4.0 * math.log2(states) if n_axes == 2 else {3: 3.0, 4: 7.0}[n_axes] * states**0.5
    return 16.0 * fill


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
    first, second = ((v / v.sum()).reshape(shape) for v in (law, refined))
    return second, _change(first, second, np.maximum(up, down.reshape(len(up), -1).max(axis=1)))


def factorised_part(up: FloatArray, down: FloatArray, inside: NDArray[np.bool_]) -> tuple[FloatArray, float]:
    """Law by sparse LU factorisation over the states inside, with the probability of a likely state pinned.

    As :func:`factorised`, with rates ``up`` per state as well, for a part of a box that need not be a box.
    """
    n, box, states = len(up), inside.shape, int(inside.sum())
    number = np.full(box, -1)
    number[inside] = np.arange(states)
    rows, columns, values = [], [], []
    for i in range(n):
        low, high = _faces(n, i)
        both = inside[high]
        below, above = number[low][both], number[high][both]
        for source, target, rate in (
            (below, above, up[i][low][both]),
            (above, below, down[i][high][both]),
        ):
            rows += [target, source]
            columns += [source, source]
            values += [-rate, rate]
    row, column, value = map(np.concatenate, (rows, columns, values))
    pin = int(number[_summit(up, down)])
    free = row != pin
    right = np.zeros(states)
    right[pin] = 1.0
    matrix = sparse.coo_array(
        (np.append(value[free], 1.0), (np.append(row[free], pin), np.append(column[free], pin))),
        shape=(states, states),
    ).tocsc()
    # The column of the pinned state is known: it goes to the right side, and the rest is an M-matrix.
    known = matrix[:, [pin]].toarray().ravel()
    known[pin] = 0.0
    keep = sparse.diags_array(np.where(np.arange(states) == pin, 0.0, 1.0))
    matrix = (matrix @ keep + sparse.coo_array(([1.0], ([pin], [pin])), shape=matrix.shape)).tocsc()
    right -= known
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    law = factors.solve(right)
    refined = np.maximum(law + factors.solve(right - matrix @ law), 0.0)
    if not np.isfinite(refined.sum()):
        return np.where(inside, 1.0 / states, 0.0), math.inf
    laws = np.zeros((2, *box))
    for full, part in zip(laws, (np.maximum(law, 0.0), refined), strict=True):
        full[inside] = part / part.sum()
    return laws[1], _change(laws[0], laws[1], np.maximum(up, down).reshape(n, -1).max(axis=1))


def _summit(up: FloatArray, down: FloatArray) -> tuple[int, ...]:
    """A likely state: from the empty one up along the largest ratio of births to deaths, while it is > 1."""
    state = (0,) * len(up)
    while True:
        best, here = 1.0, state
        for i in range(len(up)):
            birth = up[i][state]
            if birth > 0:
                higher = (*state[:i], state[i] + 1, *state[i + 1 :])
                death = down[i][higher]
                ratio = birth / death if death > 0 else math.inf
                if ratio > best:
                    best, here = ratio, higher
        if here == state:
            return state
        state = here


def _change(before: FloatArray, after: FloatArray, pace: FloatArray) -> float:
    """Relative change of the mean counts; infinite where the largest rates hide the slowest."""
    first, second = mean_counts(before), mean_counts(after)
    # Beside rates larger by 1/EPSILON those of a slow class are lost in the sums, and refinement cannot see
    # it. Every class has arrivals, so a mean of 0 is an underflow.
    if pace.min() < EPSILON * pace.max() or not second.all():
        return math.inf
    return max(float(np.max(np.abs(second - first) / second)), EPSILON)


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
