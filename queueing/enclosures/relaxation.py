r"""The steps of multigrid for Poisson's equation on a box: sweeps along lines, and residuals.

States are numbered in C order. Rates of moves that would leave the box are 0; ``kill`` is the rate at which a
state is left for good. The equation is, for every state x,

.. math:: \sum_i u_i(x)\,(h(x + e_i) - h(x)) + d_i(x)\,(h(x - e_i) - h(x)) - k(x)\,h(x) = b(x).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import helper, stored
from fairness.model.problem import FloatArray

__all__ = ["residual", "sweep"]

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
