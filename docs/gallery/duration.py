"""How long does a job take, not only on average?

The law of the duration of a job of class A, by an absorbing chain: the probability that it is still there.
"""

from fairness import DRF, Problem
from queueing import System, tagged_duration

pool = Problem([[10, 1], [1, 10]], [11, 11], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = tagged_duration(System.with_load(pool, mix=[1, 1], load=0.6), DRF(), "A").plot()
