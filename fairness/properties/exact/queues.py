r"""Exact allocations under a tree of queues, from the definition of hierarchical filling.

All levels, shares and speeds are computed anew from the tasks after each event, in fractions, as
:mod:`fairness.evidence.queue_bounds` and :mod:`fairness.evidence.trees` define them: nothing is carried along
that could be wrong. A class at its limit, a resource that is full in a queue, a guarantee that is used up, a
child that the others have reached, a queue that has more of another resource than of the one that was its
share: these are the events.

Policies of prices and bottlenecks see only what a tree makes of the weights: the product, along the path of a
class, of weight over the sum of the siblings' weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from fairness.errors import NotConvergedError
from fairness.evidence.queue_bounds import guarantees
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = ["QueueFilling", "whole_weights"]

F = Fraction
INF = float("inf")

EVENTS = 100_000
"""Far more events than a filling in which a person can check anything has."""


def whole_weights(tree: Tree, problem: Problem) -> list[int]:
    """Weights of the classes by the tree, as the smallest whole numbers in their proportions.

    Examples
    --------
    >>> tree = Tree(["all", "a"], [-1, 0], job_classes=["x", "y", "z"], class_nodes=[1, 1, 0])
    >>> whole_weights(tree, Problem([[1], [1], [1]], [1], job_classes=["x", "y", "z"]))
    [1, 1, 2]
    """
    home = tree.require_classes(problem).tolist()
    own = [F(w) for w in problem.weights.tolist()]
    inside = [F(0)] * tree.n_nodes
    for n, v in enumerate(home):
        inside[v] += own[n]
    for v in reversed(range(1, tree.n_nodes)):
        inside[int(tree.parents[v])] += F(float(tree.weights[v])) if inside[v] else 0
    part = [F(1)] * tree.n_nodes
    for v in range(1, tree.n_nodes):
        part[v] = part[int(tree.parents[v])] * F(float(tree.weights[v])) / (inside[v] or 1)
    weights = [w * part[v] for w, v in zip(own, home, strict=True)]
    whole = lcm(*(w.denominator for w in weights))
    return [int(w * whole) for w in weights]


@dataclass
class QueueFilling:
    """A tree and a pool in fractions; amounts are shares of the capacities.

    Parameters
    ----------
    tree : Tree
    problem : Problem
        Taken exactly as given where it is rational, else with the exact values of its floats.
    counts : sequence of numbers, jobs
    equal : {"dominant shares", "tasks", "assets"}
        What is equalised: dominant shares, tasks per job and weight, or sums of all shares.
    naive, borrowed : bool
        Naive shares of queues; only what lies above the guarantees counts.
    """

    tree: Tree
    problem: Problem
    counts: Sequence[Any]
    equal: str = "dominant shares"
    naive: bool = False
    borrowed: bool = False

    def __post_init__(self) -> None:
        problem, tree = self.problem, self.tree
        if problem.is_rational:
            demands, capacities = problem.as_fractions()
        else:
            demands, capacities = _exact(problem.demands), _exact(problem.capacities)
        self.n, self.m, self.nodes = problem.n_classes, problem.n_resources, tree.n_nodes
        self.shares = [
            [a / c if c else F(0) for a, c in zip(row, capacities, strict=True)] for row in demands
        ]
        blocked = problem.blocked | ~problem.demands.any(axis=1)
        self.x = [F(0) if out else F(x) for x, out in zip(self.counts, blocked, strict=True)]
        self.plain = self.equal != "dominant shares"
        per_task = [F(1)] * self.n
        if self.equal == "dominant shares":
            per_task = [max(row) or F(1) for row in self.shares]
        elif self.equal == "assets":
            per_task = [sum(row, F(0)) or F(1) for row in self.shares]
        self.rate = [x * F(w) / t for x, w, t in zip(self.x, problem.weights.tolist(), per_task, strict=True)]
        self.measure = [[t] for t in per_task] if self.plain else self.shares
        self.most = [
            x * F(cap) if x and cap < INF else (INF if x else F(0))
            for x, cap in zip(self.x, problem.limits, strict=True)
        ]

        def scaled(rows: Any, empty: Any) -> Any:
            return [[b / c if c else empty for b, c in zip(row, capacities, strict=True)] for row in rows]

        low, high, own = (_exact(bound) for bound in tree.bounds(problem))
        self.low, self.high, self.own = scaled(low, F(0)), scaled(high, INF), scaled(own, F(0))
        self.high[0] = [min(h, F(1)) if c else h for h, c in zip(self.high[0], capacities, strict=True)]
        where = tree.require_classes(problem).tolist()
        self.own_classes = [[i for i in range(self.n) if where[i] == v] for v in range(self.nodes)]
        self.queues = [tree.children(v).tolist() for v in range(self.nodes)]
        self.weight = _exact(tree.weights)
        self.above = {c: p for p in range(self.nodes) for c in self.queues[p]}

    def filled(self) -> list[Any]:
        """Tasks of all classes."""
        tasks, lent = [F(0)] * self.n, False
        for _ in range(EVENTS):
            state = _State(self, tasks, lent)
            if not state.live[0]:
                if lent or not state.able:
                    return [self._without_demand(i, t) for i, t in enumerate(tasks)]
                lent = True
                continue
            speeds, time = state.motion()
            tasks = [t + s * time for t, s in zip(tasks, speeds, strict=True)]
        raise NotConvergedError("filling in fractions comes to no end", best=tasks)

    def _without_demand(self, i: int, tasks: Any) -> Any:
        if self.problem.demands[i].any() or not self.counts[i]:
            return tasks
        return F(self.counts[i]) * F(self.problem.limits[i])


class _State:
    """Everything that the definition says of tasks."""

    def __init__(self, model: QueueFilling, tasks: list[Any], lent: bool) -> None:
        self.model, self.tasks = model, tasks
        top_down, columns = range(model.nodes), range(len(model.measure[0]))
        # Who can still run more, whatever is kept for others.
        used = self.counted(model.own)
        full = self.closed(used, model.own)
        self.able = {
            i
            for v in top_down
            for i in model.own_classes[v]
            if tasks[i] < model.most[i] and not any(model.shares[i][j] > 0 for j in full[v])
        }
        self.guarantee = self.guarantees()
        self.kept = model.own if lent else self.guarantee
        self.used = self.counted(self.kept)
        self.shut = self.closed(self.used, self.kept)
        self.growing = {
            i
            for v in top_down
            for i in model.own_classes[v]
            if i in self.able and not any(model.shares[i][j] > 0 for j in self.shut[v])
        }
        self.free = [[self.freely(v, k) for k in columns] for v in top_down]
        self.live: dict[int, bool] = {}
        self.least: dict[int, Any] = {}
        self.held: dict[int, list[Any]] = {}
        self.share: dict[int, Any] = {}
        for v in reversed(top_down):
            children = self.children(v)
            levels = [self.level(kind, c) for kind, c in children if self.is_live(kind, c)]
            self.live[v] = bool(levels)
            self.least[v] = min(levels) if levels else None
            self.held[v] = [F(0)] * len(columns)
            for kind, c in children:
                for k, (kept, rest) in enumerate(self.parts(kind, c)):
                    ahead = self.is_live(kind, c) and not model.naive and self.level(kind, c) > self.least[v]
                    self.held[v][k] += kept + rest * (self.least[v] / self.level(kind, c) if ahead else 1)
            self.share[v] = max([self.counts(v, k) for k in self.open(v)], default=F(0))

    def counted(self, kept: list[list[Any]]) -> list[list[Any]]:
        """Use of each queue, with what is kept for those below it."""
        model = self.model
        found = [[F(0)] * model.m for _ in range(model.nodes)]
        for v in reversed(range(model.nodes)):
            for j in range(model.m):
                found[v][j] = sum((self.tasks[i] * model.shares[i][j] for i in model.own_classes[v]), F(0))
                found[v][j] += sum((max(found[c][j], kept[c][j]) for c in model.queues[v]), F(0))
        return found

    def closed(self, used: list[list[Any]], kept: list[list[Any]]) -> list[set[int]]:
        """Resources that are full in each queue, or above it without anything kept for it."""
        model, found = self.model, []
        for v in range(model.nodes):
            above = found[model.above[v]] if v else set()
            found.append(
                {
                    j
                    for j in range(model.m)
                    if used[v][j] >= model.high[v][j] or (j in above and used[v][j] >= kept[v][j])
                }
            )
        return found

    def guarantees(self) -> Any:
        """What is guaranteed to each queue now, by what the classes can still use."""
        model = self.model
        usable = np.full((model.nodes, model.m), F(0))
        for v, i in ((v, i) for v in range(model.nodes) for i in model.own_classes[v]):
            runs = model.most[i] if i in self.able else self.tasks[i]
            usable[v] += [runs * a if a else F(0) for a in model.shares[i]]
        bounds = (np.array(rows, dtype=object) for rows in (model.low, model.own, model.high))
        return guarantees(model.tree, *bounds, usable)

    def freely(self, v: int, k: int) -> Any:
        """What queue v may hold of a column of the measure before it counts."""
        model = self.model
        if not model.plain:
            return self.guarantee[v][k]
        parts = [
            [
                self.guarantee[v][j] / model.shares[i][j] * model.measure[i][0]
                for j in range(model.m)
                if model.shares[i][j] > 0 and self.guarantee[v][j] > 0
            ]
            for i in self.below(v)
            if model.x[i] > 0
        ]
        return min((min(part, default=F(0)) for part in parts), default=F(0))

    def below(self, v: int) -> list[int]:
        """Classes below a queue."""
        model = self.model
        return model.own_classes[v] + [i for c in model.queues[v] for i in self.below(c)]

    def children(self, v: int) -> list[tuple[str, int]]:
        queues = [("queue", c) for c in self.model.queues[v]]
        return [*(("class", i) for i in self.model.own_classes[v]), *queues]

    def open(self, v: int) -> list[int]:
        """Columns that count in the share of a queue."""
        every = self.model.plain or self.model.naive or v == 0
        return [k for k in range(len(self.free[v])) if every or k not in self.shut[self.model.above[v]]]

    def counts(self, v: int, k: int) -> Any:
        """What of a column counts in the share of a queue; negative while it does not reach the guarantee."""
        held, free = self.held[v][k], self.free[v][k]
        if self.model.borrowed:
            return max(held - free, F(0))
        return held if held >= free else F(0)

    def is_live(self, kind: str, c: int) -> bool:
        return c in self.growing if kind == "class" else self.live[c]

    def parts(self, kind: str, c: int) -> list[tuple[Any, Any]]:
        """Of each column what a child holds by its guarantee, and the rest."""
        if kind == "class":
            return [(F(0), self.tasks[c] * b) for b in self.model.measure[c]]
        kept = [min(h, f) for h, f in zip(self.held[c], self.free[c], strict=True)]
        return [(f, h - f) for h, f in zip(self.held[c], kept, strict=True)]

    def level(self, kind: str, c: int) -> Any:
        if kind == "queue":
            return self.share[c] / self.model.weight[c]
        return self.tasks[c] / self.model.rate[c]

    def speeds(self, v: int) -> tuple[dict[int, Any], list[Any], Any, Any]:
        """On the clock of queue v: speeds of tasks, of what it holds, of its share, and of its level."""
        if v in self._speeds:
            return self._speeds[v]
        model = self.model
        columns = range(len(model.measure[0]))
        rising = [
            (k, c) for k, c in self.children(v) if self.is_live(k, c) and self.level(k, c) == self.least[v]
        ]
        flat = [c for k, c in rising if k == "queue" and self.speeds(c)[2] == 0]
        tasks: dict[int, Any] = {}
        gains = [F(0)] * len(columns)
        for kind, c in rising:
            if kind == "class":
                own, gain = {c: model.rate[c]}, [model.rate[c] * b for b in model.measure[c]]
                factor = F(0) if flat else F(1)
            else:
                own, gain, slope, _ = self.speeds(c)
                if flat:
                    factor = model.weight[c] / max(gain) if c in flat else F(0)
                else:
                    factor = model.weight[c] / slope
            self.factor[kind, c] = factor
            tasks |= {i: factor * speed for i, speed in own.items()}
            gains = [h + factor * g for h, g in zip(gains, gain, strict=True)]
        for kind, c in self.children(v):
            waits = self.is_live(kind, c) and (kind, c) not in rising
            if waits and not flat and not model.naive:
                rest = [rest / self.level(kind, c) for _, rest in self.parts(kind, c)]
                gains = [h + x for h, x in zip(gains, rest, strict=True)]
        most = [k for k in self.open(v) if self.counts(v, k) == self.share[v]]
        rises = [gains[k] for k in most if self.held[v][k] >= self.free[v][k]]
        self._speeds[v] = tasks, gains, max(rises, default=F(0)), F(0) if flat else F(1)
        return self._speeds[v]

    def motion(self) -> tuple[list[Any], Any]:
        """Speeds of the tasks, and the time to the next event, on the clock of the root."""
        self._speeds: dict[int, Any] = {}
        self.factor: dict[Any, Any] = {}
        tasks, *_ = self.speeds(0)
        speeds = [tasks.get(i, F(0)) for i in range(self.model.n)]
        times: list[Any] = []
        self._events(0, F(1), speeds, times)
        return speeds, min(times)

    def _events(self, v: int, clock: Any, speeds: list[Any], times: list[Any]) -> Any:
        """Add the times of all events below queue v, whose clock runs at this speed; speeds of its use."""
        model = self.model
        growth = [F(0)] * model.m
        for i in model.own_classes[v]:
            if speeds[i] > 0:
                growth = [g + speeds[i] * a for g, a in zip(growth, model.shares[i], strict=True)]
                times += [(model.most[i] - self.tasks[i]) / speeds[i]] if model.most[i] < INF else []
        for c in model.queues[v]:
            factor = self.factor.get(("queue", c), 0) if self.live[c] else 0
            own = self._events(c, clock * factor, speeds, times) if factor > 0 else [F(0)] * model.m
            for j in range(model.m):
                if self.used[c][j] >= self.kept[c][j]:
                    growth[j] += own[j]
                elif own[j] > 0:
                    times.append((self.kept[c][j] - self.used[c][j]) / own[j])
        _, gains, slope, level = self.speeds(v)
        for kind, c in self.children(v):
            if self.is_live(kind, c) and level > 0 and self.level(kind, c) > self.least[v]:
                times.append((self.level(kind, c) - self.least[v]) / clock)
        for k in self.open(v) if v != 0 else ():
            held, free = self.held[v][k], self.free[v][k]
            if not model.borrowed and held < free:
                times += [(free - held) / gains[k] / clock] if gains[k] > 0 else []
                continue
            counts = held - free if model.borrowed else held
            if counts < self.share[v] and gains[k] > slope:
                times.append((self.share[v] - counts) / (gains[k] - slope) / clock)
        for j in range(model.m):
            if growth[j] > 0 and self.used[v][j] < model.high[v][j] < INF:
                times.append((model.high[v][j] - self.used[v][j]) / growth[j])
        return growth


def _exact(values: Any) -> Any:
    """Nested lists of fractions; infinity stays what it is."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list):
        return [_exact(value) for value in values]
    return values if values == INF else F(values)
