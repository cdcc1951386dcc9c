"""A figure refitted to the width that it will be printed at: every text in its final size, nothing shrunk.

A figure of 6.4 inches that a paper shrinks to a column of 3.5 has letters of 5 points, too small for any
publisher. Here the figure becomes as wide as the column instead, and what stands in it is laid out again:

1. panels side by side go below each other where less than ``PANEL`` inches would be left to each; those
   with common labels of their axes stand in as many columns as there is room for;
2. text, lines and markers are scaled once, and no letter stays below the least size; those of sub- and
   superscripts count, which are 0.7 of the text that they belong to;
3. long titles and labels of axes are broken at spaces, names below an axis that run into each other are
   turned, names beside one that stand on each other get a higher figure, a legend that would cover much of
   the data goes above it, and names at the ends of lines go where a legend of the figure tells them.

The figure is changed in place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairness.display.printing.font_sizes import parts, raise_letters, scale
from fairness.display.printing.labels import break_lines, break_names, grow, thin_numbers, turn_names
from fairness.display.printing.legends import drop_names, inches, move_legends

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Size", "fit", "untitled"]

PANEL = 1.9
"""Inches that a panel needs, where it is to stand beside others."""

OPEN = 1.1
"""Inches of them that curves need."""

LOWEST = 2.2
"""Inches of height that a panel of a list gets, where it stands beside others."""

TALLEST = 9.0
"""Inches of a page that a figure may be high before its panels become flatter; no flatter than half."""

ROUNDS = 4
"""Layouts: what one has moved, the next one measures."""


@dataclass(frozen=True)
class Size:
    """Where a figure is to stand: inches, and points of its text.

    Attributes
    ----------
    width : float
    height : float or None
        None where it follows from the panels.
    text : float
        Of what has matplotlib's usual size.
    least : float
        Of the smallest letter.
    """

    width: float
    height: float | None
    text: float
    least: float


def untitled(figure: Figure) -> None:
    """Take the titles away: in a paper the caption says it. Those that tell panels apart stay."""
    for side in ("left", "center", "right"):
        if len({ax.get_title(loc=side) for ax in figure.axes}) == 1:
            for ax in figure.axes:
                ax.set_title("", loc=side)
    for part in parts(figure):
        if part.get_suptitle():
            part.suptitle("")


def fit(figure: Figure, size: Size) -> None:
    """Lay the figure out for this size."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)  # what measures it
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    drop_names(figure)
    figure.draw_without_rendering()  # until then there are no ticks
    scale(figure, size.text / float(rcParams["font.size"]))
    figure.draw_without_rendering()
    _arrange(figure, size)
    break_names(figure)  # where they leave no room for axes, there is no layout
    for _ in range(ROUNDS):
        figure.draw_without_rendering()
        if raise_letters(figure, size.least):
            figure.draw_without_rendering()
        changed = [break_lines(figure), turn_names(figure), thin_numbers(figure)]
        if size.height is None:
            changed.append(grow(figure))
        if not any(changed):
            break
    else:
        raise_letters(figure, size.least)


def _arrange(figure: Figure, size: Size) -> None:
    """Set the size in inches, and put panels below each other that would be too narrow side by side."""
    before = figure.get_size_inches()
    rows, columns = _grid(figure)
    # What is to be read at leisure has room for what stands beside its panels, too.
    least = PANEL if size.height else max(PANEL, OPEN + max(map(_beside, figure.axes), default=0.0))
    fitting = max(1, int(size.width // least))
    listed = bool(figure.get_supxlabel())  # what has its axes in common is a list of panels
    if listed:
        lines = math.ceil(len(figure.axes) / fitting)
        beside = math.ceil(len(figure.axes) / lines)
    else:
        lines = rows * math.ceil(columns / fitting)
        beside = math.ceil(rows * columns / lines)
        if beside >= columns:
            lines, beside = rows, columns
    panel = size.width / beside
    spatial = any(hasattr(ax, "zaxis") for ax in figure.axes)
    shape = max(0.95 * spatial, listed * LOWEST / panel, (before[1] / rows) / (before[0] / columns))
    high = panel * min(shape, max(0.5, TALLEST / (lines * panel)))
    # While the figure is large: where there is no room for a legend, there is no layout either.
    legends = move_legends(figure, size.width, panel, (size.height or lines * high) / lines)
    for ax in figure.axes:
        if hasattr(ax, "zaxis"):
            _draw_back(ax)
    if (lines, beside) != (rows, columns):
        _restack(figure, lines, beside)
    shared = sum(inches(legend)[1] for legend in figure.legends)
    figure.set_size_inches(size.width, size.height or lines * (high + legends) + shared)


def _beside(ax: Any) -> float:
    """Inches that labels to the left, and texts to the right of a panel take."""
    box, figure = ax.get_window_extent(), ax.get_figure(root=True)
    axis = ax.yaxis.get_tightbbox(figure.canvas.get_renderer())
    ends = [text.get_window_extent().x1 for text in ax.texts if not hasattr(ax, "zaxis")]
    left = 0.0 if axis is None or hasattr(ax, "zaxis") else box.x0 - axis.x0
    return float(max(0.0, left) + max(0.0, max(ends, default=box.x1) - box.x1)) / float(figure.dpi)


def _draw_back(ax: Any) -> None:
    """A box in space drawn smaller, so that names and numbers around it have room."""
    ax.set_box_aspect(tuple(ax._box_aspect), zoom=0.72)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.labelpad += 2


def _grid(figure: Figure) -> tuple[int, int]:
    """Rows and columns of panels, where each has one cell of one grid; else (1, 1), to stay as they are."""
    places = [spec for ax in figure.axes if (spec := ax.get_subplotspec()) is not None]
    grids = {id(spec.get_gridspec()) for spec in places}
    single = all(spec.num1 == spec.num2 for spec in places)
    if len(grids) != 1 or figure.subfigs or not single or len(places) != len(figure.axes):
        return 1, 1
    grid = places[0].get_gridspec()
    return int(grid.nrows), int(grid.ncols)


def _restack(figure: Figure, rows: int, columns: int) -> None:
    """Panels in reading order in another grid; what shared an axis shows its numbers again."""
    from matplotlib.gridspec import GridSpec

    grid = GridSpec(rows, columns, figure=figure)
    for k, ax in enumerate(sorted(figure.axes, key=lambda one: one.get_subplotspec().num1)):  # type: ignore[union-attr]
        ax.set_subplotspec(grid[k])
        below = [one for one in ax.get_shared_x_axes().get_siblings(ax) if one is not ax]
        if below:
            ax.xaxis.set_tick_params(labelbottom=True)
            ax.set_xlabel(ax.get_xlabel() or next(filter(None, (one.get_xlabel() for one in below)), ""))
        side = [one for one in ax.get_shared_y_axes().get_siblings(ax) if one is not ax]
        if side:
            ax.yaxis.set_tick_params(labelleft=True)
            ax.set_ylabel(ax.get_ylabel() or next(filter(None, (one.get_ylabel() for one in side)), ""))
