r"""Evidence for allocations under a tree of queues: the definition of hierarchical filling, queue by queue.

Nothing here knows how an allocation was found. What counts as the use of a queue, what is guaranteed to it,
when a resource is *closed* in it, and who is *stopped* or *waits*, is defined in
:mod:`fairness.evidence.queue_bounds`; a child of a queue (a class or a queue) is *live* while a class below
it neither is stopped nor waits. When nobody is live, but some wait, all that is guaranteed and not in use is
lent from then on.

H-DRF [1]_ raises *levels*: of a class :math:`\varphi_i/(x_i r_i)`, for DRF its dominant share over its
weight; of a queue its share over its weight, the largest in :math:`X_v` of a resource that is not closed in
its parent. With :math:`M_v` the lowest level of the live children,

.. math:: X_v = \sum_c F_c + \sum_{c \text{ live}} (X_c - F_c) \min\Bigl(1, \frac{M_v w_c}{s_c}\Bigr)
   + \sum_{c \text{ not live}} (X_c - F_c),

where :math:`s_c` is the share of c and :math:`F_c` what it holds by guarantees: :math:`\min(X_c, g_c)` if
something is guaranteed to c itself, else what its children hold so together, nothing for a class. So who is
ahead of the poorest live sibling counts no more than it, beyond guarantees. A resource of which a queue holds
:math:`F_v` and goes on to is free: it does not count in the share. If it holds more, or would next, what
counts is all of it (*total*) or :math:`X_v - F_v` (*borrowed*). *Naive*: :math:`X_v` is all that is held, and
no resource is left out. Only live children of level :math:`M_v` grow. A live child that grows without raising
its share goes on alone, before those of the same level.

A measure that is none of resources has one column; what is guaranteed of it is the least that a class below
the queue has of it within the own guarantees of what it needs, 0 if one of them needs nothing of that.

*What is checked.* A *stage* ends when a resource is closed somewhere, when a resource begins or ceases to be
free for a queue, or when the last class of a queue that grew reaches its limit while siblings wait: these are
no longer rescaled to this class, so that the level of the queue jumps. Within a stage levels only rise, so a
child that grew in it ends it at a level that is at most that of every child live at the end. (A class that
reaches its limit in the stage is live to its end if no sibling grew above it; a queue with none but such
classes, too.) This fixes the tasks of every stage. Residuals are relative.

* feasible: limits, capacities and maxima hold, and nobody loses tasks from stage to stage;
* guarantees: at no stage anybody uses what is guaranteed to another queue that can use it. So a queue ends
  with what is guaranteed to it, or its classes are stopped by their limits or by something else that is full,
  unless guarantees were lent because everybody waited for those of others;
* fairness: a child that grew in a stage by the part g of what it has at last, and ends the stage at a level
  that is too high by the part e, violates the definition by min(g, e). Who is stopped or waits at the start
  of a stage cannot grow: nobody loses tasks, so something would be overfull;
* nothing is wasted: at the end every class is stopped.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, float_array, require_choice
from fairness.errors import ModelError
from fairness.evidence.pools import SATURATION, Certificate, feasibility_residual, rounding
from fairness.evidence.queue_bounds import BoolArray, QueueBounds, room_below_limits
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = ["hierarchy_certificate"]

MEASURES = ("total", "borrowed")
"""What shares count beyond a guarantee: all that is held, or what lies above."""


def hierarchy_certificate(
    problem: Problem,
    tree: Tree,
    counts: ArrayLike | None,
    stages: ArrayLike,
    *,
    growth: ArrayLike | None = None,
    held: ArrayLike | None = None,
    measure: str = "total",
    naive: bool = False,
    room: FloatArray | None = None,
) -> Certificate:
    """Certify that tasks are those of hierarchical filling.

    Parameters
    ----------
    problem : Problem
    tree : Tree
    counts : array_like of shape (n_classes,), jobs
    stages : array_like of shape (n_stages + 1, n_classes), tasks
        First zeros, then the tasks at the end of each stage; the last row is the allocation. Further rows do
        no harm.
    growth : array_like of shape (n_classes,), tasks per job and unit of level, optional
        With the weight of the class. Default: that of DRF, the weight over the dominant share of a task.
    held : array_like of shape (n_classes, n_columns), optional
        What one task adds to :math:`X` of its queue. Default: its shares of the resources. If there are
        other columns than resources, none is ever left out.
    measure : {"total", "borrowed"}
        Whether shares count all tasks or what lies above the guarantees.
    naive : bool
        Whether shares of queues are those of all that they hold.
    room : ndarray of shape (n_stages + 1, n_classes), optional
        How much a class can grow at each of these moments at most, for other reasons than the bounds of the
        queues, as a part of what it could have alone: on the servers of a cluster,
        :mod:`fairness.evidence.tree_placements`.

    Returns
    -------
    Certificate

    Raises
    ------
    ModelError
        If a shape is wrong, or the tree does not fit the problem.

    Examples
    --------
    >>> from fairness import Problem, Tree
    >>> tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b", "c"], class_nodes=[1, 2, 2])
    >>> pool = Problem([[0, 1], [1, 0], [0, 1]], [10, 10], job_classes=["a", "b", "c"])
    >>> hierarchy_certificate(pool, tree, None, [[0, 0, 0], [5, 5, 5], [5, 10, 5]]).holds
    True
    >>> hierarchy_certificate(pool, tree, None, [[0, 0, 0], [6, 6, 4], [6, 10, 4]]).residual
    0.3333...
    """
    x = problem.check_state(counts)
    require_choice("measure", measure, MEASURES)
    rows = float_array("stages", stages, ndim=2)
    if rows.shape[1] != problem.n_classes or not len(rows):
        raise ModelError.of(
            "stages", f"must have shape (n_stages + 1, {problem.n_classes}); got {rows.shape}"
        )
    present = (x > 0) & ~problem.blocked
    queues = QueueBounds(problem, tree, present)
    pace = _pace(problem, x, present, growth)
    per_task = problem.task_shares if held is None else _columns(problem, held)
    of_resources = np.array_equal(per_task, problem.task_shares)
    moving = present & (pace > 0)
    residual, lent = feasibility_residual(problem, x, rows[-1]), False
    if not np.isfinite(residual) or not np.isfinite(rows).all() or (rows < 0).any():
        residual, rows = np.inf, rows[:1]
    used = [queues.counted(row) for row in rows]
    residual = max(residual, queues.excess(used[-1]), float(np.max(rows[0, moving], initial=0.0)))
    for k in range(1, len(rows)):
        before, after = rows[k - 1], rows[k]
        # Parts of the last tasks: where a stage takes no time, tasks of 1e-17 have no levels to compare.
        rose = np.divide(after - before, rows[-1], out=np.zeros_like(after), where=rows[-1] > 0)
        lost = np.divide(before - after, before, out=np.zeros_like(after), where=before > 0)
        stopped = queues.blocked(used[k - 1])
        if room is not None:
            stopped |= room[k - 1] <= SATURATION
        ended, ends = (room_below_limits(problem, x, row) <= SATURATION for row in (before, after))
        live = moving & ~stopped & ~ended
        kept, counted, own = queues.reserve, used[k - 1], np.zeros_like(queues.reserve)
        if tree.minimum.any():
            most = np.where(live, np.where(live, x, 1.0) * problem.limits, before)
            guaranteed, own = queues.guaranteed(most)
            counted_now = queues.counted(before, guaranteed)
            waits = queues.blocked(counted_now, guaranteed)
            lent = lent or bool(live.any() and not (live & ~waits).any())
            if not lent:
                kept, counted, live = guaranteed, counted_now, live & ~waits
                residual = max(residual, queues.excess(queues.counted(after, kept)))
        levels = _Levels(
            queues, pace, per_task, live, live & ends, queues.closed(counted, kept)[:, : per_task.shape[1]] &
            (of_resources and not naive), queues.free(own, None if of_resources else per_task), measure ==
            "borrowed", naive,
        )  # fmt: skip
        residual = max(
            residual,
            float(np.max(lost, initial=0.0)),
            levels.residual(before, after, np.where(moving, rose, 0.0)),
        )
    idle = np.minimum(queues.slack(used[-1]), room_below_limits(problem, x, rows[-1]))
    if room is not None:
        idle = np.minimum(idle, room[len(rows) - 1])
    residual = max(residual, float(np.max(idle[present], initial=0.0)))
    claim = (
        "guarantees kept"
        + ", until everybody waited for those of others," * lent
        + ", in each queue only children of the lowest level grow until they are blocked"
        + (" (naive levels)" if naive else "")
        + ", and everybody is blocked at the end"
    )
    return Certificate(claim, residual + rounding(problem.n_classes + tree.n_nodes))


@dataclass(frozen=True)
class _Levels:
    """Levels in a stage, and whether those who grew in it are lowest at its end."""

    queues: QueueBounds
    pace: FloatArray
    per_task: FloatArray
    live: BoolArray
    """Classes that were live at the beginning of the stage."""
    ends: BoolArray
    """Those of them that are at their limit at its end."""
    closed: BoolArray
    """Columns that do not count in the shares of a queue's children, (n_nodes, n_columns)."""
    free: FloatArray
    """What the own guarantees of the queues cover, (n_nodes, n_columns)."""
    borrowed: bool
    naive: bool

    def residual(self, before: FloatArray, after: FloatArray, rose: FloatArray) -> float:
        """Largest violation: of the part by which a child grew, and the excess of its level, the smaller."""
        counts = np.ones(self.free.shape, dtype=np.bool_)
        if not self.borrowed and self.free.any():
            _, counts = self._walk(before, np.zeros_like(rose), None)
        return self._walk(after, rose, counts)[0]

    def _walk(self, tasks: FloatArray, rose: FloatArray, counts: BoolArray | None) -> tuple[float, BoolArray]:
        """The violation, and the columns that count, (n_nodes, n_columns).

        At the end of a stage those do that counted at its beginning, and what is held beyond guarantees; at
        the beginning (None) the latter and what would be next.
        """
        queues, tree, weights, free = self.queues, self.queues.tree, self.queues.tree.weights, self.free
        size, found = tree.n_nodes, np.zeros(free.shape, dtype=np.bool_)
        total, promised = np.zeros(free.shape), np.zeros(free.shape)
        gains, uncovered = np.zeros(free.shape, dtype=np.bool_), np.zeros(free.shape, dtype=np.bool_)
        live, lasts, grew = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_), np.zeros(size)
        level = np.divide(tasks, self.pace, out=np.zeros_like(tasks), where=self.pace > 0)
        worst = 0.0
        for depth in range(tree.depth, -1, -1):
            below = queues.levels[depth + 1] if depth < tree.depth else np.empty(0, dtype=np.int64)
            own = queues.classes[depth]
            above, home = tree.parents[below], queues.home[own]
            held, limit = total[below], free[below]
            covered = np.where(limit > 0, np.minimum(held, limit), promised[below])
            beyond = np.where(held - covered > SATURATION * held, held - covered, 0.0)
            passed = gains[below] & (held >= limit * (1.0 - SATURATION))
            uncovered[below] = np.where(limit > 0, passed, uncovered[below])
            found[below] = (beyond > 0) | (uncovered if counts is None else counts)[below]
            found[below] &= ~self.closed[above]
            value = beyond if self.borrowed else held
            share = np.max(value, axis=1, initial=0.0, where=found[below])
            queue_level = share / weights[below]
            # What lies above a guarantee is as uncertain as all that is held.
            whole = queue_level + self.borrowed * covered.max(axis=1) / weights[below]
            children = (level[own], level[own], home, rose[own]), (queue_level, whole, above, grew[below])
            highest = np.zeros(size)
            for levels, _, parents, risen in children:
                np.maximum.at(highest, parents, np.where(risen > SATURATION, levels, 0.0))
            highest *= 1.0 - SATURATION
            still = self.live[own] & ~(self.ends[own] & (level[own] < highest[home]))
            live[below] &= lasts[below] | (queue_level >= highest[above])
            lowest = np.full(size, np.inf)
            np.minimum.at(lowest, home[still], level[own][still])
            np.minimum.at(lowest, above[live[below]], queue_level[live[below]])
            for levels, sums, parents, risen in children:
                high = levels > lowest[parents]
                over = np.divide(levels - lowest[parents], sums, out=np.zeros_like(levels), where=high)
                worst = max(worst, float(np.max(np.minimum(over, risen), initial=0.0)))
            counted, part = tasks[own], np.ones(len(below))
            if not self.naive:
                reached = np.where(still, lowest[home], 0.0) * self.pace[own]
                counted = np.where(still, np.minimum(counted, reached), counted)
                ahead = live[below] & (queue_level > lowest[above])
                np.divide(lowest[above], queue_level, out=part, where=ahead)
            np.add.at(total, home, counted[:, None] * self.per_task[own])
            np.add.at(total, above, held - (1.0 - part)[:, None] * beyond)
            np.add.at(promised, above, covered)
            if counts is None:
                # Who would grow next: those of the lowest level, a child without a rising share alone.
                most = lowest * (1.0 + SATURATION)
                first, later = still & (level[own] <= most[home]), live[below] & (queue_level > most[above])
                rising = live[below] & ~later
                top = found[below] & (value >= share[:, None] * (1.0 - SATURATION))
                flat = ~(top & gains[below]).any(axis=1)
                stuck = np.zeros(size, dtype=np.bool_)
                np.logical_or.at(stuck, above, rising & flat)
                moves = (still & ~stuck[home] & (first | (not self.naive)))[:, None] & (
                    self.per_task[own] > 0
                )
                rising &= flat == stuck[above]
                later &= ~stuck[above] & (not self.naive)
                for speeds in (gains, uncovered):
                    np.logical_or.at(speeds, home, moves)
                    up = (rising[:, None] & speeds[below]) | (later[:, None] & (beyond > 0))
                    np.logical_or.at(speeds, above, up)
            np.logical_or.at(live, home, still)
            np.logical_or.at(live, above, live[below])
            np.logical_or.at(lasts, home, still & ~self.ends[own])
            np.logical_or.at(lasts, above, live[below] & lasts[below])
            np.maximum.at(grew, home, rose[own])
            np.maximum.at(grew, above, grew[below])
        return worst, found


def _pace(problem: Problem, counts: FloatArray, present: BoolArray, growth: ArrayLike | None) -> FloatArray:
    """Tasks of a class per unit of level; 0 for those that take no part."""
    if growth is None:
        largest = problem.task_shares.max(axis=1)
        rates = np.divide(problem.weights, largest, out=np.zeros_like(largest), where=largest > 0)
    else:
        rates = float_array("growth", growth)
        if rates.shape != counts.shape:
            raise ModelError.of("growth", f"must have shape {counts.shape}; got {rates.shape}")
    return np.where(present & np.isfinite(rates), counts * np.where(np.isfinite(rates), rates, 0.0), 0.0)


def _columns(problem: Problem, held: ArrayLike) -> FloatArray:
    columns = float_array("held", held, ndim=2)
    if len(columns) != problem.n_classes:
        raise ModelError.of("held", f"must have one row per class, {problem.n_classes}; got {len(columns)}")
    return columns
