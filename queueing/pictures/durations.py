"""Pictures of the law of durations: P(T <= t) or P(T > t) against t, with the quantiles that are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.display.drawing import legend_beside
from fairness.display.lettering import label
from fairness.display.wording import percent
from fairness.model.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LAWS", "draw_law", "draw_quantiles", "dress", "quantile_words"]

LAWS: Mapping[str, str] = {
    "cdf": "part of the jobs with at most this duration",
    "survival": "part of the jobs with a longer duration",
}
"""What can be drawn, and the words beside its axis."""


def draw_law(
    ax: Axes,
    what: str,
    times: FloatArray,
    cdf: FloatArray,
    half_width: ArrayLike = 0.0,
    *,
    steps: bool = False,
    **style: Any,
) -> None:
    """One curve of P(T <= t), or of what is left of 1, within its interval where that is finite."""
    curve = cdf if what == "cdf" else 1.0 - cdf
    if steps:
        ax.step(times, curve, where="post", **style)
    else:
        ax.plot(times, curve, **style)
    half = np.broadcast_to(np.asarray(half_width, dtype=float), curve.shape)
    known = np.isfinite(half)
    if half[known].any():
        low, high = np.clip(curve - half, 0, 1), np.clip(curve + half, 0, 1)
        ax.fill_between(times, low, high, where=known, color=style["color"], alpha=0.25, linewidth=0)


def draw_quantiles(
    ax: Axes,
    what: str,
    levels: ArrayLike,
    values: ArrayLike,
    sides: ArrayLike | None = None,
    **style: Any,
) -> None:
    """A dot at each quantile; ``sides`` are the distances to the ends of its interval, (2, n), if finite."""
    at, heights = np.asarray(values, dtype=float), np.asarray(levels, dtype=float)
    heights = heights if what == "cdf" else 1.0 - heights
    if sides is not None:
        errors = np.nan_to_num(np.asarray(sides, dtype=float), posinf=0.0)
        ax.errorbar(at, heights, xerr=errors, fmt="none", ecolor=style["color"], capsize=3)
    ax.plot(at, heights, "o", markersize=4, **style)


def quantile_words(levels: ArrayLike, values: ArrayLike) -> str:
    """Quantiles for a legend, one a line.

    Examples
    --------
    >>> print(quantile_words([0.5, 0.9], [1.25, 7]))
    50 %: 1.25
    90 %: 7
    """
    pairs = zip(np.asarray(values, dtype=float), np.asarray(levels, dtype=float), strict=True)
    return "\n".join(f"{percent(level)}: {value:.4g}" for value, level in pairs)


def dress(ax: Axes, what: str, title: str = "") -> None:
    """Labels and limits of the axes, and a legend."""
    ax.set(xlabel="duration", ylabel=LAWS[what], xlim=(0, None), ylim=(0, 1.02))
    if title:
        ax.set_title(label(title))
    legend_beside(ax)
