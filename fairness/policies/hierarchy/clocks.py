"""Clocks of the queues of a tree that is filled: what each holds, how fast, and what happens next in it.

Between two events all that a queue holds is linear in its *clock*, the level of its live children (or, where
a child must grow alone for a while, the growth of that child). Each clock runs at a speed of its own, which
that of the parent determines: a queue is brought up to date when something happens in it, not before.

What :mod:`fairness.policies.hierarchy.filling` defines stands here in few arrays, because compiled functions
are called with them often. The functions here and there are plain Python, which the kernel absorbs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from fairness.machine.kernels import IntArray
from fairness.model.problem import FloatArray

__all__ = ["Queues"]

# Rows of `Work.whole`, by queue. In depth-first order, below queue v are the queues v + 1 to LAST[v] - 1; its
# own classes are order[FIRST[v]] to order[FIRST[v + 1] - 1]; its children, classes before queues, have the
# places 0, 1, ... among them, and child[OFFSET[v] + place] is their number.
PARENT, LAST, FIRST, OFFSET, PLACE = 0, 1, 2, 3, 4
STATUS, LIVE, RISERS, CHANGES, CAUSE, STUCK = 5, 6, 7, 8, 9, 10
# Rows of `Work.real`, by queue: its clock; share and its speed; time to the next event; time that it has not
# yet followed its parent while that was stuck; largest speed of what it holds.
WEIGHT, LEVEL, SHARE, SLOPE, WAIT, OWED, SPEED = 0, 1, 2, 3, 4, 5, 6
# `Work.rows`, by queue and resource (or column of the measure): X of the definition and its speed; use,
# reserves counted, and its speed; both speeds as they count in the parent; X of what is guaranteed; whether
# it is full here, or above; the bounds.
HELD, GAIN, USED, GROWTH, GAIN_ABOVE, GROWTH_ABOVE = 0, 1, 2, 3, 4, 5
GUARANTEED, FULL, CLOSED, LIMIT, RESERVE = 6, 7, 8, 9, 10
# Rows of `Work.own`, by class in depth-first order: its level and that of its guarantee; tasks per level;
# tasks that are not compared; most tasks.
AT, FLOOR, RATE, BASE, MOST = 0, 1, 2, 3, 4
BLOCKED, RISING, AHEAD, KEPT = 0, 1, 2, 3
"""What a child does: nothing any more; grow; wait, rescaled; wait, counted with its guarantee."""
SWITCH, FILLED, PASSED, NOTHING = -1, -2, -3, -4
"""What happens next in a queue, unless it is the place of a child: another resource becomes its share; a
resource is full; it uses more than it reserves; nothing at all."""
EQUAL = 1e-12
"""Levels, shares and uses that differ by less than this part are equal but for rounding."""
INF = np.inf


class Queues(NamedTuple):
    """A tree in depth-first order; see the comments of the module."""

    whole: IntArray  # (11, n_nodes + 1), the first five rows filled
    order: IntArray  # (n_classes,)
    child: IntArray  # (n_classes + n_nodes - 1,)
    weight: FloatArray  # (n_nodes,)
    bounds: FloatArray  # (3, n_nodes, n_resources): minimum, maximum, reserve, as shares of the capacities


class Work(NamedTuple):
    """All that changes while a tree is filled, and what does not."""

    whole: IntArray
    real: FloatArray
    rows: FloatArray
    keys: FloatArray  # a tournament per queue: the clock at which something happens to a child
    order: IntArray
    child: IntArray
    own: FloatArray
    state: IntArray  # (n_classes,) in depth-first order: status of each class
    before: FloatArray
    shares: FloatArray  # (n_classes, n_resources) of one task
    measure: FloatArray  # (n_classes, columns): what one task adds to what its queue holds for the comparison
    plain: bool  # the measure has nothing to do with resources: none is ever ignored
    naive: bool
    stages: FloatArray  # (rows, n_classes): tasks when a stage of the certificate ended
    stage: IntArray  # (1,): how many of these moments there were; -1: not wanted


@register_jitable
def set_key(w: Work, v: int, place: int, key: float) -> None:
    """Level of queue v at which something happens to a child; the least is at the top of a tournament."""
    start, size = 2 * w.whole[OFFSET, v], w.whole[OFFSET, v + 1] - w.whole[OFFSET, v]
    i = size + place
    w.keys[start + i] = key
    i //= 2
    while i >= 1:
        w.keys[start + i] = min(w.keys[start + 2 * i], w.keys[start + 2 * i + 1])
        i //= 2


@register_jitable
def winner(w: Work, v: int) -> int:
    start, size = 2 * w.whole[OFFSET, v], w.whole[OFFSET, v + 1] - w.whole[OFFSET, v]
    i = 1
    while i < size:
        i = 2 * i if w.keys[start + 2 * i] == w.keys[start + i] else 2 * i + 1
    return i - size


@register_jitable
def class_key(w: Work, k: int) -> float:
    if w.state[k] == RISING:
        return (w.own[MOST, k] - w.own[BASE, k]) / w.own[RATE, k]
    if w.state[k] == AHEAD:
        return w.own[AT, k]
    return min(w.own[FLOOR, k], w.own[AT, k]) if w.state[k] == KEPT else INF


@register_jitable
def floor_share(w: Work, c: int) -> float:
    """f_c, the share of what is guaranteed to queue c; without rescaling all it has."""
    if w.naive:
        return INF
    found = 0.0
    for j in range(w.measure.shape[1]):
        if w.plain or w.rows[CLOSED, c, j] == 0:
            found = max(found, w.rows[GUARANTEED, c, j])
    return found


@register_jitable
def queue_key(w: Work, c: int) -> float:
    if w.whole[STATUS, c] == RISING:
        if w.real[SLOPE, c] == 0:
            return w.real[SHARE, c] / w.real[WEIGHT, c]
        return (w.real[SHARE, c] + w.real[SLOPE, c] * w.real[WAIT, c]) / w.real[WEIGHT, c]
    if w.whole[STATUS, c] == AHEAD:
        return w.real[SHARE, c] / w.real[WEIGHT, c]
    if w.whole[STATUS, c] == KEPT:
        return min(floor_share(w, c), w.real[SHARE, c]) / w.real[WEIGHT, c]
    return INF


@register_jitable
def plan(w: Work, v: int, root: int) -> None:
    """Share and slope of queue v, and what happens next in it, on its own clock."""
    every = w.plain or w.naive
    share, speed = 0.0, 0.0
    for j in range(w.measure.shape[1]):
        speed = max(speed, w.rows[GAIN, v, j])
        if every or w.rows[CLOSED, v, j] == 0:
            share = max(share, w.rows[HELD, v, j])
    slope = 0.0
    for j in range(w.measure.shape[1]):
        if (every or w.rows[CLOSED, v, j] == 0) and w.rows[HELD, v, j] >= share * (1 - EQUAL):
            slope = max(slope, w.rows[GAIN, v, j])
    if slope <= EQUAL * speed:
        slope = 0.0
    wait, cause = INF, NOTHING
    if v != root:
        for j in range(w.measure.shape[1]):
            below = w.rows[HELD, v, j] < share * (1 - EQUAL)
            if (every or w.rows[CLOSED, v, j] == 0) and below and w.rows[GAIN, v, j] > slope + EQUAL * speed:
                time = (share - w.rows[HELD, v, j]) / (w.rows[GAIN, v, j] - slope)
                if time < wait:
                    wait, cause = time, SWITCH
    for j in range(w.shares.shape[1]):
        if w.rows[FULL, v, j] == 0 and w.rows[USED, v, j] >= w.rows[LIMIT, v, j] * (1 - EQUAL):
            # Filled at the moment of another event, after which nobody who grows may use it.
            wait, cause = 0.0, FILLED
        if w.rows[GROWTH, v, j] > 0:
            if w.rows[FULL, v, j] == 0:
                time = max(0.0, w.rows[LIMIT, v, j] - w.rows[USED, v, j]) / w.rows[GROWTH, v, j]
                if time < wait:
                    wait, cause = time, FILLED
            if v != root and w.rows[USED, v, j] < w.rows[RESERVE, v, j]:
                time = (w.rows[RESERVE, v, j] - w.rows[USED, v, j]) / w.rows[GROWTH, v, j]
                if time < wait:
                    wait, cause = time, PASSED
    if w.whole[STUCK, v]:
        c = v + 1
        while c < w.whole[LAST, v]:
            if w.whole[STATUS, c] == RISING and w.real[SLOPE, c] == 0:
                time = max(0.0, w.real[WAIT, c] - w.real[OWED, c]) * w.real[SPEED, c] / w.real[WEIGHT, c]
                if time < wait:
                    wait, cause = time, w.whole[PLACE, c]
            c = w.whole[LAST, c]
    elif w.whole[OFFSET, v + 1] > w.whole[OFFSET, v] and w.keys[2 * w.whole[OFFSET, v] + 1] < INF:
        time = max(0.0, w.keys[2 * w.whole[OFFSET, v] + 1] - w.real[LEVEL, v])
        if time < wait:
            wait, cause = time, winner(w, v)
    w.real[SHARE, v], w.real[SLOPE, v], w.real[SPEED, v], w.real[WAIT, v], w.whole[CAUSE, v] = (
        share,
        slope,
        speed,
        wait,
        cause,
    )


@register_jitable
def advance(w: Work, v: int, time: float) -> None:
    """Let the clock of queue v run."""
    if time <= 0:
        return
    for j in range(w.measure.shape[1]):
        w.rows[HELD, v, j] += w.rows[GAIN, v, j] * time
    for j in range(w.shares.shape[1]):
        w.rows[USED, v, j] += w.rows[GROWTH, v, j] * time
    w.real[SHARE, v] += w.real[SLOPE, v] * time
    w.real[WAIT, v] -= time
    if w.whole[STUCK, v]:
        c = v + 1
        while c < w.whole[LAST, v]:
            if w.whole[STATUS, c] == RISING and w.real[SLOPE, c] == 0:
                w.real[OWED, c] += w.real[WEIGHT, c] * time / w.real[SPEED, c]
            c = w.whole[LAST, c]
    else:
        w.real[LEVEL, v] += time


@register_jitable
def follow(w: Work, c: int) -> None:
    """Bring a rising child queue up to the clock of its parent."""
    if w.real[SLOPE, c] > 0:
        time = (w.real[WEIGHT, c] * w.real[LEVEL, w.whole[PARENT, c]] - w.real[SHARE, c]) / w.real[SLOPE, c]
    else:
        time = w.real[OWED, c]
    w.real[OWED, c] = 0.0
    advance(w, c, time)


@register_jitable
def rate_above(w: Work, c: int, gain: float, growth: float) -> None:
    """Speeds of queue c on the clock of its parent: its own by these factors."""
    for j in range(w.measure.shape[1]):
        w.rows[GAIN_ABOVE, c, j] = gain * (
            w.rows[HELD, c, j] if w.whole[STATUS, c] == AHEAD else w.rows[GAIN, c, j]
        )
    for j in range(w.shares.shape[1]):
        w.rows[GROWTH_ABOVE, c, j] = (
            growth * w.rows[GROWTH, c, j] if w.rows[USED, c, j] >= w.rows[RESERVE, c, j] else 0.0
        )


@register_jitable
def give(w: Work, c: int) -> None:
    """Speeds of queue c on the clock of its parent, by what it does there."""
    stuck = w.whole[STUCK, w.whole[PARENT, c]]
    if w.whole[STATUS, c] == RISING and stuck == (w.real[SLOPE, c] == 0):
        factor = w.real[WEIGHT, c] / (w.real[SPEED, c] if stuck else w.real[SLOPE, c])
        rate_above(w, c, factor, factor)
    elif w.whole[STATUS, c] == AHEAD and not stuck:
        rate_above(w, c, w.real[WEIGHT, c] / w.real[SHARE, c], 0.0)
    else:
        rate_above(w, c, 0.0, 0.0)


@register_jitable
def speeds_above(w: Work, c: int, sign: float) -> None:
    """Add the speeds of queue c to those of its parent, or take them away."""
    p = w.whole[PARENT, c]
    for j in range(w.measure.shape[1]):
        w.rows[GAIN, p, j] += sign * w.rows[GAIN_ABOVE, c, j]
    for j in range(w.shares.shape[1]):
        w.rows[GROWTH, p, j] += sign * w.rows[GROWTH_ABOVE, c, j]


@register_jitable
def change(w: Work, c: int) -> None:
    """Tell the parent of queue c how it goes on from here."""
    speeds_above(w, c, -1.0)
    give(w, c)
    speeds_above(w, c, 1.0)
    set_key(w, w.whole[PARENT, c], w.whole[PLACE, c], queue_key(w, c))


@register_jitable
def status_of(level: float, floor: float, least: float) -> int:
    if level <= least * (1 + EQUAL):
        return RISING
    return KEPT if floor > least * (1 + EQUAL) else AHEAD
