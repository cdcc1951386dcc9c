r"""Progressive filling on a tree of queues: the continuous limit of H-DRF, with guarantees.

H-DRF [1]_ serves task after task: from the root down, the child with the least share per weight is next. Here
tasks are infinitely small, and all grow at the same time. At each moment

* a resource is *full* in a queue whose counted use of it (:mod:`fairness.evidence.queue_bounds`) has reached
  its ``maximum``, at the root the capacity; it is full for all below, but for a queue for which some of it is
  still kept: what is guaranteed to it (:mod:`fairness.model.guarantees`), as far as it can use it;
* a class is *stopped* when it is at its limit, or demands a resource that is full for it whatever is kept for
  others; it *waits* when that is so while guarantees are kept. When all wait or are stopped, what is
  guaranteed and not in use is lent from then on;
* a child of a queue is *live* when it holds a class that neither is stopped nor waits;
* the *level* of a child :math:`c` is its share :math:`s_c` over its weight :math:`w_c`, that of a class its
  tasks over :math:`x_i r_i` as in :mod:`fairness.filling.floats`; the level :math:`M_p` of a queue
  is the least among its live children;
* what a queue *holds* for the comparison with its siblings is

  .. math:: X_p = \sum_c F_c + \sum_{c\ \text{live}} (X_c - F_c) \min\Bigl(1, \frac{M_p w_c}{s_c}\Bigr)
     + \sum_{c\ \text{not live}} (X_c - F_c) :

  live children are rescaled to the least of them, the others counted as they are, and what they hold by
  guarantees counts in full. That is :math:`F_c = \min(X_c, g_c)`, resource by resource, with c's own
  guarantee :math:`g_c`; without one what the children of c hold so together; nothing for a class;
* a resource is *free* for a queue of which it holds :math:`F_p` and goes on to; it counts in the share when
  the queue holds more, or would next. What counts is all that it holds (*total*), or :math:`X_p - F_p`
  (*borrowed*);
* the share of a queue is the largest that counts of a resource that is not full in a queue above it (a class
  has the share that its policy equalises).

The live children at the level :math:`M_p` grow so that their shares rise in proportion to their weights; the
others wait until the level has come up to theirs. That goes on until all are stopped.

*What is chosen.* This is the definition of [1]_ (rescaling to the least live child; blocked ones added
without rescaling; saturated resources ignored in the shares of queues), where that leaves a choice so:

* A child whose share does not rise when it grows - all of it is free, or what others below it hold of another
  resource is more - is served before its siblings until it does. Several such children grow with speeds in
  proportion to their weights.
* A resource that is full in a queue, not in the pool, is ignored below this queue, not beside it.
* A guarantee is for its resource. It does not bring what else a task needs: of that the queue has its share,
  while the guaranteed part is kept for it; so nobody is below a guarantee unless another resource, or its
  limits, stop all of its classes that could use it, or guarantees of several resources stand in each other's
  way. And it does not make the queue poor in other resources: up to the guarantee it counts for nothing, as
  in the orders of YARN, Kueue and KAI, which serve next who uses least above its guarantee.

With one resource, queues of one class each and minima m a queue ends with :math:`\max(R w, m)` (total), or
:math:`m + R w` (borrowed), or its limit.

Where tasks or sums of shares are compared, of which no resource is a part, what is free is what a class of
the queue has within the guarantees of what it needs, the least among its classes.

*Naive* recursion differs in two points: nothing is rescaled, and full resources count in shares.

*How it is computed.* Between two events all quantities are linear in the level of their queue, so they are
followed from event to event: a class at its limit, a full resource, a guarantee that is used up, a child that
the level has reached, a queue that has more of another resource than of the one that was its share. Each
queue has a clock of its own, and is brought up to date when something happens below it; a full resource costs
one pass over the queue (over all, where that changes guarantees), anything else the depth of the tree times
the resources.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairness.machine.compiling import helper, stored
from fairness.model.problem import FloatArray
from fairness.policies.hierarchy import filling_state as state
from fairness.policies.hierarchy import queue_usage, tree_arrays
from fairness.policies.hierarchy.queue_usage import keep, reassess, settle
from fairness.policies.hierarchy.tree_arrays import Work

__all__ = ["fill_states"]

FEW = 16
"""A queue is summed anew after so many events in it, or as many as it has children if these are more."""


@helper()
def _often(w: Work, v: int) -> bool:
    """Count an event in queue v; whether it is to be summed anew."""
    w.queue[v].changes += 1
    return bool(w.queue[v].changes >= max(FEW, w.queue[v].size))


@helper()
def _class_event(w: Work, v: int, place: int) -> bool:
    """A class reaches its limit, or the level reaches the class; whether the queue must be summed anew."""
    q = w.queue[v]
    k = q.first + place
    job = w.job[k]
    if job.state == state.AHEAD:
        job.state = state.RISING
        q.risers += 1
    else:
        job.state, job.at = state.STOPPED, job.most / job.rate
        q.live -= 1
        q.risers -= 1
    if q.stuck or q.risers == 0:
        return True
    grows = job.rate if job.state == state.RISING else -job.rate
    # Without naive levels what a class ahead holds was rising with the level already.
    gains = grows if w.naive or job.state == state.STOPPED else 0.0
    for j in range(w.scratch.size):
        w.cell[v, j].gain += gains * w.measure[k, j]
        w.cell[v, j].growth += grows * w.shares[k, j]
    state.set_key(w, v, place, state.class_key(w, v, k))
    return False


@helper()
def _queue_event(w: Work, c: int) -> bool:
    """The level reaches a child queue that waited; whether the parent must be summed anew."""
    q = w.queue[c]
    p = w.queue[q.parent]
    q.status, q.since = state.RISING, p.clock
    p.risers += 1
    if p.stuck or q.slope == 0:
        return True
    state.change(w, c)
    return False


@helper()
def _event(w: Work, v: int) -> bool:
    """What was planned happens in queue v; whether what it holds has jumped."""
    q = w.queue[v]
    cause = q.cause
    if cause >= 0:
        own = q.end - q.first
        anew = _class_event(w, v, cause) if cause < own else _queue_event(w, w.child[q.offset + cause])
        return settle(w, v) if _often(w, v) or anew else state.plan(w, v)
    top = -1
    for j in range(w.scratch.size):
        cell = w.cell[v, j]
        if cause == state.FILLED and cell.used >= cell.ceiling * (1 - state.EQUAL) and not cell.full:
            cell.full, top = 1, v if top < 0 else top
        if cause == state.PASSED and cell.lacks and state.uses_up(cell):
            cell.used, cell.lacks = cell.kept, 0
            if w.cell[q.parent, j].shut:
                top = v if top < 0 else top
            u = v
            while u >= 0 and cell.kept > w.claim[v, j].reserve:
                above = w.cell[u, j]
                above.short -= 1
                if above.full and above.short == 0:
                    # What was kept from others is used up: now they are stopped for good.
                    top = u if top < 0 else min(top, u)
                u = w.queue[u].parent
    if top >= 0:
        return reassess(w, top)
    return state.plan(w, v)


@helper()
def _tell(w: Work, c: int, jumped: bool) -> bool:
    """The parent of queue c learns what has happened in it; whether what the parent holds has jumped."""
    q = w.queue[c]
    p = w.queue[q.parent]
    flat, ended = q.live > 0 and q.slope == 0, q.live == 0
    last = ended and p.risers == 1
    if _often(w, q.parent) or jumped or flat or last or p.stuck or q.status != state.RISING:
        return settle(w, q.parent)
    if ended:
        q.status = state.STOPPED
        p.live -= 1
        p.risers -= 1
    state.change(w, c)
    return state.plan(w, q.parent)


@helper()
def _record(w: Work, stages: FloatArray) -> None:
    """Add the tasks of this moment to the stages."""
    row = w.run[0].rows
    w.run[0].rows += 1
    if row >= stages.shape[0]:
        return
    for v in range(w.queue[0].last):
        q = w.queue[v]
        if q.status == state.RISING and v > 0:
            state.follow(w, v)
        for k in range(q.first, q.end):
            job = w.job[k]
            stages[row, job.index] = job.rate * (q.level if job.state == state.RISING else job.at)


@helper()
def _stage_ends(w: Work, v: int) -> bool:
    """Whether what happens next in queue v ends a stage of the certificate.

    That does a class at its limit that leaves only children that wait, here or above.
    """
    q = w.queue[v]
    if q.cause < 0:
        return bool(q.cause in (state.FILLED, state.PASSED, state.REACHED))
    if q.cause >= q.end - q.first or w.job[q.first + q.cause].state != state.RISING:
        return False
    while w.queue[v].live == 1 and v > 0:
        v = w.queue[v].parent
    return bool(w.queue[v].live > 1 and w.queue[v].risers == 1)


@helper()
def _run(w: Work, stages: FloatArray) -> bool:
    """Fill until all is stopped; False if that does not end."""
    n, m = w.shares.shape
    run, top = w.run[0], w.queue[0]
    reassess(w, 0)
    v = 0
    for _ in range(100 + 20 * (m + 2) * (n + top.last)):
        if top.live == 0:
            if run.lent or not w.guaranteed:
                return True
            # Whoever is left waits for what nobody else can use.
            run.lent, v = 1, 0
            _record(w, stages)
            keep(w)
            reassess(w, 0)
            continue
        while True:
            q = w.queue[v]
            state.advance(w, v, q.wait)
            c = w.child[q.offset + q.cause] if q.cause >= q.end - q.first else -1
            if c < 0 or w.queue[c].status != state.RISING:
                break
            w.queue[c].since = q.clock
            v = c
        if q.cause == state.NOTHING:
            return False
        if _stage_ends(w, v):
            _record(w, stages)
        jumped = _event(w, v)
        jumps = jumped
        # All that happens now in a queue happens before those above learn of it: it may have to wait then.
        while v > 0 and not w.queue[v].due:
            jumped = _tell(w, v, jumped or w.queue[v].jumped)
            jumps = jumps or jumped
            w.queue[v].jumped = 0
            v = w.queue[v].parent
        w.queue[v].jumped = 1 if (jumped or w.queue[v].jumped) and v > 0 else 0
        if jumps and w.guaranteed:
            # A guarantee may be used up by a class that reaches its limit.
            _record(w, stages)
    return False


@stored(tree_arrays, state, queue_usage, nogil=True, error_model="numpy")
def fill_states(
    task_shares: FloatArray,
    limits: FloatArray,
    counts: FloatArray,
    tasks: FloatArray,
    growth: FloatArray,
    w: Work,
    failed: NDArray[np.bool_],
    stages: FloatArray,
) -> None:
    """Fill ``tasks`` (n_states, n_classes); ``failed`` (n_states,) where that did not end.

    The tasks when a stage of :mod:`fairness.evidence.trees` ended are written into ``stages`` (rows,
    n_classes), the rows that there are; ``w.run`` tells how many there were.

    ``growth`` (n_classes,) is r of the module docstring, infinite for classes without demand.
    """
    nodes, m = w.queue[0].last, w.scratch.size
    for row in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            job = w.job[k]
            x, most = counts[row, job.index], limits[job.index]
            job.rate, job.most, job.at, job.state = 0.0, 0.0, 0.0, state.STOPPED
            tasks[row, job.index] = 0.0
            if x > 0 and growth[job.index] < state.INF:
                job.rate, job.most, job.state = x * growth[job.index], x * most, state.AHEAD
            elif x > 0:
                # A class without demand is bounded by its limit alone.
                tasks[row, job.index] = x * most
        for v in range(nodes):
            w.queue[v].status, w.queue[v].jumped = state.STOPPED, 0
            for j in range(m):
                w.cell[v, j].full, w.cell[v, j].used, w.claim[v, j].amount = 0, 0.0, -1.0
        w.run[0].lent, w.run[0].rows = 0, 0
        failed[row] = not _run(w, stages)
        for k in range(counts.shape[1]):
            job = w.job[k]
            if job.rate > 0:
                tasks[row, job.index] = job.rate * job.at
