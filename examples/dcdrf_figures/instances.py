"""The instances that the pages share: the paper's profiles at the paper's scale, or at a hundredth of it."""

from __future__ import annotations

from functools import lru_cache

from fairness.cloud import SparseDemands, demand_profile
from fairness.cloud.instances.profiles import POD
from fairness.display.colours import part_colour

__all__ = [
    "CONFIGURATIONS",
    "GREY",
    "OTHERS",
    "PAPER_SECONDS",
    "SEED",
    "pod_size",
    "profile",
    "scale",
    "scale_text",
]

SEED = 2018

PAPER_SECONDS = 765
"""Conventional single-threaded EDRF in the paper, section 5.1."""

CONFIGURATIONS = {
    "EDRF by events": "#222222",
    "DC-DRF": "#0072b2",
    "sDC-DRF": "#56b4e9",
    "pEDRF": "#d55e00",
    "pEDRF-1": "#cc79a7",
}
"""Colour of each configuration of the paper, and of the exact method."""

OTHERS = (part_colour(4), part_colour(5))
"""Colours of what is no configuration of the paper."""

GREY = "#777777"
"""Colour of lines to compare with."""


def scale(full: bool) -> tuple[int, int]:
    """Tenants and resources."""
    return (1_000_000, 100_000) if full else (10_000, 1_000)


def scale_text(full: bool) -> str:
    """The scale in words."""
    n_tenants, n_resources = scale(full)
    part = "" if full else " (a hundredth of the paper's scale)"
    return f"{n_tenants:,} tenants, {n_resources:,} resources{part}"


def pod_size(full: bool) -> int:
    """Resources of a pod."""
    n_resources = scale(full)[1]
    return n_resources // max(2, round(n_resources / POD))


@lru_cache(maxsize=1)
def profile(name: str, full: bool) -> SparseDemands:
    """Demands of a profile; only the latest is kept."""
    return demand_profile(name, *scale(full), rng=SEED)
