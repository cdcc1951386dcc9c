"""The figures of the page as SVG, drawn with matplotlib from the same views."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from fairness.catalogue import colour
from fairness.display.lettering import label
from fairness.errors import ModelError
from fairqueues.explorer.model import State
from fairqueues.explorer.views import drift_view, rates_view, region_view, sharing_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figure_names", "figure_svg"]

STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")


def figure_names(state: State) -> tuple[str, ...]:
    """Names of the figures that a state has.

    Examples
    --------
    >>> figure_names(State())
    ('sharing', 'drift', 'region', 'rates')
    """
    return tuple(_drawings(state))


def _drawings(state: State) -> dict[str, Callable[[State, Axes], None]]:
    if state.n_classes == 2:
        pair = partial(_region, one=0, other=1)
        return {"sharing": _polygon, "drift": _drift, "region": pair, "rates": _rates}
    sections = {f"region-1-{k + 1}": partial(_region, one=0, other=k) for k in (1, 2)}
    return {"sharing": _bars, **sections, "rates": _rates}


def figure_svg(state: State, name: str) -> str:
    """A figure as SVG text.

    Parameters
    ----------
    state : State
    name : str
        One of :func:`figure_names`.

    Raises
    ------
    ModelError
        If the state has no such figure.

    Examples
    --------
    >>> figure_svg(State(), "rates").startswith("<?xml")
    True
    """
    drawings = _drawings(state)
    if name not in drawings:
        raise ModelError(f"no figure {name[:30]!r}; choose from {', '.join(drawings)}")
    # Not pyplot: its figures are global, and requests come at any time.
    canvas = Canvas(figsize=(5.2, 4.2), layout="constrained")
    drawings[name](state, canvas.add_subplot())
    text = io.StringIO()
    # No date and no random identifiers, so that the same state gives the same drawing.
    with rc_context({"svg.hashsalt": "fairqueues"}):
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def _polygon(state: State, ax: Axes) -> None:
    view = sharing_view(state)
    a, b = map(label, state.job_classes)
    _resources(view.outline, view.lines, ax)
    for k, (name, hue, allocation) in enumerate(zip(view.names, view.colours, view.allocations, strict=True)):
        size = 5 + 2.4 * (len(view.names) - 1 - k)
        ax.plot(
            *allocation.tasks, "o", mfc="none", mec=hue, mew=1.8, ms=size, label=label(name), clip_on=False
        )
    ax.set(xlabel=f"tasks of {a}", ylabel=f"tasks of {b}")
    ax.legend(fontsize="small", markerscale=0.6)


def _bars(state: State, ax: Axes) -> None:
    view = sharing_view(state)
    places = np.arange(state.n_classes)
    for k, (name, hue, allocation) in enumerate(zip(view.names, view.colours, view.allocations, strict=True)):
        left = places + 0.13 * (k - (len(view.names) - 1) / 2)
        ax.bar(left, allocation.tasks, 0.11, color=hue, label=label(name))
    ax.set_xticks(places, list(map(label, state.job_classes)))
    ax.set(ylabel="tasks")
    ax.legend(fontsize="small")


def _drift(state: State, ax: Axes) -> None:
    view = drift_view(state)
    for strokes in view.arrows:
        ax.plot(*strokes.T, color="0.55", linewidth=0.7)
    words = label(f"{state.policy}: {view.note}".rstrip(": "))
    ax.plot(*view.path.T, color=view.colour, linewidth=2.2, label=words)
    ax.plot(*state.start, "o", color=view.colour, markersize=8, clip_on=False)
    a, b = map(label, state.job_classes)
    ax.set(xlabel=f"jobs of {a}", ylabel=f"jobs of {b}", xlim=(0, state.reach), ylim=(0, state.reach))
    ax.legend(fontsize="small", loc="upper right")


def _region(state: State, ax: Axes, one: int, other: int) -> None:
    view = region_view(state, one, other)
    _resources(view.outline, view.lines, ax)
    ax.plot([0, view.edge[0]], [0, view.edge[1]], ":", color="0.45", linewidth=1)
    ax.plot(*view.point, "o", color="black", label="current load", clip_on=False)
    ax.set(
        xlabel=label(f"load of {state.job_classes[one]} (tasks)"),
        ylabel=label(f"load of {state.job_classes[other]} (tasks)"),
    )
    ax.legend(fontsize="small")


def _rates(state: State, ax: Axes) -> None:
    view = rates_view(state)
    for i, name in enumerate(state.job_classes):
        for column, method in (("balanced", "balanced fairness"), ("bound", "bound")):
            hue = colour(method)
            curve, words = getattr(view.curves, column)[:, i], label(f"{name}, {method}")
            ax.plot(view.curves.loads, curve, color=hue, linestyle=STYLES[i], label=words)
            ax.plot(view.load, getattr(view, column)[i], "o", color=hue)
    ax.set(xlabel="relative load of the busiest resource", xlim=(0, 1))
    ax.set(ylabel="tasks per active job", ylim=(0, None))
    ax.legend(fontsize="small")


def _resources(outline: Any, lines: Any, ax: Axes) -> None:
    ax.fill(*outline.T, color="#e4e9f0", linewidth=0)
    for (name, ends), style in zip(lines, STYLES, strict=False):
        ax.plot(*ends.T, color="0.2", linestyle=style, linewidth=1.2, label=label(name))
    right, top = 1.15 * outline.max(axis=0)
    ax.set(xlim=(0, right), ylim=(0, top))
