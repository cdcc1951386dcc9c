from .boundaries.policy import PolicyPoint, PolicyRegion, policy_stability_boundary, policy_stability_region
from .boundaries.service import ServicePoint, ServiceRegion, service_boundary, service_region
from .boundaries.service_simulation import Simulated
from .curves.load_curves import load_curves
from .curves.result import LoadCurves, Solved
from .curves.solve import solve
from .many_classes.slices import RegionSection, region_section
from .many_classes.volume_estimate import VolumeEstimate, region_volume
from .provisioning.answer import Provision
from .provisioning.provision import provision
from .regions.divisible_tasks import PoolRegion, StabilityRegion, stability_region
from .regions.inequalities import Facets
from .regions.load_region import LoadEvidence, Support
from .regions.stability import StabilityVerdict, is_stable
from .regions.whole_tasks import PackingRegion, packing_region
from .studies.heat_maps import heat_map
from .studies.heavy_traffic import HeavyTraffic, heavy_traffic
from .studies.instability import InstabilitySearch, search_instability
from .sweeping.sweep import SweepInterrupted, sweep

__all__ = [
    "Facets",
    "HeavyTraffic",
    "InstabilitySearch",
    "LoadCurves",
    "LoadEvidence",
    "PackingRegion",
    "PolicyPoint",
    "PolicyRegion",
    "PoolRegion",
    "Provision",
    "RegionSection",
    "ServicePoint",
    "ServiceRegion",
    "Simulated",
    "Solved",
    "StabilityRegion",
    "StabilityVerdict",
    "Support",
    "SweepInterrupted",
    "VolumeEstimate",
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
