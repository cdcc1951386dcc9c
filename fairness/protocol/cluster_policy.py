"""What a cluster policy is, and the little that all of them share.

A cluster policy is called as ``policy(cluster, counts) -> placement``: ``counts`` of shape (..., n_classes)
gives the jobs present, real numbers allowed; the answer, of shape (..., n_classes, n_servers), lists the
tasks running per class and server. A class of :math:`x` jobs of weight :math:`w` counts like one of weight
:math:`xw`; a class without jobs holds nothing. A policy has no state and does no I/O.

A subclass of :class:`ClusterPolicy` says how one vector of counts is solved, with evidence. Who asks about
many states needs no evidence for each, and mostly not even the placements, but the tasks on all servers
together: a policy may offer shorter ways to these (:meth:`ClusterPolicy.placements`,
:meth:`ClusterPolicy.tasks`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairness.evidence.pools import Certificate
from fairness.model.cluster import Cluster
from fairness.protocol.policy import Policy

__all__ = ["AnyPolicy", "ClusterPolicy", "ClusterSolution"]


@dataclass(frozen=True, eq=False)
class ClusterSolution:
    """One placement with the evidence only its solver can give.

    Parameters
    ----------
    placement : ndarray of shape (n_classes, n_servers), tasks
    certificate : Certificate
    levels : ndarray of shape (n_classes,), optional
        What the policy levels: tasks over (jobs x weight x yardstick of the policy).
    prices : ndarray of shape (n_servers,), optional
        Price of the whole server, for policies that are a market.
    details : dict
        Other evidence, by name: sweeps, rounds, dual values of each level.
    """

    placement: FloatArray
    certificate: Certificate
    levels: FloatArray | None = None
    prices: FloatArray | None = None
    details: dict[str, Any] = field(default_factory=dict)


class ClusterPolicy(ABC):
    """A policy for clusters; a subclass solves one vector of counts.

    Attributes
    ----------
    name : str
        For tables and legends.
    division : {"resource", "time"}
        How its placements share a server.
    """

    name = "cluster policy"
    division = "resource"

    @abstractmethod
    def solve(self, cluster: Cluster, counts: ArrayLike | None = None) -> ClusterSolution:
        """Placement and evidence for one vector of counts (all 1 when None)."""

    def placements(self, cluster: Cluster, states: FloatArray) -> FloatArray:
        """Placements alone for validated counts (n_states, n_classes), (n_states, n_classes, n_servers).

        For policies that find them faster than their evidence; they are those of :meth:`solve`.
        """
        answers = np.empty((len(states), cluster.n_classes, cluster.n_servers))
        for k, state in enumerate(states):
            answers[k] = self.solve(cluster, state).placement
        return answers

    def tasks(self, cluster: Cluster, counts: ArrayLike | None = None) -> FloatArray:
        """Tasks of each class on all servers together, shape (..., n_classes).

        For policies that find them faster than a placement; they are those of :meth:`__call__`, but for
        rounding.
        """
        return self(cluster, counts).sum(axis=-1)

    def __call__(self, cluster: Cluster, counts: ArrayLike | None = None) -> FloatArray:
        """Tasks per class and server, shape (..., n_classes, n_servers)."""
        x = self.checked_counts(cluster, counts)
        answers = self.placements(cluster, x.reshape(-1, cluster.n_classes))
        return answers.reshape(*x.shape, cluster.n_servers)

    def checked_counts(self, cluster: Cluster, counts: ArrayLike | None) -> FloatArray:
        """Validated counts, (..., n_classes); ModelError if this is no cluster."""
        if not isinstance(cluster, Cluster):
            raise ModelError(f"{self.name} places tasks on a Cluster; got {type(cluster).__name__}")
        return cluster.check_counts(counts)


AnyPolicy = Policy | ClusterPolicy
"""Of a pool, or of a cluster."""
