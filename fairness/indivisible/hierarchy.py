r"""Whole tasks under a tree of queues: H-DRF task by task, and the recursion that starves.

The next task is found on a walk down the :class:`~fairness.Tree`: from the root always to the child (a queue,
or a class that submits to the node) with the smallest share over its weight among those that are not
blocked. A class weighs its jobs times their weight, a queue its own weight. A class is *blocked* if it is at
its limit, or its next task does not fit: into the pool, or under the maximum of a queue above it, where what
other queues keep in reserve counts as used. A queue is blocked if all its children are.

The share of a class is the largest share of a resource that it holds. What the share of a queue is makes the
difference [1]_:

* **naive**: the largest share of a resource that all below it hold together. If tasks end and others start,
  that can starve a class: its sibling holds much of another resource, the queue counts as rich, and whatever
  ends is given to other queues.
* **H-DRF**: let M be the smallest share over weight among the children that are not blocked. What each of
  these holds is *rescaled*, so that its share over its weight is M, but not below what was guaranteed to it;
  what blocked children hold counts as it is; the share of the queue is the largest share of a resource in
  the sum. Resources that are *closed* in a queue, because they are full in it or in one above it, are left
  out of the shares of its children; those of which the queue still has a reserve are not.

With whole tasks the source leaves open when a resource is full, since a rest of it may stay free. Here it is
full in a queue when some class below that is not at its limit finds too little of it there for its next task,
and no class below can start one that would count there.

*Guarantees* come first: from the leaves to the root, each queue with a ``minimum`` is filled as if it were
alone with this as its maximum, on top of what was started for its children. This is what
:class:`~fairness.Tree` guarantees, in whole tasks; all others follow.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairness.arguments.validation import FloatArray, require_flag
from fairness.errors import ModelError
from fairness.evidence.reserves import require_reserves
from fairness.evidence.queue_bounds import QueueBounds
from fairness.indivisible.free_resources import ROUNDING, Number
from fairness.indivisible.rational_model import number
from fairness.indivisible.rules import PoolRule, Started
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = ["HierarchicalShare"]

Amounts = list[Number]


@dataclass(frozen=True)
class HierarchicalShare(PoolRule):
    """Serve, from the root down, the child that is not blocked and has the smallest share: H-DRF.

    Parameters
    ----------
    tree : Tree
        In which every class of the problem submits to a queue.
    naive : bool
        Whether the share of a queue is that of all that it holds, which can starve; see the module docstring.

    Examples
    --------
    Two queues, one of them with a class that uses only CPU:

    >>> from fairness import Problem, Tree
    >>> from fairness.indivisible import fill_tasks
    >>> tree = Tree(["all", "A", "B"], [-1, 0, 0], job_classes=["a", "b cpu", "b gpu"], class_nodes=[1, 2, 2])
    >>> pool = Problem([[0, 1], [1, 0], [0, 1]], [10, 10], job_classes=tree.job_classes)
    >>> fill_tasks(pool, HierarchicalShare(tree)).tasks
    array([ 5, 10,  5])
    """

    tree: Tree
    naive: bool = False

    stop = "skip"
    bounds = "capacities and maxima of queues"

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Tree):
            raise ModelError.of("tree", f"must be a Tree; got {self.tree!r}")
        require_flag("naive", self.naive)

    @property
    def name(self) -> str:
        """What the rule is called."""
        return "naive H-DRF" if self.naive else "H-DRF"

    def fill(self, started: Started) -> None:
        """Start tasks until every class is blocked; nobody's misfit stops the others."""
        require_reserves(self.tree, started.amounts.problem)
        bounds = _Bounds(self.tree, started)
        walk = _Walk(self, started, bounds)
        for v in reversed(range(self.tree.n_nodes)):
            if any(kept > 0 for kept in bounds.minimum[v]):
                usual, bounded = bounds.most[v], bounds.bounded
                bounds.most[v], bounds.bounded = bounds.minimum[v], True
                walk.fill_below(v)
                bounds.most[v], bounds.bounded = usual, bounded
                walk.floor = list(started.tasks)
        walk.fill_below(0)

    def excess(self, problem: Problem, held: FloatArray) -> float:
        """Part by which the use that counts exceeds a maximum."""
        queues = QueueBounds(problem, self.tree, np.ones(problem.n_classes, dtype=np.bool_))
        return queues.excess(queues.counted_of(held))

    def held_back(self, started: Started) -> list[tuple[str, ...]]:
        """Per class, the queues whose maximum keeps it from starting another task."""
        bounds = _Bounds(self.tree, started)
        return [bounds.told(n) for n in range(len(started.tasks))]


class _Bounds:
    """What counts as the use of the queues, and the most that it may be: in the arithmetic of the model."""

    def __init__(self, tree: Tree, started: Started) -> None:
        self.tree, self.started, self.amounts = tree, started, started.amounts
        problem, exact = self.amounts.problem, self.amounts.exact
        self.parents = tree.parents.tolist()
        self.home = tree.require_classes(problem).tolist()
        self.minimum, self.most, self.reserve = (_rows(bound, exact) for bound in tree.bounds(problem))
        self.most[0] = [min(a, b) for a, b in zip(self.most[0], self.amounts.capacities, strict=True)]
        self.margin = 1 if exact else 1 + float(ROUNDING)
        # Without maxima and reserves only the pool bounds what runs.
        finite = any(x < math.inf for row in self.most[1:] for x in row)
        less = any(a < b for a, b in zip(self.most[0], self.amounts.capacities, strict=True))
        self.reserves = any(x > 0 for row in self.reserve for x in row)
        self.bounded = finite or less or self.reserves
        self.counted: list[Amounts] = [[number(0, exact)] * problem.n_resources for _ in self.parents]
        for n, v in enumerate(self.home):
            for r, held in enumerate(self.amounts.before[n]):
                self.counted[v][r] += held + started.tasks[n] * self.amounts.demands[n][r]
        for v in reversed(range(1, len(self.parents))):
            for r, used in enumerate(self.counted[v]):
                self.counted[self.parents[v]][r] += max(used, self.reserve[v][r])

    def way(self, n: int) -> list[int]:
        """The queues above a class, from its own to the root."""
        found = [self.home[n]]
        while self.parents[found[-1]] >= 0:
            found.append(self.parents[found[-1]])
        return found

    def rises(self, n: int) -> list[tuple[int, int, Number]]:
        """(queue, resource, how much more counts) if class n starts a task."""
        found = []
        for r, demand in enumerate(self.amounts.demands[n]):
            for v in self.way(n):
                if demand <= 0:
                    break
                found.append((v, r, demand))
                kept, now = self.reserve[v][r], self.counted[v][r]
                demand = max(now + demand, kept) - max(now, kept)
        return found

    def lacking(self, n: int) -> list[tuple[int, int]]:
        """(queue, resource) where the next task of class n finds too little."""
        found = [(0, r) for r in self.started.ledger.lacking(n, 0)]
        if self.bounded:
            found += [
                (v, r)
                for v, r, more in self.rises(n)
                if self.counted[v][r] + more > self.most[v][r] * self.margin
            ]
        return found

    def unused(self, v: int) -> set[int]:
        """Resources of which a queue has not used its reserve."""
        return {r for r, kept in enumerate(self.reserve[v]) if self.counted[v][r] < kept}

    def told(self, n: int) -> tuple[str, ...]:
        """What is too little for the next task of a class though the pool has it."""
        names = self.amounts.problem.resources
        pool = self.started.ledger.lacking(n, 0)
        bounded = self.most[0], self.amounts.capacities
        return tuple(
            f"maximum of {self.tree.path(v)} ({names[r]})"
            if v > 0 or bounded[0][r] < bounded[1][r]
            else f"kept for other queues ({names[r]})"
            for v, r in self.lacking(n)[len(pool) :]
            if v > 0 or r not in pool
        )

    def take(self, n: int) -> None:
        """Start a task of class n."""
        for v, r, more in self.rises(n):
            self.counted[v][r] += more


class _Walk:
    """The way from a queue to the class that is served next.

    Classes are numbered as they are, queue v has the number n_classes + v.
    """

    def __init__(self, rule: HierarchicalShare, started: Started, bounds: _Bounds) -> None:
        self.rule, self.started, self.bounds = rule, started, bounds
        amounts, tree = started.amounts, rule.tree
        self.zero = number(0, amounts.exact)
        self.floor = [0] * len(started.tasks)
        self.n_classes = n = len(started.tasks)
        self.weights = [*amounts.weights, *(number(w, amounts.exact) for w in tree.weights.tolist())]
        present = [k for k in range(n) if amounts.weights[k] > 0]
        # A queue stands among ties where the first of its classes does.
        self.level: dict[int, Number] = {}
        self.held: dict[int, Amounts] = {}
        self.kept: dict[int, Amounts] = {}
        self.counting: dict[int, list[int]] = {}
        self.live: set[int] = set()
        self.place = [math.inf] * (n + tree.n_nodes)
        self.members: list[list[int]] = [[] for _ in range(tree.n_nodes)]
        for k in present:
            self.members[bounds.home[k]].append(k)
            for node in [k, *(n + v for v in bounds.way(k))]:
                self.place[node] = min(self.place[node], started.ties.place[k])
        self.nodes = [v for v in range(tree.n_nodes) if self.place[n + v] < math.inf]
        for v in self.nodes[1:]:
            self.members[bounds.parents[v]].append(n + v)

    def fill_below(self, root: int) -> None:
        """Start tasks of the classes below a queue until all are blocked."""
        started, bounds, n = self.started, self.bounds, self.n_classes
        nodes = [root]
        for v in self.nodes:
            nodes += [v] if bounds.parents[v] in nodes else []
        waiting = [k for k in started.waiting if bounds.home[k] in nodes]
        known: tuple[int, dict[int, list[tuple[int, int]]]] | None = None
        at = n
        while waiting:
            lacking = {k: found for k in waiting if (found := bounds.lacking(k))}
            if len(lacking) == len(waiting):
                break
            # A reserve may be used up while nothing else changes.
            if known != (len(waiting), lacking) or bounds.reserves:
                known = len(waiting), lacking
                self._survey(nodes, [k for k in waiting if k not in lacking], lacking)
            else:
                # Only what is above the last task has other levels.
                self.held[at] = self.shares(at, started.tasks[at])
                for v in bounds.way(at):
                    self._look(v)
                    if v == root:
                        break
            at = n + root
            while at >= n:
                children = [k for k in self.members[at - n] if k in self.live]
                highest = started.ties.ceiling(min(self.level[k] for k in children))
                tied = [k for k in children if self.level[k] <= highest]
                at = tied[started.ties.pick(tied, self.place.__getitem__)]
            bounds.take(at)
            if not started.start(at):
                waiting.remove(at)
                started.waiting.remove(at)

    def _survey(
        self, nodes: list[int], fitting: list[int], lacking: dict[int, list[tuple[int, int]]]
    ) -> None:
        """Look at all queues, now that others are blocked than before."""
        closed = self.closed(nodes, fitting, lacking)
        every = range(len(self.bounds.most[0]))
        self.counting = {v: [r for r in every if r not in closed[v]] for v in nodes}
        self.live = set(fitting)
        for v in reversed(nodes):
            for k in self.members[v]:
                if k < self.n_classes:
                    self.held[k] = self.shares(k, self.started.tasks[k])
                    self.kept[k] = self.shares(k, self.floor[k])
            self.kept[self.n_classes + v] = [
                sum(parts, self.zero) for parts in zip(*(self.kept[k] for k in self.members[v]), strict=True)
            ]
            if self.live.intersection(self.members[v]):
                self.live.add(self.n_classes + v)
            self._look(v)

    def _look(self, v: int) -> None:
        """Levels of the children of a queue that are not blocked, and what it holds for the comparison."""
        counting, weights = self.counting[v], self.weights
        children = [k for k in self.members[v] if k in self.live]
        share = {k: max((self.held[k][r] for r in counting), default=self.zero) for k in children}
        self.level.update({k: share[k] / weights[k] for k in children})
        least = min((self.level[k] for k in children), default=self.zero)
        total = [self.zero] * len(self.bounds.most[0])
        for k in self.members[v]:
            held = self.held[k]
            if not self.rule.naive and k in share and self.level[k] > least:
                promised = max((self.kept[k][r] for r in counting), default=self.zero)
                scale = min(max(least * weights[k], promised) / share[k], 1)
                held = [scale * x for x in held]
            total = [a + b for a, b in zip(total, held, strict=True)]
        self.held[self.n_classes + v] = total

    def closed(
        self, nodes: list[int], fitting: list[int], lacking: dict[int, list[tuple[int, int]]]
    ) -> dict[int, set[int]]:
        """Resources that are closed in each queue."""
        if self.rule.naive:
            return {v: set() for v in nodes}
        short: dict[int, set[int]] = {v: set() for v in nodes}
        wanted: dict[int, set[int]] = {v: set() for v in nodes}
        for found in lacking.values():
            for v, r in found:
                short.setdefault(v, set()).add(r)
        for k in fitting:
            for v, r, _ in self.bounds.rises(k):
                wanted.setdefault(v, set()).add(r)
        closed: dict[int, set[int]] = {}
        for v in nodes:
            above = closed.get(self.bounds.parents[v], set())
            closed[v] = (above - self.bounds.unused(v)) | (short[v] - wanted[v])
        return closed

    def shares(self, n: int, tasks: int) -> Amounts:
        """Shares of the resources that class n holds with so many tasks; 0 of those that are not there."""
        amounts = self.started.amounts
        parts = zip(amounts.before[n], amounts.demands[n], amounts.capacities, strict=True)
        return [(own + tasks * d) / c if c > 0 else self.zero for own, d, c in parts]


def _rows(bound: FloatArray, exact: bool) -> list[Amounts]:
    """A bound of each queue in the arithmetic of the model; what is infinite stays so."""
    return [[x if math.isinf(x) else number(x, exact) for x in row] for row in bound.tolist()]
