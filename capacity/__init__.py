"""Which loads fit: stability regions, the verdict on one system, and sweeps over many."""

from typing import TYPE_CHECKING, Any

from capacity.region import StabilityRegion, stability_region
from capacity.stability import StabilityVerdict, is_stable

__all__ = [
    "StabilityRegion",
    "StabilityVerdict",
    "SweepInterrupted",
    "is_stable",
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
