"""Clusters by the library: its policies and certificates, in fractions where they are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fairness.evidence.clusters import resource_division_certificate, time_division_certificate
from fairness.model.cluster import Cluster
from fairness.policies.servers.psdsf import PSDSF
from fairness.policies.servers.task_share import CDRFH, TSF
from fairness.properties.exact.enclosure import Unproved, enclose
from proofs.definitions import fractions
from proofs.prover.library.values import second_method

__all__ = ["cluster_of"]

CERTIFIED = 1e-12
"""Placements are exact up to the rounding of their floats; a wrong one misses by the size of its numbers."""


def cluster_of(given: Any, **names: Any) -> Cluster:
    """The model of a cluster that a claim gives as plain data; ``names`` are those of classes and so on."""
    return Cluster(
        fractions(given["demands"]),
        fractions(given["capacities"]),
        eligible=[[bool(e) for e in row] for row in given["eligible"]] if "eligible" in given else None,
        weights=fractions(given["weights"]) if "weights" in given else None,
        **names,
    )


def _floats(placement: Any) -> Any:
    return np.array([[float(x) for x in row] for row in fractions(placement)])


@second_method
def psdsf_tasks(cluster: Any, placement: Any, division: str) -> dict[str, Any]:
    """The policy PSDSF, its exact placement, and the certificate of the given one."""
    model = cluster_of(cluster)
    policy = PSDSF(division=division)
    exact = enclose(policy, model, policy.solve(model).placement)
    certificate = resource_division_certificate if division == "resource" else time_division_certificate
    holds = certificate(model, None, _floats(placement)).residual <= CERTIFIED
    tasks = None if isinstance(exact, Unproved) else [sum(row, Fraction(0)) for row in exact.lower.tolist()]
    return {"tasks": tasks, "conditions of the theorem": holds, "Definition 5": holds}


@second_method
def leximin_tasks(cluster: Any, placement: Any, share: str, prices: Any) -> dict[str, Any]:
    """The policies TSF and C-DRFH, and their exact placements."""
    model = cluster_of(cluster)
    policy = CDRFH() if share == "global" else TSF()
    exact = enclose(policy, model, policy.solve(model).placement)
    if isinstance(exact, Unproved):
        return {"tasks": None, "max-min fair": False}
    tasks = [sum(row, Fraction(0)) for row in exact.lower.tolist()]
    return {"tasks": tasks, "max-min fair": tasks == [sum(row, Fraction(0)) for row in fractions(placement)]}


@second_method
def cluster_gammas(cluster: Any) -> list[list[Fraction]]:
    """The model of a cluster."""
    # The denominators of the examples are far below 10**6.
    return [[Fraction(float(g)).limit_denominator(10**6) for g in row] for row in cluster_of(cluster).gamma]
