"""Other cases of a model for one class: more capacity, twice its weight, without a demand or a constraint.

Where gamma is given it is scaled like the nominal one, as in
:class:`fairness.properties.changes.changed_model.Grow`: a task that runs twice as fast on a server still does
when the server is larger. A server that no class can use any more drops out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.cluster_arguments import alone
from fairness.model.problem import Problem
from fairness.properties.changes.parts import rebuilt
from fairness.properties.protocol.arithmetic import quotient

__all__ = ["Alteration", "alterations", "amount_of", "with_capacity"]

SMALL, LARGE = 1e-6, 1.0
"""A unit counts as one where it is a part of the capacity between these; else one hundredth is added."""

Model = Problem | Cluster


@dataclass(frozen=True)
class Alteration:
    """One other case: its kind and words, and how its model, counts and policy are made."""

    kind: str
    words: str
    make: Callable[[], tuple[Model, FloatArray, Any]]


def alterations(model: Model, counts: FloatArray, i: int, policy: Any) -> Iterator[Alteration]:
    """All cases of the model but for capacities that class i may ask about."""
    unit = np.arange(model.n_classes) == i
    if counts[i] == 0:
        yield Alteration("jobs", "with one job", lambda: (model, counts + unit, policy))
        return
    weights = np.where(unit, 2.0, 1.0) * model.weights
    yield Alteration(
        "weight", "with twice the weight", lambda: (model.replaced(weights=weights), counts, policy)
    )
    for r in np.flatnonzero(model.demands[i]):
        words = f"without its demand for {model.resources[r]}"
        yield Alteration("demand", words, lambda r=r: (_without_demand(model, i, r), counts, policy))  # type: ignore[misc]
    if isinstance(model, Problem) and np.isfinite(model.limits[i]):
        free = np.where(unit, np.inf, model.limits)
        yield Alteration("limit", "without its limit", lambda: (model.replaced(limits=free), counts, policy))
    if model.given_eligible is not None and not model.given_eligible[i].all():
        words = "on every server that has what it needs"
        yield Alteration("servers", words, lambda: (_on_every_server(model, i), counts, policy))
    if np.count_nonzero(counts) > 1:
        yield Alteration("alone", "alone", lambda: (model, np.where(unit, counts, 0.0), policy))


def amount_of(capacity: float) -> float:
    """Units that are added to a capacity, or taken: one, or one hundredth where a unit says nothing of it."""
    return 1.0 if capacity == 0 or SMALL <= 1.0 / capacity <= LARGE else capacity / 100


def with_capacity(model: Model, server: int, resource: int, added: float) -> Model:
    """The model with so much more of a resource of a server; a pool is server 0."""
    capacities = np.array(model.capacities)
    rows = capacities.reshape(model.n_servers, -1)
    rows[server, resource] = max(0.0, rows[server, resource] + added)
    return rebuilt(model, _scaled(model, np.array(model.demands), capacities))


def _without_demand(model: Model, i: int, resource: int) -> Model:
    demands = np.array(model.demands)
    demands[i, resource] = 0.0
    return rebuilt(model, _scaled(model, demands, np.array(model.capacities)))


def _on_every_server(cluster: Model, i: int) -> Model:
    assert cluster.given_eligible is not None
    if cluster.given_gamma is not None:
        raise ModelError(
            "gamma is given: what the class would run on other servers is not known; give gamma there"
        )
    eligible = np.array(cluster.given_eligible)
    eligible[i] = True
    return cluster.replaced(eligible=eligible)


def _scaled(model: Model, demands: FloatArray, capacities: FloatArray) -> dict[str, Any]:
    """Arguments with other demands or capacities; a given gamma grows like the nominal one."""
    changed: dict[str, Any] = {"demands": demands, "capacities": capacities}
    if model.given_gamma is not None:
        after = alone(demands, capacities)
        # A class that demands nothing any more is for the constructor to refuse.
        after[np.isinf(after)] = 0.0
        before: Any = np.array(model.given_gamma, dtype=float)
        changed["gamma"] = before * quotient(after, alone(model.demands, model.capacities), 0.0)
    return changed
