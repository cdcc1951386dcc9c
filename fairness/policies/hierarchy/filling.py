r"""Progressive filling on a tree of queues: the continuous limit of H-DRF.

H-DRF [1]_ serves task after task: from the root down, the child with the least share per weight is next. Here
tasks are infinitely small, and all grow at the same time. At each moment

* a resource is *full* in a queue whose counted use of it (:mod:`fairness.model.tree`) has reached its
  ``maximum``, at the root the capacity; it is full for all below, but for a queue that uses less than it
  reserves;
* a class is *blocked* when it is at its limit, or demands a resource that is full for it;
* a child of a queue is *live* when it holds a class that is not blocked;
* the *level* of a child :math:`c` is its share :math:`s_c` over its weight :math:`w_c`, that of a class its
  tasks over :math:`x_i r_i` as in :mod:`fairness.policies.engines.filling`; the level :math:`M_p` of a queue
  is the least among its live children;
* what a queue *holds* for the comparison with its siblings is

  .. math:: X_p = \sum_{c\ \text{live}} X_c \, \frac{\max(M_p w_c, f_c)}{s_c}
     + \sum_{c\ \text{blocked}} X_c :

  live children are rescaled to the least of them, blocked ones counted as they are;
* the share of a queue is the largest entry of :math:`X_p` among the resources that are not full in a queue
  above it (a class has the share that its policy equalises).

The live children at the level :math:`M_p` grow so that their shares rise in proportion to their weights; the
others wait until the level has come up to theirs. That goes on until all are blocked.

This is the definition of [1]_ (rescaling to the least live child; blocked ones added without rescaling;
saturated resources ignored in the shares of queues), with three choices where it leaves one:

* :math:`f_c` is the share of what is guaranteed to :math:`c`: a guarantee counts in full, or it would be had
  twice. Without guarantees :math:`f_c = 0`.
* A child whose share does not rise when it grows - what blocked classes hold of another resource is more - is
  served before its siblings until it does. Several such children grow with speeds in proportion to their
  weights.
* A resource that is full in a queue, not in the pool, is ignored below this queue, not beside it.

Guarantees come first: from the leaves to the root, each queue with a ``minimum`` is filled as if it were
alone with this as its capacities, on top of what is guaranteed to its children. Filling then starts from
these tasks.

*Naive* recursion differs in two points: nothing is rescaled, and full resources count in shares.

Between two events all quantities are linear in the level of their queue, so they are followed from event to
event: a class at its limit, a full resource, a child that the level has reached, a queue that has more of
another resource than of the one that was its share. Each queue has a clock of its own, the level, and is
brought up to date when something happens below it; a full resource costs one pass over the queue, anything
else the depth of the tree times the resources.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from fairness.machine.compiling import stored
from fairness.machine.kernels import IntArray
from fairness.model.problem import FloatArray
from fairness.policies.hierarchy import clocks, sums
from fairness.policies.hierarchy.clocks import (
    AHEAD,
    AT,
    BASE,
    BLOCKED,
    CAUSE,
    CHANGES,
    CLOSED,
    EQUAL,
    FILLED,
    FIRST,
    FLOOR,
    FULL,
    GAIN,
    GROWTH,
    GUARANTEED,
    INF,
    KEPT,
    LAST,
    LEVEL,
    LIMIT,
    LIVE,
    MOST,
    NOTHING,
    OFFSET,
    OWED,
    PARENT,
    PASSED,
    RATE,
    RESERVE,
    RISERS,
    RISING,
    SHARE,
    SLOPE,
    STATUS,
    STUCK,
    USED,
    WAIT,
    WEIGHT,
    Queues,
    Work,
    advance,
    change,
    class_key,
    floor_share,
    follow,
    plan,
    set_key,
)
from fairness.policies.hierarchy.sums import mark_full, settle, shut

__all__ = ["fill_states", "fill_states_compiled"]

FEW = 16
"""A queue is summed anew after so many events in it, or as many as it has children if these are more."""


@register_jitable
def _class_event(w: Work, v: int, place: int) -> bool:
    """A class reaches its limit, or the level reaches the class; whether the queue must be summed anew."""
    k = w.whole[FIRST, v] + place
    i = w.order[k]
    was = w.state[k]
    if was == RISING:
        w.own[AT, k] = (w.own[MOST, k] - w.own[BASE, k]) / w.own[RATE, k]
        w.state[k] = BLOCKED
        w.whole[LIVE, v] -= 1
        w.whole[RISERS, v] -= 1
    else:
        w.state[k] = AHEAD if was == KEPT and w.own[AT, k] > w.own[FLOOR, k] * (1 + EQUAL) else RISING
        w.whole[RISERS, v] += 1 if w.state[k] == RISING else 0
    if w.whole[STUCK, v] or w.whole[RISERS, v] == 0:
        return True
    gains = (0.0 if w.state[k] == BLOCKED else 1.0) - (0.0 if was == KEPT else 1.0)
    grows = (1.0 if w.state[k] == RISING else 0.0) - (1.0 if was == RISING else 0.0)
    for j in range(w.measure.shape[1]):
        w.rows[GAIN, v, j] += gains * w.own[RATE, k] * w.measure[i, j]
    for j in range(w.shares.shape[1]):
        w.rows[GROWTH, v, j] += grows * w.own[RATE, k] * w.shares[i, j]
    set_key(w, v, place, class_key(w, k))
    return False


@register_jitable
def _queue_event(w: Work, c: int) -> bool:
    """The level reaches a child queue that waited; whether the parent must be summed anew."""
    p = w.whole[PARENT, c]
    floor = floor_share(w, c)
    w.whole[STATUS, c] = (
        AHEAD if w.whole[STATUS, c] == KEPT and w.real[SHARE, c] > floor * (1 + EQUAL) else RISING
    )
    if w.whole[STATUS, c] == RISING:
        w.whole[RISERS, p] += 1
    if w.whole[STUCK, p] or (w.whole[STATUS, c] == RISING and w.real[SLOPE, c] == 0):
        return True
    change(w, c)
    return False


@register_jitable
def _children_events(w: Work, v: int, root: int) -> bool:
    """Children reach their limits, or the level reaches them, all that do so now; as :func:`_event`."""
    jumped = False
    while True:
        cause = w.whole[CAUSE, v]
        if cause < w.whole[FIRST, v + 1] - w.whole[FIRST, v]:
            anew = _class_event(w, v, cause)
        else:
            anew = _queue_event(w, w.child[w.whole[OFFSET, v] + cause])
        w.whole[CHANGES, v] += 1
        if anew or w.whole[CHANGES, v] >= max(FEW, w.whole[OFFSET, v + 1] - w.whole[OFFSET, v]):
            jumped = settle(w, v, -1, root) or jumped
        else:
            plan(w, v, root)
        # Children that stopped together have the same level, but for a rounding of the clock.
        cause = w.whole[CAUSE, v]
        if cause < 0 or w.real[WAIT, v] > 1e-15 * w.real[LEVEL, v] or w.whole[STUCK, v] == 1:
            return jumped
        own = w.whole[FIRST, v + 1] - w.whole[FIRST, v]
        if cause >= own and w.whole[STATUS, w.child[w.whole[OFFSET, v] + cause]] == RISING:
            return jumped


@register_jitable
def _event(w: Work, v: int, root: int) -> bool:
    """What was planned happens in queue v; whether what it holds has jumped."""
    cause = w.whole[CAUSE, v]
    if cause == FILLED:
        mark_full(w, v)
        return shut(w, v, root)
    if cause == PASSED:
        closes = False
        for j in range(w.shares.shape[1]):
            if abs(w.rows[USED, v, j] - w.rows[RESERVE, v, j]) <= EQUAL * w.rows[RESERVE, v, j]:
                w.rows[USED, v, j] = w.rows[RESERVE, v, j]
                closes = closes or w.rows[CLOSED, v, j] > 0
        if closes:
            return shut(w, v, root)
    elif cause >= 0:
        return _children_events(w, v, root)
    plan(w, v, root)
    return False


@register_jitable
def _tell(w: Work, c: int, root: int, jumped: bool) -> bool:
    """The parent of queue c learns what has happened in it; whether what the parent holds has jumped."""
    p = w.whole[PARENT, c]
    flat, ended = w.whole[LIVE, c] > 0 and w.real[SLOPE, c] == 0, w.whole[LIVE, c] == 0
    last = ended and w.whole[RISERS, p] == 1
    w.whole[CHANGES, p] += 1
    often = w.whole[CHANGES, p] >= max(FEW, w.whole[OFFSET, p + 1] - w.whole[OFFSET, p])
    if jumped or flat or last or often or w.whole[STUCK, p] or w.whole[STATUS, c] != RISING:
        return settle(w, p, c, root)
    if ended:
        w.whole[STATUS, c] = BLOCKED
        w.whole[LIVE, p] -= 1
        w.whole[RISERS, p] -= 1
    change(w, c)
    plan(w, p, root)
    return False


@register_jitable
def _begin(w: Work, root: int) -> None:
    """Everything below a queue at rest, with the classes where they are."""
    for v in range(root, w.whole[LAST, root]):
        w.whole[STATUS, v], w.real[OWED, v] = BLOCKED, 0.0
        for j in range(w.shares.shape[1]):
            w.rows[FULL, v, j], w.rows[CLOSED, v, j] = 0.0, 0.0
        for j in range(w.measure.shape[1]):
            w.rows[GUARANTEED, v, j] = 0.0
        for k in range(w.whole[FIRST, v], w.whole[FIRST, v + 1]):
            room = w.own[RATE, k] > 0 and w.own[AT, k] < (w.own[MOST, k] - w.own[BASE, k]) / w.own[
                RATE, k
            ] * (1 - EQUAL)
            w.state[k] = AHEAD if room else BLOCKED
            if not w.naive:
                for j in range(w.measure.shape[1]):
                    w.rows[GUARANTEED, v, j] += w.measure[w.order[k], j] * w.own[RATE, k] * w.own[FLOOR, k]
    found = False
    for v in range(w.whole[LAST, root] - 1, root - 1, -1):
        if v > root:
            for j in range(w.measure.shape[1]):
                w.rows[GUARANTEED, w.whole[PARENT, v], j] += w.rows[GUARANTEED, v, j]
        settle(w, v, -2, root)
        found = mark_full(w, v) or found
    if found:
        shut(w, root, root)


@register_jitable
def _record(w: Work) -> None:
    """Add the tasks of this moment to the stages."""
    row = w.stage[0]
    w.stage[0] += 1
    if row >= w.stages.shape[0]:
        return
    for v in range(w.real.shape[1]):
        if w.whole[STATUS, v] == RISING:
            follow(w, v)
        for k in range(w.whole[FIRST, v], w.whole[FIRST, v + 1]):
            level = w.real[LEVEL, v] if w.state[k] == RISING else w.own[AT, k]
            w.stages[row, w.order[k]] = w.own[BASE, k] + w.own[RATE, k] * level


@register_jitable
def _leaves_waiting(w: Work, v: int, root: int) -> bool:
    """Whether the next class at its limit in queue v leaves only children that wait, here or above."""
    while w.whole[LIVE, v] == 1 and v != root:
        v = w.whole[PARENT, v]
    return bool(w.whole[LIVE, v] > 1 and w.whole[RISERS, v] == 1)


@register_jitable
def _stage_ends(w: Work, v: int, root: int) -> bool:
    """Whether what happens next in queue v ends a stage of the certificate."""
    place = w.whole[CAUSE, v]
    if place < 0:
        return bool(place in (FILLED, PASSED))
    own = w.whole[FIRST, v + 1] - w.whole[FIRST, v]
    return bool(place < own and w.state[w.whole[FIRST, v] + place] == RISING and _leaves_waiting(w, v, root))


@register_jitable
def _run(w: Work, root: int) -> bool:
    """Fill below a queue until all is blocked; False if that does not end."""
    n, m = w.shares.shape
    _begin(w, root)
    for _ in range(100 + 20 * (m + 2) * (n + w.whole[LAST, root] - root)):
        if w.whole[LIVE, root] == 0:
            return True
        v = root
        while True:
            advance(w, v, w.real[WAIT, v])
            own, cause = w.whole[FIRST, v + 1] - w.whole[FIRST, v], w.whole[CAUSE, v]
            if cause < own or w.whole[STATUS, w.child[w.whole[OFFSET, v] + cause]] != RISING:
                break
            v = w.child[w.whole[OFFSET, v] + cause]
            w.real[OWED, v] = 0.0
        if w.whole[CAUSE, v] == NOTHING:
            return False
        if w.stage[0] >= 0 and _stage_ends(w, v, root):
            _record(w)
        jumped = _event(w, v, root)
        while v != root:
            jumped = _tell(w, v, root, jumped)
            v = w.whole[PARENT, v]
    return False


def fill_states(
    task_shares: FloatArray,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    measure: FloatArray,
    q: Queues,
    plain: bool,
    naive: bool,
    borrowed: bool,
    guaranteed: FloatArray,
    failed: NDArray[np.bool_],
    stages: FloatArray,
    stage: IntArray,
) -> None:
    """Fill ``tasks`` and ``guaranteed`` (n_states, n_classes); ``failed`` (n_states,) where that did not end.

    The tasks when a stage of :mod:`fairness.evidence.trees` ended, and when a queue used up its reserve, are
    written into ``stages`` (rows, n_classes), the rows that there are; ``stage`` (1,) is how many there were.

    ``growth`` (n_classes,) is r of the module docstring, infinite for classes without demand; ``measure``
    (n_classes, columns) is what a task adds to what its queue holds: its task shares, or one column of what
    the policy equalises, of which full resources take nothing (``plain``).
    """
    n, m = task_shares.shape
    nodes, columns = q.weight.size, measure.shape[1]
    w = Work(
        q.whole.copy(),
        np.zeros((7, nodes)),
        np.zeros((11, nodes, m)),
        np.zeros(2 * (n + nodes)),
        q.order,
        q.child,
        np.zeros((5, n)),
        np.zeros(n, np.int64),
        np.zeros(columns),
        task_shares,
        measure,
        plain,
        naive,
        stages,
        stage,
    )
    w.real[WEIGHT] = q.weight
    w.rows[LIMIT] = q.bounds[1]
    w.rows[RESERVE] = q.bounds[2]
    for state in range(counts.shape[0]):
        for k in range(n):
            i = w.order[k]
            x = counts[state, i]
            tasks[state, i], guaranteed[state, i] = 0.0, 0.0
            w.own[RATE, k], w.own[BASE, k], w.own[AT, k], w.own[MOST, k] = 0.0, 0.0, 0.0, 0.0
            w.own[FLOOR, k] = INF if naive else 0.0
            if x > 0 and growth[i] < INF:
                w.own[RATE, k], w.own[MOST, k] = x * growth[i], x * limits[i]
            elif x > 0:
                # A class without demand is bounded by its limit alone.
                tasks[state, i] = x * limits[i]
        good = True
        stage[0] = -1
        for v in range(nodes - 1, -1, -1):
            some = False
            for j in range(m):
                some = some or q.bounds[0, v, j] > 0
            if not some:
                continue
            for j in range(m):
                w.rows[LIMIT, v, j] = q.bounds[0, v, j]
            good = _run(w, v) and good
            for j in range(m):
                w.rows[LIMIT, v, j] = q.bounds[1, v, j]
            for k in range(w.whole[FIRST, v], w.whole[FIRST, w.whole[LAST, v]]):
                given = w.own[BASE, k] + w.own[RATE, k] * w.own[AT, k]
                guaranteed[state, w.order[k]] = given
                if borrowed:
                    w.own[BASE, k], w.own[AT, k] = given, 0.0
                elif not naive:
                    w.own[FLOOR, k] = w.own[AT, k]
        stage[0] = 0
        good = _run(w, 0) and good
        for k in range(n):
            if w.own[RATE, k] > 0:
                tasks[state, w.order[k]] = w.own[BASE, k] + w.own[RATE, k] * w.own[AT, k]
        failed[state] = not good


fill_states_compiled = stored(clocks, sums, nogil=True, error_model="numpy")(fill_states)
