"""The best policy, state by state.

Class 2 has short jobs, and many. Colours tell how many tasks of class 1 the best policy runs: both classes
below the curve, class 2 alone above it. No policy at all has fewer jobs in the mean, but for a millionth.
"""

from fairness import Problem
from queueing import System, optimal

pool = Problem([[1, 0.5], [0.5, 1]], [1, 1])
axes = optimal(System.with_load(pool, mix=[1, 3], load=0.8, mean_sizes=[1, 0.4])).plot()
