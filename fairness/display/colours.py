"""Colours of the parts of a model in figures: classes, resources, servers, users, facets, queues, cells.

Policies have colours of their own (:mod:`fairness.catalogue`), and no part shares one with a policy: by the
colour difference CIEDE2000 [1]_ every part is at least 11 away from every policy (about 2 is just noticed
where two colours touch), and 8 from those that policies of one's own are given. Any two parts are at least 16
apart, and any two policies for the same kind of model at least 10, with the first seven of one's own on
pools: as people see them who see all colours, and as those do who lack the cones for long, middle or short
waves (the simulation of [2]_, severity 1). The contrast of a part to white is at least 2.5.

References
----------
.. [1] G. Sharma, W. Wu and E. N. Dalal, "The CIEDE2000 color-difference formula", Color Research and
   Application 30, 2005. DOI 10.1002/col.20070.
.. [2] G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A physiologically-based model for simulation of
   color vision deficiency", IEEE Transactions on Visualization and Computer Graphics 15, 2009.
   DOI 10.1109/TVCG.2009.113.
"""

from __future__ import annotations

from typing import Any

__all__ = ["NEUTRAL", "PARTS", "part_colour", "part_line"]

PARTS = ("#AA77FF", "#666600", "#660066", "#CC9966", "#338888", "#BB3366", "#2211FF", "#004422")
"""Found by a search for the largest least distance; the fewer there are, the farther apart they lie."""

NEUTRAL = "#7D8CA3"
"""Of what is neither a policy nor one part among several, such as the bars of a single list."""

_DASHES = ("-", "--", "-.", ":")


def part_colour(k: int) -> str:
    """Colour of class, resource, server or user number k, counted from 0; they repeat after eight.

    Examples
    --------
    >>> part_colour(0), part_colour(8)
    ('#AA77FF', '#AA77FF')
    """
    return PARTS[k % len(PARTS)]


def part_line(k: int) -> dict[str, Any]:
    """Colour and dashes of the line of part k, for matplotlib: where colours repeat, the dashes change.

    Examples
    --------
    >>> part_line(1), part_line(9)["linestyle"]
    ({'color': '#666600', 'linestyle': '-'}, '--')
    """
    return {"color": part_colour(k), "linestyle": _DASHES[k // len(PARTS) % len(_DASHES)]}
