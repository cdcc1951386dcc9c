"""The cheapest capacities that keep a promise.

Mean service rates of both classes with the capacities that were bought, beside the promised ones (lines):
the promise is kept with nothing to spare.
"""

from capacity import provision

demands = [[1, 4], [3, 1]]
axes = provision(demands, loads=[2, 1], costs=[2, 1], maximum_duration=[2, 3], mean_sizes=[1, 1]).plot()
