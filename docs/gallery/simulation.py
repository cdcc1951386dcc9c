"""Simulated means with their intervals.

Mean numbers of jobs of each class from ten independent runs, with 95 per cent confidence intervals.
"""

from fairness import DRF, Problem
from queueing import System, simulate

pool = Problem([[10, 1], [1, 10]], [11, 11], job_classes=["A", "B"], resources=["CPU", "RAM"])
system = System.with_load(pool, mix=[1, 1], load=0.6)
axes = simulate(system, DRF(), events=200_000, replications=10, rng=1).plot()
