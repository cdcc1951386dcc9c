"""The numbers of a pool as whole-task filling needs them: fractions if the model is rational, floats else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.indivisible.free_resources import Number
from fairness.model.problem import FloatArray, Problem

__all__ = ["Numbers", "PoolAmounts", "array", "number"]

Numbers = NDArray[Any]
"""Floats, or an object array of fractions where the model is rational."""


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
        return [
            number(x, self.exact) * number(w, self.exact)
            for x, w in zip(self.counts.tolist(), self.problem.weights.tolist(), strict=True)
        ]

    @cached_property
    def most(self) -> list[float]:
        """Most whole tasks that the jobs of a class may run together; 0 for those that never run."""
        return [
            0
            if x == 0 or blocked
            else math.inf
            if math.isinf(limit)
            else math.floor(Fraction(x) * Fraction(limit))
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


def number(value: Any, exact: bool) -> Number:
    """The value in the arithmetic of the model."""
    return Fraction(value) if exact else float(value)


def array(values: Any, exact: bool) -> Numbers:
    """Read-only array of numbers of one kind."""
    result = np.array(values, dtype=object if exact else float)
    result.flags.writeable = False
    return result
