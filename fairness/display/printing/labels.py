"""Titles, labels and names at axes that are too long for their place: broken, turned, or given more room."""

from __future__ import annotations

import math
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fairness.display.lettering import DOLLAR
from fairness.display.printing.font_sizes import parts, points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["break_lines", "break_names", "grow", "thin_numbers", "turn_names"]

LONGEST = 0.35
"""Part of the width of a figure that names beside an axis may take."""

LEANS = (30.0, 45.0, 90.0)
"""Degrees by which names are turned."""


def break_lines(figure: Figure) -> bool:
    """Break titles, and labels of axes, that are longer than what they stand at."""
    from matplotlib.legend import Legend

    changed = break_names(figure)
    for ax in figure.axes:
        box = ax.get_window_extent()
        for title in (ax.title, ax._left_title, ax._right_title):  # type: ignore[attr-defined]
            changed |= _broken(title, box.width)
        if not hasattr(ax, "zaxis"):
            changed |= _broken(ax.xaxis.label, 1.05 * box.width)
            changed |= _broken(ax.yaxis.label, 1.05 * box.height, along="height")
    for legend in figure.findobj(Legend):
        for entry in legend.get_texts():
            changed |= _broken(entry, 0.85 * figure.bbox.width)
    for part in parts(figure):
        for text, along in (
            (part._suptitle, "width"),
            (part._supxlabel, "width"),
            (part._supylabel, "height"),
        ):
            if text is not None:
                text.set_multialignment("center")
                changed |= _broken(text, 0.98 * float(getattr(part.bbox, along)), along)
    return changed


def _broken(text: Text, room: float, along: str = "width") -> bool:
    """Break a text into lines that fit, within a word where that is longer; a formula stays whole."""
    words = text.get_text().replace(r"\$", DOLLAR)
    if "\n" in words or "$" in words:
        return False
    long = float(getattr(text.get_window_extent(), along))
    if long <= room:
        return False
    lines = math.ceil(long / room)
    # Lines of about the same length look better than a last one of one word.
    fitting = min(math.ceil(len(words) / lines) + 4, math.floor(len(words) * room / long))
    parts = textwrap.wrap(words, max(8, fitting))
    text.set_text("\n".join(parts).replace(DOLLAR, r"\$"))
    return len(parts) > 1


def break_names(figure: Figure) -> bool:
    """Break names beside axes that would take too much of the width of the figure."""
    changed = False
    for ax in _flat(figure):
        texts = _names(ax.yaxis)  # numbers have no words
        broken = [_broken(text, LONGEST * figure.bbox.width) for text in texts]
        if any(broken):
            ax.set_yticks([text.get_position()[1] for text in texts], [text.get_text() for text in texts])
            changed = True
    return changed


def _flat(figure: Figure) -> list[Axes]:
    """The panels but those of pictures in space."""
    return [ax for ax in figure.axes if not hasattr(ax, "zaxis")]


def _names(axis: Any, *, minor: bool = False) -> list[Text]:
    """Names and numbers that an axis shows."""
    low, high = sorted(axis.get_view_interval())
    at = "xyz".index(axis.axis_name)
    texts = [mark.label1 for mark in (axis.get_minor_ticks() if minor else axis.get_major_ticks())]
    shown = [text for text in texts if text.get_text().strip() and text.get_visible()]
    return [text for text in shown if at > 1 or low <= text.get_position()[at] <= high]


def turn_names(figure: Figure) -> bool:
    """Turn names below an axis that run into each other, as little as helps."""
    changed = False
    for ax in _flat(figure):
        texts = _names(ax.xaxis)
        if len(texts) < 2:
            continue
        turned = float(texts[0].get_rotation()) % 180
        boxes = sorted((text.get_window_extent() for text in texts), key=lambda box: box.x0)
        if turned == 0 and all(b.x0 - a.x1 > 2 for a, b in pairwise(boxes)):
            continue
        places = np.sort([ax.transData.transform((text.get_position()[0], 0.0))[0] for text in texts])
        high = max(map(points_of, texts)) * figure.dpi / 72
        apart = float(np.diff(places).min())
        lean = next((one for one in LEANS if apart * math.sin(math.radians(one)) > 1.15 * high), LEANS[-1])
        if turned < lean:
            ax.xaxis.set_tick_params(labelrotation=lean)
            changed = True
        if 0 < max(turned, lean) < 90 and texts[0].get_horizontalalignment() != "right":
            for text in texts:
                text.set(ha="right", rotation_mode="anchor")
            changed = True
    return changed


def thin_numbers(figure: Figure) -> bool:
    """Of the small numbers between the powers of ten below an axis, only those that have room."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    changed = False
    for ax in _flat(figure):
        between = _names(ax.xaxis, minor=True)
        taken = [text.get_window_extent() for text in _names(ax.xaxis)]
        shown, full = [], False
        for text in between:
            box = text.get_window_extent()
            free = all(box.x0 > other.x1 + 2 or box.x1 < other.x0 - 2 for other in taken)
            shown.append(text.get_text() if free else "")
            taken += [box] if free else []
            full |= not free
        if full:
            ax.xaxis.set_minor_locator(FixedLocator([text.get_position()[0] for text in between]))
            ax.xaxis.set_minor_formatter(FixedFormatter(shown))
            changed = True
    return changed


def grow(figure: Figure) -> bool:
    """Make the figure higher where names beside an axis stand on each other."""
    from matplotlib.category import StrCategoryLocator
    from matplotlib.ticker import FixedLocator

    worst = 1.0
    for ax in _flat(figure):
        # Numbers are as many as have room.
        if not isinstance(ax.yaxis.get_major_locator(), FixedLocator | StrCategoryLocator):
            continue
        boxes = sorted((text.get_window_extent() for text in _names(ax.yaxis)), key=lambda box: box.y0)
        for a, b in pairwise(boxes):
            middle = (b.y0 + b.y1 - a.y0 - a.y1) / 2
            high = 0.9 * max(a.height, b.height)
            if 0 < middle < high:
                worst = max(worst, high / middle)
    if worst < 1.02:
        return False
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height * min(worst, 4.0))
    return True
