"""Whole tasks: filling task by task, on one pool and on the servers of a cluster."""

from fairness.indivisible.cluster import ClusterFilling, fill_cluster
from fairness.indivisible.machines import Deviation, deviation
from fairness.indivisible.pool import TaskFilling, fill_tasks
from fairness.indivisible.rules import BestRank, LowestShare, SequentialMinMax
from fairness.indivisible.runs import FillingRuns, repeat_filling
from fairness.indivisible.server_shares import DominantShare, ResidualShare, TaskShare, VirtualShare

__all__ = [
    "BestRank",
    "ClusterFilling",
    "Deviation",
    "DominantShare",
    "FillingRuns",
    "LowestShare",
    "ResidualShare",
    "SequentialMinMax",
    "TaskFilling",
    "TaskShare",
    "VirtualShare",
    "deviation",
    "fill_cluster",
    "fill_tasks",
    "repeat_filling",
]
