"""What a queue of a tree holds and how fast it grows, summed up from its children; and what is blocked.

This is the definition of :mod:`fairness.policies.hierarchy.filling` at one moment.
"""

from __future__ import annotations

from numba.extending import register_jitable

from fairness.policies.hierarchy.clocks import (
    AHEAD,
    AT,
    BASE,
    BLOCKED,
    CHANGES,
    CLOSED,
    EQUAL,
    FIRST,
    FLOOR,
    FULL,
    GAIN,
    GROWTH,
    HELD,
    INF,
    KEPT,
    LAST,
    LEVEL,
    LIMIT,
    LIVE,
    OFFSET,
    PARENT,
    RATE,
    RESERVE,
    RISERS,
    RISING,
    SHARE,
    SLOPE,
    STATUS,
    STUCK,
    USED,
    WEIGHT,
    Work,
    class_key,
    floor_share,
    follow,
    give,
    plan,
    queue_key,
    speeds_above,
    status_of,
)

__all__ = ["mark_full", "settle", "shut"]


@register_jitable
def _counts_above(w: Work, c: int) -> float:
    """What is counted above of what queue c holds: this part."""
    if w.whole[STATUS, c] == AHEAD:
        return w.real[LEVEL, w.whole[PARENT, c]] * w.real[WEIGHT, c] / w.real[SHARE, c]
    return 1.0


@register_jitable
def settle(
    w: Work,
    v: int,
    changed: int,
    root: int,
) -> bool:
    """Sum up queue v from its children; whether what it holds has jumped.

    Rising child queues are brought up to date before, but for the one that has ``changed``; -1: none has, -2:
    all have, or are up to date.
    """
    least, live = INF, 0
    for k in range(w.whole[FIRST, v], w.whole[FIRST, v + 1]):
        if w.state[k] != BLOCKED:
            if w.state[k] == RISING:
                w.own[AT, k] = w.real[LEVEL, v]
            least = min(least, w.own[AT, k])
            live += 1
    c = v + 1
    while c < w.whole[LAST, v]:
        if w.whole[STATUS, c] == RISING and changed != -2 and c != changed:
            follow(w, c)
        if w.whole[LIVE, c] > 0:
            least = min(least, w.real[SHARE, c] / w.real[WEIGHT, c])
            live += 1
        c = w.whole[LAST, c]
    jumped = False
    largest = 0.0
    for j in range(w.measure.shape[1]):
        w.before[j] = w.rows[HELD, v, j]
        largest = max(largest, w.rows[HELD, v, j])
        w.rows[HELD, v, j] = 0.0
        w.rows[GAIN, v, j] = 0.0
    for j in range(w.shares.shape[1]):
        w.rows[USED, v, j] = 0.0
        w.rows[GROWTH, v, j] = 0.0
    w.whole[LIVE, v], w.whole[CHANGES, v], w.whole[RISERS, v], w.whole[STUCK, v] = live, 0, 0, 0
    if live > 0:
        w.real[LEVEL, v] = least
    c = v + 1
    while c < w.whole[LAST, v]:
        w.whole[STATUS, c] = BLOCKED
        if w.whole[LIVE, c] > 0:
            floor = floor_share(w, c) / w.real[WEIGHT, c]
            w.whole[STATUS, c] = status_of(w.real[SHARE, c] / w.real[WEIGHT, c], floor, least)
            if w.whole[STATUS, c] == RISING:
                w.whole[RISERS, v] += 1
                w.whole[STUCK, v] = w.whole[STUCK, v] or w.real[SLOPE, c] == 0
        c = w.whole[LAST, c]
    start, size = 2 * w.whole[OFFSET, v], w.whole[OFFSET, v + 1] - w.whole[OFFSET, v]
    place = 0
    for k in range(w.whole[FIRST, v], w.whole[FIRST, v + 1]):
        i = w.order[k]
        counted = w.own[AT, k]
        if w.state[k] != BLOCKED:
            w.state[k] = status_of(w.own[AT, k], w.own[FLOOR, k], least)
            if w.state[k] == RISING:
                w.own[AT, k] = least
                w.whole[RISERS, v] += 1
            counted = min(w.own[FLOOR, k], w.own[AT, k]) if w.state[k] == KEPT else least
        grows = w.own[RATE, k] if w.state[k] == RISING and not w.whole[STUCK, v] else 0.0
        gains = w.own[RATE, k] if (grows > 0 or w.state[k] == AHEAD) and not w.whole[STUCK, v] else 0.0
        tasks = w.own[BASE, k] + w.own[RATE, k] * w.own[AT, k]
        for j in range(w.measure.shape[1]):
            w.rows[HELD, v, j] += w.measure[i, j] * w.own[RATE, k] * counted
            w.rows[GAIN, v, j] += w.measure[i, j] * gains
        for j in range(w.shares.shape[1]):
            w.rows[USED, v, j] += w.shares[i, j] * tasks
            w.rows[GROWTH, v, j] += w.shares[i, j] * grows
        w.keys[start + size + place] = class_key(w, k)
        place += 1
    c = v + 1
    while c < w.whole[LAST, v]:
        part = _counts_above(w, c)
        if w.whole[STATUS, c] == KEPT:
            part = min(floor_share(w, c), w.real[SHARE, c]) / w.real[SHARE, c]
        for j in range(w.measure.shape[1]):
            w.rows[HELD, v, j] += part * w.rows[HELD, c, j]
        for j in range(w.shares.shape[1]):
            w.rows[USED, v, j] += max(w.rows[USED, c, j], w.rows[RESERVE, c, j])
        give(w, c)
        speeds_above(w, c, 1.0)
        w.keys[start + size + place] = queue_key(w, c)
        place += 1
        c = w.whole[LAST, c]
    for i in range(size - 1, 0, -1):
        w.keys[start + i] = min(w.keys[start + 2 * i], w.keys[start + 2 * i + 1])
    for j in range(w.measure.shape[1]):
        largest = max(largest, w.rows[HELD, v, j])
    for j in range(w.measure.shape[1]):
        jumped = jumped or abs(w.rows[HELD, v, j] - w.before[j]) > 10 * EQUAL * largest
    plan(w, v, root)
    return jumped


@register_jitable
def _shuts(w: Work, v: int, j: int) -> bool:
    """Whether resource j is full for all below queue v: here, or above and nothing of its reserve is left."""
    above = w.rows[CLOSED, v, j] > 0 and w.rows[USED, v, j] >= w.rows[RESERVE, v, j]
    return bool(above or w.rows[FULL, v, j] > 0)


@register_jitable
def shut(
    w: Work,
    v: int,
    root: int,
) -> bool:
    """Block what needs a full resource of queue v or of one below it, and sum up all of them."""
    m = w.shares.shape[1]
    for c in range(v + 1, w.whole[LAST, v]):
        p = w.whole[PARENT, c]
        if w.whole[STATUS, c] == RISING:
            follow(w, c)
        for j in range(m):
            w.rows[CLOSED, c, j] = 1.0 if _shuts(w, p, j) else 0.0
    for c in range(v, w.whole[LAST, v]):
        for k in range(w.whole[FIRST, c], w.whole[FIRST, c + 1]):
            if w.state[k] != BLOCKED:
                i = w.order[k]
                for j in range(m):
                    if w.shares[i, j] > 0 and _shuts(w, c, j):
                        if w.state[k] == RISING:
                            w.own[AT, k] = w.real[LEVEL, c]
                        w.state[k] = BLOCKED
                        break
    jumped = False
    for c in range(w.whole[LAST, v] - 1, v - 1, -1):
        jumped = settle(w, c, -2, root)
    return jumped


@register_jitable
def mark_full(w: Work, v: int) -> bool:
    """Note which resources are full in queue v; whether there are more than before."""
    found = False
    for j in range(w.shares.shape[1]):
        if w.rows[FULL, v, j] == 0 and w.rows[USED, v, j] >= w.rows[LIMIT, v, j] * (1 - EQUAL):
            w.rows[FULL, v, j] = 1.0
            found = True
    return found
