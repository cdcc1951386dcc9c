"""The instances that the pages share: the paper's profiles at the paper's scale, or at a hundredth of it."""

from __future__ import annotations

from functools import lru_cache

from fairness.cloud import Edrf, SparseDemands, demand_profile, edrf

__all__ = ["CONFIGURATIONS", "SEED", "exact", "profile", "scale", "scale_text"]

SEED = 2018

CONFIGURATIONS = {
    "EDRF by events": "#222222",
    "DC-DRF": "#0072b2",
    "sDC-DRF": "#56b4e9",
    "pEDRF": "#d55e00",
    "pEDRF-1": "#cc79a7",
}
"""Colour of each configuration of the paper, and of the exact method."""


def scale(quick: bool) -> tuple[int, int]:
    """Tenants and resources."""
    return (10_000, 1_000) if quick else (1_000_000, 100_000)


def scale_text(quick: bool) -> str:
    """The scale in words."""
    n_tenants, n_resources = scale(quick)
    return f"{n_tenants:,} tenants, {n_resources:,} resources"


@lru_cache(maxsize=1)
def profile(name: str, quick: bool) -> SparseDemands:
    """Demands of a profile; only the latest is kept."""
    return demand_profile(name, *scale(quick), rng=SEED)


@lru_cache(maxsize=1)
def exact(name: str, quick: bool) -> Edrf:
    """EDRF of a profile; only the latest is kept."""
    return edrf(profile(name, quick))
