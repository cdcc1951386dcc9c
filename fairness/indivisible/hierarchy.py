r"""Whole tasks under a tree of queues: H-DRF task by task, and the recursion that starves.

The next task is found on a walk down the :class:`~fairness.Tree`: from the root always to the child (a queue,
or a class that submits to the node) with the smallest share over its weight among those that are not
blocked. A class weighs its jobs times their weight, a queue its own weight. A class is *blocked* if it is at
its limit, or its next task does not fit: into the pool, or under the maximum of a queue above it, of which
its siblings' reserves are kept free. A queue is blocked if all its children are.

The share of a class is the largest share of a resource that it holds. What the share of a queue is makes the
difference [1]_:

* **naive**: the largest share of a resource that all below it hold together. If tasks end and others start,
  that can starve a class: its sibling holds much of another resource, the queue counts as rich, and whatever
  ends is given to other queues.
* **H-DRF**: let M be the smallest share over weight among the children that are not blocked. What each of
  these holds is *rescaled*, so that its share over its weight is M; what blocked children hold counts as it
  is; the share of the queue is the largest share of a resource in the sum. Shares of *saturated* resources
  are left out everywhere.

With whole tasks the source leaves open when a resource is saturated, since a rest of it may stay free. Here:
when some class below its limit finds too little of it for its next task, and no class that demands it can
start one.

*Guarantees.* First of all, tasks are started that stay within the ``minimum`` of a queue above their class;
when no more of these fit, all others follow.

References
----------
.. [1] A. A. Bhattacharya, D. Culler, E. Friedman, A. Ghodsi, S. Shenker and I. Stoica, "Hierarchical
   scheduling for diverse datacenter workloads", SoCC 2013. DOI 10.1145/2523616.2523637.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from fairness.arguments.validation import FloatArray, require_flag
from fairness.errors import ModelError
from fairness.evidence.guarantees import require_guarantees
from fairness.indivisible.free_resources import ROUNDING, Number
from fairness.indivisible.rational_model import number
from fairness.indivisible.rules import PoolRule, Started
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

    name = "H-DRF"
    stop = "skip"

    def __post_init__(self) -> None:
        if not isinstance(self.tree, Tree):
            raise ModelError.of("tree", f"must be a Tree; got {self.tree!r}")
        require_flag("naive", self.naive)
        if self.naive:
            object.__setattr__(self, "name", "naive H-DRF")

    def fill(self, started: Started) -> None:
        """Start tasks until every class is blocked; nobody's misfit stops the others."""
        require_guarantees(self.tree, started.amounts.problem)
        queues = _Queues(self.tree, started)
        walk = _Walk(self, started, queues)
        for within in (queues.guaranteed, lambda n: True):
            while fitting := [n for n in started.waiting if started.ledger.fits(n, 0) and not queues.full(n)]:
                served = [n for n in fitting if within(n)]
                if not served:
                    break
                n = walk.next_of(served, fitting)
                queues.take(n)
                if not started.start(n):
                    started.waiting.remove(n)

    def held_back(self, started: Started) -> list[tuple[str, ...]]:
        """Per class, the queues whose maximum keeps it from starting another task."""
        queues = _Queues(self.tree, started)
        return [queues.full(n) for n in range(len(started.tasks))]


class _Queues:
    """What the queues hold, of which they may hold so much: all in the arithmetic of the model."""

    def __init__(self, tree: Tree, started: Started) -> None:
        self.tree, self.amounts = tree, started.amounts
        problem, exact = self.amounts.problem, self.amounts.exact
        low, high, own = tree.bounds(problem)
        self.parents = tree.parents.tolist()
        self.home = tree.require_classes(problem).tolist()
        self.minimum, self.maximum, self.reserve = (_rows(bound, exact) for bound in (low, high, own))
        self.maximum[0] = [min(a, b) for a, b in zip(self.maximum[0], self.amounts.capacities, strict=True)]
        self.margin = 1 if exact else 1 + float(ROUNDING)
        self.bounded = bool((high < math.inf).any() or own.any())
        zero = number(0, exact)
        # What is in use, and what counts: at least what is kept for each child queue.
        self.use: list[Amounts] = [[zero] * problem.n_resources for _ in self.parents]
        self.counted: list[Amounts] = [[zero] * problem.n_resources for _ in self.parents]
        for n, v in enumerate(self.home):
            for r, held in enumerate(self.amounts.before[n]):
                self.use[v][r] += held + started.tasks[n] * self.amounts.demands[n][r]
        for v in reversed(range(len(self.parents))):
            for r, used in enumerate(self.use[v]):
                self.counted[v][r] += used
                if v > 0:
                    self.counted[self.parents[v]][r] += max(self.counted[v][r], self.reserve[v][r])
        for v in reversed(range(1, len(self.parents))):
            for r, used in enumerate(self.use[v]):
                self.use[self.parents[v]][r] += used

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

    def full(self, n: int) -> tuple[str, ...]:
        """Queues under whose maximum the next task of a class does not fit; at the root for what is kept."""
        if not self.bounded:
            return ()
        problem = self.amounts.problem
        found = [
            f"maximum of {self.tree.path(v)} ({problem.resources[r]})"
            if v > 0 or self.maximum[v][r] < self.amounts.capacities[r]
            else f"kept for other queues ({problem.resources[r]})"
            for v, r, more in self.rises(n)
            if self.counted[v][r] + more > self.maximum[v][r] * self.margin
        ]
        return tuple(found)

    def guaranteed(self, n: int) -> bool:
        """Whether a queue above a class holds no more than is guaranteed to it with the next task too."""
        demand = self.amounts.demands[n]
        return any(
            all(
                used + more <= kept * self.margin or more == 0
                for used, more, kept in zip(self.use[v], demand, self.minimum[v], strict=True)
            )
            for v in self.way(n)
        )

    def take(self, n: int) -> None:
        """Start a task of class n."""
        for v, r, more in self.rises(n):
            self.counted[v][r] += more
        for v in self.way(n):
            for r, demand in enumerate(self.amounts.demands[n]):
                self.use[v][r] += demand


class _Walk:
    """The way from the root to the class that is served next.

    Classes are numbered as they are, queue v has the number n_classes + v.
    """

    def __init__(self, rule: HierarchicalShare, started: Started, queues: _Queues) -> None:
        self.rule, self.started, self.queues = rule, started, queues
        amounts, tree = started.amounts, rule.tree
        self.n_classes = n = len(started.tasks)
        self.weights = [*amounts.weights, *(number(w, amounts.exact) for w in tree.weights.tolist())]
        present = [k for k in range(n) if amounts.weights[k] > 0]
        # A queue stands among ties where the first of its classes does.
        place = [math.inf] * (n + tree.n_nodes)
        self.members: list[list[int]] = [[] for _ in range(tree.n_nodes)]
        for k in present:
            self.members[queues.home[k]].append(k)
            for node in [k, *(n + v for v in queues.way(k))]:
                place[node] = min(place[node], started.ties.place[k])
        self.nodes = [v for v in range(tree.n_nodes) if place[n + v] < math.inf]
        for v in self.nodes[1:]:
            self.members[queues.parents[v]].append(n + v)
        self.place = place

    def next_of(self, served: Collection[int], fitting: Collection[int]) -> int:
        """The class to serve, one of ``served``; the ``fitting`` ones are those that are not blocked."""
        shares = self.shares(fitting)
        wanted = set(served)
        for v in reversed(self.nodes):
            if wanted.intersection(self.members[v]):
                wanted.add(self.n_classes + v)
        at, ties = self.n_classes, self.started.ties
        while at >= self.n_classes:
            children = [k for k in self.members[at - self.n_classes] if k in wanted]
            most = ties.ceiling(min(shares[k] for k in children))
            tied = [k for k in children if shares[k] <= most]
            at = tied[ties.pick(tied, self.place.__getitem__)]
        return at

    def shares(self, fitting: Collection[int]) -> dict[int, Number]:
        """Share over weight of every class and queue with jobs."""
        members, n, zero = self.members, self.n_classes, number(0, self.started.amounts.exact)
        unblocked = set(fitting)
        columns = self.columns(unblocked)
        held: dict[int, Amounts] = {}
        shares: dict[int, Number] = {}
        for v in reversed(self.nodes):
            for k in members[v]:
                if k < n:
                    held[k] = [self.share(k, r) for r in columns]
                shares[k] = max(held[k], default=zero) / self.weights[k]
            live = unblocked.intersection(members[v])
            if live:
                unblocked.add(n + v)
            least = min((shares[k] for k in live), default=zero)
            total = [zero] * len(columns)
            for k in members[v]:
                scale: Number = 1
                if not self.rule.naive and k in live and shares[k] > least:
                    scale = least / shares[k]
                total = [a + scale * b for a, b in zip(total, held[k], strict=True)]
            held[n + v] = total
        return shares

    def columns(self, fitting: Collection[int]) -> list[int]:
        """The resources whose shares count."""
        amounts, ledger = self.started.amounts, self.started.ledger
        there = [r for r, capacity in enumerate(amounts.capacities) if capacity > 0]
        if self.rule.naive:
            return there
        scarce = set().union(*(ledger.lacking(n, 0) for n in self.started.waiting))
        return [r for r in there if r not in scarce or any(amounts.demands[n][r] > 0 for n in fitting)]

    def share(self, n: int, r: int) -> Number:
        """Share of resource r that class n holds."""
        amounts = self.started.amounts
        held = amounts.before[n][r] + self.started.tasks[n] * amounts.demands[n][r]
        return held / amounts.capacities[r]


def _rows(bound: FloatArray, exact: bool) -> list[Amounts]:
    """A bound of each queue in the arithmetic of the model; what is infinite stays so."""
    return [[x if math.isinf(x) else number(x, exact) for x in row] for row in bound.tolist()]
