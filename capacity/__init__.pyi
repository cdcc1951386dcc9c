from .cluster_region import (
    ClusterRegion as ClusterRegion,
)
from .evidence import (
    LoadEvidence as LoadEvidence,
)
from .evidence import (
    Support as Support,
)
from .heat_maps import heat_map as heat_map
from .heavy_traffic_limits import (
    HeavyTraffic as HeavyTraffic,
)
from .heavy_traffic_limits import (
    heavy_traffic as heavy_traffic,
)
from .instability import (
    InstabilitySearch as InstabilitySearch,
)
from .instability import (
    search_instability as search_instability,
)
from .packing import (
    PackingRegion as PackingRegion,
)
from .packing import (
    packing_region as packing_region,
)
from .policy_region import (
    PolicyPoint as PolicyPoint,
)
from .policy_region import (
    PolicyRegion as PolicyRegion,
)
from .policy_region import (
    policy_stability_boundary as policy_stability_boundary,
)
from .policy_region import (
    policy_stability_region as policy_stability_region,
)
from .provisioning import (
    Provision as Provision,
)
from .provisioning import (
    provision as provision,
)
from .region import (
    StabilityRegion as StabilityRegion,
)
from .regions import (
    stability_region as stability_region,
)
from .service import (
    ServicePoint as ServicePoint,
)
from .service import (
    ServiceRegion as ServiceRegion,
)
from .service import (
    service_boundary as service_boundary,
)
from .service import (
    service_region as service_region,
)
from .service_simulated import (
    Simulated as Simulated,
)
from .stability import (
    StabilityVerdict as StabilityVerdict,
)
from .stability import (
    is_stable as is_stable,
)
from .sweeping.sweep import (
    SweepInterrupted as SweepInterrupted,
)
from .sweeping.sweep import (
    sweep as sweep,
)

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
    "heat_map",
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
