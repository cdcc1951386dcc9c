r"""Changes of a model: a lie, a departure, an arrival, more capacity, other units.

A change is a recipe in absolute terms ("class 1 claims (16, 8)"), so that it can be made again on a model
that a search has altered. Exact entries stay exact. Servers that no class can use after the change drop out
of the cluster; the others keep their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.properties.changes.misreports import Lie
from fairness.properties.changes.parts import (
    Row,
    distinct_users,
    divisible,
    entries,
    is_index,
    length,
    only,
    set_fields,
    varied,
    without,
)
from fairness.properties.protocol.arithmetic import as_given, given_gamma, quotient, row_text, shown
from fairness.properties.protocol.property import Change, Model, Numbers

__all__ = ["Grow", "Join", "Leave", "Lie", "Units"]


@dataclass(frozen=True)
class Leave(Change):
    """A class that leaves.

    Examples
    --------
    >>> Leave((2,)).apply(Problem([[4, 1], [1, 16], [16, 1]], [100, 100])).job_classes
    ('class 1', 'class 2')
    """

    users: tuple[int, ...]
    kind = "leave"

    def __post_init__(self) -> None:
        set_fields(self, users=distinct_users(self.users))

    def apply(self, model: Model) -> Model:
        """Model of those who stay."""
        self.validate(model)
        return only(model, [n for n in range(model.n_classes) if n not in self.users], {})

    def validate(self, model: Model) -> None:
        """Refuse a departure of classes that are not there, or of everybody."""
        super().validate(model)
        if len(self.users) == model.n_classes:
            raise ModelError("nobody would be left; let at least one class stay")

    def text(self, model: Model) -> str:
        """Who leaves."""
        self.validate(model)
        names = " and ".join(model.job_classes[n] for n in self.users)
        return f"{names} {'leaves' if len(self.users) == 1 else 'leave'}"

    def neighbours(self, model: Model, rng: np.random.Generator) -> Iterator[Leave]:
        """The departure of another class."""
        yield from (Leave((n,)) for n in range(model.n_classes) if (n,) != self.users)


@dataclass(frozen=True)
class Join(Change):
    """The moment when only some classes have joined, with their contributions.

    Every class brings a part of each resource (of each server) in proportion to its weight; all of them
    together make up the model.

    Parameters
    ----------
    users : tuple of int
        Who has joined.

    Examples
    --------
    >>> Join((0, 2)).apply(Problem([[4, 1], [1, 16], [16, 1]], [90, 60])).capacities
    array([60., 40.])
    """

    users: tuple[int, ...]
    kind = "join"

    def __post_init__(self) -> None:
        set_fields(self, users=tuple(sorted(distinct_users(self.users))))

    def apply(self, model: Model) -> Model:
        """Those who have joined, with what they brought."""
        self.validate(model)
        part = self.part(model)
        scaled: dict[str, Any] = {"capacities": as_given(model)[1] * part}
        gamma = given_gamma(model)
        if gamma is not None:
            scaled["gamma"] = gamma * part
        return only(model, list(self.users), scaled)

    def part(self, model: Model) -> Fraction:
        """What they brought, as a part of the whole."""
        weights = [Fraction(float(w)) for w in model.weights]
        return Fraction(sum(weights[n] for n in self.users)) / sum(weights)

    def text(self, model: Model) -> str:
        """Who has joined."""
        self.validate(model)
        if len(self.users) == model.n_classes:
            return "all have joined"
        names = ", ".join(model.job_classes[n] for n in self.users)
        return f"only {names} joined so far, with {self.part(model)} of every resource"

    def neighbours(self, model: Model, rng: np.random.Generator) -> Iterator[Join]:
        """Fewer who have joined, then more."""
        for k in range(len(self.users) if len(self.users) > 1 else 0):
            yield Join(without(self.users, k))
        for n in range(model.n_classes):
            if n not in self.users:
                yield Join(tuple(sorted((*self.users, n))))


@dataclass(frozen=True)
class Grow(Change):
    """More capacity.

    Parameters
    ----------
    amounts : tuple, one entry per resource, resource units
        What is added, >= 0.
    server : int or None
        Which server grows; None for a pool.

    Notes
    -----
    Effective capacities (given gamma) grow like the nominal ones.

    Examples
    --------
    >>> Grow((1, 0)).apply(Problem([[2, 1], [1, 2]], [1, 1])).capacities
    array([2., 1.])
    """

    amounts: Row
    server: int | None = None
    kind = "add capacity"

    def __post_init__(self) -> None:
        set_fields(self, amounts=entries("amounts", self.amounts))
        if self.server is not None and not is_index(self.server):
            raise ModelError.of(
                "server", f"must be the index of a server, or None on a pool; got {self.server!r}"
            )

    def apply(self, model: Model) -> Model:
        """Model with the larger capacities."""
        self.validate(model)
        demands, capacities = as_given(model)
        grown = capacities.copy()
        here = Ellipsis if self.server is None else self.server
        grown[here] = self._grown(capacities[here])
        gamma = given_gamma(model)
        if gamma is None:
            return model.replaced(capacities=grown)
        needs = divisible(demands)
        before, after = (quotient(divisible(c[here]), needs, np.inf).min(axis=1) for c in (capacities, grown))
        gamma[:, here] *= quotient(after, before, 0)
        return model.replaced(capacities=grown, gamma=gamma)

    def text(self, model: Model) -> str:
        """What grows."""
        self.validate(model)
        capacities = as_given(model)[1]
        old = capacities if self.server is None else capacities[self.server]
        name = model.server_names[self.server or 0] or "the pool"
        return f"{name} grows from {row_text(old)} to {row_text(self._grown(old))}"

    def neighbours(self, model: Model, rng: np.random.Generator) -> Iterator[Grow]:
        """One amount changed: smaller sums first."""
        rows = varied(self.amounts, (0,) * len(self.amounts), rng)
        found = [replace(self, amounts=row) for row in rows if min(row) >= 0 and any(row)]
        found.sort(key=lambda change: (sum(v > 0 for v in change.amounts), length(change.amounts)))
        yield from found

    def _grown(self, row: Numbers) -> Numbers:
        total: Numbers = row + np.array(self.amounts, dtype=object)
        return total

    def validate(self, model: Model) -> None:
        """Refuse other resources, and a server that is not there."""
        if len(self.amounts) != model.n_resources:
            raise ModelError.of("amounts", f"must have {model.n_resources} entries; got {len(self.amounts)}")
        if isinstance(model, Problem) != (self.server is None):
            raise ModelError.of("server", "must be None on a pool and an index on a cluster")
        if isinstance(model, Cluster) and (self.server or 0) >= model.n_servers:
            raise ModelError.of("server", f"must be below {model.n_servers}; got {self.server}")


@dataclass(frozen=True)
class Units(Change):
    """Other units: resource r in units of :math:`1/u_r`, and tasks of class n cut :math:`t_n` times as large.

    Parameters
    ----------
    resources : tuple, one factor :math:`u_r > 0` per resource
    tasks : tuple, one factor :math:`t_n > 0` per class

    Examples
    --------
    >>> Units((1, 1000), (2, 1)).apply(Problem([[1, 4], [3, 1]], [9, 18]))
    Problem(2 classes x 2 resources)
      class     weight  limit  resource 1  resource 2
      class 1        1    inf           2        8000
      class 2        1    inf           3        1000
      capacity                          9       18000
    """

    resources: Row
    tasks: Row
    kind = "units"

    def __post_init__(self) -> None:
        for name in ("resources", "tasks"):
            set_fields(self, **{name: entries(name, getattr(self, name))})
            if not all(v > 0 for v in getattr(self, name)):
                raise ModelError.of(name, f"must be factors > 0; got {row_text(getattr(self, name))}")

    def apply(self, model: Model) -> Model:
        """The same model in the other units."""
        self.validate(model)
        demands, capacities = as_given(model)
        units, parts = (np.array(row, dtype=object) for row in (self.resources, self.tasks))
        scaled: dict[str, Any] = {
            "demands": demands * units * parts[:, None],
            "capacities": capacities * units,
        }
        gamma = given_gamma(model)
        if isinstance(model, Problem):
            scaled["limits"] = model.limits / parts.astype(float)
        elif gamma is not None:
            scaled["gamma"] = divisible(gamma) / parts[:, None]
        return model.replaced(**scaled)

    def text(self, model: Model) -> str:
        """Which units change."""
        self.validate(model)
        parts = [
            f"{name} is measured in units 1/{shown(u)} as large"
            for name, u in zip(model.resources, self.resources, strict=True)
            if u != 1
        ]
        parts += [
            f"a task of {name} becomes {shown(t)} times as large"
            for name, t in zip(model.job_classes, self.tasks, strict=True)
            if t != 1
        ]
        return ", ".join(parts) or "the units stay"

    def neighbours(self, model: Model, rng: np.random.Generator) -> Iterator[Units]:
        """One factor changed: fewer and smaller ones first."""
        resources, tasks = (varied(row, (1,) * len(row), rng) for row in (self.resources, self.tasks))
        found = [replace(self, resources=row) for row in resources if min(row) > 0]
        found += [replace(self, tasks=row) for row in tasks if min(row) > 0]
        found.sort(key=lambda change: change._simplicity())
        yield from found

    def _simplicity(self) -> tuple[int, float]:
        factors = (*self.resources, *self.tasks)
        return sum(v != 1 for v in factors), length(factors)

    def validate(self, model: Model) -> None:
        """Refuse another number of resources or of classes."""
        for name, size in (("resources", model.n_resources), ("tasks", model.n_classes)):
            if len(getattr(self, name)) != size:
                raise ModelError.of(name, f"must have {size} factors; got {len(getattr(self, name))}")
