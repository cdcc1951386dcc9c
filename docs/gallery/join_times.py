"""Users that come one after the other (TDRF).

Who joined earlier weighs more: the tasks of three users over time, the first of whom leaves.
"""

from fairness.timed.timeline import timeline

brought = [[0.5, 0.2], [0.4, 0.5], [0.1, 0.3]]
needs = [[0.1, 0.02], [0.03, 0.1], [0.05, 0.05]]
axes = timeline(brought, needs, [1, 2, 3], [5, None, None], capacities=[1, 1], initial_time=0).plot()
