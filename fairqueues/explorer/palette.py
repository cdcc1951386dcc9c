"""Colours of the page by day and by night, legible on both; the hue says the policy, as in every figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fairness.catalogue import coloured
from fairqueues.explorer.model import State

__all__ = ["DASHES", "DAY", "NIGHT", "Palette", "hue_of", "legible"]

CONTRAST = 3.0
"""Least contrast of a line or dot to the page, as WCAG 2.1 (1.4.11) asks for graphics."""

DASHES = ("solid", "6 4", "2 4", "2 4 6 4", "6 4 2 4 2 4", "12 3")
"""Of resources and of classes, in their order; colours belong to policies. Lengths of dashes and gaps, which
figures, legends and files draw alike: a name such as "dashed" has two meanings in Bokeh."""


@dataclass(frozen=True)
class Palette:
    """Colours of everything that is no policy.

    Attributes
    ----------
    page, ink, quiet, grid, area, arrow : str
        Of the page behind the figures, of text and lines of resources, of auxiliary lines, of the grid, of
        what fits, and of the drift.
    """

    page: str
    ink: str
    quiet: str
    grid: str
    area: str
    arrow: str

    def hue(self, state: State, name: str) -> str:
        """Colour of a policy or method on this page."""
        return legible(hue_of(state, name), self.page)


DAY = Palette("#ffffff", "#333333", "#777777", "#eeeeee", "#e4e9f0", "#a0a0a0")
NIGHT = Palette("#16191e", "#d5d9e0", "#8d949e", "#2a2f37", "#232b36", "#68707b")


def hue_of(state: State, name: str) -> str:
    """Colour of a policy or method, as in every figure; those of one's own have spare ones.

    Examples
    --------
    >>> hue_of(State(), "DRF")
    '#D55E00'
    """
    return coloured(["balanced fairness", "bound", *state.offered])[name]


@cache
def legible(hue: str, page: str = DAY.page) -> str:
    """The colour, moved away from that of the page as little as makes its contrast :data:`CONTRAST`.

    Examples
    --------
    >>> legible("#0072B2"), legible("#56B4E9"), legible("#000000", NIGHT.page)
    ('#0072B2', '#4a9cca', '#ffffff')
    """
    channels, behind = _channels(hue), _channels(page)
    end = 0.0 if _luminance(behind) > 0.5 else 255.0
    # Black has no hue to keep.
    if not any(channels):
        return "#000000" if end == 0 else "#ffffff"
    for part in np.arange(0.0, 1.0, 0.01):
        moved = [int(c + part * (end - c)) for c in channels]
        if contrast(moved, behind) >= CONTRAST:
            return hue if part == 0 else "#" + "".join(f"{c:02x}" for c in moved)
    raise AssertionError("white and black have the largest contrast")


def contrast(one: Sequence[int], other: Sequence[int]) -> float:
    """Contrast of two colours by the formula of WCAG 2.1."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _channels(hue: str) -> list[int]:
    return [int(hue[k : k + 2], 16) for k in (1, 3, 5)]


def _luminance(channels: Sequence[int]) -> float:
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
