"""Users that come one after the other (TDRF).

Who joined earlier weighs more: the tasks of two users over time.
"""

from fairness.timed.timeline import timeline

axes = timeline(
    [[0.5, 0.2], [0.4, 0.5]], [[0.1, 0], [0, 0.1]], [1, 2], capacities=[1, 1], initial_time=0
).plot()
