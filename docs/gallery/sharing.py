"""Four notions of fairness on the same pool.

Every point below the lines can be run by the two jobs; each policy chooses one. RAM stops all four here.
Max-min fairness and DRF give both jobs 1/5 of a task; proportional fairness (PF) and bottleneck-max
fairness (BMF), which are equal for two jobs on two resources, give 1/6 and 1/4.
"""

from fairness import DRF, BottleneckMax, MaxMin, Problem, ProportionalFair
from fairness.results.plotting import plot_sharing

pool = Problem(demands=[[1, 3], [3, 2]], capacities=[1, 1], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = plot_sharing(pool, [MaxMin(), DRF(), ProportionalFair(), BottleneckMax()])
