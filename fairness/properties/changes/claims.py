"""Lies that are worth telling: candidates for a search for violations of strategy-proofness.

A claim is promising if it raises a demand up to the dominant one, or adds to the resource that everybody
wants, or imitates another class, or hides a server; small random rows find the rest. A class of a model
without zeros does not claim zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from fairness.model.cluster import Cluster
from fairness.properties.changes.changed_model import Lie
from fairness.properties.protocol.arithmetic import as_given, entry, may_run, quotient, unit_of
from fairness.properties.protocol.property import Model

__all__ = ["distinct_lies"]


def distinct_lies(
    model: Model,
    rng: np.random.Generator,
    number: int,
    largest: int,
    coalitions: Sequence[tuple[int, ...]] = (),
) -> Iterator[Lie]:
    """At most ``number`` different lies, at random: of at most ``largest`` classes, or of a coalition."""
    claims = _Claims(model, rng)
    groups = [
        group
        for size in range(1, min(largest, model.n_classes) + 1)
        for group in combinations(range(model.n_classes), size)
    ]
    groups += coalitions
    seen: set[Lie] = set()
    # Small models have few lies, so doubles are skipped but not for ever.
    for _ in range(4 * number):
        if len(seen) == number:
            return
        lie = claims.lie(groups[int(rng.integers(len(groups)))])
        if lie is not None and lie not in seen:
            seen.add(lie)
            yield lie


class _Claims:
    """What the classes of a model may claim."""

    def __init__(self, model: Model, rng: np.random.Generator) -> None:
        self.model, self.rng = model, rng
        demands, capacities = as_given(model)
        self.rows = [list(row) for row in demands]
        self.exact = model._source[0] is not None
        self.servers = np.atleast_2d(capacities)
        self.zeros = any(v == 0 for row in self.rows for v in row)
        self.busiest = _busiest(model)

    def lie(self, users: tuple[int, ...]) -> Lie | None:
        """One lie of a group; None if the draw was the truth or nonsense."""
        model, rng = self.model, self.rng
        eligible, demands = None, None
        kind = int(rng.integers(3)) if model.n_servers > 1 else 0
        if kind > 0:
            eligible = [self._servers(n) for n in users]
        if kind < 2:
            demands = [self._row(n) for n in users]
        for k, n in enumerate(users):
            row = self.rows[n] if demands is None else demands[k]
            same_servers = eligible is None or eligible[k] == tuple(model.eligible[n].tolist())  # type: ignore[union-attr]
            if row == self.rows[n] and same_servers:
                return None
            if not any(row):
                return None
            if isinstance(model, Cluster) and not self._runs(
                n, row, None if eligible is None else eligible[k]
            ):
                return None
        return Lie(
            users,
            None if demands is None else tuple(map(tuple, demands)),
            None if eligible is None else tuple(eligible),
        )

    def _row(self, n: int) -> list[Any]:
        row, rng = list(self.rows[n]), self.rng
        m = len(row)
        r = int(rng.integers(m))
        kind = int(rng.integers(6))
        if kind == 0:
            row[r] = self._up_to_dominant(n, r)
        elif kind == 1:
            row[self.busiest] = self._tidy(row[self.busiest] + unit_of(row) * int(rng.integers(1, 4)))
        elif kind == 2:
            row[r] = self._any(row)
        elif kind == 3:
            row = [self._any(row) for _ in range(m)]
        elif kind == 4:
            row = list(self.rows[int(rng.integers(len(self.rows)))])
        else:
            factor = int(rng.integers(2, 4))
            row = [self._tidy(v * factor) for v in row]
        return row

    def _up_to_dominant(self, n: int, r: int) -> Any:
        """Demand of r that makes it dominant on one server; at random, only a part of the way."""
        row = self.rows[n]
        capacities = self.servers[int(self.rng.integers(len(self.servers)))]
        largest = max((v / c if c > 0 else 0) for v, c in zip(row, capacities, strict=True))
        top = largest * capacities[r]
        if self.exact and all(isinstance(v, int) for v in row):
            top = int(np.ceil(top))
            low = int(row[r])
            return (
                top if top <= low + 1 or self.rng.random() < 0.5 else int(self.rng.integers(low + 1, top + 1))
            )
        if self.exact and isinstance(top, float):
            # Capacities in floats: a short fraction near enough, never below the truth.
            top = max(Fraction(top).limit_denominator(1000), row[r])
        return self._tidy(top)

    def _any(self, row: list[Any]) -> Any:
        step = unit_of(row)
        most = max(1, min(2 * int(max(row) / step), 40))
        return self._tidy(step * int(self.rng.integers(0 if self.zeros else 1, most + 1)))

    def _tidy(self, value: Any) -> Any:
        """The value in the arithmetic of the model."""
        if not self.exact:
            return float(value)
        return entry(Fraction(value))

    def _servers(self, n: int) -> tuple[bool, ...]:
        """Eligibility with one or two entries changed."""
        model, rng = self.model, self.rng
        assert isinstance(model, Cluster)
        claim = model.eligible[n].copy()
        flip = rng.integers(model.n_servers, size=int(rng.integers(1, 3)))
        claim[flip] = ~claim[flip]
        if not claim.any():
            claim = model.eligible[n]
        # What is measured (given gamma) cannot be claimed where it is 0.
        if model.given_gamma is not None:
            claim = claim & (model.unconstrained_gamma[n] > 0)
        return tuple(claim.tolist())

    def _runs(self, n: int, row: list[Any], eligible: tuple[bool, ...] | None) -> bool:
        """Whether the class could run somewhere if its claim were true."""
        assert isinstance(self.model, Cluster)
        lacks = ((np.array(row) > 0) & (self.servers == 0)).any(axis=1)
        allowed = may_run(self.model)[n] if eligible is None else np.array(eligible)
        return bool((allowed & ~lacks).any())


def _busiest(model: Model) -> int:
    """Resource of which all classes together want the most, if each has the tasks that it could run alone."""
    shares = quotient(model.demands, np.broadcast_to(model.total_capacities, model.demands.shape), 0.0)
    return int(np.argmax(quotient(shares, shares.max(axis=1, keepdims=True), 0.0).sum(axis=0)))
