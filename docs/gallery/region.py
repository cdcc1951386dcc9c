"""How much traffic fits?

The loads that some policy can keep up with: each resource is a facet, each corner an exact fraction.
"""

from capacity import stability_region
from fairness import Problem

pool = Problem([[10, 1], [1, 10]], [11, 11], job_classes=["A", "B"], resources=["CPU", "RAM"])
axes = stability_region(pool).plot()
