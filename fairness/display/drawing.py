"""What pictures of results share: bars with intervals, stacked bars, stems, and sorted numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fairness.display.lettering import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bars", "curves", "given_axes", "sorted_curve", "stacked_bars", "stems", "time_unit"]

TIMES = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0))


def given_axes(ax: Axes | None) -> Axes:
    """The axes, or those of a new figure."""
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1] if ax is None else ax


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
    drawn = ax.bar(range(len(names)), shown, yerr=errors, capsize=4)
    for k in np.flatnonzero(endless):
        drawn[k].set(hatch="//", alpha=0.6)
    for k in np.flatnonzero(np.isinf(centre)):
        ax.annotate("∞" if centre[k] > 0 else "-∞", (k, 0.0), ha="center", va="bottom")
    if marks is not None:
        places = np.arange(len(names))
        ax.hlines(np.asarray(marks, dtype=float), places - 0.4, places + 0.4, color="black")
    ticks = [label(one) for one in names]
    ax.set_xticks(range(len(names)), ticks)
    if sum(map(len, ticks)) > 40:
        ax.tick_params(axis="x", labelrotation=30)
    if endless.any():
        texts["xlabel"] = "; ".join(filter(None, (texts.get("xlabel"), "hatched: no interval")))
    ax.set(**{key: label(text) for key, text in texts.items()})
    return ax


def stacked_bars(
    ax: Axes | None, names: Sequence[str], parts: ArrayLike, labels: Sequence[str], *, title: str
) -> Axes:
    """One bar per resource, the parts (n_labels, n_names) that the classes hold side by side in it."""
    ax = given_axes(ax)
    left = np.zeros(len(names))
    places = [label(name) for name in names]
    for text, part in zip(labels, np.asarray(parts, dtype=float), strict=True):
        ax.barh(places, part, left=left, label=label(text))
        left += part
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.set(xlabel="share of the resource in use", title=label(title), xlim=(0, max(1.02, 1.02 * left.max())))
    ax.invert_yaxis()
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)  # not over bars
    return ax


def curves(ax: Axes | None, times: ArrayLike, values: ArrayLike, names: Sequence[str], **texts: str) -> Axes:
    """One curve over time per name; values of shape (n_times, n_names)."""
    ax = given_axes(ax)
    for name, path in zip(names, np.asarray(values).T, strict=True):
        ax.plot(times, path, label=label(name))
    ax.set(**{"xlabel": "time", "xlim": (0, None), "ylim": (0, None)})
    ax.set(**{key: label(text) for key, text in texts.items()})
    ax.legend(fontsize="small")
    return ax


def stems(ax: Axes | None, laws: Sequence[ArrayLike], names: Sequence[str], **texts: str) -> Axes:
    """Laws of whole numbers, each as stems of its own colour, without ends whose mass is below 1e-4."""
    ax = given_axes(ax)
    for k, (law, name) in enumerate(zip(laws, names, strict=True)):
        mass = np.asarray(law, dtype=float)
        beyond = np.cumsum(mass[::-1])[::-1]
        mass = mass[: max(1, np.count_nonzero(beyond >= 1e-4))]
        # Beside each other, so that none hides another.
        places = np.arange(len(mass)) + 0.6 * (k / len(names) - 0.5 + 0.5 / len(names))
        ax.vlines(places, 0.0, mass, color=f"C{k}", linewidth=1.0)
        ax.plot(places, mass, "o", color=f"C{k}", markersize=3, label=label(name))
    ax.set(ylim=(0, None), **{key: label(text) for key, text in texts.items()})
    ax.legend(fontsize="small")
    return ax


def sorted_curve(ax: Axes | None, values: ArrayLike, **texts: str) -> Axes:
    """Many numbers in ascending order against the part of them that is no larger."""
    ax = given_axes(ax)
    ordered = np.sort(np.asarray(values, dtype=float).ravel())
    places = np.arange(len(ordered) + 1) / len(ordered)
    ax.step(places, [ordered[0], *ordered], where="pre")
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
