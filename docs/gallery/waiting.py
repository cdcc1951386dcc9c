"""Jobs that hold their servers or wait.

Two servers; jobs of one and of both, in order of arrival. Below the line the queue is stable; between it and
the largest loads servers stand free beside jobs that do not fit.
"""

from capacity import policy_stability_region
from fairness import Problem
from queueing import FCFS

pool = Problem([[1], [2]], [2], job_classes=["one server", "both servers"])
axes = policy_stability_region(pool, FCFS()).plot()
