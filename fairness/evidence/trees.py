r"""Evidence for allocations under a tree of queues: the definition of hierarchical filling, queue by queue.

Nothing here knows how an allocation was found. What counts as the use of a queue, and when a resource is
*closed* in it, is defined in :mod:`fairness.evidence.queue_bounds`. A class is *blocked* when it is at its
limit, or demands a resource that is closed in its queue; a child of a queue (a class or a queue) is *live*
while a class below it is not blocked.

H-DRF [1]_ raises *levels*: of a class :math:`\varphi_i/(x_i r_i)`, for DRF its dominant share over its
weight; of a queue the largest share of a resource in :math:`X_v`, over its weight, where resources that are
closed in its parent are left out. With :math:`M_v` the lowest level of the live children,

.. math:: X_v = \sum_{c \text{ live}} X_c\, \frac{\max(M_v w_c, f_c)}{s_c} + \sum_{c \text{ blocked}} X_c,

where :math:`s_c` is the share of :math:`X_c` and :math:`f_c` that of what was guaranteed below c: who is
ahead of the poorest live sibling counts no more than it. *Naive*: :math:`X_v` is all that is held, and no
resource is left out. From the guaranteed tasks on, only live children of level :math:`M_v` grow.

*What is checked.* A *stage* ends when a resource is closed somewhere, or when the last class of a queue that
grew reaches its limit while siblings wait: these are no longer rescaled to this class, so that the level of
the queue jumps. Within a stage levels only rise, so a child that grew in it ends it at a level that is at
most that of every child live at the end. (A class that reaches its limit in the stage is live to its end if
no sibling grew above it; a queue with none but such classes, too.) Together with the first row, the
guaranteed tasks, this fixes the tasks of every stage. Residuals are relative.

* feasible: limits, capacities and maxima hold, and nobody loses tasks from stage to stage;
* guarantees: at the start no class could run more within the ``minimum`` of a queue above it, and no queue
  holds more than is guaranteed to it, to those below it together, or to one above it;
* fairness: a child that grew in a stage by the part g of what it has at last, and ends the stage at a level
  that is too high by the part e, violates the definition by min(g, e). Who is blocked at the start of a
  stage cannot grow: nobody loses tasks, so something would be overfull;
* nothing is wasted: at the end every class is blocked.

How the guaranteed tasks of one queue are divided among its classes is not checked.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray, float_array, require_choice
from fairness.errors import ModelError
from fairness.evidence.pools import SATURATION, Certificate, feasibility_residual, rounding
from fairness.evidence.queue_bounds import BoolArray, QueueBounds, part_of, room_below_limits
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = ["hierarchy_certificate"]

MEASURES = ("total", "borrowed")
"""What levels count: all that is held, or what lies above the guaranteed tasks."""


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
        First the guaranteed tasks (zeros where nothing is guaranteed), then the tasks at each moment when a
        resource was closed in some queue, or a class at its limit left only siblings that wait; the last row
        is the allocation. Further rows do no harm.
    growth : array_like of shape (n_classes,), tasks per job and unit of level, optional
        With the weight of the class. Default: that of DRF, the weight over the dominant share of a task.
    held : array_like of shape (n_classes, n_columns), optional
        What one task adds to :math:`X` of its queue. Default: its shares of the resources. If there are
        other columns than resources, none is ever left out.
    measure : {"total", "borrowed"}
        Whether levels count all tasks or those above the guaranteed ones.
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
    claim = (
        "guarantees kept"
        + " (how those of a queue are divided below it is not checked)" * bool(tree.minimum.any())
        + ", in each queue only children of the lowest level grow until they are blocked"
        + (" (naive levels)" if naive else "")
        + ", and everybody is blocked at the end"
    )
    residual = feasibility_residual(problem, x, rows[-1])
    if not np.isfinite(residual) or not np.isfinite(rows).all() or (rows < 0).any():
        return Certificate(claim, np.inf)
    present = (x > 0) & ~problem.blocked
    queues = QueueBounds(problem, tree, present)
    pace = _pace(problem, x, present, growth)
    per_task = problem.task_shares if held is None else _columns(problem, held)
    moving = present & (pace > 0)
    start = rows[0]
    counted = [queues.counted(row) for row in rows]
    residual = max(residual, queues.excess(counted[-1]), _guarantee_residual(queues, x, start, counted[0]))
    base = start if measure == "borrowed" else np.zeros_like(start)
    floor = np.zeros_like(start) if measure == "borrowed" else start
    for k in range(1, len(rows)):
        before, after = rows[k - 1], rows[k]
        # Parts of the last tasks: where a stage takes no time, tasks of 1e-17 have no levels to compare.
        rose = np.divide(after - before, rows[-1], out=np.zeros_like(after), where=rows[-1] > 0)
        lost = np.divide(before - after, before, out=np.zeros_like(after), where=before > 0)
        stopped = queues.blocked(counted[k - 1])
        if room is not None:
            stopped |= room[k - 1] <= SATURATION
        ended, ends = (room_below_limits(problem, x, row) <= SATURATION for row in (before, after))
        live = moving & ~stopped & ~ended
        levels = _Levels(queues, pace, per_task, live, live & ends, counted[k - 1], naive)
        residual = max(
            residual,
            float(np.max(lost, initial=0.0)),
            levels.residual(np.maximum(after - base, 0.0), floor, np.where(moving, rose, 0.0)),
        )
    idle = np.minimum(queues.slack(counted[-1]), room_below_limits(problem, x, rows[-1]))
    if room is not None:
        idle = np.minimum(idle, room[-1])
    residual = max(residual, float(np.max(idle[present], initial=0.0)))
    return Certificate(claim, residual + rounding(problem.n_classes + tree.n_nodes))


def _guarantee_residual(
    queues: QueueBounds, counts: FloatArray, start: FloatArray, counted: FloatArray
) -> float:
    """How far the first tasks are from the guaranteed ones, above or below."""
    guaranteed, wanted = queues.minimum, queues.wanted
    part = part_of(counted, guaranteed, 1.0)
    spare = np.where(guaranteed > 0, np.maximum(1.0 - part, 0.0), 0.0)
    free, kept = queues.free(counted), queues.kept(counted)
    missing = np.zeros(len(start))
    # The queues above a class, one step after the other: what it may still run below this one, and what of
    # its own reserve would not count there.
    room = room_below_limits(queues.problem, counts, start)
    own = np.zeros(wanted.shape)
    at = queues.home.copy()
    while (at >= 0).any():
        here = np.where(at >= 0, at, 0)
        more = np.minimum(queues.least(np.maximum(spare[here], own)), room)
        missing = np.maximum(missing, np.where((at >= 0) & (guaranteed[here] > 0).any(axis=1), more, 0.0))
        room = np.minimum(room, queues.least(np.maximum(free[here], own)))
        own = np.maximum(own, kept[here])
        at = np.where(at >= 0, queues.tree.parents[here], -1)
    missing = np.where(wanted.any(axis=1), missing, 0.0)
    # What is guaranteed to a queue, to those below it together, or to one above it.
    most, above = guaranteed.copy(), guaranteed.copy()
    parents = queues.tree.parents
    for nodes in queues.levels[:0:-1]:
        together = np.zeros_like(most)
        np.add.at(together, parents[nodes], np.maximum(most[nodes], queues.reserve[nodes]))
        most = np.maximum(most, together)
    for nodes in queues.levels[1:]:
        above[nodes] = np.maximum(above[nodes], above[parents[nodes]])
    surplus = part_of(counted, np.maximum(most, above), np.where(counted > 0, 2.0, 0.0)) - 1.0
    return float(max(np.max(missing, initial=0.0), np.max(surplus, initial=0.0)))


@dataclass(frozen=True)
class _Levels:
    """Levels at the end of a stage, and whether those who grew in it are lowest."""

    queues: QueueBounds
    pace: FloatArray
    per_task: FloatArray
    live: BoolArray
    """Classes that were not blocked at the beginning of the stage."""
    ends: BoolArray
    """Those of them that are at their limit at its end."""
    before: FloatArray
    """What counted as used at the beginning of the stage."""
    naive: bool

    @cached_property
    def _open(self) -> BoolArray:
        """Columns that count in the shares of a queue's children, (n_nodes, n_columns)."""
        shape = len(self.before), self.per_task.shape[1]
        if self.naive or shape != self.before.shape:
            return np.ones(shape, dtype=np.bool_)
        return ~self.queues.closed(self.before)

    def residual(self, tasks: FloatArray, floor: FloatArray, rose: FloatArray) -> float:
        """Largest violation: of the part by which a child grew, and the excess of its level, the smaller."""
        queues, tree, weights = self.queues, self.queues.tree, self.queues.tree.weights
        size = tree.n_nodes
        total, kept = (np.zeros((size, self.per_task.shape[1])) for _ in range(2))
        live, lasts, grew = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_), np.zeros(size)
        moving = self.pace > 0
        level = np.divide(tasks, self.pace, out=np.zeros_like(tasks), where=moving)
        worst = 0.0
        for depth in range(tree.depth, -1, -1):
            below = queues.levels[depth + 1] if depth < tree.depth else np.empty(0, dtype=np.int64)
            own = queues.classes[depth]
            above, home = tree.parents[below], queues.home[own]
            share = np.max(total[below], axis=1, initial=0.0, where=self._open[above])
            promised = np.max(kept[below], axis=1, initial=0.0, where=self._open[above])
            queue_level = share / weights[below]
            children = (level[own], home, rose[own]), (queue_level, above, grew[below])
            highest = np.zeros(size)
            for levels, parents, risen in children:
                np.maximum.at(highest, parents, np.where(risen > SATURATION, levels, 0.0))
            highest *= 1.0 - SATURATION
            still = self.live[own] & ~(self.ends[own] & (level[own] < highest[home]))
            live[below] &= lasts[below] | (queue_level >= highest[above])
            lowest = np.full(size, np.inf)
            np.minimum.at(lowest, home[still], level[own][still])
            np.minimum.at(lowest, above[live[below]], queue_level[live[below]])
            for levels, parents, risen in children:
                high = levels > lowest[parents]
                over = 1.0 - np.divide(lowest[parents], levels, out=np.ones_like(levels), where=high)
                worst = max(worst, float(np.max(np.minimum(over, risen), initial=0.0)))
            one, queue_scale = np.ones(len(own)), np.ones(len(below))
            if not self.naive:
                ahead = still & (level[own] > lowest[home])
                part = np.divide(floor[own], tasks[own], out=np.zeros(len(own)), where=tasks[own] > 0)
                reached = np.divide(lowest[home], level[own], out=one.copy(), where=ahead)
                one = np.where(ahead, np.maximum(reached, np.minimum(part, 1.0)), 1.0)
                ahead = live[below] & (queue_level > lowest[above])
                target = np.maximum(np.where(ahead, lowest[above], 0.0) * weights[below], promised)
                queue_scale = np.divide(target, share, out=queue_scale, where=ahead)
                queue_scale = np.minimum(queue_scale, 1.0)
            np.add.at(total, home, (one * tasks[own])[:, None] * self.per_task[own])
            np.add.at(kept, home, floor[own][:, None] * self.per_task[own])
            np.add.at(total, above, queue_scale[:, None] * total[below])
            np.add.at(kept, above, kept[below])
            np.logical_or.at(live, home, still)
            np.logical_or.at(live, above, live[below])
            np.logical_or.at(lasts, home, still & ~self.ends[own])
            np.logical_or.at(lasts, above, live[below] & lasts[below])
            np.maximum.at(grew, home, rose[own])
            np.maximum.at(grew, above, grew[below])
        return worst


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
