"""The figures of the page as files (SVG, PDF or PNG), drawn with matplotlib from the same views."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from fairness.arguments.plain import near
from fairness.display.lettering import label
from fairness.display.printing.saving import drawn_file
from fairness.errors import ModelError
from fairqueues.explorer.model import State
from fairqueues.explorer.palette import DASHES, hue_of
from fairqueues.explorer.rates import rates_view, widths
from fairqueues.explorer.views import drift_view, region_view, sharing_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMATS", "figure_file", "figure_names"]

STYLES: tuple[Any, ...] = ("-", *((0, tuple(map(float, dashes.split()))) for dashes in DASHES[1:]))
"""The dashes of the page as matplotlib takes them."""

WIDTH, TALL = 66, 44
"""Signs of a line of legend or title, and of the label of an axis, that fit a file."""

FORMATS = {"svg": "image/svg+xml; charset=utf-8", "pdf": "application/pdf", "png": "image/png"}
"""Endings of files, and what browsers call them."""


def figure_names(state: State) -> tuple[str, ...]:
    """Names of the figures that a state has.

    Examples
    --------
    >>> figure_names(State())
    ('rates', 'sharing', 'drift', 'region')
    """
    return tuple(_drawings(state))


def _drawings(state: State) -> dict[str, Callable[[State, Axes], None]]:
    if state.n_classes == 2:
        pair = partial(_region, one=0, other=1)
        return {"rates": _rates, "sharing": _polygon, "drift": _drift, "region": pair}
    others = (1, 2) if state.n_classes == 3 else (1,)
    sections = {f"region-1-{k + 1}": partial(_region, one=0, other=k) for k in others}
    return {"rates": _rates, "sharing": _bars, **sections}


def figure_file(state: State, name: str, ending: str) -> bytes:
    """What a file of a figure holds.

    Parameters
    ----------
    state : State
    name : str
        One of :func:`figure_names`.
    ending : {"svg", "pdf", "png"}

    Raises
    ------
    ModelError
        If the state has no such figure.

    Examples
    --------
    >>> figure_file(State(), "region", "svg")[:5]
    b'<?xml'
    """
    drawings = _drawings(state)
    if name not in drawings:
        raise ModelError(f"no figure {name[:30]!r}; {near(name, drawings)}")
    # Not pyplot: its figures are global, and requests come at any time.
    canvas = Canvas(figsize=(5.2, 4.4), layout="constrained")
    ax = canvas.add_subplot()
    # Dashes say the class, so they are the same for lines of all widths.
    with rc_context({"lines.scale_dashes": False}):
        drawings[name](state, ax)
    # Beside the drawing, where nothing lies under it.
    handles, words = ax.get_legend_handles_labels()
    columns = max(1, min(3, WIDTH // (max(map(len, words), default=0) + 6)))
    folded = [fill(text, WIDTH) for text in words]
    canvas.legend(handles, folded, loc="outside upper center", ncols=columns, fontsize="small", frameon=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_label_text(fill(axis.get_label_text(), TALL))
    return drawn_file(canvas, ending)


def _polygon(state: State, ax: Axes) -> None:
    view = sharing_view(state)
    a, b = map(label, state.job_classes)
    _resources(view.outline, view.lines, ax)
    for k, (name, allocation) in enumerate(zip(view.names, view.allocations, strict=True)):
        size = 5 + 2.4 * (len(view.names) - 1 - k)
        hue = hue_of(state, name)
        ax.plot(
            *allocation.tasks, "o", mfc="none", mec=hue, mew=1.8, ms=size, label=label(name), clip_on=False
        )
    ax.set(xlabel=f"tasks of {a}", ylabel=f"tasks of {b}")


def _bars(state: State, ax: Axes) -> None:
    view = sharing_view(state)
    places = np.arange(state.n_classes)
    pitch = 0.8 / max(len(view.names), 3)
    for k, (name, allocation) in enumerate(zip(view.names, view.allocations, strict=True)):
        left = places + pitch * (k - (len(view.names) - 1) / 2)
        ax.bar(left, allocation.tasks, 0.85 * pitch, color=hue_of(state, name), label=label(name))
    ax.set_xticks(places, list(map(label, state.job_classes)))
    ax.set(ylabel="tasks")


def _drift(state: State, ax: Axes) -> None:
    view = drift_view(state)
    for strokes in view.arrows:
        ax.plot(*strokes.T, color="0.6", linewidth=0.7)
    words, hue = label(f"{state.policy}: {view.note}".rstrip(": ")), hue_of(state, state.policy)
    ax.plot(*view.path.T, color=hue, linewidth=2.2, label=words)
    ax.plot(*state.start, "o", color=hue, markersize=8, clip_on=False)
    a, b = map(label, state.job_classes)
    ax.set(xlabel=f"jobs of {a}", ylabel=f"jobs of {b}", xlim=(0, state.reach), ylim=(0, state.reach))


def _region(state: State, ax: Axes, one: int, other: int) -> None:
    view = region_view(state, one, other)
    _resources(view.outline, view.lines, ax)
    ax.plot([0, view.edge[0]], [0, view.edge[1]], ":", color="0.45", linewidth=1)
    ax.plot(*view.point, "o", color="black", label="current load", clip_on=False)
    ax.set(
        xlabel=label(f"load of {state.job_classes[one]} (tasks)"),
        ylabel=label(f"load of {state.job_classes[other]} (tasks)"),
    )
    ax.set_title(fill(label(view.note), WIDTH), fontsize="small")


def _rates(state: State, ax: Axes) -> None:
    view = rates_view(state)
    classes = range(state.n_classes) if not state.rated else (state.rated - 1,)
    for (method, curve), wide in zip(view.curves.items(), widths(view), strict=True):
        hue = hue_of(state, method)
        for i in classes:
            words = label(method) if i == classes[0] else None
            ax.plot(curve.loads, curve.rates[:, i], color=hue, ls=STYLES[i], lw=1.4 * wide[i], label=words)
            if curve.now is not None:
                ax.plot(view.load, curve.now[i], "o", color=hue, markersize=5)
    for i in classes:
        ax.plot([], [], color="0.4", ls=STYLES[i], label=label(state.job_classes[i]))
    ax.set(xlabel="relative load of the busiest resource", xlim=(0, 1))
    ax.set(ylabel="tasks per active job", ylim=(0, None))


def _resources(outline: Any, lines: Any, ax: Axes) -> None:
    ax.fill(*outline.T, color="#e4e9f0", linewidth=0)
    for (name, ends), style in zip(lines, STYLES, strict=False):
        ax.plot(*ends.T, color="0.2", linestyle=style, linewidth=1.2, label=label(name))
    right, top = 1.15 * outline.max(axis=0)
    ax.set(xlim=(0, right), ylim=(0, top))
