"""Legends that would cover a small panel, or take its width: above it, in as many columns as fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairness.display.lines import END
from fairness.display.printing.font_sizes import parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

__all__ = ["drop_names", "inches", "move_legends", "narrow"]

COVERED, BESIDE = 0.1, 0.2
"""Part of a panel that a legend may take inside of it, and of its width beside it."""

SMALLER = 0.88
"""Letters of a legend that would otherwise be one column."""


def move_legends(figure: Figure, width_of_all: float, wide: float, high: float) -> float:
    """Put legends above panels of so many inches that they would cover or narrow; inches that they take."""
    taken = 0.0
    for ax in figure.axes:
        legend = ax.get_legend()
        if legend is None or not legend.get_texts():
            continue
        box, panel = legend.get_window_extent(), ax.get_window_extent()
        width, height = box.width / figure.dpi, box.height / figure.dpi
        across = min(box.x1, panel.x1) - max(box.x0, panel.x0)
        up = min(box.y1, panel.y1) - max(box.y0, panel.y0)
        if up <= 0:
            continue
        if 2 * across > box.width:
            crowded = width * height > COVERED * wide * high or width > 0.7 * wide
        else:
            crowded = width > BESIDE * wide
        if crowded:
            taken = max(taken, _above(ax, legend, 0.85 * wide))
    for part in parts(figure):
        for legend in list(part.legends):
            narrow(part, legend, 0.96 * width_of_all)
    return taken


def drop_names(figure: Figure) -> None:
    """Take the names at the ends of lines away where a legend of the whole figure has all of them."""
    told = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    ends = [text for ax in figure.axes for text in ax.texts if text.get_label() == END]
    if {text.get_text() for text in ends} <= told:
        for text in ends:
            text.remove()


def _above(ax: Axes, legend: Legend, room: float) -> float:
    """The legend above the panel, in as many columns as so many inches have room for; its height."""
    told = _told(legend)
    for columns in range(min(4, len(told["labels"])), 0, -1):
        # To the right, where panels end with the figure; to the left it may reach over the axis.
        again = ax.legend(
            **told, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, frameon=False,
            borderaxespad=0.2, columnspacing=1.2,
        )  # fmt: skip
        width, height = inches(again)
        if width <= room:
            break
    if ax.get_title():
        ax.set_title(ax.get_title(), pad=72 * height + 4, fontsize=ax.title.get_fontsize())
    return height


def narrow(part: Any, legend: Any, room: float) -> None:
    """A legend of the whole figure, in fewer columns until it fits so many inches."""
    told, framed, entries = _told(legend), legend.get_frame_on(), len(legend.get_texts())
    # Rows of about the same length: five of six entries beside each other would leave one alone.
    balanced = (math.ceil(entries / math.ceil(entries / most)) for most in range(legend._ncols - 1, 0, -1))
    tries = [(columns, 1.0) for columns in dict.fromkeys(balanced)]
    # Two columns of smaller letters rather than one.
    tries[-1:] = [(2, SMALLER), (1, 1.0)] * (entries > 2) or tries[-1:]
    for columns, factor in tries:
        if inches(legend)[0] <= room:
            break
        part.legends.remove(legend)
        legend = part.legend(
            **told | {"fontsize": told["fontsize"] * factor}, loc="outside upper center", ncols=columns,
            frameon=framed, columnspacing=1.2, handletextpad=0.5,
        )  # fmt: skip


def inches(legend: Legend) -> tuple[float, float]:
    """Width and height, without a layout."""
    figure: Any = legend.get_figure(root=True)
    box = legend.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def _told(legend: Any) -> dict[str, Any]:
    """What makes the legend again."""
    texts = legend.get_texts()
    title = legend.get_title()
    heading = {"title": title.get_text(), "title_fontsize": title.get_fontsize()} if title.get_text() else {}
    return {
        "handles": list(legend.legend_handles),
        "labels": [text.get_text() for text in texts],
        "fontsize": texts[0].get_fontsize(),
        **heading,
    }
