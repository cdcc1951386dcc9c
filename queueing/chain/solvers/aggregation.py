r"""The steps of the multilevel method on a set of states: sweeps along lines, and the coarser set of blocks.

See :mod:`queueing.chain.solvers.multilevel` for the mathematics, and :mod:`queueing.states.lower_set` for the
layout: a *row* is the states that differ in the last count only, and lies in one piece; ``rows`` says where
each begins, ``below`` and ``above`` name the rows with one job less and more of every other class. A *line*
is the set of states that differ in one count, whichever. Laws and rates are flat, in the order of the states.
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

Whole = NDArray[np.int64]


@stored(nogil=True)
def paces(law: FloatArray, down: FloatArray, shape: Whole) -> FloatArray:
    """Jobs of each class that leave per unit of time, (n,); 0 along an axis of one state."""
    result = np.zeros(len(shape))
    for i in range(len(shape)):
        if shape[i] > 1:
            for s in range(law.size):
                result[i] += law[s] * down[i, s]
    return result


@stored(nogil=True)
def sweep(
    law: FloatArray,
    up: FloatArray,
    down: FloatArray,
    rows: Whole,
    below: Whole,
    above: Whole,
    axis: int,
    forward: bool,
) -> float:
    """Solve line after line along an axis; return the change of the law over the law, by rates out."""
    last = len(below)
    n_rows = len(rows) - 1
    step = 1 if up.shape[1] > 1 else 0
    longest = n_rows
    if axis == last:
        longest = 0
        for r in range(n_rows):
            longest = max(longest, rows[r + 1] - rows[r])
    inflow = np.empty(longest)
    exits = np.empty(longest)
    factor = np.empty(longest)
    value = np.empty(longest)
    place = np.empty(longest, dtype=np.int64)
    # Of every row of a chain of rows: where it and its neighbours begin, and how long it and those above are.
    begin = np.empty(longest, dtype=np.int64)
    size = np.empty(longest, dtype=np.int64)
    less = np.empty((last, longest), dtype=np.int64)
    more = np.empty((last, longest), dtype=np.int64)
    reach = np.empty((last, longest), dtype=np.int64)
    change = 0.0
    flow = 0.0
    for number in range(n_rows):
        r = number if forward else n_rows - 1 - number
        if axis == last:
            length = rows[r + 1] - rows[r]
            for y in range(length):
                place[y] = rows[r] + y
            inflow[:length] = 0.0
            exits[:length] = 0.0
            for i in range(last):
                under, over = below[i, r], above[i, r]
                if under >= 0:
                    for y in range(length):
                        s = rows[under] + y
                        inflow[y] += up[i, step * s] * law[s]
                        exits[y] += down[i, rows[r] + y]
                if over >= 0:
                    for y in range(rows[over + 1] - rows[over]):
                        s = rows[over] + y
                        inflow[y] += down[i, s] * law[s]
                        exits[y] += up[i, step * (rows[r] + y)]
            moved, passed = _solve_line(
                law, up, down, place[:length], inflow, exits, factor, value, axis, step
            )
            change += moved
            flow += passed
            continue
        if below[axis, r] >= 0:
            continue
        chain = 0
        while r >= 0:
            begin[chain], size[chain] = rows[r], rows[r + 1] - rows[r]
            for i in range(last):
                under, over = below[i, r], above[i, r]
                less[i, chain] = rows[under] if under >= 0 else -1
                more[i, chain] = rows[over] if over >= 0 else -1
                reach[i, chain] = rows[over + 1] - rows[over] if over >= 0 else 0
            chain += 1
            r = above[axis, r]
        for count in range(size[0]):
            y = count if forward else size[0] - 1 - count
            length = chain
            while size[length - 1] <= y:
                length -= 1
            for x in range(length):
                place[x] = begin[x] + y
            inflow[:length] = 0.0
            exits[:length] = 0.0
            for i in range(last):
                if i == axis:
                    continue
                for x in range(length):
                    if less[i, x] >= 0:
                        s = less[i, x] + y
                        inflow[x] += up[i, step * s] * law[s]
                        exits[x] += down[i, place[x]]
                    if y < reach[i, x]:
                        s = more[i, x] + y
                        inflow[x] += down[i, s] * law[s]
                        exits[x] += up[i, step * place[x]]
            if y > 0:
                for x in range(length):
                    s = place[x]
                    inflow[x] += up[last, step * (s - 1)] * law[s - 1]
                    exits[x] += down[last, s]
            for x in range(length):
                s = place[x]
                if y + 1 < size[x]:
                    inflow[x] += down[last, s + 1] * law[s + 1]
                    exits[x] += up[last, step * s]
            moved, passed = _solve_line(
                law, up, down, place[:length], inflow, exits, factor, value, axis, step
            )
            change += moved
            flow += passed
    return change / flow if flow > 0 else 0.0


@stored(nogil=True)
def _solve_line(
    law: FloatArray,
    up: FloatArray,
    down: FloatArray,
    place: Whole,
    inflow: FloatArray,
    exits: FloatArray,
    factor: FloatArray,
    value: FloatArray,
    axis: int,
    step: int,
) -> tuple[float, float]:
    """Balance one line, given the flow into its states from other lines and the rates out of it.

    Returns the change of the law and the flow, both weighted by the rates out of the states.
    """
    length = len(place)
    if not exits[:length].any():
        # Nothing leaves the line, since all beside it underflows: its own law, with the weight it has.
        return 0.0, _close(law, up, down, place, axis, step)
    # Elimination along the line without subtractions (Grassmann, Taksar and Heyman): leave is the rate from y
    # out of the line, directly or by way of smaller y; law(y) = value(y) + factor(y) law(y + 1).
    rise = leave = pivot = before = 0.0
    for y in range(length):
        s = place[y]
        total = inflow[y] + rise * before
        leave = exits[y] + (down[axis, s] * leave / pivot if y > 0 and pivot > 0 else 0.0)
        rise = up[axis, step * s] if y < length - 1 else 0.0
        pivot = rise + leave
        # A coarse state may have lost its way out where the law underflows; it then has no weight.
        before = total / pivot if pivot > 0 else 0.0
        value[y] = before
        factor[y] = down[axis, place[y + 1]] / pivot if y < length - 1 and pivot > 0 else 0.0
    change = flow = after = 0.0
    for y in range(length - 1, -1, -1):
        s = place[y]
        after = value[y] + factor[y] * after
        if after < SMALLEST:
            after = 0.0
        rate = exits[y]
        if y > 0:
            rate += down[axis, s]
        if y < length - 1:
            rate += up[axis, step * s]
        change += abs(after - law[s]) * rate
        flow += after * rate
        law[s] = after
    return change, flow


@stored(nogil=True)
def _close(law: FloatArray, up: FloatArray, down: FloatArray, place: Whole, axis: int, step: int) -> float:
    """Give a line that nothing leaves its birth-death law, with the weight that it has; return its flow."""
    length = len(place)
    weight = 0.0
    best = 0
    for y in range(length):
        weight += law[place[y]]
        if law[place[y]] > law[place[best]]:
            best = y
    if weight == 0:
        return 0.0
    total = law[place[best]]
    for y in range(best + 1, length):
        s, before = place[y], place[y - 1]
        fall = down[axis, s]
        law[s] = law[before] * up[axis, step * before] / fall if fall > 0 else 0.0
        total += law[s]
    for y in range(best - 1, -1, -1):
        s, after = place[y], place[y + 1]
        rise = up[axis, step * s]
        law[s] = law[after] * down[axis, after] / rise if rise > 0 else 0.0
        total += law[s]
    flow = 0.0
    for y in range(length):
        s = place[y]
        law[s] *= weight / total
        if y > 0:
            flow += 2.0 * law[s] * down[axis, s]
    return flow


@stored(nogil=True)
def aggregate(
    law: FloatArray,
    up: FloatArray,
    down: FloatArray,
    rows: Whole,
    below: Whole,
    above: Whole,
    width: int,
    parent: Whole,
    coarse_rows: Whole,
    coarse_below: Whole,
    coarse_above: Whole,
    coarse_law: FloatArray,
    coarse_up: FloatArray,
    coarse_down: FloatArray,
) -> None:
    """Probabilities of the blocks, and rates through their faces given the block.

    A block is ``width`` states long in its rows; ``parent`` is the coarse row that holds a row.
    """
    last = len(below)
    step = 1 if up.shape[1] > 1 else 0
    coarse_law[:] = 0.0
    coarse_up[:] = 0.0
    coarse_down[:] = 0.0
    for r in range(len(rows) - 1):
        s, length = rows[r], rows[r + 1] - rows[r]
        base = coarse_rows[parent[r]]
        for y in range(length):
            place = base + y // width
            coarse_law[place] += law[s + y]
            if y % width == width - 1 and y + 1 < length:
                coarse_up[last, place] += up[last, step * (s + y)] * law[s + y]
            if y % width == 0:
                coarse_down[last, place] += down[last, s + y] * law[s + y]
        for i in range(last - 1, -1, -1):
            under, over = below[i, r], above[i, r]
            if over >= 0 and parent[over] != parent[r]:
                for y in range(rows[over + 1] - rows[over]):
                    coarse_up[i, base + y // width] += up[i, step * (s + y)] * law[s + y]
            if under >= 0 and parent[under] != parent[r]:
                for y in range(length):
                    coarse_down[i, base + y // width] += down[i, s + y] * law[s + y]
    for r in range(len(coarse_rows) - 1):
        s, length = coarse_rows[r], coarse_rows[r + 1] - coarse_rows[r]
        for i in range(last + 1):
            under = coarse_rows[coarse_below[i, r]] if i < last and coarse_below[i, r] >= 0 else -1
            over = coarse_rows[coarse_above[i, r]] if i < last and coarse_above[i, r] >= 0 else -1
            reach = coarse_rows[coarse_above[i, r] + 1] - over if over >= 0 else 0
            for y in range(length):
                place = s + y
                if coarse_law[place] < FAINT:
                    # A block that underflows: any rates will do, it has no weight.
                    coarse_up[i, place] = 1.0
                    coarse_down[i, place] = 1.0
                    continue
                # What goes to such a block does not come back: it would drain the others.
                if i == last:
                    higher = y + 1 < length and coarse_law[place + 1] >= FAINT
                    lower = y > 0 and coarse_law[place - 1] >= FAINT
                else:
                    higher = y < reach and coarse_law[over + y] >= FAINT
                    lower = under >= 0 and coarse_law[under + y] >= FAINT
                coarse_up[i, place] = coarse_up[i, place] / coarse_law[place] if higher else 0.0
                coarse_down[i, place] = coarse_down[i, place] / coarse_law[place] if lower else 0.0


@stored(nogil=True)
def correct(
    law: FloatArray,
    rows: Whole,
    width: int,
    parent: Whole,
    coarse_rows: Whole,
    after: FloatArray,
    before: FloatArray,
    power: float,
) -> None:
    """Multiply blocks by the power of after/before, kept within [1e-3, 1e3]; overwrites ``after``."""
    for place in range(after.size):
        ratio = after[place] / before[place] if before[place] > 0 else 1.0
        after[place] = min(1e3, max(1e-3, ratio)) ** power
    for r in range(len(rows) - 1):
        s, base = rows[r], coarse_rows[parent[r]]
        for y in range(rows[r + 1] - s):
            law[s + y] *= after[base + y // width]
