"""Leximin over placements: a cluster with few levels and one with many, against scipy's linprog."""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from benchmarks.harness import Row
from fairness import Cluster
from fairness.arguments.validation import FloatArray
from fairness.policies.servers.engines.leximin import leximin

__all__ = ["rows"]

PREFIX = 40
"""Rounds of the sequence that linprog is given."""

SLACK = 1e-5
"""Relative room for frozen classes; with less, linprog finds some rounds infeasible."""

TESTS = 3
"""Classes of the first round that linprog tests, one program each, as the mechanisms are published."""


def cluster(kind: str) -> Cluster:
    """1000 classes x 100 servers x 4 resources; each class may use some servers drawn at random."""
    rng = np.random.default_rng(0)
    n, s, m = 1000, 100, 4
    if kind == "whole":
        demands = rng.integers(0, 4, (n, m)).astype(float)
        capacities = rng.integers(5, 20, (s, m)).astype(float)
    else:
        demands = 10.0 ** rng.uniform(-1, 1, (n, m)) * (rng.random((n, m)) >= 0.5 * (kind == "sparse"))
        capacities = 10.0 ** rng.uniform(0.5, 1.5, (s, m))
    demands[~demands.any(axis=1), 0] = 1.0
    # Five to ten servers each, or two to five of which some are popular: then there are many levels.
    few, most, wanted = (5, 11, np.ones(s)) if kind == "dense" else (2, 6, 1.0 / np.arange(1, s + 1))
    eligible = np.zeros((n, s), dtype=bool)
    for k in range(n):
        eligible[k, rng.choice(s, rng.integers(few, most), replace=False, p=wanted / wanted.sum())] = True
    eligible[rng.integers(n, size=s), np.arange(s)] = True
    return Cluster(demands, capacities, eligible=eligible)


class Sequence:
    """The same sequence of programs, each given to linprog from scratch."""

    def __init__(self, model: Cluster, goals: FloatArray, method: str) -> None:
        job_class, server = np.nonzero(model.eligible)
        shares, n_pairs = model.task_shares[job_class, server], len(job_class)
        pair, resource = np.nonzero(shares)
        rows = server[pair] * model.n_resources + resource
        shape = (model.n_servers * model.n_resources, n_pairs)
        self.usage = csr_array((shares[pair, resource], (rows, pair)), shape=shape)
        member = (job_class, np.arange(n_pairs))
        self.members = csr_array((np.ones(n_pairs), member), shape=(model.n_classes, n_pairs))
        self.goals, self.method = goals, method
        self.levels = np.zeros(model.n_classes)
        self.free = np.ones(model.n_classes, dtype=bool)

    def round(self) -> tuple[float, FloatArray]:
        """Level of the round and the multipliers of the classes."""
        rising = np.where(self.free, self.goals, 0.0)[:, None]
        limits = hstack([self.usage, csr_array((self.usage.shape[0], 1))])
        goals = hstack([-self.members, csr_array(rising)])
        kept = np.where(self.free, 0.0, -self.goals * self.levels * (1 - SLACK))
        cost = np.r_[np.zeros(self.usage.shape[1]), -1.0]
        right = np.r_[np.ones(self.usage.shape[0]), kept]
        answer = linprog(cost, A_ub=vstack([limits, goals]).tocsc(), b_ub=right, method=self.method)
        assert answer.status == 0, answer.message
        return float(answer.x[-1]), -answer.ineqlin.marginals[self.usage.shape[0] :] * self.goals

    def freeze(self, level: float, worth: FloatArray) -> None:
        """Freeze the free classes with a multiplier; what is below 1e-7 of the largest is taken as 0."""
        stuck = self.free & (worth > 1e-7 * worth[self.free].max())
        self.levels[stuck], self.free[stuck] = level, False

    def test(self, level: float, n: int) -> float:
        """How many tasks class n could have if the others kept the level."""
        floor = np.where(self.free, self.goals * level, self.goals * self.levels) * (1 - SLACK)
        answer = linprog(
            -self.members[[n]].toarray()[0],
            A_ub=vstack([self.usage, -self.members]).tocsc(),
            b_ub=np.r_[np.ones(self.usage.shape[0]), -floor],
            method=self.method,
        )
        assert answer.status == 0, answer.message
        return float(-answer.fun)


def by_linprog(model: Cluster, gamma: FloatArray, method: str) -> tuple[float, float, FloatArray]:
    """Seconds of the first rounds, seconds of one test, and the levels found so far."""
    # The yardsticks in a unit that makes levels of order 1.
    sequence = Sequence(model, gamma / gamma.mean(), method)
    spent = one = 0.0
    for k in range(PREFIX):
        start = time.perf_counter()
        level, worth = sequence.round()
        spent += time.perf_counter() - start
        if k == 0:
            start = time.perf_counter()
            for n in range(TESTS):
                sequence.test(level, n)
            one = (time.perf_counter() - start) / TESTS
        sequence.freeze(level, worth)
    return spent, one, sequence.levels / gamma.mean()


def rows() -> list[Row]:
    table = []
    for kind, text in (
        ("dense", "5-10 servers each"),
        ("sparse", "2-5 servers each, half zeros"),
        ("whole", "2-5 servers each, whole demands"),
    ):
        model = cluster(kind)
        gamma = model.unconstrained_gamma.sum(axis=1)
        start = time.perf_counter()
        result = leximin(model, None, gamma)
        seconds = time.perf_counter() - start
        levels = np.unique(result.levels)
        table.append(
            Row(
                f"leximin 1000 x 100 x 4, {text}",
                f"{seconds:.2f} s, {len(levels)} levels",
                "< 10 s, certified to 1e-9",
                bool(seconds < 10 and result.certificate.holds),
                f"residual {result.certificate.residual:.0e}",
            )
        )
    # The last of them again.
    for method in ("highs", "highs-ipm"):
        spent, one, found = by_linprog(model, gamma, method)
        error = float(np.abs(found / result.levels - 1)[found > 0].max())
        table.append(
            Row(
                f"linprog({method}), {PREFIX} of these {len(result.rounds)} rounds",
                f"{spent:.1f} s, {spent / seconds:.0f}x ours in all",
                ">= 10x" if method == "highs" else "",
                bool(spent >= 10 * seconds) if method == "highs" else None,
                f"frozen by marginals, levels off by up to {error:.0e}; as published, each free class of a "
                f"round is tested by a program of its own, {one * 1e3:.0f} ms each",
            )
        )
    return table
