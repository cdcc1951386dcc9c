"""DC-DRF beside the exact allocation.

What two thousand tenants get from DC-DRF with ε = 0.01, relative to what extended DRF gives them, sorted:
most get the same within a few per cent, a few at the ends do not.
"""

from fairness.cloud import compare, dcdrf, demand_profile, edrf

demands = demand_profile("G0", n_tenants=2_000, n_resources=200, rng=1)
axes = compare(dcdrf(demands, epsilon=0.01), edrf(demands)).plot()
