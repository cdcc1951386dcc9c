"""Tasks of a cluster, replayed.

A hundred jobs of three users on four nodes, started again one by one under DRF: the dominant share of each
user over time, in parts of what it is entitled to.
"""

import numpy as np

from queueing import ClusterTrace, DRFScheduler, NodeList, replay

rng = np.random.default_rng(1)
types = [[4, 0], [4, 0.5], [8, 1], [16, 2]]
of_type = rng.choice(4, 100, p=[0.4, 0.3, 0.2, 0.1])
trace = ClusterTrace(
    ["CPU", "GPU"],
    ["cores", "devices"],
    np.sort(rng.uniform(0, 400, 100)),
    rng.exponential(120, 100),
    types,
    of_type,
    ["batch", "serving", "training"],
    np.array([0, 1, 2, 2])[of_type],
)
nodes = NodeList(["a", "b", "c", "d"], ["CPU", "GPU"], ["cores", "devices"], [[24, 2]] * 3 + [[8, 0]])
axes = replay(trace, nodes, DRFScheduler(blocking=False)).over_time(300).plot(what="shares")
