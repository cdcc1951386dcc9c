"""Where a crowd goes: a fluid trajectory.

From many jobs of class A and few of class B at load 0.9, scaled so that chance averages out: under DRF the
numbers fall to zero, but class B grows first.
"""

from fairness import DRF, Problem
from queueing import System, trajectory

pool = Problem([[10, 1], [1, 10]], [11, 11], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = trajectory(System.with_load(pool, mix=[1, 1], load=0.9), DRF(), start=[1, 0.1]).plot()
