from .boundaries.policy import policy_stability_boundary, policy_stability_region
from .boundaries.service import service_boundary, service_region
from .boundaries.service_simulation import Simulated
from .curves.load_curves import load_curves
from .curves.solve import solve
from .many_classes.slices import region_section
from .many_classes.volume_estimate import region_volume
from .provisioning.provision import provision
from .regions.divisible_tasks import stability_region
from .regions.stability import is_stable
from .regions.whole_tasks import packing_region
from .studies.heat_maps import heat_map
from .studies.heavy_traffic import heavy_traffic
from .studies.instability import search_instability
from .sweeping.sweep import SweepInterrupted, sweep

__all__ = [
    "Simulated",
    "SweepInterrupted",
    "heat_map",
    "heavy_traffic",
    "is_stable",
    "load_curves",
    "packing_region",
    "policy_stability_boundary",
    "policy_stability_region",
    "provision",
    "region_section",
    "region_volume",
    "search_instability",
    "service_boundary",
    "service_region",
    "solve",
    "stability_region",
    "sweep",
]
