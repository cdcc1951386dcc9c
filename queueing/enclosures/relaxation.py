r"""The steps of multigrid for Poisson's equation on a box: sweeps along lines, residuals, a box of blocks.

States are numbered in C order. Rates of moves that would leave the box are 0; ``kill`` is the rate at which a
state is left for good. The equation is, for every state x,

.. math:: \sum_i u_i(x)\,(h(x + e_i) - h(x)) + d_i(x)\,(h(x - e_i) - h(x)) - k(x)\,h(x) = b(x).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import helper, stored
from fairness.model.problem import FloatArray

__all__ = ["Box", "aggregate", "residual", "sweep"]

Whole = NDArray[np.int64]


@helper(nogil=True)
def _strides(shape: Whole) -> Whole:
    """How far apart the neighbours along each axis are."""
    result = np.ones(len(shape), dtype=np.int64)
    for i in range(len(shape) - 2, -1, -1):
        result[i] = result[i + 1] * shape[i + 1]
    return result


@stored(nogil=True)
def sweep(
    h: FloatArray,
    b: FloatArray,
    up: FloatArray,
    down: FloatArray,
    kill: FloatArray,
    shape: Whole,
    axis: int,
    forward: bool,
) -> None:
    """Solve the equations of each line along an axis, all other lines fixed, line after line."""
    n = len(shape)
    stride = _strides(shape)
    step, length = stride[axis], shape[axis]
    factor = np.empty(length)
    value = np.empty(length)
    lines = h.size // length
    for number in range(lines):
        line = number if forward else lines - 1 - number
        first = (line // step) * step * length + line % step
        # Elimination without subtractions in the pivots: leave is the rate out of the line, directly or by
        # way of the states before.
        leave = pivot = before = 0.0
        for y in range(length):
            s = first + y * step
            exits, inner = kill[s], -b[s]
            for i in range(n):
                if i != axis:
                    rise, fall = up[i, s], down[i, s]
                    if rise > 0:
                        inner += rise * h[s + stride[i]]
                        exits += rise
                    if fall > 0:
                        inner += fall * h[s - stride[i]]
                        exits += fall
            fall = down[axis, s]
            if y > 0 and fall > 0:
                leave = exits + fall * leave / pivot
                inner += fall * before
            else:
                leave = exits
            rise = up[axis, s]
            pivot = rise + leave
            if pivot > 0:
                before = inner / pivot
                factor[y] = rise / pivot
            else:
                # A line that nothing leaves: any constant may be added to it.
                before = h[s]
                factor[y] = 0.0
                pivot = 1.0
            value[y] = before
        after = 0.0
        for y in range(length - 1, -1, -1):
            after = value[y] + factor[y] * after
            h[first + y * step] = after


@stored(nogil=True)
def residual(
    h: FloatArray,
    b: FloatArray,
    up: FloatArray,
    down: FloatArray,
    kill: FloatArray,
    shape: Whole,
    r: FloatArray,
) -> None:
    """Right side less left side of the equation, into ``r``."""
    stride = _strides(shape)
    for s in range(h.size):
        here = h[s]
        rest = b[s] + kill[s] * here
        for i in range(len(shape)):
            rise, fall = up[i, s], down[i, s]
            if rise > 0:
                rest -= rise * (h[s + stride[i]] - here)
            if fall > 0:
                rest -= fall * (h[s - stride[i]] - here)
        r[s] = rest


class Box(NamedTuple):
    """The states of a box, or blocks of states: probabilities and rates."""

    law: FloatArray  # (n_states,)
    up: FloatArray  # (n, n_states)
    down: FloatArray
    kill: FloatArray  # (n_states,)
    shape: Whole  # (n,)


@stored(nogil=True)
def aggregate(box: Box, block: Whole, coarse: Box, parent: NDArray[np.int32]) -> None:
    """Probabilities of blocks of states, and the mean rates out of them given the block.

    ``parent`` is told the block of each state.
    """
    law, up, down, kill, shape = box
    coarse_law, coarse_up, coarse_down, coarse_kill, coarse_shape = coarse
    n = len(shape)
    stride = _strides(coarse_shape)
    count = np.empty(n, dtype=np.int64)
    coarse_law[:] = 0.0
    coarse_up[:] = 0.0
    coarse_down[:] = 0.0
    coarse_kill[:] = 0.0
    for s in range(law.size):
        rest, place = s, 0
        for i in range(n - 1, -1, -1):
            count[i] = rest % shape[i]
            rest //= shape[i]
            place += (count[i] // block[i]) * stride[i]
        parent[s] = place
        weight = law[s]
        coarse_law[place] += weight
        coarse_kill[place] += weight * kill[s]
        for i in range(n):
            if count[i] % block[i] == block[i] - 1:
                coarse_up[i, place] += weight * up[i, s]
            if count[i] % block[i] == 0:
                coarse_down[i, place] += weight * down[i, s]
    for place in range(coarse_law.size):
        weight = coarse_law[place]
        coarse_kill[place] /= weight
        for i in range(n):
            coarse_up[i, place] /= weight
            coarse_down[i, place] /= weight
