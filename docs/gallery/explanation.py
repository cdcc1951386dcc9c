"""Why is my share what it is?

What class A would run if one thing were different: more of a resource, another weight, another policy. Each
bar is an allocation of its own, computed and certified as the first.
"""

from fairness import DRF, Problem, allocate, explain

pool = Problem(demands=[[1, 4], [3, 1]], capacities=[9, 18], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = explain(allocate(pool, DRF()), "A").plot()
