"""Fair between users, shortest first within each.

Two users share two resources, and the jobs of A are ten times as long. Under DRF each serves its jobs equally
or by what is left of them: both gain. In one order of all jobs B comes first nearly always, and A last; its
curve ends where jobs of A pile up for ever, below a load that DRF carries.
"""

import numpy as np

from fairness import DRF, Problem
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes, legend_beside
from fairness.errors import UnstableError
from queueing import SRPT, Lognormal, System, simulate

pool = Problem([[1, 0.5], [0.5, 1]], [4, 4], limits=[1, 1], job_classes=["A", "B"])
sizes = [Lognormal(4.0, mean=10.0), Lognormal(4.0, mean=1.0)]
ways = {
    1: ("DRF, equally", DRF(), "ps"),
    5: ("DRF, least attained", DRF(), "las"),
    4: ("DRF, least left", DRF(), "srpt"),
    7: ("least left of all", SRPT(), None),
}
loads = np.array([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9])
axes = given_axes(None)
for k, (name, policy, order) in ways.items():
    slowdowns = np.full((len(loads), 2), np.nan)
    for row, load in zip(slowdowns, loads, strict=True):
        system = System.with_load(pool, [1, 1], load, sizes=sizes)
        try:
            run = simulate(system, policy, order=order, jobs=200_000, replications=5, rng=1, quantiles=())
        except UnstableError:
            break
        row[:] = run.mean_slowdowns
    for user, style in enumerate(("-", "--")):
        line = part_line(k) | {"linestyle": style}
        axes.plot(loads, slowdowns[:, user], label=f"{pool.job_classes[user]}: {name}", **line)
axes.set(xlabel="load of the busier resource", ylabel="mean slowdown", yscale="log", ylim=(0.97, 5))
axes.set_yticks([1, 1.5, 2, 3, 4, 5], ["1", "1.5", "2", "3", "4", "5"], minor=False)
axes.minorticks_off()
legend_beside(axes)
