"""A lie: classes that claim other demands than they have, or other servers than they may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.properties.changes.parts import (
    Row,
    changed,
    distinct_users,
    entries,
    length,
    rebuilt,
    set_fields,
    varied,
    without,
)
from fairness.properties.protocol.arithmetic import as_given, given_gamma, row_text
from fairness.properties.protocol.property import Change, Model, Numbers

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
        users, (demands, capacities) = list(self.users), as_given(model)
        if self.demands is not None:
            demands[users] = np.array(self.demands, dtype=object)
            claims["demands"] = demands
        if self.eligible is not None and isinstance(model, Cluster):
            claims["eligible"] = model.eligible.copy()
            claims["eligible"][users] = self.eligible
        gamma = given_gamma(model)
        if gamma is not None:
            # What is measured is 0 where liars hide a server or claim what it does not have.
            useless = ((demands[users] > 0)[:, None, :] & (capacities == 0)).any(axis=2)
            if self.eligible is not None:
                useless |= ~np.array(self.eligible)
            gamma[users] = np.where(useless, 0, gamma[users])
            claims["gamma"] = gamma
        return rebuilt(model, claims)

    def text(self, model: Model) -> str:
        """Who claims what."""
        self.validate(model)
        told = []
        truth = as_given(model)[0]
        for k, n in enumerate(self.users):
            parts = []
            if self.demands is not None and self.demands[k] != tuple(truth[n]):
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
        found: list[tuple[tuple[float, float], Lie]] = []
        truth = as_given(model)[0]
        zeros = bool((model.demands == 0).any())
        for k, n in enumerate(self.users):
            if self.demands is not None:
                for row in varied(self.demands[k], truth[n], rng):
                    if (min(row) >= 0 if zeros else min(row) > 0) and any(row):
                        rows = changed(self.demands, k, row)
                        found.append((_size(rows, truth[list(self.users)]), replace(self, demands=rows)))
            if self.eligible is not None and isinstance(model, Cluster):
                for i, may in enumerate(self.eligible[k]):
                    lists = changed(self.eligible, k, changed(self.eligible[k], i, not may))
                    if any(lists[k]):
                        apart = np.sum(np.array(lists) != model.eligible[list(self.users)])
                        found.append(((float(apart), 0), replace(self, eligible=lists)))
        yield from (lie for _, lie in sorted(found, key=lambda pair: pair[0]))


def _rows(name: str, rows: Any, liars: int) -> tuple[Any, ...] | None:
    """The rows of all liars, none if nothing is claimed."""
    if rows is None:
        return None
    rows = tuple(rows) if isinstance(rows, Iterable) and not isinstance(rows, str) else (rows,)
    if len(rows) != liars or not all(isinstance(row, Iterable) for row in rows):
        raise ModelError.of(name, f"must have one row per liar, {liars}; got {rows!r}")
    return rows


def _size(rows: tuple[Row, ...], truth: Numbers) -> tuple[float, float]:
    """How far claims are from the truth and how long they are."""
    apart = np.sum(np.array(rows, dtype=object) != truth)
    return float(apart), sum(length(row) for row in rows)
