"""Servers with placement constraints under PS-DSF.

Tasks of each class on each server. Class 3 may run anywhere but does well enough where there is no
network; classes 1 and 2 share the first server.
"""

from fairness import PSDSF, Cluster, allocate

servers = Cluster(
    demands=[[1, 2, 10], [1, 2, 1], [0.5, 1, 0]],
    capacities=[[9, 12, 100], [12, 12, 0]],
    weights=[1, 1, 2],
    resources=["CPU", "RAM", "net"],
)
axes = allocate(servers, PSDSF()).plot()
