"""Bounds without a chain.

A dozen classes that share three resources: the mean number of jobs under PF lies between these bounds,
which are proved in fractions; no box of states could hold this chain.
"""

from fairness import Problem, ProportionalFair
from queueing import System, drift_bound

demands = [[1 + (i * j) % 3, 1 + i % 2, 1 + (i + j) % 4] for i in range(4) for j in range(3)]
system = System.with_load(Problem(demands, [10, 8, 12]), mix=[1] * 12, load=0.7)
axes = drift_bound(system, ProportionalFair()).plot()
