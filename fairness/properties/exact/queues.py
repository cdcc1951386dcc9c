r"""Exact allocations under a tree of queues, from the definition of hierarchical filling.

All levels, shares and speeds are computed anew from the tasks after each event, in fractions, as
:mod:`fairness.evidence.trees` defines them: nothing is carried along that could be wrong. A class at its
limit, a resource that is full in a queue, a reserve that is used up, a child that the others have reached,
a queue that has more of another resource than of the one that was its share: these are the events.

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
from fairness.model.problem import Problem
from fairness.model.tree import Tree

__all__ = ["QueueFilling", "whole_weights"]

F = Fraction

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
            x * F(cap) if cap < float("inf") else cap for x, cap in zip(self.x, problem.limits, strict=True)
        ]
        low, high, own = (_exact(bound) for bound in tree.bounds(problem))

        def scaled(rows: Any) -> Any:
            return [[b / c if c else F(0) for b, c in zip(row, capacities, strict=True)] for row in rows]

        self.low, self.high, self.own = scaled(low), scaled(high), scaled(own)
        self.high = [
            [h if c else float("inf") for h, c in zip(row, capacities, strict=True)] for row in self.high
        ]
        self.high[0] = [min(h, F(1)) if c else h for h, c in zip(self.high[0], capacities, strict=True)]
        where = tree.require_classes(problem).tolist()
        self.own_classes = [[i for i in range(self.n) if where[i] == v] for v in range(self.nodes)]
        self.queues = [tree.children(v).tolist() for v in range(self.nodes)]
        self.weight = _exact(tree.weights)
        self.above = {c: p for p in range(self.nodes) for c in self.queues[p]}

    def below(self, root: int) -> list[int]:
        """Queues below a queue and itself, children before parents."""
        return [v for c in self.queues[root] for v in self.below(c)] + [root]

    def filled(self) -> list[Any]:
        """Tasks of all classes."""
        floor = [F(0)] * self.n
        for v in self.below(0):
            if any(self.low[v]):
                usual, self.high[v] = self.high[v], self.low[v]
                floor = self._fill(v, floor)
                self.high[v] = usual
        tasks = self._fill(0, floor)
        for i in range(self.n):
            if not self.problem.demands[i].any():
                tasks[i] = F(self.counts[i]) * F(self.problem.limits[i]) if self.counts[i] else F(0)
        return tasks

    def _fill(self, root: int, floor: list[Any]) -> list[Any]:
        tasks = list(floor)
        for _ in range(EVENTS):
            state = _State(self, root, floor, tasks)
            if not state.live[root]:
                return tasks
            speeds, time = state.motion()
            tasks = [t + s * time for t, s in zip(tasks, speeds, strict=True)]
        raise NotConvergedError("filling in fractions comes to no end", best=tasks)


class _State:
    """Everything that the definition says of tasks."""

    def __init__(self, model: QueueFilling, root: int, floor: list[Any], tasks: list[Any]) -> None:
        self.model, self.root, self.tasks = model, root, tasks
        m, nodes = model.m, model.below(root)
        self.used: dict[int, list[Any]] = {}
        for v in nodes:
            self.used[v] = [
                sum((tasks[i] * model.shares[i][j] for i in model.own_classes[v]), F(0))
                + sum((max(self.used[c][j], model.own[c][j]) for c in model.queues[v]), F(0))
                for j in range(m)
            ]
        self.full = {v: {j for j in range(m) if self.used[v][j] >= model.high[v][j]} for v in nodes}
        self.closed: dict[int, set[int]] = {root: set()}
        shut: dict[int, set[int]] = {}
        for p in reversed(nodes):
            kept = {j for j in range(m) if self.used[p][j] < model.own[p][j]} if p != root else set()
            shut[p] = self.full[p] | (self.closed[p] - kept)
            for c in model.queues[p]:
                self.closed[c] = shut[p]
        self.growing = {
            i
            for v in nodes
            for i in model.own_classes[v]
            if model.rate[i] > 0
            and tasks[i] < model.most[i]
            and not any(model.shares[i][j] > 0 for j in shut[v])
        }
        self.base = floor if model.borrowed else [F(0)] * model.n
        self.start = start = [F(0)] * model.n if model.borrowed else floor
        columns = range(len(model.measure[0]))
        self.live: dict[int, bool] = {}
        self.least: dict[int, Any] = {}
        self.held: dict[int, list[Any]] = {}
        self.floors: dict[int, list[Any]] = {}
        self.share: dict[int, Any] = {}
        for v in nodes:
            children = self.children(v)
            self.floors[v] = [
                sum((start[i] * model.measure[i][j] for i in model.own_classes[v]), F(0))
                + sum((self.floors[c][j] for c in model.queues[v]), F(0))
                for j in columns
            ]
            levels = [self.level(kind, c) for kind, c in children if self.is_live(kind, c)]
            self.live[v] = bool(levels)
            self.least[v] = min(levels) if levels else None
            self.held[v] = [F(0)] * len(columns)
            for kind, c in children:
                part = F(1)
                if self.is_live(kind, c) and not model.naive and self.level(kind, c) > 0:
                    part = max(self.least[v], self.floor_level(kind, c)) / self.level(kind, c)
                for j in columns:
                    self.held[v][j] += min(part, F(1)) * self.holding(kind, c)[j]
            self.share[v] = max((self.held[v][j] for j in self.open(v)), default=F(0))

    def children(self, v: int) -> list[tuple[str, int]]:
        queues = [("queue", c) for c in self.model.queues[v]]
        return [*(("class", i) for i in self.model.own_classes[v]), *queues]

    def open(self, v: int) -> list[int]:
        every = self.model.plain or self.model.naive
        return [j for j in range(len(self.model.measure[0])) if every or j not in self.closed[v]]

    def is_live(self, kind: str, c: int) -> bool:
        return c in self.growing if kind == "class" else self.live[c]

    def holding(self, kind: str, c: int) -> list[Any]:
        if kind == "queue":
            return self.held[c]
        return [(self.tasks[c] - self.base[c]) * b for b in self.model.measure[c]]

    def level(self, kind: str, c: int) -> Any:
        if kind == "queue":
            return self.share[c] / self.model.weight[c]
        return (self.tasks[c] - self.base[c]) / self.model.rate[c]

    def floor_level(self, kind: str, c: int) -> Any:
        model = self.model
        if kind == "class":
            return self.start[c] / model.rate[c]
        return max((self.floors[c][j] for j in self.open(c)), default=F(0)) / model.weight[c]

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
        held = [F(0)] * len(columns)
        for kind, c in rising:
            if kind == "class":
                own, gain, factor = {c: model.rate[c]}, [model.rate[c] * b for b in model.measure[c]], F(1)
                factor = F(0) if flat else F(1)
            else:
                own, gain, slope, _ = self.speeds(c)
                if flat:
                    factor = model.weight[c] / max(gain) if c in flat else F(0)
                else:
                    factor = model.weight[c] / slope
            self.factor[kind, c] = factor
            tasks |= {i: factor * speed for i, speed in own.items()}
            held = [h + factor * g for h, g in zip(held, gain, strict=True)]
        for kind, c in self.children(v):
            waits = self.is_live(kind, c) and (kind, c) not in rising
            if waits and not flat and not model.naive and self.floor_level(kind, c) <= self.least[v]:
                held = [h + x / self.level(kind, c) for h, x in zip(held, self.holding(kind, c), strict=True)]
        most = [j for j in self.open(v) if self.held[v][j] == self.share[v]]
        slope = max((held[j] for j in most), default=F(0))
        self._speeds[v] = tasks, held, slope, F(0) if flat else F(1)
        return self._speeds[v]

    def motion(self) -> tuple[list[Any], Any]:
        """Speeds of the tasks, and the time to the next event, on the clock of the root."""
        self._speeds: dict[int, Any] = {}
        self.factor: dict[Any, Any] = {}
        tasks, *_ = self.speeds(self.root)
        speeds = [tasks.get(i, F(0)) for i in range(self.model.n)]
        times: list[Any] = []
        self._events(self.root, F(1), speeds, times)
        return speeds, min(times)

    def _events(self, v: int, clock: Any, speeds: list[Any], times: list[Any]) -> Any:
        """Add the times of all events below queue v, whose clock runs at this speed; speeds of its use."""
        model = self.model
        growth = [F(0)] * model.m
        for i in model.own_classes[v]:
            if speeds[i] > 0:
                growth = [g + speeds[i] * a for g, a in zip(growth, model.shares[i], strict=True)]
                times += [(model.most[i] - self.tasks[i]) / speeds[i]] if model.most[i] < float("inf") else []
        for c in model.queues[v]:
            moving = self.live[c] and self.factor.get(("queue", c), 0) > 0
            own = (
                self._events(c, clock * self.factor[("queue", c)], speeds, times)
                if moving
                else [F(0)] * model.m
            )
            for j in range(model.m):
                if self.used[c][j] >= model.own[c][j]:
                    growth[j] += own[j]
                elif own[j] > 0:
                    times.append((model.own[c][j] - self.used[c][j]) / own[j])
        _, held, slope, level = self.speeds(v)
        for kind, c in self.children(v):
            if self.is_live(kind, c) and level > 0:
                for goal in (self.level(kind, c), self.floor_level(kind, c)):
                    if goal > self.least[v]:
                        times.append((goal - self.least[v]) / clock)
        for j in self.open(v) if v != self.root else ():
            if self.held[v][j] < self.share[v] and held[j] > slope:
                times.append((self.share[v] - self.held[v][j]) / (held[j] - slope) / clock)
        for j in range(model.m):
            if growth[j] > 0 and model.high[v][j] < float("inf") and j not in self.full[v]:
                times.append((model.high[v][j] - self.used[v][j]) / growth[j])
        return growth


def _exact(values: Any) -> Any:
    """Nested lists of fractions; infinity stays what it is."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list):
        return [_exact(value) for value in values]
    return values if values == float("inf") else F(values)
