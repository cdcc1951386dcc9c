"""Two of many classes: a section of a region.

Thirty routes on the Abilene backbone. How much of two of them fits if the other 28 keep 70 per cent of what
they could have: polygons of two classes where the whole region has thirty dimensions.
"""

from capacity import region_section, stability_region
from queueing.networks.backbones import abilene
from queueing.networks.gravity import gravity_traffic

traffic = gravity_traffic(abilene().to_directed(), pairs=30)
region = stability_region(traffic.problem)
loads = 0.7 * region.max_scale(traffic.loads) * traffic.loads
axes = region_section(region, traffic.problem.job_classes[:2], loads).plot()
