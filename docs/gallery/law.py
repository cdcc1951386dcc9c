"""The whole law of the numbers of jobs.

The stationary law of the Markov chain under proportional fairness: the probability of so many jobs of each
class. What lies outside of the box of states stands in the result as `tail_mass`.
"""

from fairness import Problem, ProportionalFair
from queueing import System, stationary

pool = Problem([[10, 1], [1, 10]], [11, 11], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = stationary(System.with_load(pool, mix=[1, 1], load=0.7), ProportionalFair()).plot()
