from .cluster import ClusterFilling, fill_cluster
from .hierarchy import HierarchicalShare
from .machines import Deviation, deviation
from .pool import TaskFilling, fill_tasks
from .rules import BestRank, LowestShare, SequentialMinMax
from .runs import FillingRuns, repeat_filling
from .server_shares import DominantShare, ResidualShare, TaskShare, VirtualShare

__all__ = [
    "BestRank",
    "ClusterFilling",
    "Deviation",
    "DominantShare",
    "FillingRuns",
    "HierarchicalShare",
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
