"""Who gets how much: one allocation of one pool.

The part of each resource that each class holds under DRF. The CPUs are full: they stop both classes; RAM is
left.
"""

from fairness import DRF, Problem, allocate

pool = Problem(demands=[[1, 4], [3, 1]], capacities=[9, 18], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = allocate(pool, DRF()).plot()
