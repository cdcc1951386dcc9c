"""Jobs that hold their servers or wait.

Seven servers; jobs of two and of three. Below the lines the queue is stable: between the dashed one, of
divisible work, and that of MaxWeight servers stand free because nothing fits, below it because of the order.
"""

from capacity import policy_stability_region
from fairness import Problem
from fairness.display.colours import part_line
from queueing import FCFS, MaxWeight, Priorities

pool = Problem([[2], [3]], [7], job_classes=["two servers", "three servers"])
axes = policy_stability_region(pool, FCFS()).plot()
for k, order in enumerate([MaxWeight(), Priorities("most")]):
    region = policy_stability_region(pool, order)
    axes.plot(*region.loads.T, **part_line(k), label=f"{order.name} ({100 * region.lost_share:.3g} % lost)")
axes.legend()
