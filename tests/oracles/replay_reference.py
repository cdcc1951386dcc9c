"""A replay by definition, in fractions: does every start of a record follow from the rules?

The record says what started when; at every instant the reference lists what may start next, and looks for an
order of the recorded starts that it allows. Where the rules draw at random several starts are allowed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairness import Cluster
from fairness.protocol.calling import policy_tasks
from fairness.protocol.cluster_policy import ClusterPolicy
from queueing import (
    ClusterTrace,
    DRFScheduler,
    FIFOScheduler,
    FirstFit,
    NodeList,
    PowerOfChoices,
    RandomFit,
    TargetScheduler,
    WorstFit,
)

RESOURCES, UNITS = ["CPU", "RAM", "GPU"], ["cores", "GB", "devices"]


def random_trace(rng, tasks=16, *, models=True, halves=(0.5, 0.25, 1.0, 2.0, 0.0)):
    """A small trace with ties of all kinds, and nodes for it."""
    types = np.unique(
        np.column_stack([rng.integers(1, 5, 5), rng.integers(0, 4, 5), rng.choice(halves, 5)]), axis=0
    )
    n = len(types)
    allowed = rng.random((n, 2)) < 0.7
    allowed[:, 0] |= ~allowed.any(axis=1)
    trace = ClusterTrace(
        RESOURCES, UNITS, np.sort(rng.integers(0, tasks // 5, tasks)), rng.integers(1, 9, tasks), types,
        rng.integers(0, n, tasks), ["a", "b", "c"], rng.integers(0, 3, tasks), devices="GPU",
        models=["T", ""] if models else None, eligible_models=allowed if models else None,
    )  # fmt: skip
    capacities = [[8, 6, 2], [4, 6, 4], [6, 4, 2], [8, 8, 3]]
    return trace, NodeList(list("wxyz"), RESOURCES, UNITS, capacities, ["T", "", "T", "T"])


class Reference:
    """The state of the cluster, from the tasks that run and wait."""

    def __init__(self, trace, nodes, scheduler, placement, weights=None):
        self.trace, self.nodes, self.scheduler, self.placement = trace, nodes, scheduler, placement
        self.weights = [Fraction(w) for w in (weights or [1] * trace.n_users)]
        self.demands = [[Fraction(v) for v in row] for row in trace.types]
        self.capacities = [[Fraction(v) for v in row] for row in nodes.capacities]
        self.total = [sum(column) for column in zip(*self.capacities, strict=True)]
        self.eligible = nodes.eligible(trace)
        self.running: dict[int, tuple[int, frozenset[int]]] = {}  # task: node, devices
        self.waiting: list[int] = []

    def demand(self, task):
        return self.demands[self.trace.type_of[task]]

    def free(self, node):
        used = [self.demand(k) for k, (where, _) in self.running.items() if where == node]
        return [c - sum(d[r] for d in used) for r, c in enumerate(self.capacities[node])]

    def free_devices(self, node):
        if self.trace.devices is None:
            return []
        free = [Fraction(1)] * int(self.capacities[node][self.trace.devices])
        for task, (where, taken) in self.running.items():
            for d in taken if where == node else ():
                free[d] -= min(self.demand(task)[self.trace.devices], 1)
        return free

    def devices(self, task, node):
        """Devices that the task would take there, or None if it does not fit."""
        if self.trace.devices is None:
            return frozenset()
        wanted, free = self.demand(task)[self.trace.devices], self.free_devices(node)
        if wanted >= 1:
            empty = [d for d, part in enumerate(free) if part == 1]
            return frozenset(empty[: int(wanted)]) if len(empty) >= wanted else None
        if wanted > 0:
            wide = [d for d, part in enumerate(free) if part >= wanted]
            return frozenset([min(wide, key=lambda d: (free[d], d))]) if wide else None
        return frozenset()

    def where(self, task):
        """Nodes on which the task fits."""
        return [
            node
            for node in range(self.nodes.n_nodes)
            if self.eligible[self.trace.type_of[task], node]
            and all(f >= d for f, d in zip(self.free(node), self.demand(task), strict=True))
            and self.devices(task, node) is not None
        ]

    def room(self, task, node):
        own = zip(self.free(node), self.demand(task), self.capacities[node], strict=True)
        parts = [(f - d) / c for f, d, c in own if c > 0]
        return sum(parts) / len(parts)

    def placed(self, task):
        """Nodes on which the rule may place the task."""
        fitting, rule = self.where(task), self.placement
        if isinstance(rule, RandomFit) or len(fitting) < 2:
            return fitting
        if isinstance(rule, FirstFit):
            return fitting[:1]
        if isinstance(rule, PowerOfChoices):
            # All but those that lose against every draw: with two draws any node may be drawn twice.
            return fitting
        if isinstance(rule, WorstFit):
            score = {node: self.room(task, node) for node in fitting}
        elif rule.score == "remaining":
            score = {node: -self.room(task, node) for node in fitting}
        else:
            score = {
                node: sum(
                    d * f / c / c
                    for f, d, c in zip(self.free(node), self.demand(task), self.capacities[node], strict=True)
                    if c > 0
                )
                for node in fitting
            }
        return [max(fitting, key=lambda node: (score[node], -node))]

    def held(self, user):
        own = [self.demand(k) for k in self.running if self.trace.user_of[k] == user]
        return [sum(d[r] for d in own) for r in range(self.trace.n_resources)]

    def scores(self):
        """Score of each user, and the part by which equal ones may differ."""
        users = range(self.trace.n_users)
        if isinstance(self.scheduler, FIFOScheduler):
            return [0] * len(users), 0
        if isinstance(self.scheduler, DRFScheduler):
            shares = [[h / c for h, c in zip(self.held(u), self.total, strict=True) if c] for u in users]
            return [max(s) / w for s, w in zip(shares, self.weights, strict=True)], 0
        assert isinstance(self.scheduler, TargetScheduler)
        occur = sorted(set(self.trace.user_of.tolist()))
        tasks = [*self.waiting, *self.running]
        present = [float(any(self.trace.user_of[k] == u for k in tasks)) for u in occur]
        weights = [float(self.weights[u]) for u in occur]
        if isinstance(self.scheduler.policy, ClusterPolicy):
            problem = self.cluster(occur)
        else:
            problem = self.nodes.pool(self.trace, by="user")
        target = policy_tasks(problem.replaced(weights=weights), self.scheduler.policy, np.array(present))
        scores = [0.0] * len(users)
        for u, phi, demand in zip(occur, target, problem.demands, strict=True):
            amounts = [float(h) / (phi * d) for h, d in zip(self.held(u), demand, strict=True) if phi * d > 0]
            scores[u] = max(amounts) if amounts else 1e300
        return scores, 1e-6

    def cluster(self, occur):
        """The nodes, each with who may use it: tasks may run there, and it has all that they hold."""
        demands = self.nodes.pool(self.trace, by="user").demands
        eligible = np.array(
            [
                [
                    any(self.eligible[t, k] for t in self.trace.type_of[self.trace.user_of == u])
                    and all(c > 0 for c, d in zip(self.nodes.capacities[k], demand, strict=True) if d > 0)
                    for k in range(self.nodes.n_nodes)
                ]
                for u, demand in zip(occur, demands, strict=True)
            ]
        )
        open_to = eligible.any(axis=0)
        return Cluster(demands, self.nodes.capacities[open_to], eligible=eligible[:, open_to])

    def allowed(self):
        """Tasks that may start next, each with its nodes; none if the scheduler waits."""
        blocking = self.scheduler.blocking
        turn = {}
        for task in self.waiting:
            user = self.trace.user_of[task]
            if user not in turn and (blocking or self.where(task)):
                turn[user] = task
        if not turn:
            return {}
        scores, tolerance = self.scores()
        lowest = min(scores[u] for u in turn)
        tied = [task for u, task in turn.items() if scores[u] <= lowest * (1 + tolerance)]
        if getattr(self.scheduler, "ties", "oldest") == "oldest":
            tied = [min(tied)]
        elif blocking:
            # Whoever of the tied is drawn and does not fit makes all wait.
            pass
        return {task: self.placed(task) for task in tied}

    def start(self, task, node):
        self.running[task] = node, self.devices(task, node)
        self.waiting.remove(task)


def follows(state, starts, record):
    """Whether the starts of this instant, a set, have an order that the rules allow; the state follows it."""
    allowed = state.allowed()
    if not starts:
        # With random ties a scheduler that blocks may have drawn a user whose task does not fit.
        random = getattr(state.scheduler, "ties", "oldest") == "random" and state.scheduler.blocking
        stuck = [task for task, nodes in allowed.items() if not nodes]
        return not any(allowed.values()) or bool(random and stuck)
    for task, nodes in allowed.items():
        node = int(record.node_of[task])
        if task in starts and node in nodes:
            taken = state.devices(task, node)
            if record.devices_of is not None and sum(1 << d for d in taken) != record.devices_of[task]:
                continue
            state.start(task, node)
            if follows(state, starts - {task}, record):
                return True
            del state.running[task]
            state.waiting.append(task)
            state.waiting.sort()
    return False


def require_by_definition(record, scheduler, placement, weights=None):
    """Fail unless every start of the record, and every wait, follows from the rules."""
    trace = record.trace
    state = Reference(trace, record.nodes, scheduler, placement, weights)
    ends = record.ends.tolist()
    assert np.isfinite(record.starts).all()
    assert set(record.starts.tolist()) <= {*trace.arrivals.tolist(), *ends}
    for now in sorted({*trace.arrivals.tolist(), *ends}):
        for task in [task for task in state.running if ends[task] == now]:
            del state.running[task]
        state.waiting += np.flatnonzero(trace.arrivals == now).tolist()
        state.waiting.sort()
        starts = frozenset(np.flatnonzero(record.starts == now).tolist())
        assert follows(state, starts, record), f"at {now}: {sorted(starts)} started"
    assert not state.running
    assert not state.waiting
