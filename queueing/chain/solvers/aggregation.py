r"""The steps of the multilevel method on one box: sweeps along rows, and the coarser box of its blocks.

See :mod:`queueing.chain.solvers.multilevel` for the mathematics. All arrays are flat, in C order; a row is
the set of states that differ in one count only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import stored
from fairness.model.problem import FloatArray
from queueing.states.box import SMALLEST

__all__ = ["aggregate", "correct", "paces", "sweep"]

FAINT = 1e-240
"""Blocks with less probability are left alone: what they hold would soon be subnormal."""


@stored(nogil=True)
def paces(law: FloatArray, down: FloatArray, shape: NDArray[np.int64]) -> FloatArray:
    """Jobs of each class that leave per unit of time, (n,); 0 along an axis of one state."""
    result = np.zeros(len(shape))
    for i in range(len(shape)):
        if shape[i] > 1:
            for s in range(law.size):
                result[i] += law[s] * down[i, s]
    return result


@stored(nogil=True)
def sweep(
    law: FloatArray, up: FloatArray, down: FloatArray, shape: NDArray[np.int64], axis: int, forward: bool
) -> float:
    """Solve row after row along an axis; return the change of the law over the law, weighted by rates out."""
    length = shape[axis]
    rows = law.size // length
    step = 1 if up.shape[1] > 1 else 0
    inflow = np.empty(length)
    exits = np.empty(length)
    factor = np.empty(length)
    value = np.empty(length)
    change = 0.0
    flow = 0.0
    hop = 1
    for i in range(axis + 1, len(shape)):
        hop *= shape[i]
    for k in range(rows):
        r = k if forward else rows - 1 - k
        s = r // hop * hop * length + r % hop
        # Flow into the states of the row from other rows, and rates out of the row.
        inflow[:] = 0.0
        exits[:] = 0.0
        stride = law.size
        for i in range(len(shape)):
            stride //= shape[i]
            if i == axis:
                continue
            x = s // stride % shape[i]
            if x > 0:
                for y in range(length):
                    place = s + y * hop
                    inflow[y] += up[i, step * (place - stride)] * law[place - stride]
                    exits[y] += down[i, place]
            if x < shape[i] - 1:
                for y in range(length):
                    place = s + y * hop
                    inflow[y] += down[i, place + stride] * law[place + stride]
                    exits[y] += up[i, step * place]
        if not exits.any():
            # Nothing leaves the row, since all beside it underflows: its own law, with the weight it has.
            flow += _close(law, up, down, axis, s, hop, length, step)
            continue
        # Elimination along the row without subtractions (Grassmann, Taksar and Heyman): leave is the rate
        # from y out of the row, directly or by way of smaller y; law(y) = value(y) + factor(y) law(y + 1).
        rise = leave = pivot = before = 0.0
        for y in range(length):
            place = s + y * hop
            total = inflow[y] + rise * before
            leave = exits[y] + (down[axis, place] * leave / pivot if y > 0 and pivot > 0 else 0.0)
            rise = up[axis, step * place] if y < length - 1 else 0.0
            pivot = rise + leave
            # A coarse state may have lost its way out where the law underflows; it then has no weight.
            before = total / pivot if pivot > 0 else 0.0
            value[y] = before
            factor[y] = down[axis, place + hop] / pivot if y < length - 1 and pivot > 0 else 0.0
        after = 0.0
        for y in range(length - 1, -1, -1):
            place = s + y * hop
            after = value[y] + factor[y] * after
            if after < SMALLEST:
                after = 0.0
            rate = exits[y]
            if y > 0:
                rate += down[axis, place]
            if y < length - 1:
                rate += up[axis, step * place]
            change += abs(after - law[place]) * rate
            flow += after * rate
            law[place] = after
    return change / flow if flow > 0 else 0.0


@stored(nogil=True)
def _close(
    law: FloatArray, up: FloatArray, down: FloatArray, axis: int, start: int, hop: int, length: int, step: int
) -> float:
    """Give a row that nothing leaves its birth-death law, with the weight that it has; return its flow."""
    weight = 0.0
    best = 0
    for y in range(length):
        weight += law[start + y * hop]
        if law[start + y * hop] > law[start + best * hop]:
            best = y
    if weight == 0:
        return 0.0
    total = law[start + best * hop]
    for y in range(best + 1, length):
        place = start + y * hop
        fall = down[axis, place]
        law[place] = law[place - hop] * up[axis, step * (place - hop)] / fall if fall > 0 else 0.0
        total += law[place]
    for y in range(best - 1, -1, -1):
        place = start + y * hop
        rise = up[axis, step * place]
        law[place] = law[place + hop] * down[axis, place + hop] / rise if rise > 0 else 0.0
        total += law[place]
    flow = 0.0
    for y in range(length):
        place = start + y * hop
        law[place] *= weight / total
        if y > 0:
            flow += 2.0 * law[place] * down[axis, place]
    return flow


@stored(nogil=True)
def aggregate(
    law: FloatArray,
    up: FloatArray,
    down: FloatArray,
    shape: NDArray[np.int64],
    block: NDArray[np.int64],
    coarse_shape: NDArray[np.int64],
    coarse_law: FloatArray,
    coarse_up: FloatArray,
    coarse_down: FloatArray,
) -> None:
    """Probabilities of the blocks, and rates through their faces given the block."""
    n = len(shape)
    length, width = shape[n - 1], block[n - 1]
    step = 1 if up.shape[1] > 1 else 0
    coarse_law[:] = 0.0
    coarse_up[:] = 0.0
    coarse_down[:] = 0.0
    for r in range(law.size // length):
        s = r * length
        base = _coarse_row(r, shape, block, coarse_shape)
        for y in range(length):
            place = base + y // width
            coarse_law[place] += law[s + y]
            if y % width == width - 1:
                coarse_up[n - 1, place] += up[n - 1, step * (s + y)] * law[s + y]
            if y % width == 0:
                coarse_down[n - 1, place] += down[n - 1, s + y] * law[s + y]
        rest = r
        for i in range(n - 2, -1, -1):
            x = rest % shape[i]
            rest //= shape[i]
            if x % block[i] == block[i] - 1:
                for y in range(length):
                    coarse_up[i, base + y // width] += up[i, step * (s + y)] * law[s + y]
            if x % block[i] == 0:
                for y in range(length):
                    coarse_down[i, base + y // width] += down[i, s + y] * law[s + y]
    stride = coarse_law.size
    for i in range(n):
        stride //= coarse_shape[i]
        for place in range(coarse_law.size):
            if coarse_law[place] < FAINT:
                # A block that underflows: any rates will do, it has no weight.
                coarse_up[i, place] = 1.0
                coarse_down[i, place] = 1.0
                continue
            x = place // stride % coarse_shape[i]
            # What goes to such a block does not come back: it would drain the others.
            above = x < coarse_shape[i] - 1 and coarse_law[place + stride] >= FAINT
            below = x > 0 and coarse_law[place - stride] >= FAINT
            coarse_up[i, place] = coarse_up[i, place] / coarse_law[place] if above else 0.0
            coarse_down[i, place] = coarse_down[i, place] / coarse_law[place] if below else 0.0


@stored(nogil=True)
def correct(
    law: FloatArray,
    shape: NDArray[np.int64],
    block: NDArray[np.int64],
    coarse_shape: NDArray[np.int64],
    after: FloatArray,
    before: FloatArray,
    power: float,
) -> None:
    """Multiply blocks by the power of after/before, kept within [1e-3, 1e3]; overwrites ``after``."""
    for place in range(after.size):
        ratio = after[place] / before[place] if before[place] > 0 else 1.0
        after[place] = min(1e3, max(1e-3, ratio)) ** power
    length, width = shape[-1], block[-1]
    for r in range(law.size // length):
        base = _coarse_row(r, shape, block, coarse_shape)
        for y in range(length):
            law[r * length + y] *= after[base + y // width]


@stored(nogil=True)
def _coarse_row(
    row: int, shape: NDArray[np.int64], block: NDArray[np.int64], coarse_shape: NDArray[np.int64]
) -> int:
    """Place of the first state of the coarse row that holds a row."""
    last = len(shape) - 1
    rest, place, stride = row, 0, coarse_shape[last]
    for i in range(last - 1, -1, -1):
        place += (rest % shape[i]) // block[i] * stride
        rest //= shape[i]
        stride *= coarse_shape[i]
    return place
