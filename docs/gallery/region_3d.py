"""The loads of three classes that fit.

A polytope in space: each facet is a resource that is full, below it the loads for which all policies that
waste nothing are stable.
"""

from capacity import stability_region
from fairness import Problem

pool = Problem(
    demands=[[4, 1, 1], [1, 4, 1], [1, 1, 4]],
    capacities=[12, 12, 12],
    job_classes=["A", "B", "C"],
    resources=["CPU", "RAM", "net"],
)
axes = stability_region(pool).plot()
