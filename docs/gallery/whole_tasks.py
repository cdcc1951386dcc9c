"""Whole tasks, one after the other.

Task by task the class with the smallest dominant share is served, until nothing fits: three and two tasks
here, as many as the fluid allocation gives.
"""

from fairness import Problem
from fairness.indivisible import fill_tasks

pool = Problem(demands=[[1, 4], [3, 1]], capacities=[9, 18], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = fill_tasks(pool).plot()
