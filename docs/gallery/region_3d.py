"""The loads of three classes that fit.

The same for three classes: a polytope with a facet for each resource.
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
