"""The numbers of a model as whole-task filling needs them: fractions if it is rational, floats else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.indivisible.free_resources import ROUNDING, Number
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem

__all__ = ["ClusterAmounts", "Numbers", "PoolAmounts", "array", "number", "overfull"]

Numbers = NDArray[Any]
"""Floats, or an object array of fractions where the model is rational."""

Table = Sequence[Sequence[Number]]


@dataclass(frozen=True, eq=False)
class PoolAmounts:
    """Demands, capacities, effective weights and holdings of a pool in one arithmetic.

    Parameters
    ----------
    problem : Problem
    counts : ndarray of shape (n_classes,), jobs
    exact : bool
        Fractions, or floats. Weights, counts and limits are floats in the model; their exact values are used.
    holdings : array of shape (n_classes, n_resources) or None
        What the classes hold before the first task.
    """

    problem: Problem
    counts: FloatArray
    exact: bool
    holdings: Numbers | None = None

    @cached_property
    def demands(self) -> Sequence[Sequence[Number]]:
        """As given, indexed [class][resource]."""
        return self.problem.as_fractions()[0] if self.exact else self.problem.demands.tolist()

    @cached_property
    def capacities(self) -> Sequence[Number]:
        """As given."""
        return self.problem.as_fractions()[1] if self.exact else self.problem.capacities.tolist()

    @cached_property
    def before(self) -> list[list[Number]]:
        """Holdings, zero if there are none."""
        if self.holdings is None:
            return [[number(0, self.exact)] * self.problem.n_resources for _ in self.counts]
        return [[number(v, self.exact) for v in row] for row in self.holdings]

    @cached_property
    def weights(self) -> list[Number]:
        """Jobs times weight; 0 where no job is present."""
        return _weights(self.problem, self.counts, self.exact)

    @cached_property
    def most(self) -> list[float]:
        """Most whole tasks that the jobs of a class may run together; 0 for those that never run."""
        return [
            0
            if x == 0 or blocked
            else math.inf
            if math.isinf(limit)
            else math.floor(Fraction(x) * Fraction(limit) * (1 + ROUNDING))
            for x, limit, blocked in zip(
                self.counts.tolist(), self.problem.limits.tolist(), self.problem.blocked, strict=True
            )
        ]

    @cached_property
    def units(self) -> list[Number]:
        """Weighted dominant share of one task; 0 where no task can run or nothing is demanded."""
        return [
            max(self._shares(row)) / w if w > 0 and not blocked else number(0, self.exact)
            for row, w, blocked in zip(self.demands, self.weights, self.problem.blocked, strict=True)
        ]

    def share_parts(self, n: int, r: int) -> tuple[Number, Number]:
        """Weighted shares of resource r: of the holdings of class n, and of one task.

        The class has jobs, and the capacity is not 0.
        """
        whole = self.capacities[r] * self.weights[n]
        return self.before[n][r] / whole, self.demands[n][r] / whole

    def dominant_share(self, n: int, tasks: int) -> Number:
        """Largest weighted share that class n holds with so many tasks; 0 if it has no job."""
        if self.weights[n] == 0:
            return number(0, self.exact)
        held = [h + tasks * v for h, v in zip(self.before[n], self.demands[n], strict=True)]
        return max(self._shares(held)) / self.weights[n]

    def _shares(self, amounts: Sequence[Number]) -> list[Number]:
        """Shares of the resources that exist; what is demanded of the others blocks the class."""
        return [
            v / c if c > 0 else number(0, self.exact) for v, c in zip(amounts, self.capacities, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ClusterAmounts:
    """Numbers of a cluster in one arithmetic: fractions if it is rational, floats else."""

    cluster: Cluster
    counts: FloatArray

    @property
    def exact(self) -> bool:
        """Whether the numbers are fractions."""
        return self.cluster.is_rational

    @cached_property
    def _given(self) -> tuple[Table, Table, Table]:
        if self.exact:
            return self.cluster.as_fractions()
        cluster = self.cluster
        return cluster.demands.tolist(), cluster.capacities.tolist(), cluster.gamma.tolist()

    @property
    def demands(self) -> Table:
        """Indexed [class][resource]."""
        return self._given[0]

    @property
    def capacities(self) -> Table:
        """Indexed [server][resource]."""
        return self._given[1]

    @property
    def gamma(self) -> Table:
        """Indexed [class][server]."""
        return self._given[2]

    @cached_property
    def weights(self) -> list[Number]:
        """Jobs times weight."""
        return _weights(self.cluster, self.counts, self.exact)

    @cached_property
    def dominant_units(self) -> list[Number]:
        """Weighted share of the whole cluster that one task holds; 0 without jobs."""
        total = [sum(column) for column in zip(*self.capacities, strict=True)]
        return [
            max(d / c for d, c in zip(demand, total, strict=True) if d > 0) / weight
            if weight > 0
            else number(0, self.exact)
            for demand, weight in zip(self.demands, self.weights, strict=True)
        ]

    @cached_property
    def needs(self) -> list[list[list[Number] | None]]:
        """What a task holds, indexed [class][server][resource]; None where the class cannot run."""
        table: list[list[list[Number] | None]] = []
        for demand, alone in zip(self.demands, self.gamma, strict=True):
            row: list[list[Number] | None] = []
            for capacity, gamma in zip(self.capacities, alone, strict=True):
                if gamma == 0:
                    row.append(None)
                    continue
                # A task that runs faster than nominal holds its demand for less of the time.
                nominal = min(c / d for c, d in zip(capacity, demand, strict=True) if d > 0)
                row.append([d if nominal == gamma else d * nominal / gamma for d in demand])
            table.append(row)
        return table


def number(value: Any, exact: bool) -> Number:
    """The value in the arithmetic of the model."""
    return Fraction(value) if exact else float(value)


def array(values: Any, exact: bool) -> Numbers:
    """Read-only array of numbers of one kind."""
    result = np.array(values, dtype=object if exact else float)
    result.flags.writeable = False
    return result


def overfull(used: Iterable[Number], capacities: Iterable[Number]) -> float:
    """Largest part by which what is used of the resources exceeds their capacities; 0 where all fits."""
    return max(
        float(v / c) - 1.0 if c > 0 else math.inf if v > 0 else 0.0
        for v, c in [(1, 1), *zip(used, capacities, strict=True)]
    )


def _weights(model: Problem | Cluster, counts: FloatArray, exact: bool) -> list[Number]:
    pairs = zip(counts.tolist(), model.weights.tolist(), strict=True)
    return [number(x, exact) * number(w, exact) for x, w in pairs]
