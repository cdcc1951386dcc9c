"""The models that several pages share: the two examples of the talk, and a cluster."""

from __future__ import annotations

from fairness import Cluster, Problem

__all__ = ["MATRICES", "SERVERS", "fluid_example", "task_example"]

NAMES = ["class 1", "class 2"]


def fluid_example() -> Problem:
    """(10,1; 1,10) on 10 units of each resource: a class alone runs one task."""
    return Problem([[10, 1], [1, 10]], [10, 10], job_classes=NAMES, resources=["CPU", "RAM"])


def task_example() -> Problem:
    """(4,1; 1,4) on 16 cores and 16 GB: a class alone runs four tasks."""
    return Problem([[4, 1], [1, 4]], [16, 16], job_classes=NAMES, resources=["CPU", "RAM"])


MATRICES = {"(10,1; 1,10) on 10 and 10": fluid_example, "(4,1; 1,4) on 16 and 16": task_example}
"""The two examples of the talk by the name on the pages."""

SERVERS = Cluster(
    [[4, 1, 1], [1, 4, 1]],
    [[8, 8, 8], [12, 6, 8], [9, 14, 3]],
    eligible=[[True, True, True], [True, False, True]],
    job_classes=NAMES,
    servers=["even", "for class 1", "little bandwidth"],
    resources=["CPU", "RAM", "bandwidth"],
)
"""Three unlike servers for the classes of the second example, whose tasks also need a unit of bandwidth."""
