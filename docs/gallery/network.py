"""A backbone and its traffic.

The Abilene network under gravity traffic by the populations of the cities: the part in use of every link.
"""

from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic
from queueing.networks.pictures import plot_network

graph = abilene()
traffic = gravity_traffic(graph, total=10, weights="population", pairs=20)
axes = plot_network(graph, traffic.relative_loads, title="Abilene")
