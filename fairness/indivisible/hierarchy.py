r"""Whole tasks under a tree of queues: H-DRF task by task, and the recursion that starves.

The next task is found on a walk down the :class:`~fairness.Tree`: from the root always to the child (a queue,
or a class that submits to the node) with the smallest share over its weight among those that can start a
task. A class weighs its jobs times their weight, a queue its own weight. A class is *stopped* if it is at its
limit, or its next task does not fit: into the pool, or under the maximum of a queue above it, where what
other queues keep in reserve counts as used. It *waits* if its next task would take what is guaranteed to
another queue (:mod:`fairness.evidence.queue_bounds`) whose classes can still use it. If all wait or are
stopped, nothing is kept but the reserves from then on.

The share of a class is the largest share of a resource that it holds. What the share of a queue is makes the
difference [1]_; a resource counts in it when the queue holds more of it than by guarantees, its own or those
of queues below it, or would with the next task:

* **naive**: the largest share of a resource that all below it hold together. If tasks end and others start,
  that can starve a class: its sibling holds much of another resource, the queue counts as rich, and whatever
  ends is given to other queues.
* **H-DRF**: let M be the smallest share over weight among the children that can start a task. What each of
  these holds beyond guarantees is *rescaled*, so that its share over its weight is M; what others hold
  counts as it is; the share of the queue is the largest share of a resource in the sum. Resources that are
  *closed* in a queue, because they are full in it or in one above it, are left out of the shares of its
  children; those of which something is kept for the queue are not.

With whole tasks the source leaves open when a resource is full, since a rest of it may stay free. Here it is
full in a queue when some class below that is not at its limit finds too little of it there for its next task,
and no class below can start one that would count there.

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
from fairness.evidence.queue_bounds import QueueBounds
from fairness.evidence.reserves import require_reserves
from fairness.indivisible.free_resources import ROUNDING, Number
from fairness.indivisible.rational_model import number
from fairness.indivisible.rules import PoolRule, Started
from fairness.model.guarantees import guarantees
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
        """Start tasks until every class is stopped; nobody's misfit stops the others."""
        require_reserves(self.tree, started.amounts.problem)
        _Walk(self, started).run()

    def excess(self, problem: Problem, held: FloatArray) -> float:
        """Part by which the use that counts exceeds a maximum."""
        queues = QueueBounds(problem, self.tree, np.ones(problem.n_classes, dtype=np.bool_))
        return queues.excess(queues.counted_of(held))

    def held_back(self, started: Started) -> list[tuple[str, ...]]:
        """Per class, the queues whose maximum keeps it from starting another task."""
        queues = _Queues(self.tree, started)
        return [queues.told(n) for n in range(len(started.tasks))]


class _Queues:
    """A tree over the classes of a filling, its bounds in the arithmetic of the model."""

    def __init__(self, tree: Tree, started: Started) -> None:
        self.tree, self.started, self.amounts = tree, started, started.amounts
        problem, exact = self.amounts.problem, self.amounts.exact
        self.parents = tree.parents.tolist()
        self.home = tree.require_classes(problem).tolist()
        self.ways = [tree.way(v) for v in self.home]
        self.minimum, self.most, self.reserve = (_rows(bound, exact) for bound in tree.bounds(problem))
        self.most[0] = [min(a, b) for a, b in zip(self.most[0], self.amounts.capacities, strict=True)]
        self.margin = number(1 + ROUNDING, exact)  # the bounds of a tree are floats in any model
        self.is_guaranteed = any(x > 0 for row in self.minimum for x in row)
        # Without maxima and guarantees only the pool bounds what runs.
        finite = any(x < math.inf for row in self.most[1:] for x in row)
        less = any(a < b for a, b in zip(self.most[0], self.amounts.capacities, strict=True))
        self.bounded = finite or less or self.is_guaranteed

    def use(self, n: int, tasks: float) -> Amounts:
        """What class n holds with so many tasks."""
        held, demands = self.amounts.before[n], self.amounts.demands[n]
        return [a + tasks * b if b > 0 else a for a, b in zip(held, demands, strict=True)]

    def guaranteed(self, able: list[int]) -> tuple[list[Amounts], list[Amounts]]:
        """What is guaranteed to each queue, where these classes can run more, and what is its own."""
        kind = object if self.amounts.exact else float
        low, reserve, most = (np.array(rows, dtype=kind) for rows in (self.minimum, self.reserve, self.most))
        usable = np.zeros_like(low)
        for n, v in enumerate(self.home):
            usable[v] += np.array(
                self.use(n, self.amounts.most[n] if n in able else self.started.tasks[n]), dtype=kind
            )
        found, own = guarantees(self.tree, low, reserve, most, usable)
        return found.tolist(), own.tolist()

    def told(self, n: int) -> tuple[str, ...]:
        """What is too little for the next task of a class though the pool has it."""
        names = self.amounts.problem.resources
        pool = self.started.ledger.lacking(n, 0)
        bounded = self.most[0], self.amounts.capacities
        return tuple(
            f"maximum of {self.tree.path(v)} ({names[r]})"
            if v > 0 or bounded[0][r] < bounded[1][r]
            else f"kept for other queues ({names[r]})"
            for v, r in _Use(self, self.reserve).lacking(n)[len(pool) :]
            if v > 0 or r not in pool
        )


class _Use:
    """What counts as the use of the queues while so much is kept for each."""

    def __init__(self, queues: _Queues, kept: list[Amounts]) -> None:
        self.queues, self.kept = queues, kept
        self.counted = [[number(0, queues.amounts.exact)] * len(row) for row in kept]
        for n, v in enumerate(queues.home):
            self._add(v, queues.use(n, queues.started.tasks[n]))
        for v in reversed(range(1, len(kept))):
            self._add(queues.parents[v], [max(a, b) for a, b in zip(self.counted[v], kept[v], strict=True)])

    def _add(self, v: int, amounts: Amounts) -> None:
        self.counted[v] = [a + b for a, b in zip(self.counted[v], amounts, strict=True)]

    def rises(self, n: int) -> list[tuple[int, int, Number]]:
        """(queue, resource, how much more counts) if class n starts a task."""
        found = []
        for r, demand in enumerate(self.queues.amounts.demands[n]):
            for v in self.queues.ways[n]:
                if demand <= 0:
                    break
                found.append((v, r, demand))
                kept, now = self.kept[v][r], self.counted[v][r]
                demand = max(now + demand, kept) - max(now, kept)
        return found

    def lacking(self, n: int) -> list[tuple[int, int]]:
        """(queue, resource) where the next task of class n finds too little."""
        queues = self.queues
        found = [(0, r) for r in queues.started.ledger.lacking(n, 0)]
        if queues.bounded:
            found += [
                (v, r)
                for v, r, more in self.rises(n)
                if self.counted[v][r] + more > queues.most[v][r] * queues.margin
            ]
        return found

    def unused(self, v: int) -> set[int]:
        """Resources of which a queue has not used what is kept for it."""
        return {r for r, kept in enumerate(self.kept[v]) if self.counted[v][r] < kept}

    def take(self, n: int) -> None:
        """Start a task of class n."""
        for v, r, more in self.rises(n):
            self.counted[v][r] += more


class _Walk:
    """The way from the root to the class that is served next.

    Classes are numbered as they are, queue v has the number n_classes + v.
    """

    def __init__(self, rule: HierarchicalShare, started: Started) -> None:
        self.rule, self.started, self.queues = rule, started, _Queues(rule.tree, started)
        amounts, tree, queues = started.amounts, rule.tree, self.queues
        self.zero = number(0, amounts.exact)
        self.every = range(len(amounts.capacities))
        self.n_classes = n = len(started.tasks)
        self.weights = [*amounts.weights, *(number(w, amounts.exact) for w in tree.weights.tolist())]
        self.level: dict[int, Number] = {}
        self.held: dict[int, Amounts] = {}
        self.covered: dict[int, Amounts] = {}
        self.rises: dict[int, list[bool]] = {}
        self.free = [[self.zero] * len(self.every)] * tree.n_nodes
        self.counting: dict[int, list[int]] = {}
        self.live: set[int] = set()
        # A queue stands among ties where the first of its classes does.
        self.place = [math.inf] * (n + tree.n_nodes)
        self.members: list[list[int]] = [[] for _ in range(tree.n_nodes)]
        for k in (k for k in range(n) if amounts.weights[k] > 0):
            self.members[queues.home[k]].append(k)
            for node in [k, *(n + v for v in queues.ways[k])]:
                self.place[node] = min(self.place[node], started.ties.place[k])
        self.nodes = [v for v in range(tree.n_nodes) if self.place[n + v] < math.inf]
        for v in self.nodes[1:]:
            self.members[queues.parents[v]].append(n + v)

    def guarantee(self, able: list[int]) -> _Use:
        """Note what is guaranteed now; what counts as use while that is kept."""
        kept, own = self.queues.guaranteed(able)
        self.free = [self.shares(row) for row in own]
        return _Use(self.queues, kept)

    def run(self) -> None:
        """Start tasks until all classes are stopped."""
        started, n = self.started, self.n_classes
        real = _Use(self.queues, self.queues.reserve)
        use, lent = real, not self.queues.is_guaranteed
        before: tuple[list[int], dict[int, list[tuple[int, int]]]] | None = None
        at = n
        while True:
            lacking = {k: found for k in started.waiting if (found := real.lacking(k))}
            able = [k for k in started.waiting if k not in lacking]
            if not able:
                return
            if self.queues.is_guaranteed and (before is None or before[0] != able):
                soft = self.guarantee(able)
                use = real if lent else soft
            if not lent:
                lacking = {k: found for k in started.waiting if (found := use.lacking(k))}
                if all(k in lacking for k in able):
                    use, lent = real, True
                    continue
            # What is kept may be used up while nothing else changes.
            if before != (able, lacking) or self.queues.is_guaranteed:
                self._survey(use, [k for k in able if k not in lacking], lacking)
            else:
                # Only what is above the last task has other levels.
                self._hold(at)
                for v in self.queues.ways[at]:
                    self._look(v)
            before = able, lacking
            at = n
            while at >= n:
                children = [k for k in self.members[at - n] if k in self.live]
                highest = started.ties.ceiling(min(self.level[k] for k in children))
                tied = [k for k in children if self.level[k] <= highest]
                at = tied[started.ties.pick(tied, self.place.__getitem__)]
            for one in {id(use): use, id(real): real}.values():
                one.take(at)
            if not started.start(at):
                started.waiting.remove(at)

    def _survey(self, use: _Use, fit: list[int], lacking: dict[int, list[tuple[int, int]]]) -> None:
        """Look at all queues, now that others can start tasks than before."""
        closed = self.closed(use, fit, lacking)
        self.counting = {v: [r for r in self.every if r not in closed[v]] for v in self.nodes}
        self.live = set(fit)
        for v in reversed(self.nodes):
            for k in self.members[v]:
                if k < self.n_classes:
                    self._hold(k)
            if self.live.intersection(self.members[v]):
                self.live.add(self.n_classes + v)
            self._look(v)

    def _hold(self, k: int) -> None:
        self.covered[k] = [self.zero] * len(self.every)
        self.rises[k] = [demand > 0 for demand in self.started.amounts.demands[k]]
        self.held[k] = self.shares(self.queues.use(k, self.started.tasks[k]))

    def _look(self, v: int) -> None:
        """Levels of the children of a queue that can start a task, and what it holds for the comparison."""
        children = [k for k in self.members[v] if k in self.live]
        share, margin = {}, self.queues.margin
        for k in children:
            held, covered = self.held[k], self.covered[k]
            share[k] = max(
                (held[r] for r in self.counting[v] if held[r] > covered[r] * margin or self.rises[k][r]),
                default=self.zero,
            )
            self.level[k] = share[k] / self.weights[k]
        least = min((self.level[k] for k in children), default=self.zero)
        total = promised = [self.zero] * len(self.every)
        for k in self.members[v]:
            held, covered = self.held[k], self.covered[k]
            promised = [a + b for a, b in zip(promised, covered, strict=True)]
            if not self.rule.naive and k in share and self.level[k] > least:
                scale = least / self.level[k]
                held = [f + scale * (x - f) for x, f in zip(held, covered, strict=True)]
            total = [a + b for a, b in zip(total, held, strict=True)]
        self.held[self.n_classes + v] = total
        # By guarantees: up to its own all, else what those below it hold so.
        own = self.free[v]
        self.covered[self.n_classes + v] = [
            min(x, most) if most > 0 else below for x, most, below in zip(total, own, promised, strict=True)
        ]
        if children:
            rises = self.rises[min(children, key=lambda k: (self.level[k], self.place[k]))]
            self.rises[self.n_classes + v] = [
                more and x * margin >= most for more, x, most in zip(rises, total, own, strict=True)
            ]

    def closed(
        self, use: _Use, fit: list[int], lacking: dict[int, list[tuple[int, int]]]
    ) -> dict[int, set[int]]:
        """Resources that are closed in each queue."""
        if self.rule.naive:
            return {v: set() for v in self.nodes}
        short = {pair for found in lacking.values() for pair in found}
        wanted = {(v, r) for k in fit for v, r, _ in use.rises(k)}
        closed: dict[int, set[int]] = {}
        for v in self.nodes:
            above = closed.get(self.queues.parents[v], set())
            closed[v] = (above - use.unused(v)) | {r for r in self.every if (v, r) in short - wanted}
        return closed

    def shares(self, amounts: Amounts) -> Amounts:
        """Amounts as shares of the resources; 0 of those that are not there."""
        capacities = self.started.amounts.capacities
        return [x / c if c > 0 else self.zero for x, c in zip(amounts, capacities, strict=True)]


def _rows(bound: FloatArray, exact: bool) -> list[Amounts]:
    """A bound of each queue in the arithmetic of the model; what is infinite stays so."""
    return [[x if math.isinf(x) else number(x, exact) for x in row] for row in bound.tolist()]
