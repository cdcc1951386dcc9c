"""The clusters of the paper, as its statements in :mod:`proofs` have them.

The published text survives with gaps. Capacities and demands of figures 1 and 2 are restored from the allocations
and statements that it prints; figure 5 is forced by table IV up to the CPU demands of users 2 and 4.
"""

from __future__ import annotations

from fractions import Fraction

from fairness import Cluster
from proofs.catalogue.psdsf.counterexamples import FIGURE_1, FIGURE_2, TABLE_IV
from proofs.prover.library.servers import cluster_of

__all__ = ["ALTERNATING", "CHANNELS", "DATA_CENTER", "EXAMPLE_1", "EXAMPLE_2"]

F = Fraction

RESOURCES = ["CPU", "RAM", "bandwidth"]
USERS = ["user 1", "user 2", "user 3", "user 4"]

EXAMPLE_1 = cluster_of(FIGURE_1, job_classes=USERS[:3], resources=RESOURCES)
"""Figure 1: two servers, the second without bandwidth; CPUs, GB, Mb/s."""

EXAMPLE_2 = cluster_of(FIGURE_2, job_classes=USERS, resources=RESOURCES)
"""Figures 2 and 3: the same servers, four users."""

ALTERNATING = Cluster(
    [[4, 0, 2], [3, 4, 1], [1, 3, 4], [0, 2, 3], [0, 4, 2]],
    [[2, 9, 7], [2, 7, 2], [7, 9, 9]],
    weights=[1, 2, 1, 1, 1],
    eligible=[[True] * 3, [True] * 3, [False, True, True], [True, False, True], [True, False, True]],
    job_classes=["user 1", "user 2", "user 3", "user 4", "user 5"],
)
"""Not in the paper: the sweeps of Algorithm I alternate between two placements."""

CHANNELS = Cluster(
    [[1], [1]],
    [[1], [1], [1]],
    gamma=[[1, 1, F(1, 2)], [F(1, 3), F(2, 3), F(2, 3)]],
    job_classes=["user 1", "user 2"],
    servers=["channel 1", "channel 2", "channel 3"],
    resources=["time"],
)
"""Figure 4: what each user can send on each channel, Mb/s; one of the instances that fit the text."""

DATA_CENTER = cluster_of(
    TABLE_IV,
    job_classes=USERS,
    servers=["class A", "class B", "class C", "class D"],
    resources=["CPU", "RAM"],
)
"""Figure 5: four classes of servers with the configurations of a Google cluster, pooled by class."""
