from ..boundaries.policy import PolicyPoint, PolicyRegion
from ..boundaries.service import ServicePoint, ServiceRegion
from ..curves.result import LoadCurves, Solved
from ..many_classes.slices import RegionSection
from ..many_classes.volume_estimate import VolumeEstimate
from ..provisioning.answer import Provision
from ..regions.divisible_tasks import PoolRegion, StabilityRegion
from ..regions.inequalities import Facets
from ..regions.load_region import LoadEvidence, Support
from ..regions.stability import StabilityVerdict
from ..regions.whole_tasks import PackingRegion
from ..studies.heavy_traffic import HeavyTraffic
from ..studies.instability import InstabilitySearch

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
    "Solved",
    "StabilityRegion",
    "StabilityVerdict",
    "Support",
    "VolumeEstimate",
]
