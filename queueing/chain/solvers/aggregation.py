r"""The steps of the multilevel method on a set of states: sweeps along lines, and the coarser set of blocks.

See :mod:`queueing.chain.solvers.multilevel` for the mathematics, and :mod:`queueing.states.lower_set` for the
layout: a *row* is the states that differ in the last count only, and lies in one piece; ``rows`` says where
each begins, ``below`` and ``above`` name the rows with one job less and more of every other class. A *line*
is the set of states that differ in one count, whichever. Laws and rates are flat, in the order of the states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import COUNTED, part, stored
from fairness.model.problem import FloatArray
from queueing.states.box import SMALLEST

__all__ = ["Chain", "aggregate", "correct", "paces", "sweep"]

FAINT = 1e-240
"""Blocks with less probability are left alone: what they hold would soon be subnormal."""

Whole = NDArray[np.int64]


class Chain(NamedTuple):
    """A law on a set of states, its rates and the layout of the states."""

    law: FloatArray  # (n_states,)
    up: FloatArray  # (n, n_states), or (n, 1): the same everywhere
    down: FloatArray  # (n, n_states)
    rows: Whole  # (n_rows + 1,)
    below: Whole  # (n - 1, n_rows)
    above: Whole


class Line(NamedTuple):
    """Work space over the states of a line."""

    place: Whole
    values: FloatArray  # (4, longest): flows in, rates out, factors and values of the elimination


class Stack(NamedTuple):
    """Rows that follow one another along an axis."""

    rows: Whole  # (2, longest): where each begins, and how long it is
    others: Whole  # (3, n - 1, longest): where those below and above each begin; how long these are


@stored(nogil=True)
def paces(law: FloatArray, down: FloatArray, shape: Whole) -> FloatArray:
    """Jobs of each class that leave per unit of time, (n,); 0 along an axis of one state."""
    result = np.zeros(len(shape))
    for i in range(len(shape)):
        if shape[i] > 1:
            for s in range(law.size):
                result[i] += law[s] * down[i, s]
    return result


@stored(**COUNTED)
def sweep(chain: Chain, axis: int, forward: bool) -> float:
    """Solve line after line along an axis; return the change of the law over the law, by rates out."""
    rows, last = chain.rows, len(chain.below)
    n_rows = len(rows) - 1
    longest = n_rows
    if axis == last:
        longest = 0
        for r in range(n_rows):
            longest = max(longest, rows[r + 1] - rows[r])
    line = Line(np.empty(longest, dtype=np.int64), np.empty((4, longest)))
    stack = Stack(np.empty((2, longest), dtype=np.int64), np.empty((3, last, longest), dtype=np.int64))
    change, flow = 0.0, 0.0
    for number in range(n_rows):
        r = number if forward else n_rows - 1 - number
        if axis == last:
            _enter_row(chain, r, line)
            moved, passed = _solve_line(chain, line, rows[r + 1] - rows[r], axis)
            change, flow = change + moved, flow + passed
        elif chain.below[axis, r] < 0:
            height = _pile(chain, r, axis, stack)
            for count in range(stack.rows[1, 0]):
                y = count if forward else stack.rows[1, 0] - 1 - count
                length = _enter_stack(chain, y, height, axis, stack, line)
                moved, passed = _solve_line(chain, line, length, axis)
                change, flow = change + moved, flow + passed
    return change / flow if flow > 0 else 0.0


@part
def _enter_row(chain: Chain, r: int, line: Line) -> None:
    """Places of a row, the flow into it and the rates out of it."""
    law, up, down, rows = chain.law, chain.up, chain.down, chain.rows
    step = 1 if up.shape[1] > 1 else 0
    place, inflow, exits = line.place, line.values[0], line.values[1]
    length = rows[r + 1] - rows[r]
    for y in range(length):
        place[y] = rows[r] + y
        inflow[y] = exits[y] = 0.0
    for i in range(len(chain.below)):
        under, over = chain.below[i, r], chain.above[i, r]
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


@part
def _pile(chain: Chain, r: int, axis: int, stack: Stack) -> int:
    """The rows from r on along an axis; how many there are."""
    rows, begin, size = chain.rows, stack.rows[0], stack.rows[1]
    less, more, reach = stack.others[0], stack.others[1], stack.others[2]
    height = 0
    while r >= 0:
        begin[height], size[height] = rows[r], rows[r + 1] - rows[r]
        for i in range(len(chain.below)):
            under, over = chain.below[i, r], chain.above[i, r]
            less[i, height] = rows[under] if under >= 0 else -1
            more[i, height] = rows[over] if over >= 0 else -1
            reach[i, height] = rows[over + 1] - rows[over] if over >= 0 else 0
        height += 1
        r = chain.above[axis, r]
    return height


@part
def _enter_stack(chain: Chain, y: int, height: int, axis: int, stack: Stack, line: Line) -> int:
    """Places of the line at y in a stack of rows, the flow into it and the rates out; its length."""
    law, up, down, last = chain.law, chain.up, chain.down, len(chain.below)
    step = 1 if up.shape[1] > 1 else 0
    place, inflow, exits = line.place, line.values[0], line.values[1]
    begin, size = stack.rows[0], stack.rows[1]
    length = height
    while size[length - 1] <= y:
        length -= 1
    for x in range(length):
        place[x] = begin[x] + y
        inflow[x] = exits[x] = 0.0
    for i in range(last):
        if i == axis:
            continue
        less, more, reach = stack.others[0, i], stack.others[1, i], stack.others[2, i]
        for x in range(length):
            if less[x] >= 0:
                s = less[x] + y
                inflow[x] += up[i, step * s] * law[s]
                exits[x] += down[i, place[x]]
            if y < reach[x]:
                s = more[x] + y
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
    return length


@part
def _solve_line(chain: Chain, line: Line, length: int, axis: int) -> tuple[float, float]:
    """Balance one line, given the flow into its states from other lines and the rates out of it.

    Returns the change of the law and the flow, both weighted by the rates out of the states.
    """
    law, up, down, place = chain.law, chain.up, chain.down, line.place
    inflow, exits, factor, value = line.values[0], line.values[1], line.values[2], line.values[3]
    step = 1 if up.shape[1] > 1 else 0
    leaves = False
    for y in range(length):
        leaves = leaves or exits[y] != 0
    if not leaves:
        # Nothing leaves the line, since all beside it underflows: its own law, with the weight it has.
        return 0.0, _close(chain, place, length, axis)
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


@part
def _close(chain: Chain, place: Whole, length: int, axis: int) -> float:
    """Give a line that nothing leaves its birth-death law, with the weight that it has; return its flow."""
    law, up, down = chain.law, chain.up, chain.down
    step = 1 if up.shape[1] > 1 else 0
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


@stored(**COUNTED)
def aggregate(chain: Chain, width: int, parent: Whole, coarse: Chain) -> None:
    """Probabilities of the blocks, and rates through their faces given the block.

    A block is ``width`` states long in its rows; ``parent`` is the coarse row that holds a row.
    """
    law, up, down, rows = chain.law, chain.up, chain.down, chain.rows
    below, above, coarse_rows = chain.below, chain.above, coarse.rows
    coarse_law, coarse_up, coarse_down = coarse.law, coarse.up, coarse.down
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
    _condition(coarse)


@part
def _condition(coarse: Chain) -> None:
    """Divide flows through the faces of blocks by their probabilities."""
    law, up, down, rows = coarse.law, coarse.up, coarse.down, coarse.rows
    last = len(coarse.below)
    for r in range(len(rows) - 1):
        s, length = rows[r], rows[r + 1] - rows[r]
        for i in range(last + 1):
            under = rows[coarse.below[i, r]] if i < last and coarse.below[i, r] >= 0 else -1
            over = rows[coarse.above[i, r]] if i < last and coarse.above[i, r] >= 0 else -1
            reach = rows[coarse.above[i, r] + 1] - over if over >= 0 else 0
            for y in range(length):
                place = s + y
                if law[place] < FAINT:
                    # A block that underflows: any rates will do, it has no weight.
                    up[i, place] = 1.0
                    down[i, place] = 1.0
                    continue
                # What goes to such a block does not come back: it would drain the others.
                if i == last:
                    higher = y + 1 < length and law[place + 1] >= FAINT
                    lower = y > 0 and law[place - 1] >= FAINT
                else:
                    higher = y < reach and law[over + y] >= FAINT
                    lower = under >= 0 and law[under + y] >= FAINT
                up[i, place] = up[i, place] / law[place] if higher else 0.0
                down[i, place] = down[i, place] / law[place] if lower else 0.0


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
