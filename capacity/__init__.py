"""Which loads fit: stability regions and the verdict on one system."""

from capacity.region import StabilityRegion, stability_region
from capacity.stability import StabilityVerdict, is_stable

__all__ = ["StabilityRegion", "StabilityVerdict", "is_stable", "stability_region"]
