"""Means as functions of the load, exactly.

Mean numbers of jobs on a small box, as quotients of polynomials with integer coefficients that were found
and proved: every point of the curves is a fraction.
"""

from fairness import DRF, Problem
from queueing import System, mean_jobs_by_load

pool = Problem([[2, 1], [1, 2]], [3, 3], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = mean_jobs_by_load(System(pool, arrival_rates=[1, 2]), DRF(), shape=3).plot()
