"""Queues within queues, task by task: whoever has least of what is not guaranteed is served next.

One task after the other is started, and everything is looked at anew before each:

* a class is *stopped* for good when it is at its limit, or when its next task does not fit into the pool or
  under a maximum, where idle queues count with what they do not lend;
* *guaranteed* to a queue is its minimum, but no more than its classes can use, and no less than what is
  guaranteed below it together; guarantees that exceed what there is are cut down in proportion to the
  minima;
* a class *waits* when its next task would take what is guaranteed to another queue. If all wait or are
  stopped, guarantees keep nothing any more;
* on the way down from the root the child is taken that has the smallest share over its weight among those
  with a class that is neither stopped nor waits. The share of a queue is the largest of a resource that is
  not closed, where it holds more than by guarantees (up to its own all, else what queues below it hold so),
  or would with its next task: what lies above ("borrowed"), or all ("total"). Siblings that are ahead of the
  last one count with what they hold by guarantees, and with the rest as if it were no more than the last one
  has.

With fractions everything is exact; with floats and ever smaller tasks it comes to the filling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairness import Problem, Tree

__all__ = ["TasksInQueues", "random_queues"]

INF = math.inf


class TasksInQueues:
    """A pool, a tree, and the tasks that were started.

    Parameters
    ----------
    number : type
        What everything is counted in, ``Fraction`` or ``float``.
    parts : int
        Into how many a task is cut.
    """

    def __init__(
        self,
        problem: Problem,
        tree: Tree,
        counts: Sequence[Any],
        *,
        number: Any,
        parts: int = 1,
        naive: bool = False,
        borrowed: bool = False,
        ties: Sequence[int] | None = None,
        held: Any = None,
    ) -> None:
        def rows(array: Any) -> Any:
            return [[x if x == INF else number(x) for x in row] for row in array.tolist()]

        self.n, self.m, self.nodes = problem.n_classes, problem.n_resources, tree.n_nodes
        self.naive, self.borrowed, self.zero = naive, borrowed, number(0)
        self.demands = [[a / parts for a in row] for row in rows(problem.demands)]
        self.capacities = [number(c) for c in problem.capacities.tolist()]
        self.low, self.high, self.own = (rows(bound) for bound in tree.bounds(problem))
        self.high[0] = [min(a, b) for a, b in zip(self.high[0], self.capacities, strict=True)]
        self.parent, self.home = tree.parents.tolist(), tree.require_classes(problem).tolist()
        self.below = [tree.children(v).tolist() for v in range(self.nodes)]
        self.inside = [[i for i in range(self.n) if v in self.way(i)] for v in range(self.nodes)]
        self.place = list(range(self.n)) if ties is None else [list(ties).index(i) for i in range(self.n)]
        limits = [INF if math.isinf(most) else number(most) for most in problem.limits.tolist()]
        self.most = [
            math.floor(x * most * parts) if most < INF else INF if x else 0
            for x, most in zip((number(x) for x in counts), limits, strict=True)
        ]
        jobs = [number(x) * number(w) for x, w in zip(counts, problem.weights.tolist(), strict=True)]
        self.weight: dict[tuple[str, int], Any] = {("class", i): w for i, w in enumerate(jobs)}
        self.weight |= {("queue", v): number(w) for v, w in enumerate(tree.weights.tolist())}
        self.start = [[self.zero] * self.m for _ in range(self.n)] if held is None else rows(held)
        self.tasks, self.lent = [0] * self.n, False
        # The guarantees hold to the last digit of a float.
        self.margin = 1 if number is not float else 1 + 1e-9

    def way(self, i: int) -> list[int]:
        """Queues above a class, its own first."""
        found = [self.home[i]]
        while self.parent[found[-1]] >= 0:
            found.append(self.parent[found[-1]])
        return found

    def run(self) -> list[int]:
        """Start tasks until all classes are stopped; who started one after the other."""
        order = []
        while (i := self.next()) is not None:
            self.tasks[i] += 1
            order.append(i)
        return order

    def next(self) -> int | None:
        """Class that is served next."""
        usage = [
            [held + tasks * a for held, a in zip(held, row, strict=True)]
            for held, tasks, row in zip(self.start, self.tasks, self.demands, strict=True)
        ]
        waiting = [i for i in range(self.n) if self.tasks[i] < self.most[i]]
        real = self.counted(usage, self.own)
        able = [i for i in waiting if not self.lacks(i, real, self.own)]
        if not able:
            return None
        self.guaranteed = self.guarantees(usage, able)
        kept = self.own if self.lent else self.guaranteed
        counted = self.counted(usage, kept)
        lacking = {i: self.lacks(i, counted, kept) for i in waiting}
        fit = [i for i in able if not lacking[i]]
        if not fit:
            self.lent = True
            return self.next()
        self.fit, self.usage = fit, usage
        self.closed = self.closures(lacking, counted, kept)
        self.vectors: dict[tuple[str, int], list[Any]] = {}
        self.free: dict[tuple[str, int], list[Any]] = {}
        at = ("queue", 0)
        self.look(at)
        while at[0] == "queue":
            at = self.first(at[1])
        return at[1]

    def counted(self, usage: Any, kept: Any) -> Any:
        """Use of each queue, where those below count with at least what is kept for them."""
        found = [[self.zero] * self.m for _ in range(self.nodes)]
        for i, row in enumerate(usage):
            found[self.home[i]] = [a + b for a, b in zip(found[self.home[i]], row, strict=True)]
        for v in reversed(range(1, self.nodes)):
            found[self.parent[v]] = [
                a + max(b, c) for a, b, c in zip(found[self.parent[v]], found[v], kept[v], strict=True)
            ]
        return found

    def lacks(self, i: int, counted: Any, kept: Any) -> list[tuple[int, int]]:
        """Queue and resource where the next task of a class is too much."""
        return [
            (v, r)
            for v, r, more in self.rises(i, counted, kept)
            if counted[v][r] + more > self.high[v][r] * self.margin
        ]

    def rises(self, i: int, counted: Any, kept: Any) -> list[tuple[int, int, Any]]:
        """Queue, resource, and how much more counts with the next task of a class."""
        found = []
        for r, more in enumerate(self.demands[i]):
            for v in self.way(i):
                if more <= 0:
                    break
                found.append((v, r, more))
                more = max(counted[v][r] + more, kept[v][r]) - max(counted[v][r], kept[v][r])
        return found

    def guarantees(self, usage: Any, able: list[int]) -> Any:
        """What is guaranteed to each queue, (n_nodes, n_resources)."""
        found = [[self.zero] * self.m for _ in range(self.nodes)]
        self.own_guarantee = [[False] * self.m for _ in range(self.nodes)]
        can = [
            [
                held + (self.most[i] - self.tasks[i]) * a if i in able and a > 0 else held
                for held, a in zip(usage[i], self.demands[i], strict=True)
            ]
            for i in range(self.n)
        ]
        most = self.counted(can, self.own)
        for r in range(self.m):
            claims, weights, own = ([self.zero] * self.nodes for _ in range(3))
            for v in reversed(range(self.nodes)):
                children = self.below[v]
                own[v] = max(self.own[v][r], sum(own[c] for c in children))
                weights[v] = max(self.low[v][r], sum(weights[c] for c in children))
                claim = max(min(self.low[v][r], most[v][r]), self.own[v][r])
                below = sum(claims[c] for c in children)
                self.own_guarantee[v][r] = self.low[v][r] > 0 and claim * self.margin >= below
                claims[v] = min(max(claim, below), self.high[v][r])
            found[0][r] = claims[0]
            for v in range(self.nodes):
                children = self.below[v]
                for c, amount in zip(
                    children, self.cut(found[v][r], children, claims, weights, own), strict=True
                ):
                    found[c][r] = amount
        return found

    @staticmethod
    def cut(total: Any, queues: list[int], claims: Any, weights: Any, own: Any) -> list[Any]:
        """Claims; of more than the total what is in proportion to the minima, one settled at a time."""
        if sum(claims[c] for c in queues) <= total:
            return [claims[c] for c in queues]
        settled = {c: claims[c] for c in queues if weights[c] == 0}
        while True:
            left = [c for c in queues if c not in settled]
            if not left:
                return [settled[c] for c in queues]
            level = (total - sum(settled.values())) / sum(weights[c] for c in left)
            given = {c: min(max(level * weights[c], own[c]), claims[c]) for c in left}
            more = sum(given.values()) + sum(settled.values()) - total
            # Too much for those at their least, or too little for those at their claims: they are settled.
            wrong = [
                c
                for c in left
                if (level * weights[c] < own[c] and more > 0) or (level * weights[c] > claims[c] and more < 0)
            ]
            if not wrong:
                return [settled.get(c, given.get(c)) for c in queues]
            settled |= {c: given[c] for c in wrong}

    def closures(self, lacking: Any, counted: Any, kept: Any) -> list[set[int]]:
        """Resources of which nobody who submits to a queue can have more."""
        if self.naive:
            return [set() for _ in range(self.nodes)]
        short = {(v, r) for found in lacking.values() for v, r in found}
        wanted = {(v, r) for i in self.fit for v, r, _ in self.rises(i, counted, kept)}
        closed: list[set[int]] = []
        for v in range(self.nodes):
            above = closed[self.parent[v]] if v else set()
            closed.append(
                {r for r in range(self.m) if (v, r) in short - wanted}
                | {r for r in above if counted[v][r] >= kept[v][r]}
            )
        return closed

    def children(self, v: int) -> list[tuple[str, int]]:
        own = [("class", i) for i in range(self.n) if self.home[i] == v]
        return own + [("queue", c) for c in self.below[v]]

    def fitting(self, v: int) -> list[tuple[str, int]]:
        """Children with a class that can start a task."""
        return [
            (kind, c)
            for kind, c in self.children(v)
            if (c in self.fit if kind == "class" else any(i in self.fit for i in self.inside[c]))
        ]

    def rank(self, child: tuple[str, int]) -> int:
        """Place among ties: that of the first class with jobs."""
        kind, c = child
        return min(self.place[i] for i in ([c] if kind == "class" else self.inside[c]) if self.most[i] > 0)

    def share(self, child: tuple[str, int]) -> Any:
        kind, c = child
        if kind == "class":
            shut = self.closed[self.home[c]] if not self.naive else ()
            return max((x for r, x in enumerate(self.vectors[child]) if r not in shut), default=self.zero)
        found = [self.zero]
        for r, (held, free) in enumerate(zip(self.vectors[child], self.free[child], strict=True)):
            if r not in self.closed[self.parent[c]] and (held > free * self.margin or self.beyond(child, r)):
                found.append(held - free if self.borrowed else held)
        return max(found)

    def beyond(self, child: tuple[str, int], r: int) -> bool:
        """Whether the next task of a child takes more of a resource than guarantees cover."""
        kind, c = child
        if kind == "class":
            return bool(self.demands[c][r] > 0)
        if self.own_guarantee[c][r] and self.vectors[child][r] * self.margin < self.part(
            self.guaranteed[c][r], r
        ):
            return False
        return bool(self.fitting(c)) and self.beyond(self.first(c), r)

    def first(self, v: int) -> tuple[str, int]:
        """Child of a queue that is served next."""
        return min(self.fitting(v), key=lambda c: (self.level(c), self.rank(c)))

    def level(self, child: tuple[str, int]) -> Any:
        return self.share(child) / self.weight[child]

    def part(self, units: Any, r: int) -> Any:
        return units / self.capacities[r] if self.capacities[r] > 0 else self.zero

    def look(self, child: tuple[str, int]) -> None:
        """What a child holds, as shares of the capacities, for the comparison with its siblings."""
        kind, c = child
        if kind == "class":
            self.vectors[child] = [self.part(x, r) for r, x in enumerate(self.usage[c])]
            self.free[child] = [self.zero] * self.m
            return
        fitting = set(self.fitting(c))
        for one in self.children(c):
            self.look(one)
        least = min((self.level(one) for one in fitting), default=self.zero)
        total, free = [self.zero] * self.m, [self.zero] * self.m
        for one in self.children(c):
            vector = self.vectors[one]
            free = [a + b for a, b in zip(free, self.free[one], strict=True)]
            if one in fitting and not self.naive and self.level(one) > least:
                scale = least / self.level(one)
                vector = [f + scale * (x - f) for x, f in zip(vector, self.free[one], strict=True)]
            total = [a + b for a, b in zip(total, vector, strict=True)]
        self.vectors[child] = total
        for r in range(self.m):
            if self.own_guarantee[c][r]:
                free[r] = min(total[r], self.part(self.guaranteed[c][r], r))
        self.free[child] = free


def random_queues(seed: int, largest: int = 5) -> tuple[Problem, Tree, np.ndarray]:
    """Two or three resources; guarantees, maxima, weights and limits of all sizes, in trees of any depth."""
    rng = np.random.default_rng(seed)
    n, m, size = (int(rng.integers(2, most)) for most in (largest + 1, 4, 7))
    demands = rng.integers(1, 9, (n, m)) * (rng.random((n, m)) < 0.7)
    for i in np.flatnonzero(~demands.any(axis=1)):
        demands[i, rng.integers(m)] = 1
    limits = np.where(rng.random(n) < 0.3, rng.integers(1, 9, n) / 2, np.inf)
    capacities = rng.integers(10, 40, m)
    pool = Problem(demands, capacities, weights=rng.integers(1, 5, n), limits=limits)
    low = (rng.random((size, m)) < 0.5) * rng.random((size, m)) * rng.choice([0.3, 0.6, 1.0])
    low[:, 1:] *= seed % 3 > 0  # every third tree: guarantees of the first resource alone
    low[0] = 0
    high = np.where(rng.random((size, m)) < 0.2, rng.uniform(0.2, 1, (size, m)), np.inf)
    # What is not lent must be there.
    kept = (rng.random((size, m)) < 0.1) & (low.sum(axis=0) <= 1)
    tree = Tree(
        [f"q{v}" for v in range(size)],
        [-1, *(int(rng.integers(max(0, v - 3), v)) for v in range(1, size))],
        weights=np.round(rng.uniform(0.5, 5, size), 2),
        job_classes=pool.job_classes,
        class_nodes=rng.integers(0, size, n),
        resources=pool.resources,
        minimum=np.round(low * capacities, 2),
        maximum=np.round(np.maximum(high, low.sum(axis=0) if kept.any() else low) * capacities, 2),
        lends=np.where(kept, low * capacities * 0.8, np.inf),
    )
    return pool, tree, rng.integers(0, 3, n).astype(float)
