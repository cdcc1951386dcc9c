"""Fair between users, shortest first within each.

Two users share two resources by DRF; the jobs of each are served equally or in an order that knows their
sizes, or learn them. Both users gain: neither takes anything from the other.
"""

import numpy as np

from fairness import DRF, Problem
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes, legend_beside
from queueing import Lognormal, System, simulate

pool = Problem([[1, 0.1], [0.1, 1]], [1, 1], job_classes=["A", "B"])
names = {1: ("ps", "equally"), 3: ("las", "least attained"), 6: ("srpt", "least left")}
loads = np.array([0.3, 0.5, 0.7, 0.8, 0.9])
axes = given_axes(None)
for k, (order, name) in names.items():
    slowdowns = []
    for load in loads:
        system = System.with_load(pool, [3, 1], load, sizes=Lognormal(4.0))
        run = simulate(system, DRF(), order=order, jobs=100_000, replications=5, rng=1, quantiles=())
        slowdowns.append(run.mean_slowdowns)
    for user, (curve, style) in enumerate(zip(np.transpose(slowdowns), ("-", "--"), strict=True)):
        line = part_line(k) | {"linestyle": style}
        axes.plot(loads, curve, label=f"{pool.job_classes[user]}, {name}", **line)
axes.set(xlabel="load of the busier resource", ylabel="mean slowdown", yscale="log", ylim=(1, 20))
legend_beside(axes)
