"""Sizes that are known, or learnt.

One server, sizes of squared coefficient of variation 4: mean durations and slowdowns in seven orders of
service over the load, by their formulas. Who knows the sizes serves what has least left; who knows their law
only goes by the attained service, and here the best of these orders is hardly better than the simplest.
"""

import numpy as np

from fairness.display.colours import part_line
from fairness.display.drawing import legend_beside, panels
from queueing import Lognormal, single_server

names = {
    "fcfs": "first come",
    "ps": "equally",
    "sjf": "smallest first",
    "psjf": "smallest, preemptive",
    "srpt": "least left",
    "las": "least attained",
    "gittins": "index policy",
}
loads, law = np.linspace(0.05, 0.95, 19), Lognormal(4.0)
figure, (durations, slowdowns) = panels(2, width=3.0, height=3.4)
for k, (order, name) in enumerate(names.items()):
    found = [single_server(law, load, order) for load in loads]
    line = part_line(k) | {"linestyle": "--" if order == "gittins" else "-"}
    durations.plot(loads, [one.mean_duration for one in found], **line)
    slowdowns.plot(loads, [one.mean_slowdown for one in found], label=name, **line)
for axes, told in ((durations, "mean duration over mean size"), (slowdowns, "mean slowdown")):
    axes.set(xlabel="load", ylabel=told, yscale="log", xlim=(0, 1), ylim=(1, 100))
legend_beside(slowdowns)
