"""The clusters of the paper.

The published text survives with gaps. Capacities and demands of figures 1 and 2 are restored from the allocations
and statements that it prints; figure 5 is forced by table IV up to the CPU demands of users 2 and 4.
"""

from __future__ import annotations

from fractions import Fraction

from fairness import Cluster

__all__ = ["ALTERNATING", "CHANNELS", "DATA_CENTER", "EXAMPLE_1", "EXAMPLE_2"]

F = Fraction

SERVERS = [[9, 12, 100], [12, 12, 0]]
RESOURCES = ["CPU", "RAM", "bandwidth"]

EXAMPLE_1 = Cluster(
    [[1, 2, 10], [1, 2, 1], [F(1, 2), 1, 0]],
    SERVERS,
    weights=[1, 1, 2],
    job_classes=["user 1", "user 2", "user 3"],
    resources=RESOURCES,
)
"""Figure 1: two servers, the second without bandwidth; CPUs, GB, Mb/s."""

EXAMPLE_2 = Cluster(
    [[F(3, 2), 1, 10], [1, 2, 10], [F(1, 2), 1, 0], [1, F(1, 2), 0]],
    SERVERS,
    job_classes=["user 1", "user 2", "user 3", "user 4"],
    resources=RESOURCES,
)
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

DATA_CENTER = Cluster(
    [[F(1, 10), F(1, 10)], [F(1, 10), F(1, 5)], [F(1, 5), F(1, 10)], [F(1, 5), F(3, 10)]],
    # 8, 68, 33 and 11 servers of (1, 1), (1/2, 1/2), (1/2, 1/4) and (1/2, 3/4): 120 in all.
    [[8, 8], [34, 34], [F(33, 2), F(33, 4)], [F(11, 2), F(33, 4)]],
    eligible=[[True] * 4, [True] * 4, [False, False, True, True], [False, False, True, True]],
    job_classes=["user 1", "user 2", "user 3", "user 4"],
    servers=["class A", "class B", "class C", "class D"],
    resources=["CPU", "RAM"],
)
"""Figure 5: four classes of servers with the configurations of a Google cluster, pooled by class."""
