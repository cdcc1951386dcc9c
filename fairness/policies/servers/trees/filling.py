r"""Filling of a tree of queues on the servers of a cluster.

The definition is that of :mod:`fairness.policies.hierarchy.filling`: children of the lowest level grow, until
they are blocked. A class is blocked when it demands what is full in a queue (at the root: all that the
cluster has), or when no placement lets it grow while the others keep their tasks; who is where may change at
any time. On a single server that is the filling of a pool.

Tasks grow along a line from one event of the tree to the next (:mod:`.directions`); a linear program says
how far that line stays within what can be placed (:mod:`.room`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.errors import NotConvergedError
from fairness.evidence.queue_bounds import QueueBounds
from fairness.evidence.tree_placements import growth_bounds, pooled
from fairness.model.cluster import Cluster
from fairness.model.tree import Tree
from fairness.policies.servers.trees.directions import Directions
from fairness.policies.servers.trees.room import NOTHING, Room

__all__ = ["FilledTree", "fill_tree"]


@dataclass(frozen=True, eq=False)
class FilledTree:
    """A placement, the tasks whenever somebody was blocked, and the prices that prove it."""

    placement: FloatArray
    stages: FloatArray
    prices: tuple[FloatArray, ...]


def fill_tree(
    cluster: Cluster, tree: Tree, counts: FloatArray, pace: FloatArray, measure: FloatArray, naive: bool
) -> FilledTree:
    """Fill a tree on a cluster.

    Parameters
    ----------
    cluster : Cluster
    tree : Tree
    counts : ndarray of shape (n_classes,), jobs
    pace : ndarray of shape (n_classes,), tasks per unit of level
    measure : ndarray of shape (n_classes, n_columns)
        What one task adds to what its queue holds.
    naive : bool

    Raises
    ------
    NotConvergedError
        If a linear program fails, or there are more events than there can be.
    """
    live = counts > 0
    tasks = np.zeros(cluster.n_classes)
    stages, prices = [tasks], []
    if not live.any():
        return FilledTree(np.zeros(cluster.gamma.shape), np.array(stages), ())
    queues = QueueBounds(pooled(cluster), tree, live)
    directions = Directions(queues, np.where(live, pace, 0.0), measure, naive)
    room = Room(cluster, live)
    # Between two moments at which somebody is blocked each child is reached once, and each queue changes its
    # share at most as often as there are columns, each time anew for what happens below.
    size = cluster.n_classes + tree.n_nodes
    most = 100 + 4 * size * size * measure.shape[1]
    for _ in range(most):
        direction = directions.at(tasks, live)
        time, found = room.step(tasks, direction.speeds, direction.time)
        tasks = tasks + time * direction.speeds
        blocked = queues.blocked(queues.counted(tasks))
        if found is not None:
            prices.append(found)
            blocked |= growth_bounds(cluster, tasks[None, :], [found])[0] <= NOTHING
            asked = live & ~blocked
            if asked.any():
                more, by = room.stopped(tasks, asked)
                if more.any():
                    prices.append(by)
                    blocked |= more
            if not (blocked & live).any():
                raise NotConvergedError(
                    f"the servers end a step, but stop no class, with {int(live.sum())} to go; are demands "
                    "or counts many decades apart? leave out what is negligible",
                    best=tasks,
                )
        if (blocked & live).any():
            stages.append(tasks)
            live = live & ~blocked
            if not live.any():
                return FilledTree(room.placement(tasks), np.array(stages), tuple(prices))
    raise NotConvergedError(
        f"filling came to no end after {most} events; are demands or counts many decades apart? leave out "
        "what is negligible",
        best=tasks,
    )
