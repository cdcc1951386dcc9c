"""The engine of :func:`fairness.indivisible.fill_cluster`: who is served where, task by task.

The server rules are defined in :mod:`fairness.indivisible.cluster`. Levels only rise and what is free only
shrinks, so all of them use heaps (:mod:`fairness.indivisible.priority_queue`); what does not fit is dropped.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from fairness.indivisible.free_resources import ROUNDING, Ledger, Number
from fairness.indivisible.priority_queue import LowestFirst, Ties
from fairness.indivisible.rational_model import ClusterAmounts
from fairness.indivisible.server_shares import ClusterRule, Level
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray

__all__ = ["Placing"]


class Placing:
    """A filling in progress: what has been placed so far, and three ways to go on to the end."""

    def __init__(self, amounts: ClusterAmounts, rule: ClusterRule, ledger: Ledger, ties: Ties) -> None:
        cluster, counts = amounts.cluster, amounts.counts
        self.present = [int(n) for n in np.flatnonzero(counts > 0)]
        self.places = {n: [int(i) for i in np.flatnonzero(cluster.eligible[n])] for n in self.present}
        self.placement = np.zeros((cluster.n_classes, cluster.n_servers), dtype=np.int64)
        self.order: list[tuple[int, int]] = []
        self.tasks = [0] * cluster.n_classes
        self.ledger, self.ties, self.amounts = ledger, ties, amounts
        self.fit: BestFit | None = None
        self.level: Level = rule.level(amounts, ledger, self.tasks)

    def start(self, n: int, i: int) -> None:
        """Start a task of class n on server i."""
        self.ledger.take(n, i)
        self.tasks[n] += 1
        self.placement[n, i] += 1
        self.order.append((n, i))
        if self.fit is not None:
            self.fit.update(i, self.ledger.free_parts(i))

    def by_turns(self, rng: np.random.Generator) -> None:
        """Randomised round robin over the servers."""
        rank = self.ties.place.__getitem__
        queues = {
            i: LowestFirst(
                [n for n in self.present if i in self.places[n]], partial(self._level_on, i), rank, self.ties
            )
            for i in range(self.placement.shape[1])
        }
        while queues:
            # A server that cannot serve anybody now never will.
            for i in rng.permutation(list(queues)).tolist():
                while (n := queues[i].pop()) is not None and not self.ledger.fits(n, i):
                    pass
                if n is None:
                    del queues[i]
                else:
                    self.start(n, i)
                    queues[i].push(n)

    def _level_on(self, i: int, n: int) -> Number:
        return self.level(n, i)

    def by_pairs(self) -> None:
        """The lowest level among all pairs of class and server."""
        queue = LowestFirst(
            [(n, i) for n in self.present for i in self.places[n]],
            lambda pair: self.level(*pair),
            lambda pair: (self.ties.place[pair[0]], pair[1]),
            self.ties,
        )
        while (pair := queue.pop()) is not None:
            if self.ledger.fits(*pair):
                self.start(*pair)
                queue.push(pair)

    def class_first(self, server_rule: str, stop: str, rng: np.random.Generator) -> int | None:
        """The poorest class, then a server for it; return the class that stopped everything, if one did."""
        if server_rule == "best fit":
            self.fit = BestFit(self.amounts.cluster)
        queue = LowestFirst(self.present, lambda n: self.level(n, 0), self.ties.place.__getitem__, self.ties)
        room = {n: list(servers) for n, servers in self.places.items()}
        while (n := queue.pop()) is not None:
            room[n] = [i for i in room[n] if self.ledger.fits(n, i)]
            if room[n]:
                self.start(n, self.choose(n, room[n], server_rule, rng))
                queue.push(n)
            elif stop == "first misfit":
                return n
        return None

    def choose(self, n: int, servers: list[int], server_rule: str, rng: np.random.Generator) -> int:
        """One of the servers where the task fits."""
        if server_rule == "first fit":
            return servers[0]
        if server_rule == "random fit":
            return servers[int(rng.integers(len(servers)))]
        assert self.fit is not None
        tied = self.fit.best(n, servers)
        return tied[self.ties.pick(tied, lambda i: i)]


class BestFit:
    """How nearly the free amounts of servers are proportional to the demands of classes, in floats."""

    def __init__(self, cluster: Cluster) -> None:
        total = cluster.total_capacities
        self._scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        self._capacities = cluster.capacities * self._scale
        self._wish = _proportions(cluster.demands * self._scale)
        self._offer = _proportions(self._capacities)

    def update(self, i: int, free_parts: list[Fraction]) -> None:
        """Take note of what is free on a server."""
        free = np.array([float(part) for part in free_parts])
        self._offer[i] = _proportions(free * self._capacities[i])

    def best(self, n: int, servers: list[int]) -> list[int]:
        """The servers that fit class n best."""
        misfit = np.abs(self._offer[servers] - self._wish[n]).sum(axis=1)
        # Sums of absolute differences of numbers up to 1: equal up to rounding is equal.
        return [servers[k] for k in np.flatnonzero(misfit <= misfit.min() + float(ROUNDING))]


def _proportions(amounts: FloatArray) -> FloatArray:
    total = amounts.sum(axis=-1, keepdims=True)
    return np.divide(amounts, total, out=np.zeros_like(amounts), where=total > 0)
