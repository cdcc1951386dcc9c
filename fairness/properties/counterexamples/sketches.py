"""The integers of a small model, which are cheap to vary and to compare.

A counterexample that a person can check has few classes and small integers, and an exact check needs
rational numbers. So searches run over :class:`Sketch` and make a :class:`~fairness.Problem` or a
:class:`~fairness.Cluster` of it only to ask a policy.

Domains: "positive", the assumption of most theorems, has no zero at all; "any" has zero demands and, on
clusters, servers that lack a resource.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fairness.arguments.validation import require_choice
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.properties.protocol.arithmetic import entry
from fairness.properties.protocol.property import Model

__all__ = ["DOMAINS", "Entry", "Flags", "Rows", "Sketch", "check_domain", "flags_of", "rows_of"]

DOMAINS = ("positive", "any")
"""What entries may be: all positive, or zero too."""

Entry = Any
"""An int or a Fraction; numpy's stubs refuse fractions."""

Rows = tuple[tuple[Entry, ...], ...]
Flags = tuple[tuple[bool, ...], ...]


@dataclass(frozen=True)
class Sketch:
    """The integers of a model.

    Parameters
    ----------
    demands : tuple of rows, (n_classes, n_resources)
    capacities : tuple of rows, (n_servers, n_resources)
        A pool has one row.
    weights : tuple of int, (n_classes,)
    eligible : tuple of rows of bool, (n_classes, n_servers), or None
        None where there is no constraint; it becomes None where all are True.
    pool : bool
        Whether this is a :class:`~fairness.Problem`.
    """

    demands: Rows
    capacities: Rows
    weights: tuple[Entry, ...]
    eligible: Flags | None = None
    pool: bool = True

    def __post_init__(self) -> None:
        if self.eligible is not None and all(map(all, self.eligible)):
            object.__setattr__(self, "eligible", None)

    @classmethod
    def of(cls, model: Model) -> Sketch:
        """Sketch of a rational model with rational weights.

        Raises
        ------
        ModelError
            If the model was given in floats, or has limits or effective capacities, which are not searched.
        """
        if isinstance(model, Problem):
            if np.isfinite(model.limits).any():
                raise ModelError("a search knows no limits; remove them from the problem")
            demands, capacities = model.as_fractions()
            return cls(rows_of(demands), rows_of([capacities]), _weights(model))
        demands, rows, gamma = model.as_fractions()
        alone = [
            [min(c / v for c, v in zip(row, own, strict=True) if v > 0) for row in rows] for own in demands
        ]
        pairs = [
            pair for given, own in zip(gamma, alone, strict=True) for pair in zip(given, own, strict=True)
        ]
        if any(given not in (0, own) for given, own in pairs):
            raise ModelError("a search knows no effective capacities; remove gamma from the cluster")
        free = all(given > 0 or own == 0 for given, own in pairs)
        flags = None if free else flags_of([[g > 0 for g in row] for row in gamma])
        return cls(rows_of(demands), rows_of(rows), _weights(model), flags, pool=False)

    def build(self) -> Model:
        """Problem or Cluster.

        Raises
        ------
        ModelError
            If the integers make no model: a class demands nothing or can run nowhere, a server is of no use.
        """
        weights = None if set(self.weights) == {1} else self.weights
        if self.pool:
            return Problem(self.demands, self.capacities[0], weights=weights)
        return Cluster(self.demands, self.capacities, weights=weights, eligible=self.eligible)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Demands and capacities in one row."""
        return tuple(v for row in (*self.demands, *self.capacities) for v in row)

    def with_entries(self, entries: Iterable[Entry]) -> Sketch:
        """The same sketch with other demands and capacities."""
        values, m = list(entries), len(self.demands[0])
        rows = tuple(tuple(values[k : k + m]) for k in range(0, len(values), m))
        n = len(self.demands)
        return replace(self, demands=rows[:n], capacities=rows[n:])

    @cached_property
    def size(self) -> tuple[int, ...]:
        """What "smaller" means.

        First fewer classes, servers and resources, then fewer weights other than 1 and fewer constraints,
        then the sum of all integers (of a fraction: numerator and denominator), then the largest.
        """
        values = [abs(v) if isinstance(v, int) else abs(v.numerator) + v.denominator for v in self.entries]
        heavy = [w for w in self.weights if w != 1]
        banned = 0 if self.eligible is None else sum(not flag for row in self.eligible for flag in row)
        shape = len(self.demands), len(self.capacities), len(self.demands[0])
        return (*shape, len(heavy), banned, sum(values) + int(sum(heavy)), max(values))


def check_domain(domain: str) -> str:
    """Return the domain, or refuse it."""
    return require_choice("domain", domain, DOMAINS)


def rows_of(rows: Iterable[Iterable[Entry]]) -> Rows:
    """Rows as tuples, fractions that are whole as ints."""
    return tuple(tuple(entry(v) for v in row) for row in rows)


def flags_of(rows: Iterable[Iterable[bool]]) -> Flags:
    """Rows of flags as tuples."""
    return tuple(tuple(bool(v) for v in row) for row in rows)


def _weights(model: Model) -> tuple[Entry, ...]:
    return tuple(entry(Fraction(float(w))) for w in model.weights)
