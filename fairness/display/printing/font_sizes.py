"""Letters of a figure: how large the smallest is, and what makes them as large as they must be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["parts", "points_of", "raise_letters", "scale", "smallest_letter"]

THINNEST = 0.5
"""Points of a line that print."""


def smallest_letter(text: Text) -> float:
    """Points of the smallest letter of a text; infinite if it has none.

    Examples
    --------
    >>> from matplotlib.text import Text
    >>> smallest_letter(Text(text="plain", fontsize=9)), smallest_letter(Text(text="$10^{-3}$", fontsize=9))
    (9.0, 6.3)
    """
    from matplotlib.cbook import is_math_text

    size, words = points_of(text), text.get_text()
    if not words.strip():
        return math.inf
    math_text = text.get_parse_math() and is_math_text(words)
    return round(size * _shrunk(words), 6) if math_text else size


@lru_cache(maxsize=4096)
def _shrunk(words: str) -> float:
    """Size of the smallest letter of a formula, in that of its text: numbers of axes come again and again."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    parser: Any = MathTextParser("path")
    lines = [line for line in words.splitlines() if line.strip()]
    parsed = [parser.parse(line, dpi=72, prop=FontProperties(size=100.0)) for line in lines]
    return min((glyph[1] / 100.0 for one in parsed for glyph in one.glyphs), default=1.0)


def parts(figure: Any) -> Iterator[Any]:
    """The figure and its subfigures."""
    yield figure
    for part in figure.subfigs:
        yield from parts(part)


def points_of(text: Text) -> float:
    """Points of a text without its sub- and superscripts."""
    return float(text.get_fontsize())  # a number, whatever it was set to


def _ticks(figure: Figure) -> Iterator[tuple[Any, str, list[Any]]]:
    """The two or three axes of each panel, with their major and with their minor ticks."""
    for ax in figure.axes:
        for axis in filter(None, (getattr(ax, f"{name}axis", None) for name in "xyz")):
            yield axis, "major", axis.get_major_ticks()
            yield axis, "minor", axis.get_minor_ticks()


def scale(figure: Figure, factor: float) -> None:
    """Everything that is measured in points."""
    from matplotlib.collections import Collection, PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def wide(width: float) -> float:
        return max(width * factor, min(width, THINNEST))

    ticks = set()
    for axis, which, marks in _ticks(figure):
        if marks:
            axis.set_tick_params(which=which, labelsize=points_of(marks[0].label1) * factor)
        for mark in marks:
            ticks |= set(mark.findobj())
    for artist in figure.findobj():
        if artist in ticks:
            continue
        if isinstance(artist, _text()):
            artist.set_fontsize(points_of(artist) * factor)
        elif isinstance(artist, Line2D):
            artist.set_linewidth(wide(artist.get_linewidth()))
            artist.set_markersize(artist.get_markersize() * factor)
            artist.set_markeredgewidth(wide(artist.get_markeredgewidth()))
        elif isinstance(artist, Patch):
            artist.set_linewidth(wide(artist.get_linewidth()))
        elif isinstance(artist, Collection):
            artist.set_linewidth([wide(float(w)) for w in np.atleast_1d(artist.get_linewidth())])
            if isinstance(artist, PathCollection):
                artist.set_sizes(np.asarray(artist.get_sizes()) * factor**2)


def _text() -> type[Text]:
    from matplotlib.text import Text

    return Text


def raise_letters(figure: Figure, least: float) -> bool:
    """No letter below the least size: what has smaller ones grows, all numbers of an axis together.

    Returns whether any did.
    """
    raised = False
    for axis, which, marks in _ticks(figure):
        texts = [text for mark in marks for text in (mark.label1, mark.label2) if text.get_text().strip()]
        needed = max((points_of(text) * least / smallest_letter(text) for text in texts), default=0.0)
        if texts and needed > min(points_of(text) for text in texts) * (1 + 1e-9):
            axis.set_tick_params(which=which, labelsize=needed)
            raised = True
    for text in figure.findobj(_text()):
        if (small := smallest_letter(text)) < least:
            text.set_fontsize(points_of(text) * least / small)
            raised = True
    return raised
