"""What pictures of results share: bars with intervals, stacked bars, stems, sorted numbers, and legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.display.colours import NEUTRAL, PARTS, part_colour, part_line
from fairness.display.lettering import LINE, folded, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "SHORT",
    "bars",
    "bound_bars",
    "curves",
    "given_axes",
    "height_of",
    "legend_above",
    "legend_beside",
    "name_rows",
    "panels",
    "sorted_curve",
    "squares",
    "stacked_bars",
    "stems",
    "time_unit",
]

SHORT = 22
"""Letters of a line, where names stand to both sides of a picture."""

ROW = 0.17
"""Inches of a line of a name; between two names are 0.4 of it."""

MOST_ROWS, ACROSS = 20, 6
"""Of a legend, which then has another column; and how many columns it has at most above a figure."""

SEEN = 1e-6
"""Of the largest probability: what is less likely has no colour."""

TIMES = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0))


def given_axes(ax: Axes | None, rows: Sequence[str] = ()) -> Axes:
    """The axes, or those of a new figure, which is high enough for rows of these names."""
    import matplotlib.pyplot as plt

    if ax is not None:
        return ax
    figure, made = plt.subplots(layout="constrained")
    figure.set_figheight(max(figure.get_figheight(), height_of(rows)))
    return made


def panels(number: int, width: float, height: float, across: int = 3) -> tuple[Figure, list[Axes]]:
    """A figure and its panels in reading order, of this size in inches and so many beside each other."""
    from matplotlib.figure import Figure

    columns = min(number, across)
    rows = -(-number // columns)
    figure = Figure(figsize=(0.6 + width * columns, 0.6 + height * rows), layout="constrained")
    return figure, [figure.add_subplot(rows, columns, k + 1) for k in range(number)]


def legend_beside(ax: Axes, width: int = LINE, **style: Any) -> None:
    """A legend to the right of the axes, where it hides no data; in columns where there is much to say.

    ``width`` is that of its lines, in letters.
    """
    entries = len(style.get("handles", ax.get_legend_handles_labels()[0]))
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0, "fontsize": "small"}
    legend = ax.legend(**(place | {"ncols": 1 + (entries - 1) // MOST_ROWS} | style))
    for text in legend.get_texts():
        text.set_text(folded(text.get_text(), width))


def legend_above(figure: Figure, **entries: Any) -> None:
    """A legend of all panels, above them, in as many columns as fit; entries as for ``Figure.legend``."""
    from fairness.display.printing.legends import narrow

    legend = figure.legend(loc="outside upper center", ncols=ACROSS, frameon=False, **entries)
    narrow(figure, legend, figure.get_figwidth())


def bars(
    ax: Axes | None,
    names: Sequence[str],
    values: ArrayLike,
    *,
    error: ArrayLike | None = None,
    marks: ArrayLike | None = None,
    **texts: str,
) -> Axes:
    """One bar per name, with an error to both sides, and a line at ``marks``.

    ``texts`` are labels of the axes and a title. An infinite value has a sign instead of a bar, NaN nothing;
    a bar whose error is infinite is hatched.
    """
    ax = given_axes(ax)
    centre = np.asarray(values, dtype=float)
    wide = None if error is None else np.broadcast_to(np.asarray(error, dtype=float), centre.shape)
    endless = np.zeros(centre.shape, dtype=bool) if wide is None else np.isinf(wide) & np.isfinite(centre)
    shown = np.where(np.isfinite(centre), centre, np.nan)
    errors = None if wide is None else np.nan_to_num(np.where(np.isfinite(shown), wide, 0.0), posinf=0.0)
    hues = [part_colour(k) for k in range(len(names))] if len(names) <= len(PARTS) else NEUTRAL
    drawn = ax.bar(range(len(names)), shown, yerr=errors, capsize=4, color=hues)
    for k in np.flatnonzero(endless):
        drawn[k].set(hatch="//", alpha=0.6)
    for k in np.flatnonzero(np.isinf(centre)):
        ax.annotate("∞" if centre[k] > 0 else "-∞", (k, 0.0), ha="center", va="bottom")
    if marks is not None:
        places = np.arange(len(names))
        ax.hlines(np.asarray(marks, dtype=float), places - 0.4, places + 0.4, color="black")
    ticks = [label(one) for one in names]
    ax.set_xticks(range(len(names)), [folded(one) for one in ticks])
    if sum(map(len, ticks)) > 40:
        ax.tick_params(axis="x", labelrotation=30)
    if endless.any():
        texts["xlabel"] = "; ".join(filter(None, (texts.get("xlabel"), "hatched: no interval")))
    ax.set(**{key: label(text) for key, text in texts.items()})
    return ax


def bound_bars(
    ax: Axes | None, names: Sequence[str], middle: ArrayLike, half: ArrayLike, *, quantity: str, title: str
) -> Axes:
    """One bar per name up to the middle of its bounds, which lie half their distance to both sides."""
    ax = bars(ax, names, middle, error=half, title=title)
    ax.set_ylabel(f"{label(quantity)}\n(line: lower to upper bound)")
    return ax


def stacked_bars(
    ax: Axes | None, names: Sequence[str], parts: ArrayLike, labels: Sequence[str], *, title: str
) -> Axes:
    """One bar per resource, the parts (n_labels, n_names) that the classes hold side by side in it.

    Where there are more classes than colours, the largest have one and the others are grey together.
    """
    ax, held = given_axes(ax, names), np.asarray(parts, dtype=float)
    most = len(labels) if len(labels) <= len(PARTS) else len(PARTS) - 1
    largest = np.sort(np.argsort(-held.sum(axis=1), kind="stable")[:most])
    bars = [(label(labels[p]), part_colour(k), held[p]) for k, p in enumerate(largest)]
    if most < len(labels):
        rest = np.delete(held, largest, axis=0).sum(axis=0)
        bars.append((f"{len(labels) - most:,} others", "0.8", rest))
    left = np.zeros(len(names))
    for text, colour, part in bars:
        ax.barh(range(len(names)), part, left=left, color=colour, label=text)
        left += part
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.set(xlabel="share of the resource in use", title=label(title), xlim=(0, max(1.02, 1.02 * left.max())))
    name_rows(ax, names)
    legend_beside(ax, width=SHORT)
    return ax


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names beside the rows 0, 1, ... of bars, the first on top, in lines that leave the bars room."""
    ax.set_yticks(range(len(names)), _lines(names))
    ax.invert_yaxis()


def height_of(names: Sequence[str]) -> float:
    """Inches of a figure that has room for :func:`name_rows`."""
    most = max((text.count("\n") + 1 for text in _lines(names)), default=1)
    return 1.4 + ROW * (most + 0.4) * len(names)


def _lines(names: Sequence[str]) -> list[str]:
    return [folded(label(name), SHORT) for name in names]


def curves(
    ax: Axes | None,
    times: ArrayLike,
    values: ArrayLike,
    names: Sequence[str],
    *,
    parts: Sequence[int] | None = None,
    **texts: str,
) -> Axes:
    """One curve over time per name; values of shape (n_times, n_names).

    ``parts`` are the numbers of what has these curves, which choose the colours; by default 0, 1, ...
    """
    ax = given_axes(ax)
    own = range(len(names)) if parts is None else parts
    for k, name, path in zip(own, names, np.asarray(values).T, strict=True):
        ax.plot(times, path, label=label(name), **part_line(k))
    ax.set(**{"xlabel": "time", "xlim": (0, None), "ylim": (0, None)})
    ax.set(**{key: label(text) for key, text in texts.items()})
    legend_beside(ax)
    return ax


def stems(
    ax: Axes | None,
    laws: Sequence[ArrayLike],
    names: Sequence[str],
    *,
    parts: Sequence[int] | None = None,
    **texts: str,
) -> Axes:
    """Laws of whole numbers, each as stems of its own colour, without ends whose mass is below 1e-4.

    ``parts`` are the numbers of what has these laws, which choose the colours; by default 0, 1, ...
    """
    ax = given_axes(ax)
    hues = [part_colour(k) for k in (range(len(names)) if parts is None else parts)]
    for k, (law, name) in enumerate(zip(laws, names, strict=True)):
        mass = np.asarray(law, dtype=float)
        mass = mass[: _shown(mass)]
        # Beside each other, so that none hides another.
        places = np.arange(len(mass)) + 0.6 * (k / len(names) - 0.5 + 0.5 / len(names))
        ax.vlines(places, 0.0, mass, color=hues[k], linewidth=1.0)
        ax.plot(places, mass, "o", color=hues[k], markersize=3, label=label(name))
    # At least as wide as one count, so that a law of 0 alone has no ticks but 0.
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, -0.5), max(high, 0.5))
    ax.locator_params(axis="x", integer=True, min_n_ticks=1)
    ax.set(ylim=(0, None), **{key: label(text) for key, text in texts.items()})
    legend_beside(ax)
    return ax


def squares(ax: Axes | None, law: ArrayLike, **texts: str) -> Axes:
    """Joint law (n, m) of two whole numbers as squares, the first to the right, without ends as of stems.

    Colours are logarithmic over what occurs of the six decades below the largest probability; what is less
    likely is white.
    """
    from matplotlib.colors import LogNorm

    ax = given_axes(ax)
    mass = np.asarray(law, dtype=float)
    mass = mass[: _shown(mass.sum(axis=1)), : _shown(mass.sum(axis=0))]
    seen = np.ma.masked_less(mass.T, float(mass.max()) * SEEN)
    # Never of one value alone: such a scale has no ticks.
    scale = LogNorm(vmin=min(float(seen.min()), float(mass.max()) / 10), vmax=float(mass.max()))
    edges = [np.arange(n + 1) - 0.5 for n in mass.shape]
    mesh = ax.pcolormesh(*edges, seen, cmap="viridis_r", norm=scale)
    ax.figure.colorbar(mesh, ax=ax, label="probability")
    ax.locator_params(integer=True, min_n_ticks=1)
    ax.set(**{key: folded(label(text), 3 * LINE // 2) for key, text in texts.items()})
    return ax


def _shown(law: NDArray[np.float64]) -> int:
    """How many values of a law are drawn: all but the end whose mass is below 1e-4, and one."""
    beyond = np.cumsum(law[::-1])[::-1]
    return max(1, int(np.count_nonzero(beyond >= 1e-4)))


def sorted_curve(ax: Axes | None, values: ArrayLike, **texts: str) -> Axes:
    """Many numbers in ascending order against the part of them that is no larger."""
    ax = given_axes(ax)
    ordered = np.sort(np.asarray(values, dtype=float).ravel())
    places = np.arange(len(ordered) + 1) / len(ordered)
    ax.step(places, [ordered[0], *ordered], where="pre", color=NEUTRAL)
    ax.set(xlim=(0, 1), **{key: label(text) for key, text in texts.items()})
    return ax


def time_unit(span: float) -> tuple[str, float]:
    """The largest unit of which a span of time has at least three, and its seconds, for an axis.

    Examples
    --------
    >>> time_unit(7000), time_unit(12_000)
    (('minutes', 60.0), ('hours', 3600.0))
    """
    return next((unit for unit in TIMES if span >= 3 * unit[1]), ("seconds", 1.0))
