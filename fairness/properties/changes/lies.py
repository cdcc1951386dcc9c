"""A lie: classes that claim other demands than they have, or other servers than they may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.properties.changes.parts import (
    Row,
    distinct_users,
    entries,
    entry,
    length,
    nearby,
    rebuilt,
    set_fields,
    without,
)
from fairness.properties.protocol.arithmetic import as_given, given_gamma, row_text
from fairness.properties.protocol.property import Change, Model

__all__ = ["Lie"]


@dataclass(frozen=True)
class Lie(Change):
    """Classes that claim other demands, or that they may run on other servers.

    Parameters
    ----------
    users : tuple of int
        The liars.
    demands : tuple of rows, one per liar, or None
        What they claim that a task holds.
    eligible : tuple of rows of bool, one per liar, or None
        Where they claim to be allowed to run (clusters).

    Notes
    -----
    Effective capacities (given gamma) are measured, so a lie does not change them, except to 0 on servers
    that liars hide or that lack what they claim to demand.

    Examples
    --------
    >>> from fairness import Problem
    >>> pool = Problem([[16, 1], [1, 2]], [100, 100])
    >>> lie = Lie((0,), demands=((16, 8),))
    >>> lie.apply(pool).demands
    array([[16.,  8.],
           [ 1.,  2.]])
    >>> lie.text(pool)
    'class 1 claims (16, 8) instead of (16, 1)'
    """

    users: tuple[int, ...]
    demands: tuple[Row, ...] | None = None
    eligible: tuple[tuple[bool, ...], ...] | None = None
    kind = "lie"

    def __post_init__(self) -> None:
        users = distinct_users(self.users)
        demands, eligible = (_rows(name, getattr(self, name), len(users)) for name in ("demands", "eligible"))
        set_fields(
            self,
            users=users,
            demands=None if demands is None else tuple(entries("demands", row) for row in demands),
            eligible=None if eligible is None else tuple(tuple(bool(v) for v in row) for row in eligible),
        )

    def validate(self, model: Model) -> None:
        """Refuse liars that are not there, and rows that do not fit."""
        super().validate(model)
        for row in self.demands or ():
            if len(row) != model.n_resources:
                raise ModelError.of(
                    "demands", f"must have {model.n_resources} entries per liar; got {len(row)}"
                )
        if self.eligible is not None and not isinstance(model, Cluster):
            raise ModelError.of("eligible", "must be None on a pool: it has no servers to choose from")
        for allowed in self.eligible or ():
            if isinstance(model, Cluster) and len(allowed) != model.n_servers:
                raise ModelError.of(
                    "eligible", f"must have {model.n_servers} entries per liar; got {len(allowed)}"
                )

    def apply(self, model: Model) -> Model:
        """Model with the claims in place of the truth."""
        self.validate(model)
        claims: dict[str, Any] = {}
        if self.demands is not None:
            claims["demands"] = list(as_given(model)[0])
            for n, row in zip(self.users, self.demands, strict=True):
                claims["demands"][n] = list(row)
        if self.eligible is not None and isinstance(model, Cluster):
            claims["eligible"] = model.eligible.copy()
            for n, allowed in zip(self.users, self.eligible, strict=True):
                claims["eligible"][n] = allowed
        gamma = given_gamma(model)
        if gamma is not None:
            claims["gamma"] = self._measured(model, gamma, claims)
        return rebuilt(model, claims)

    def _measured(self, model: Model, gamma: Any, claims: dict[str, Any]) -> list[list[Any]]:
        """Given gamma, with 0 where liars hide a server or claim what it does not have."""
        demands, capacities = as_given(model)
        demands = claims.get("demands", demands)
        rows = [list(row) for row in gamma]
        for k, n in enumerate(self.users):
            for i, server in enumerate(capacities):
                hidden = self.eligible is not None and not self.eligible[k][i]
                if hidden or any(v > 0 and c == 0 for v, c in zip(demands[n], server, strict=True)):
                    rows[n][i] = 0
        return rows

    def text(self, model: Model) -> str:
        """Who claims what."""
        self.validate(model)
        told = []
        truth = as_given(model)[0]
        for k, n in enumerate(self.users):
            parts = []
            if self.demands is not None and not _same(self.demands[k], truth[n]):
                parts.append(f"claims {row_text(self.demands[k])} instead of {row_text(truth[n])}")
            if self.eligible is not None and isinstance(model, Cluster):
                pairs = list(zip(model.servers, self.eligible[k], model.eligible[n], strict=True))
                hidden = [server for server, claim, may in pairs if may and not claim]
                added = [server for server, claim, may in pairs if claim and not may]
                if hidden:
                    parts.append(f"hides that it may use {', '.join(hidden)}")
                if added:
                    parts.append(f"claims that it may use {', '.join(added)}")
            told.append(f"{model.job_classes[n]} {' and '.join(parts) or 'tells the truth'}")
        return "; ".join(told)

    def neighbours(self, model: Model, rng: np.random.Generator) -> Iterator[Lie]:
        """Fewer liars, then lies with one entry changed: smaller numbers and fewer differences first."""
        if len(self.users) > 1:
            for k in range(len(self.users)):
                yield Lie(
                    without(self.users, k),
                    None if self.demands is None else without(self.demands, k),
                    None if self.eligible is None else without(self.eligible, k),
                )
        if self.demands is not None and self.eligible is not None:
            yield replace(self, eligible=None)
            yield replace(self, demands=None)
        found: list[tuple[Any, Lie]] = []
        truth = as_given(model)[0]
        zeros = bool((model.demands == 0).any())
        for k, n in enumerate(self.users):
            for r, value in enumerate(() if self.demands is None else self.demands[k]):
                true = entry(truth[n][r])
                for other in nearby(value, true, rng):
                    if other > 0 or (other == 0 and zeros):
                        rows = _with(self.demands, k, r, other)
                        if any(rows[k]):
                            found.append((_size(rows, truth, self.users), replace(self, demands=rows)))
            for i, may in enumerate(() if self.eligible is None else self.eligible[k]):
                lists = _with(self.eligible, k, i, not may)
                if any(lists[k]) and isinstance(model, Cluster):
                    apart = sum(
                        int(np.sum(np.not_equal(row, model.eligible[u])))
                        for u, row in zip(self.users, lists, strict=True)
                    )
                    found.append(((apart, 0), replace(self, eligible=lists)))
        yield from (lie for _, lie in sorted(found, key=lambda pair: pair[0]))


def _rows(name: str, rows: Any, liars: int) -> tuple[Any, ...] | None:
    """The rows of all liars, none if nothing is claimed."""
    if rows is None:
        return None
    rows = tuple(rows) if isinstance(rows, Iterable) and not isinstance(rows, str) else (rows,)
    if len(rows) != liars or not all(isinstance(row, Iterable) for row in rows):
        raise ModelError.of(name, f"must have one row per liar, {liars}; got {rows!r}")
    return rows


def _size(rows: Any, truth: Any, users: tuple[int, ...]) -> tuple[int, float]:
    """How far claims are from the truth and how long they are."""
    apart = sum(
        a != b for row, n in zip(rows, users, strict=True) for a, b in zip(row, truth[n], strict=True)
    )
    return apart, sum(length(row) for row in rows)


def _with(rows: Any, k: int, place: int, value: Any) -> Any:
    row = rows[k]
    return (*rows[:k], (*row[:place], value, *row[place + 1 :]), *rows[k + 1 :])


def _same(first: Sequence[Any], second: Sequence[Any]) -> bool:
    return all(a == b for a, b in zip(first, second, strict=True))
