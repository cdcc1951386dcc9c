"""Mean numbers of jobs between proved bounds.

No "about": each interval contains the mean of the infinite chain, and a checker without any solver proves
it again.
"""

from fairness import DRF, Problem
from queueing import System, enclose

pool = Problem([[10, 1], [1, 10]], [11, 11], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = enclose(System.with_load(pool, mix=[1, 1], load=0.5), DRF()).plot()
