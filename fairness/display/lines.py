"""Lines of several methods in one picture, told apart also where they lie on each other.

The first line is the widest, and each further one is thinner, so that what lies below shows on both sides;
dashes show it in their gaps, and markers stand at staggered places. Each line is named at its end:
:func:`label_ends` keeps the names in the order of the ends and apart by the height of a line of text, with
the least sum of squared moves (isotonic regression), whatever the size of the figure when it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.display.lettering import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["END", "label_ends", "line_styles", "spread"]

WIDEST, THINNEST = 3.2, 1.1
"""Widths of the first and of the last line, points."""

MARKERS = "osD^vPX*"

END = "_name at the end of a line"
"""Label of the texts that :func:`label_ends` makes; no legend takes what begins with an underscore."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)))


def line_styles(
    names: Sequence[str], colours: Mapping[str, str], points: int, plain: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Arguments of ``Axes.plot`` for each line, in the order in which they are drawn.

    Parameters
    ----------
    names : sequence of str
    colours : mapping of str to str
    points : int
        Points of each line.
    plain : sequence of str
        Lines without markers.

    Examples
    --------
    >>> styles = line_styles(["bound", "DRF", "PF"], {"bound": "k", "DRF": "r", "PF": "b"}, 18, ["bound"])
    >>> [style["marker"] for style in styles.values()], styles["PF"]["markevery"]
    (['', 'o', 's'], (1, 2))
    """
    marked = [name for name in names if name not in plain]
    apart = len(marked) if points >= 3 * len(marked) else 1
    widths = np.linspace(WIDEST, THINNEST, len(names)) if len(names) > 2 else [2.4, 1.4]
    styles: dict[str, dict[str, Any]] = {}
    for name, width, dashes in zip(names, widths, islice(cycle(DASHES), len(names)), strict=False):
        styles[name] = {
            "color": colours[name],
            "linewidth": float(width),
            "linestyle": dashes,
            "marker": "",
            "label": label(name),
        }
        if name in marked:
            k = marked.index(name)
            # Where markers stand at the same places, the later ones are smaller.
            size = 4.5 if apart > 1 or len(marked) < 2 else 7.5 - 4.0 * k / (len(marked) - 1)
            shown = {"marker": MARKERS[k % len(MARKERS)], "markevery": (k % apart, apart)}
            styles[name] |= {**shown, "markersize": size}
    return styles


def spread(wanted: ArrayLike, height: float, low: float, high: float) -> Any:
    """Places at least ``height`` apart, in the order of the wanted ones and as near to them as can be.

    Parameters
    ----------
    wanted : array_like of shape (n,)
    height : float
        Least distance of two places.
    low, high : float
        Ends between which the places lie, if there is room.

    Returns
    -------
    ndarray of shape (n,)
        Of all places that keep order and distance, those with the least sum of squared moves.

    Examples
    --------
    >>> spread([1.0, 1.0, 5.0], 1.0, 0.0, 10.0)
    array([0.5, 1.5, 5. ])
    >>> spread([0.1, 0.0], 1.0, 0.0, 10.0)
    array([1., 0.])
    """
    from scipy.optimize import isotonic_regression

    given = np.asarray(wanted, dtype=float)
    order = np.argsort(given, kind="stable")
    steps = height * np.arange(len(given))
    # Less their steps, places that keep their distance are those that do not decrease.
    level = isotonic_regression(given[order] - steps).x
    top = high - (steps[-1] if len(steps) else 0.0)
    found = np.empty(len(given))
    found[order] = np.clip(level, min(low, top), max(low, top)) + steps
    return found


def label_ends(ax: Axes, ends: Mapping[str, tuple[float, float, str]], size: float = 8.0) -> None:
    """Name lines at the right of the axes: by name the end of the line, in data, and its colour."""
    points = np.array([(x, y) for x, y, _ in ends.values()], dtype=float).reshape(-1, 2)
    for k, (name, (x, y, shade)) in enumerate(ends.items()):
        ax.annotate(
            label(name),
            (x, y),
            (0, 0),
            textcoords=partial(_place, ax, points, size, k),
            ha="left",
            va="center",
            color=shade,
            fontsize=size,
            annotation_clip=False,
            label=END,
            arrowprops={
                "arrowstyle": "-",
                "color": "0.6",
                "linestyle": ":",
                "linewidth": 0.8,
                "shrinkA": 1,
                "shrinkB": 2,
                "relpos": (0, 0.5),
            },
        )


def _place(ax: Axes, ends: Any, size: float, k: int, renderer: Any) -> Any:
    """Where name ``k`` stands, as the figure is now: matplotlib asks when it lays out and when it draws."""
    from matplotlib.transforms import Affine2D

    pixel = renderer.points_to_pixels(1.0)
    box, height = ax.bbox, 1.25 * size * pixel
    places = spread(ax.transData.transform(ends)[:, 1], height, box.y0 + height / 2, box.y1 - height / 2)
    return Affine2D().translate(box.x1 + 10 * pixel, places[k])
