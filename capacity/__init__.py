"""Which loads fit: stability regions of pools, clusters and whole tasks, verdicts, and sweeps."""

from typing import TYPE_CHECKING, Any

from capacity.cluster_region import ClusterRegion
from capacity.evidence import LoadEvidence, Support
from capacity.heavy_traffic import HeavyTraffic, heavy_traffic
from capacity.instability import InstabilitySearch, search_instability
from capacity.packing import PackingRegion, packing_region
from capacity.policy_region import (
    PolicyPoint,
    PolicyRegion,
    policy_stability_boundary,
    policy_stability_region,
)
from capacity.provision import Provision, provision
from capacity.region import StabilityRegion
from capacity.regions import stability_region
from capacity.service import ServicePoint, ServiceRegion, service_boundary, service_region
from capacity.service_simulated import Simulated
from capacity.stability import StabilityVerdict, is_stable

__all__ = [
    "ClusterRegion",
    "HeavyTraffic",
    "InstabilitySearch",
    "LoadEvidence",
    "PackingRegion",
    "PolicyPoint",
    "PolicyRegion",
    "Provision",
    "ServicePoint",
    "ServiceRegion",
    "Simulated",
    "StabilityRegion",
    "StabilityVerdict",
    "Support",
    "SweepInterrupted",
    "heavy_traffic",
    "is_stable",
    "packing_region",
    "policy_stability_boundary",
    "policy_stability_region",
    "provision",
    "search_instability",
    "service_boundary",
    "service_region",
    "stability_region",
    "sweep",
]

if TYPE_CHECKING:
    from capacity.sweeping.sweep import SweepInterrupted, sweep
else:

    def __getattr__(name: str) -> Any:
        """Load sweeps, with xarray, when they are first asked for."""
        if name in ("SweepInterrupted", "sweep"):
            from capacity.sweeping import sweep as module

            return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
