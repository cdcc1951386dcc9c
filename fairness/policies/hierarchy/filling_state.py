"""How the queues of a tree go on from here: clocks, speeds, and what happens next.

Between two events all that a queue holds is linear in its *clock*. The clock of a queue is the level of its
lowest live children; where a child must grow alone for a while, the level stands still and the clock runs on.
It runs at a speed of its own on that of the parent: a queue is brought up to date when something happens in
it, not before.

The functions here and in the modules beside are plain Python, which the kernel absorbs; the definition is in
:mod:`fairness.policies.hierarchy.filling`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairness.machine.compiling import helper
from fairness.policies.hierarchy.tree_arrays import Work

__all__ = ["advance", "change", "class_key", "follow", "give", "plan", "queue_key", "set_key", "status_of"]

STOPPED, WAITING, RISING, AHEAD = 0, 1, 2, 3
"""What a child does: nothing any more; nothing while something is kept for others; it grows; it waits for the
level, rescaled."""
SWITCH, REACHED, FILLED, PASSED, NOTHING = -1, -2, -3, -4, -5
"""What happens next in a queue, unless it is the place of a child: another resource becomes its share; it
holds as much as is free for it, so that all counts; a resource is full; it uses up what is kept for it;
nothing at all."""
EQUAL = 1e-12
"""Levels, shares and uses that differ by less than this part are equal but for rounding."""
NOW = 1e-14
"""What happens before a queue has grown by more than this part happens at once."""
INF = np.inf


@helper()
def set_key(w: Work, v: int, place: int, key: float) -> None:
    """Clock of queue v at which something happens to a child; the least is at the top of a tournament."""
    start, i = 2 * w.queue[v].offset, w.queue[v].size + place
    w.keys[start + i] = key
    i //= 2
    while i >= 1:
        w.keys[start + i] = min(w.keys[start + 2 * i], w.keys[start + 2 * i + 1])
        i //= 2


@helper()
def winner(w: Work, v: int) -> int:
    """Place of the child to which something happens first."""
    start, size, i = 2 * w.queue[v].offset, w.queue[v].size, 1
    while i < size:
        i = 2 * i if w.keys[start + 2 * i] == w.keys[start + i] else 2 * i + 1
    return i - size


@helper()
def class_key(w: Work, v: int, k: int) -> float:
    """Clock of queue v at which a class of its own is at its limit, or the level at it."""
    job = w.job[k]
    if w.queue[v].stuck or job.state < RISING:
        return INF
    return float(job.most / job.rate if job.state == RISING else job.at)


@helper()
def queue_key(w: Work, c: int) -> float:
    """Clock of the parent at which something happens in queue c, or the level is at it."""
    q = w.queue[c]
    if q.status == RISING:
        return float(q.since + q.wait / q.factor if q.factor > 0 else INF)
    return float(q.share / q.weight if q.status == AHEAD and not w.queue[q.parent].stuck else INF)


@helper()
def status_of(level: float, least: float) -> int:
    """What a live child of this level does."""
    return RISING if level <= least * (1 + EQUAL) else AHEAD


@helper()
def covered(cell: Any) -> float:
    """What a queue holds of a resource by guarantees: up to its own all, else what those below it do."""
    return float(min(cell.held, cell.free) if cell.free > 0 else cell.promised)


@helper()
def covering(cell: Any) -> float:
    """Speed of what is covered."""
    return float((0.0 if reached(cell) else cell.gain) if cell.free > 0 else cell.promising)


@helper()
def reached(cell: Any) -> bool:
    """Whether a queue holds as much as its own guarantee covers."""
    return bool(cell.held >= cell.free * (1 - EQUAL))


@helper()
def counted(w: Work, v: int, j: int) -> float:
    """What of resource j counts in the share of queue v: -INF where nothing does."""
    if v == 0 or not (w.plain or w.naive or not w.cell[w.queue[v].parent, j].shut):
        return -INF
    cell = w.cell[v, j]
    beyond = cell.held - covered(cell)
    if beyond <= EQUAL * cell.held:
        beyond = 0.0
        if covering(cell) >= cell.gain * (1 - EQUAL):
            return -INF
    return float(beyond if w.borrowed else cell.held)


@helper()
def counting(w: Work, cell: Any) -> float:
    """Speed of what counts."""
    return float(cell.gain - covering(cell) if w.borrowed else cell.gain)


@helper()
def uses_up(cell: Any) -> bool:
    """Whether a queue uses all that is kept for it."""
    return bool(cell.used >= cell.kept * (1 - EQUAL))


@helper()
def plan(w: Work, v: int) -> bool:
    """Share and slope of queue v, and what happens next in it, on its own clock; whether the share jumps."""
    q = w.queue[v]
    share, speed, slope, largest = 0.0, 0.0, 0.0, 0.0
    for j in range(w.scratch.size):
        w.scratch[j] = counted(w, v, j)
        share = max(share, w.scratch[j])
        speed = max(speed, w.cell[v, j].gain)
        largest = max(largest, w.cell[v, j].held)
    for j in range(w.scratch.size):
        cell = w.cell[v, j]
        if w.scratch[j] >= (1 - EQUAL) * share - EQUAL * covered(cell):
            slope = max(slope, counting(w, cell))
    if slope <= EQUAL * speed:
        slope = 0.0
    wait, cause = INF, NOTHING
    for j in range(w.scratch.size):
        cell = w.cell[v, j]
        if cell.gain > 0 and w.scratch[j] < (1 - EQUAL) * share - EQUAL * covered(cell):
            rate = counting(w, cell)
            if not reached(cell):
                time = (cell.free - cell.held) / cell.gain
                if time < wait:
                    wait, cause = time, REACHED
            elif w.scratch[j] > -INF and rate > slope + EQUAL * speed:
                time = (share - w.scratch[j]) / (rate - slope)
                if time < wait:
                    wait, cause = time, SWITCH
        if not cell.full and cell.used >= cell.ceiling * (1 - EQUAL):
            # Filled at the moment of another event, after which nobody who grows may use it.
            wait, cause = 0.0, FILLED
        if cell.growth > 0 and not cell.full:
            time = max(0.0, cell.ceiling - cell.used) / cell.growth
            if time < wait:
                wait, cause = time, FILLED
        if cell.lacks and (cell.growth > 0 or uses_up(cell)):
            time = 0.0 if uses_up(cell) else (cell.kept - cell.used) / cell.growth
            if time < wait:
                wait, cause = time, PASSED
    if q.size > 0 and w.keys[2 * q.offset + 1] < INF:
        time = max(0.0, w.keys[2 * q.offset + 1] - q.clock)
        if time < wait:
            wait, cause = time, winner(w, v)
    jumps = abs(share - q.share) > 10 * EQUAL * max(share, q.share)
    q.share, q.slope, q.speed, q.wait, q.cause = share, slope, speed, wait, cause
    q.due = 1 if wait < INF and wait * speed <= NOW * largest else 0
    return bool(jumps)


@helper()
def advance(w: Work, v: int, time: float) -> None:
    """Let the clock of queue v run."""
    if time <= 0:
        return
    q = w.queue[v]
    for j in range(w.scratch.size):
        cell = w.cell[v, j]
        cell.held += cell.gain * time
        cell.used += cell.growth * time
        cell.promised += cell.promising * time
    q.share += q.slope * time
    q.wait -= time
    q.clock += time
    if not q.stuck:
        q.level += time


@helper()
def follow(w: Work, c: int) -> None:
    """Bring a rising child queue up to the clock of its parent."""
    q = w.queue[c]
    clock = w.queue[q.parent].clock
    advance(w, c, (clock - q.since) * q.factor)
    q.since = clock


@helper()
def give(w: Work, c: int) -> None:
    """Speeds of queue c on the clock of its parent, by what it does there."""
    q = w.queue[c]
    stuck = w.queue[q.parent].stuck
    q.factor, rise = 0.0, 0.0
    if q.status == RISING and stuck == (q.slope == 0):
        q.factor = q.weight / (q.speed if stuck else q.slope)
    elif q.status == AHEAD and not stuck and not w.naive:
        rise = q.weight / q.share
    for j in range(w.scratch.size):
        cell = w.cell[c, j]
        cell.gain_above = q.factor * cell.gain + rise * (cell.held - covered(cell))
        cell.promising_above = q.factor * covering(cell)
        cell.growth_above = 0.0 if cell.lacks else q.factor * cell.growth


@helper()
def speeds_above(w: Work, c: int, sign: float) -> None:
    """Add the speeds of queue c to those of its parent, or take them away."""
    for j in range(w.scratch.size):
        above, cell = w.cell[w.queue[c].parent, j], w.cell[c, j]
        above.gain += sign * cell.gain_above
        above.growth += sign * cell.growth_above
        above.promising += sign * cell.promising_above


@helper()
def change(w: Work, c: int) -> None:
    """Tell the parent of queue c how it goes on from here."""
    speeds_above(w, c, -1.0)
    give(w, c)
    speeds_above(w, c, 1.0)
    q = w.queue[c]
    set_key(w, q.parent, q.place, queue_key(w, c))
