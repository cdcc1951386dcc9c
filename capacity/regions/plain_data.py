"""A region as plain data for other programs: matrices, vertices, names; fractions as texts beside floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

__all__ = ["plain_data"]


def plain_data(
    region: Any, exact: Sequence[tuple[Sequence[Fraction], Fraction]] | None, vertices: bool
) -> dict[str, Any]:
    """What :meth:`~capacity.results.StabilityRegion.to_dict` tells; ``exact`` are its rows in fractions."""
    names = region.job_classes
    told: dict[str, Any] = {
        "job_classes": list(names),
        "pinned": [names[n] for n in region.pinned],
        "unbounded": [names[n] for n in region.free],
        "facet_names": list(region.facet_names),
        "A": region.facets.normals.tolist(),
        "b": region.facets.offsets.tolist(),
    }
    if exact is not None:
        told["exact_A"] = [list(map(str, normal)) for normal, _ in exact]
        told["exact_b"] = [str(offset) for _, offset in exact]
    if vertices:
        told["vertices"] = region.vertices.tolist()
        told["volume"] = region.volume if math.isfinite(region.volume) else None
        if region.exact_vertices is not None:
            told["exact_vertices"] = [list(map(str, vertex)) for vertex in region.exact_vertices]
        if region.exact_volume is not None:
            told["exact_volume"] = str(region.exact_volume)
    return told
