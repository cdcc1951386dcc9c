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
from fairness.model.guarantees import guarantees
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
    weights, _ = tree.parts(home, [F(w) for w in problem.weights.tolist()], [True] * problem.n_classes)
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
    equal : {"dominant", "tasks", "assets"}
        What is equalised: dominant shares, tasks per job and weight, or sums of all shares.
    naive, borrowed : bool
        Naive shares of queues; only what lies above the guarantees counts.
    """

    tree: Tree
    problem: Problem
    counts: Sequence[Any]
    equal: str = "dominant"
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
        self.plain = self.equal != "dominant"
        per_task = [F(1)] * self.n
        if self.equal == "dominant":
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
        top_down = range(model.nodes)
        # Who can still run more, whatever is kept for others.
        used = self.counted(model.own)
        full = self.closed(used, model.own)
        self.able = {
            i
            for v in top_down
            for i in model.own_classes[v]
            if tasks[i] < model.most[i] and not any(model.shares[i][j] > 0 for j in full[v])
        }
        guaranteed, own = self.guarantees()
        self.kept = model.own if lent else guaranteed
        self.used = self.counted(self.kept)
        self.shut = self.closed(self.used, self.kept)
        self.growing = {
            i
            for v in top_down
            for i in model.own_classes[v]
            if i in self.able and not any(model.shares[i][j] > 0 for j in self.shut[v])
        }
        self.free = [self.freely(v, own[v]) for v in top_down]
        self.queues: dict[int, _Queue] = {}
        for v in reversed(top_down):
            self.queues[v] = _Queue(self, v)
        self.live = {v: bool(queue.live) for v, queue in self.queues.items()}

    def counted(self, kept: Any) -> list[list[Any]]:
        """Use of each queue, with what is kept for those below it."""
        model = self.model
        found = [[F(0)] * model.m for _ in range(model.nodes)]
        for v in reversed(range(model.nodes)):
            for j in range(model.m):
                found[v][j] = sum((self.tasks[i] * model.shares[i][j] for i in model.own_classes[v]), F(0))
                found[v][j] += sum((max(found[c][j], kept[c][j]) for c in model.queues[v]), F(0))
        return found

    def closed(self, used: list[list[Any]], kept: Any) -> list[set[int]]:
        """Resources that are full in each queue, or above it without anything kept for it."""
        model = self.model
        found: list[set[int]] = []
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
        """What is guaranteed to each queue, by what its classes can still use, and what is its own."""
        model = self.model
        usable = np.full((model.nodes, model.m), F(0))
        for v, own in enumerate(model.own_classes):
            for i in own:
                runs = model.most[i] if i in self.able else self.tasks[i]
                usable[v] += [runs * a if a else F(0) for a in model.shares[i]]
        low, reserve, high = (np.array(rows, dtype=object) for rows in (model.low, model.own, model.high))
        return guarantees(model.tree, low, reserve, high, usable)

    def freely(self, v: int, own: Any) -> list[Any]:
        """What the own guarantee of queue v covers of each column of the measure."""
        model = self.model
        if not model.plain:
            return list(own)
        parts = [
            [own[j] / a * model.measure[i][0] for j, a in enumerate(model.shares[i]) if a > 0 and own[j] > 0]
            for i in self.below(v)
            if model.x[i] > 0
        ]
        return [min((min(part, default=F(0)) for part in parts), default=F(0))]

    def below(self, v: int) -> list[int]:
        """Classes below a queue."""
        return self.model.own_classes[v] + [i for c in self.model.queues[v] for i in self.below(c)]

    def motion(self) -> tuple[list[Any], Any]:
        """Speeds of the tasks, and the time to the next event, on the clock of the root."""
        speeds = [self.queues[0].tasks.get(i, F(0)) for i in range(self.model.n)]
        times: list[Any] = []
        self._events(0, F(1), speeds, times)
        return speeds, min(times)

    def _events(self, v: int, clock: Any, speeds: list[Any], times: list[Any]) -> Any:
        """Add the times of all events below queue v, whose clock runs at this speed; speeds of its use."""
        model, queue = self.model, self.queues[v]
        growth = [F(0)] * model.m
        for i in model.own_classes[v]:
            if speeds[i] > 0:
                growth = [g + speeds[i] * a for g, a in zip(growth, model.shares[i], strict=True)]
                times += [(model.most[i] - self.tasks[i]) / speeds[i]] if model.most[i] < INF else []
        for c in model.queues[v]:
            factor = queue.factor.get(("queue", c), F(0))
            own = self._events(c, clock * factor, speeds, times) if factor > 0 else [F(0)] * model.m
            for j in range(model.m):
                if self.used[c][j] >= self.kept[c][j]:
                    growth[j] += own[j]
                elif own[j] > 0:
                    times.append((self.kept[c][j] - self.used[c][j]) / own[j])
        times += [time / clock for time in queue.times]
        for j in range(model.m):
            if growth[j] > 0 and self.used[v][j] < model.high[v][j] < INF:
                times.append((model.high[v][j] - self.used[v][j]) / growth[j])
        return growth


class _Queue:
    """A queue in a state, on its own clock: who grows in it how fast, what it holds, and its share.

    Of each column of the measure it holds so much, and a part of that by guarantees (*covered*).
    """

    def __init__(self, state: _State, v: int) -> None:
        self.state, self.model, self.v = state, state.model, v
        model = self.model
        queues = [("queue", c) for c in model.queues[v]]
        self.children = [*(("class", i) for i in model.own_classes[v]), *queues]
        self.level = {child: self._level(*child) for child in self.children}
        self.live = [child for child in self.children if self._is_live(*child)]
        self.least = min((self.level[child] for child in self.live), default=F(0))
        columns = range(len(model.measure[0]))
        self.held, self.promised = [F(0)] * len(columns), [F(0)] * len(columns)
        for child in self.children:
            ahead = child in self.live and not model.naive and self.level[child] > self.least
            scale = self.least / self.level[child] if ahead else F(1)
            for k, (kept, rest) in enumerate(self._parts(*child)):
                self.held[k] += kept + scale * rest
                self.promised[k] += kept
        self.covered: list[Any] = [
            min(held, free) if free > 0 else below
            for held, free, below in zip(self.held, state.free[v], self.promised, strict=True)
        ]
        self._grow()
        self._compare()

    def _level(self, kind: str, c: int) -> Any:
        if kind == "queue":
            return self.state.queues[c].share / self.model.weight[c]
        return self.state.tasks[c] / self.model.rate[c] if self.model.rate[c] else F(0)

    def _is_live(self, kind: str, c: int) -> bool:
        return c in self.state.growing if kind == "class" else bool(self.state.queues[c].live)

    def _parts(self, kind: str, c: int) -> list[tuple[Any, Any]]:
        """Of each column what a child holds by guarantees, and the rest."""
        if kind == "class":
            return [(F(0), self.state.tasks[c] * b) for b in self.model.measure[c]]
        child = self.state.queues[c]
        return [(f, h - f) for h, f in zip(child.held, child.covered, strict=True)]

    def _grow(self) -> None:
        """Speeds of tasks, of what is held and of what is covered."""
        model, queues = self.model, self.state.queues
        self.tasks: dict[int, Any] = {}
        self.factor: dict[tuple[str, int], Any] = {}
        rising = [child for child in self.live if self.level[child] == self.least]
        flat = {child for child in rising if child[0] == "queue" and queues[child[1]].slope == 0}
        self.gains, self.promising = [F(0)] * len(self.held), [F(0)] * len(self.held)
        for kind, c in rising:
            if kind == "class":
                factor, tasks = F(0 if flat else 1), {c: model.rate[c]}
                gains, promising = [model.rate[c] * b for b in model.measure[c]], [F(0)] * len(self.held)
            else:
                queue = queues[c]
                tasks, gains, promising = queue.tasks, queue.gains, queue.covering
                factor = model.weight[c] / (max(gains) if flat else queue.slope)
                factor *= not flat or (kind, c) in flat
            self.factor[kind, c] = factor
            self.tasks |= {i: factor * speed for i, speed in tasks.items()}
            self.gains = [a + factor * b for a, b in zip(self.gains, gains, strict=True)]
            self.promising = [a + factor * b for a, b in zip(self.promising, promising, strict=True)]
        self.times: list[Any] = []
        if not flat:
            for child in self.live:
                if child not in rising:
                    self.times.append(self.level[child] - self.least)
                    rises = [
                        0 if model.naive else rest / self.level[child] for _, rest in self._parts(*child)
                    ]
                    self.gains = [a + b for a, b in zip(self.gains, rises, strict=True)]
        self.covering: list[Any] = [
            (gain if held < free else F(0)) if free > 0 else below
            for held, free, gain, below in zip(
                self.held, self.state.free[self.v], self.gains, self.promising, strict=True
            )
        ]

    def _compare(self) -> None:
        """The share, how fast it rises, and when another column takes its place."""
        model, v = self.model, self.v
        every = model.plain or model.naive or v == 0
        opened = [k for k in range(len(self.held)) if every or k not in self.state.shut[model.above[v]]]
        counts = [k for k in opened if self.held[k] > self.covered[k] or self.gains[k] > self.covering[k]]
        beyond = {k: self.held[k] - (self.covered[k] if model.borrowed else 0) for k in counts}
        speed = {k: self.gains[k] - (self.covering[k] if model.borrowed else 0) for k in counts}
        self.share = max(beyond.values(), default=F(0))
        self.slope: Any = max((speed[k] for k in counts if beyond[k] == self.share), default=F(0))
        if v == 0:
            return
        for k in opened:
            free = self.state.free[v][k]
            if self.held[k] < free and self.gains[k] > 0:
                self.times.append((free - self.held[k]) / self.gains[k])
            elif k in counts and beyond[k] < self.share and speed[k] > self.slope:
                self.times.append((self.share - beyond[k]) / (speed[k] - self.slope))


def _exact(values: Any) -> Any:
    """Nested lists of fractions; infinity stays what it is."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, list):
        return [_exact(value) for value in values]
    return values if values == INF else F(values)
