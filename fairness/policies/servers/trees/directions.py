r"""Which classes of a tree grow next, how fast, and until when: the filling of a tree without its solver.

The definition is that of :mod:`fairness.policies.hierarchy.filling` without guarantees. It reads levels,
shares and live children off the tasks alone, so that all is computed anew here after each event; what bounds
the tasks of a class from outside, the servers, is for the caller to say (*blocked* classes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.evidence.queue_bounds import BoolArray, QueueBounds

__all__ = ["Direction", "Directions"]

EQUAL = 1e-12
"""Levels and shares that differ by less than this part are equal but for rounding."""


@dataclass(frozen=True)
class Direction:
    """How the tasks of the classes grow, (n_classes,) per unit of time, and for how long at most."""

    speeds: FloatArray
    time: float


@dataclass(frozen=True)
class Directions:
    """A tree that is filled.

    Attributes
    ----------
    queues : QueueBounds
    pace : ndarray of shape (n_classes,), tasks per unit of level
        0 for classes that take no part.
    measure : ndarray of shape (n_classes, n_columns)
        What one task adds to what its queue holds.
    naive : bool
        Whether queues are compared by all that they hold.
    """

    queues: QueueBounds
    pace: FloatArray
    measure: FloatArray
    naive: bool = False

    def open_columns(self, closed: BoolArray) -> BoolArray:
        """Columns of the measure that count in the shares of a queue's children, (n_nodes, n_columns)."""
        shape = len(closed), self.measure.shape[1]
        return np.ones(shape, dtype=np.bool_) if self.naive or shape != closed.shape else ~closed

    def at(self, tasks: FloatArray, live: BoolArray) -> Direction:
        """Direction of growth from these tasks, where the live classes are not blocked."""
        queues, tree = self.queues, self.queues.tree
        counted = queues.counted(tasks)
        opened = self.open_columns(queues.closed(counted))
        size, columns = opened.shape
        level = np.divide(tasks, self.pace, out=np.zeros_like(tasks), where=self.pace > 0)
        held, gain = np.zeros((size, columns)), np.zeros((size, columns))
        some, factor, wait = np.zeros(size, dtype=np.bool_), np.zeros(size), np.full(size, np.inf)
        grows = np.zeros_like(tasks)
        for depth in range(tree.depth, -1, -1):
            below = queues.levels[depth + 1] if depth < tree.depth else np.empty(0, dtype=np.int64)
            own = queues.classes[depth]
            above, home, weight = tree.parents[below], queues.home[own], tree.weights[below]
            # The child queues: their shares, and how fast these rise on their own clocks.
            counts = opened[above]
            share = np.max(held[below], axis=1, initial=0.0, where=counts)
            speed = np.max(gain[below], axis=1, initial=0.0)
            top = counts & (held[below] >= share[:, None] * (1 - EQUAL))
            slope = np.max(gain[below], axis=1, initial=0.0, where=top)
            slope[slope <= EQUAL * speed] = 0.0
            faster = counts & ~top & (gain[below] > (slope + EQUAL * speed)[:, None])
            times = np.full(faster.shape, np.inf)
            np.divide(share[:, None] - held[below], gain[below] - slope[:, None], out=times, where=faster)
            wait[below] = np.minimum(wait[below], np.min(times, axis=1, initial=np.inf))
            # The lowest level of the live children, and who is there.
            at_queue = share / weight
            lowest = np.full(size, np.inf)
            mine, theirs = live[own], some[below]
            np.minimum.at(lowest, home[mine], level[own][mine])
            np.minimum.at(lowest, above[theirs], at_queue[theirs])
            low = mine & (level[own] <= lowest[home] * (1 + EQUAL))
            queue_low = theirs & (at_queue <= lowest[above] * (1 + EQUAL))
            stuck = np.zeros(size, dtype=np.bool_)
            np.logical_or.at(stuck, above, queue_low & (slope == 0))
            # Who is ahead waits for the level, which stands still while a child is stuck.
            ahead, queue_ahead = mine & ~low, theirs & ~queue_low
            for levels, parents, waits in (
                (level[own], home, ahead & ~stuck[home]),
                (at_queue, above, queue_ahead & ~stuck[above]),
            ):
                np.minimum.at(wait, parents[waits], levels[waits] - lowest[parents][waits])
            # What the queues hold, and how fast that grows.
            moves = low & ~stuck[home]
            grows[own] = np.where(moves, self.pace[own], 0.0)
            rate = np.where(queue_low & (stuck[above] == (slope == 0)), weight, 0.0)
            over = np.where(stuck[above], speed, slope)
            factor[below] = np.divide(rate, over, out=np.zeros_like(rate), where=rate > 0)
            tasks_counted, part = tasks[own], np.ones(len(below))
            follows = np.zeros(len(own))
            if not self.naive:
                tasks_counted[ahead] = lowest[home][ahead] * self.pace[own][ahead]
                follows = np.where(ahead & ~stuck[home], self.pace[own], 0.0)
                part[queue_ahead] = lowest[above][queue_ahead] / at_queue[queue_ahead]
            np.add.at(held, home, tasks_counted[:, None] * self.measure[own])
            np.add.at(gain, home, (grows[own] + follows)[:, None] * self.measure[own])
            np.add.at(held, above, part[:, None] * held[below])
            np.add.at(gain, above, factor[below][:, None] * gain[below])
            if not self.naive:
                rise = np.where(queue_ahead & ~stuck[above], weight, 0.0)
                rise = np.divide(rise, share, out=np.zeros_like(rise), where=rise > 0)
                np.add.at(gain, above, rise[:, None] * held[below])
            np.logical_or.at(some, home, mine)
            np.logical_or.at(some, above, theirs)
        clock = np.zeros(size)
        clock[0] = 1.0
        for nodes in queues.levels[1:]:
            clock[nodes] = clock[tree.parents[nodes]] * factor[nodes]
        speeds = grows * clock[queues.home]
        times = np.divide(wait, clock, out=np.full(size, np.inf), where=clock > 0)
        growth = tree.totals(queues.problem, speeds[:, None] * queues.problem.demands)
        bounded = (growth > 0) & np.isfinite(queues.ceilings)
        bounded[0] = False if queues.pool_bound.all() else bounded[0] & ~queues.pool_bound
        left = np.full(growth.shape, np.inf)
        np.divide(np.maximum(queues.ceilings - counted, 0.0), growth, out=left, where=bounded)
        return Direction(speeds, float(min(times.min(), left.min())))
