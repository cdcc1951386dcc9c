"""Random pools and clusters to test policies on: dense, sparse, or small integers full of ties."""

from __future__ import annotations

import numpy as np

from fairness.arguments.validation import Seed, generator, require_choice
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem

__all__ = ["KINDS", "random_cluster", "random_problem"]

KINDS = ("dense", "sparse", "integer")
"""Kinds of random models: all demands positive, some 0, or small integers full of ties."""

_DRAWS = 1000


def random_problem(
    rng: Seed,
    n_classes: int,
    n_resources: int,
    *,
    kind: str = "dense",
    weighted: bool = False,
    limited: bool = False,
) -> Problem:
    """Random problem of a given kind.

    Parameters
    ----------
    kind : {"dense", "sparse", "integer"}
        Demands log-uniform over two decades; the same with about half of them zero; or integers 0..4, full of
        ties. Every class demands something.
    weighted, limited : bool
        Draw weights from {1, 2, 3} / limits for about half of the classes.
    """
    require_choice("kind", kind, KINDS)
    rng = generator(rng)
    shape = (n_classes, n_resources)
    if kind == "integer":
        demands = rng.integers(0, 5, shape).astype(float)
        capacities = rng.integers(1, 5, n_resources).astype(float)
    else:
        demands = 10.0 ** rng.uniform(-1, 1, shape)
        capacities = 10.0 ** rng.uniform(-0.5, 0.5, n_resources)
        if kind == "sparse":
            demands *= rng.random(shape) < 0.5
    idle = ~demands.any(axis=1)
    demands[idle, rng.integers(n_resources, size=int(idle.sum()))] = 1.0
    weights = rng.integers(1, 4, n_classes).astype(float) if weighted else None
    limits = None
    if limited:
        fair = 1.0 / (n_classes * (demands / capacities).max(axis=1))
        limits = np.where(rng.random(n_classes) < 0.5, fair * 10.0 ** rng.uniform(-1, 1, n_classes), np.inf)
    return Problem(demands, capacities, weights=weights, limits=limits)


def random_cluster(
    rng: Seed,
    n_classes: int,
    n_servers: int,
    n_resources: int,
    *,
    kind: str = "dense",
    weighted: bool = False,
    constrained: bool = False,
    effective: bool = False,
) -> Cluster:
    """Random cluster of a given kind.

    Parameters
    ----------
    kind : {"dense", "sparse", "integer"}
        As in :func:`random_problem`; with zeros also among the capacities of a server in the last two.
    weighted, constrained, effective : bool
        Draw weights from {1, 2, 3} / forbid about a third of the pairs of class and server / draw gamma
        between half and twice of what demands and capacities say.

    Raises
    ------
    ModelError
        If in 1000 draws some class could run nowhere or some server was of no use to anybody.
    """
    rng = generator(rng)
    for _ in range(_DRAWS):
        demands = random_problem(rng, n_classes, n_resources, kind=kind).demands
        if kind == "integer":
            capacities = rng.integers(0, 10, (n_servers, n_resources)).astype(float)
        else:
            capacities = 10.0 ** rng.uniform(-0.5, 0.5, (n_servers, n_resources))
            if kind == "sparse":
                capacities *= rng.random(capacities.shape) < 0.8
        weights = rng.integers(1, 4, n_classes).astype(float) if weighted else None
        eligible = rng.random((n_classes, n_servers)) < 2 / 3 if constrained else None
        factor = 2.0 ** rng.uniform(-1, 1, (n_classes, n_servers)) if effective else None
        try:
            cluster = Cluster(demands, capacities, weights=weights, eligible=eligible)
            return (
                cluster if factor is None else cluster.replaced(gamma=cluster.gamma * factor, eligible=None)
            )
        except ModelError:
            # A class that can run nowhere, or a server of no use: draw again.
            continue
    raise ModelError(
        f"in {_DRAWS} draws of {n_classes} classes, {n_servers} servers and {n_resources} resources some "
        "class could always run nowhere, or some server was of no use; take more classes or fewer servers"
    )
