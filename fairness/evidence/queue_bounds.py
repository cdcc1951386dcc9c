r"""What the queues of a tree hold and are guaranteed, and which bound stops whom.

What counts as the use of queue v, while :math:`\kappa_c` is kept for each queue c, is

.. math:: K_v = \sum_{\text{classes } i \text{ of } v} \varphi_i a_i
   + \sum_{\text{child queues } c} \max(K_c, \kappa_c),

which its ``maximum`` bounds, at the root also the capacity. A resource is *full in v* when :math:`K_v` has
reached this bound. It is *closed* in v when it is full there, or closed in the parent and what is kept for v
is used up: until then, what is used below v does not count more above.

*Reserves*, what a queue does not lend of its guarantee, are kept always. A class is *stopped* by its limit,
or by what it demands and is closed in its queue while nothing else is kept.

*Guarantees* count per resource: :math:`G_v`, what is guaranteed to v of each, is said in
:mod:`fairness.model.guarantees`; classes that are stopped can use what they do, the others what their limits
allow. A class *waits* when it is not stopped, but demands what is closed in its queue while G is kept for
each queue: the rest is guaranteed to others, who can use it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import FloatArray
from fairness.evidence.pools import SATURATION
from fairness.model.guarantees import guarantees
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = [
    "BoolArray",
    "QueueBounds",
    "part_of",
    "queue_shares",
    "queue_stops",
    "room_below_limits",
]

BoolArray = NDArray[np.bool_]


def queue_shares(problem: Problem, tree: Tree, tasks: FloatArray) -> FloatArray:
    """Largest share of a resource that the classes below a queue hold together, over its weight; (n_nodes,).

    Examples
    --------
    >>> from fairness import Problem, Tree
    >>> tree = Tree(["all", "A"], [-1, 0], weights=[1, 2], job_classes=["a", "b"], class_nodes=[0, 1])
    >>> queue_shares(Problem([[1], [1]], [4], job_classes=["a", "b"]), tree, np.array([1.0, 3.0]))
    array([1.   , 0.375])
    """
    shares = tree.totals(problem, tasks[:, None] * problem.task_shares)
    return shares.max(axis=1) / tree.weights


def queue_stops(
    problem: Problem, tree: Tree, counts: ArrayLike | None, tasks: FloatArray
) -> list[tuple[str, ...]]:
    """What stops each queue, in words: "GPU", "CPU (maximum of all/lab)", "limits" or "no job".

    Empty where some class of the queue could still grow.

    Examples
    --------
    >>> from fairness import Problem, Tree
    >>> tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b"], class_nodes=[1, 2],
    ...             resources=["GPU"], maximum=[[9], [2], [9]])
    >>> pool = Problem([[1], [1]], [8], job_classes=["a", "b"], resources=["GPU"])
    >>> queue_stops(pool, tree, None, np.array([2.0, 6.0]))
    [('GPU (maximum of all/A)', 'GPU'), ('GPU (maximum of all/A)', 'GPU'), ('GPU',)]
    """
    x = problem.check_state(counts)
    queues = QueueBounds(problem, tree, (x > 0) & ~problem.blocked)
    counted = queues.counted(tasks)
    full, used_up = queues.full(counted), counted >= queues.reserve * (1.0 - SATURATION)
    limited = room_below_limits(problem, x, tasks) <= SATURATION
    stops: list[dict[str, None]] = [{} for _ in range(tree.n_nodes)]
    grows = np.zeros(tree.n_nodes, dtype=np.bool_)
    for n in np.flatnonzero(x > 0).tolist():
        way = tree.way(queues.home[n])
        words = ["limits"] if limited[n] else []
        for j in np.flatnonzero(problem.demands[n] > 0):
            for v in way:
                if full[v, j]:
                    pool = v == 0 and queues.pool_bound[j]
                    words.append(problem.resources[j] + ("" if pool else f" (maximum of {tree.path(v)})"))
                if not used_up[v, j]:
                    break
        for v in way:
            stops[v] |= dict.fromkeys(words)
            grows[v] |= not words
    busy = tree.totals(problem, x) > 0
    return [("no job",) if not busy[v] else () if grows[v] else tuple(words) for v, words in enumerate(stops)]


class QueueBounds:
    """What counts as the use of the queues, what bounds it, and whom it blocks."""

    def __init__(self, problem: Problem, tree: Tree, present: BoolArray) -> None:
        self.problem, self.tree, self.present = problem, tree, present
        self.home = tree.require_classes(problem)
        self.minimum, maximum, self.reserve = tree.bounds(problem)
        self.pool_bound = problem.capacities <= maximum[0]
        self.ceilings = maximum.copy()
        self.ceilings[0] = np.minimum(maximum[0], problem.capacities)
        self.wanted = (problem.demands > 0) & present[:, None]
        order = np.argsort(tree.depths, kind="stable")
        self.levels = np.split(order, np.searchsorted(tree.depths[order], np.arange(1, tree.depth + 1)))
        self.classes = [np.flatnonzero(tree.depths[self.home] == d) for d in range(tree.depth + 1)]

    def counted(self, tasks: FloatArray, kept: FloatArray | None = None) -> FloatArray:
        """K of each queue, (n_nodes, n_resources); what is kept: the reserves, unless it is given."""
        return self.counted_of(tasks[:, None] * self.problem.demands, kept)

    def counted_of(self, usage: FloatArray, kept: FloatArray | None = None) -> FloatArray:
        """K of each queue where the classes use so many units, (n_classes, n_resources)."""
        kept = self.reserve if kept is None else kept
        counted = np.zeros(self.ceilings.shape)
        np.add.at(counted, self.home, usage)
        for nodes in self.levels[:0:-1]:
            np.add.at(counted, self.tree.parents[nodes], np.maximum(counted[nodes], kept[nodes]))
        return counted

    def guaranteed(self, most: FloatArray) -> tuple[FloatArray, FloatArray]:
        """G and g of each queue, (n_nodes, n_resources), where classes can run so many tasks."""
        usable = np.zeros(self.ceilings.shape)
        use = np.where(self.wanted, most[:, None], 0.0) * np.where(self.wanted, self.problem.demands, 1.0)
        np.add.at(usable, self.home, use)
        return guarantees(self.tree, self.minimum, self.reserve, self.ceilings, usable)

    def free(self, own: FloatArray, per_task: FloatArray | None) -> FloatArray:
        """What the own guarantees cover of what queues hold, (n_nodes, n_columns).

        Shares of the resources; where a task adds something else, ``per_task`` (n_classes, 1), the least that
        a class below has within them.
        """
        problem, parents = self.problem, self.tree.parents
        if per_task is None:
            return part_of(own, np.broadcast_to(problem.capacities, own.shape), 0.0)
        found = np.full((len(own), 1), np.inf)
        at = np.where(self.wanted.any(axis=1), self.home, -1)
        while (at >= 0).any():
            amounts = own[at]
            within = np.full(amounts.shape, np.inf)
            np.divide(amounts, problem.demands, out=within, where=self.wanted & (amounts > 0))
            tasks = within.min(axis=1)
            np.minimum.at(
                found[:, 0], at[at >= 0], np.where(tasks < np.inf, tasks * per_task[:, 0], 0.0)[at >= 0]
            )
            at = np.where(at >= 0, parents[at], -1)
        return np.where(np.isfinite(found), found, 0.0)

    def excess(self, counted: FloatArray) -> float:
        """Largest relative excess over a bound."""
        part = part_of(counted, self.ceilings, np.where(counted > 0, np.inf, 0.0))
        return float(np.max(part - 1.0, initial=0.0))

    def full(self, counted: FloatArray) -> BoolArray:
        """Which resources are full in which queues, (n_nodes, n_resources)."""
        return np.asarray(part_of(counted, self.ceilings, 1.0) >= 1.0 - SATURATION)

    def blocked(self, counted: FloatArray, kept: FloatArray | None = None) -> BoolArray:
        """Classes that demand what is closed in their queue."""
        return np.asarray((self.closed(counted, kept)[self.home] & self.wanted).any(axis=1))

    def closed(self, counted: FloatArray, kept: FloatArray | None = None) -> BoolArray:
        """Which resources no class that submits to a queue can have more of, (n_nodes, n_resources)."""
        closed = self.full(counted)
        used_up = counted >= (self.reserve if kept is None else kept) * (1.0 - SATURATION)
        for nodes in self.levels[1:]:
            closed[nodes] |= closed[self.tree.parents[nodes]] & used_up[nodes]
        return closed

    def slack(self, counted: FloatArray) -> FloatArray:
        """Smallest part, over all bounds of what a class demands, that is free for it; (n_classes,)."""
        free, kept = (
            np.maximum(1.0 - part_of(counted, bound, 1.0), 0.0) for bound in (self.ceilings, self.reserve)
        )
        for nodes in self.levels[1:]:
            above = np.maximum(free[self.tree.parents[nodes]], kept[nodes])
            free[nodes] = np.minimum(free[nodes], above)
        found: FloatArray = np.min(free[self.home], axis=1, initial=np.inf, where=self.wanted)
        return found


def part_of(amounts: FloatArray, bounds: FloatArray, at_zero: FloatArray | float) -> FloatArray:
    """Amounts over bounds; 0 where the bound is infinite, and what is said where it is 0."""
    part = np.divide(amounts, bounds, out=np.zeros_like(amounts), where=(bounds > 0) & np.isfinite(bounds))
    return np.where(bounds == 0, at_zero, part)


def room_below_limits(problem: Problem, counts: FloatArray, tasks: FloatArray) -> FloatArray:
    """Part of its limit that a class has free, (n_classes,); 1 where it has none."""
    return np.maximum(1.0 - tasks / problem.most_tasks(counts), 0.0)
