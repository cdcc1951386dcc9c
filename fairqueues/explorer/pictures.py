"""What each figure shows, as data: marks, axes and a note, which the page and the files draw alike.

A mark is an area, a line, a bar, a ring, a dot or a cross, in a colour of the page or in that of a method.
The page draws the pictures with Bokeh (:mod:`fairqueues.explorer.figures`), files are drawn with matplotlib
(:mod:`fairqueues.explorer.drawing`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fairness.model.problem import FloatArray
from fairqueues.explorer.model import State
from fairqueues.explorer.rates import rates_view, widths
from fairqueues.explorer.views import drift_view, region_view, sharing_view

__all__ = ["Drawing", "Mark", "Picture", "drawings_of"]

DOTTED = 2
"""Place of the dashes of lines that help the eye."""


@dataclass(frozen=True, eq=False)
class Mark:
    """Something to be drawn.

    Attributes
    ----------
    kind : {"area", "line", "bar", "ring", "dot", "cross"}
    points : ndarray of shape (n_points, 2)
        One for bars (the middle and the height), rings, dots and crosses; lines have gaps at NaN. Without any
        the mark stands in the legend only.
    label : str
        In the legend; empty: not there.
    method : str
        Policy or method whose colour it has.
    role : str
        Colour of the page that it has without a method, a field of
        :class:`~fairqueues.explorer.palette.Palette`.
    dash : int
        Place in :data:`~fairqueues.explorer.palette.DASHES`.
    width : float
        Of a line or its stroke in pixels, of a bar in units of the axis.
    size : float, pixels
    job_class : str
        What a line is about.
    told : str
        What is told of a point.
    """

    kind: Literal["area", "line", "bar", "ring", "dot", "cross"]
    points: FloatArray
    label: str = ""
    method: str = ""
    role: str = "ink"
    dash: int = 0
    width: float = 1.5
    size: float = 0.0
    job_class: str = ""
    told: str = ""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure for one state: what is drawn, from the back to the front.

    Attributes
    ----------
    view : Sharing, Drift, Region or Rates
        What it is made of.
    marks : list of Mark
    right, top : float
        Ends of the axes.
    note : str
        For beside or above it.
    names : (str, str)
        For the places in the labels of the axes.
    """

    view: Any
    marks: list[Mark]
    right: float
    top: float
    note: str
    names: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Drawing:
    """A figure of the explorer.

    Attributes
    ----------
    name, title : str
        Of the place in the page and of the files; what a person reads above it.
    x, y : str
        Labels of the axes, each perhaps with a place for a name.
    make : callable
        The picture for a state of the same size.
    ticks : tuple of str
        Names below the horizontal axis, at 0, 1, ..., instead of numbers.
    """

    name: str
    title: str
    x: str
    y: str
    make: Callable[..., Picture]
    ticks: tuple[str, ...] = ()


def drawings_of(state: State) -> tuple[Drawing, ...]:
    """The figures for a state of this size, in the order of the page.

    Examples
    --------
    >>> [drawing.name for drawing in drawings_of(State())]
    ['rates', 'sharing', 'drift', 'region']
    """
    rates = Drawing(
        "rates",
        "Mean service rates",
        f"relative load of {'all servers' if state.servers else 'the busiest resource'}",
        "tasks per active job",
        rates_picture,
    )
    loads = ("load of {} (tasks)",) * 2
    region = Drawing("region", "Capacity region", *loads, region_picture)
    if state.n_classes > 2:
        bars = Drawing("sharing", "Allocations", "", "tasks", bars_picture, state.job_classes)
        return rates, bars, region
    tasks, jobs = ("tasks of {}",) * 2, ("jobs of {}",) * 2
    sharing = Drawing("sharing", "Sharing polygon", *tasks, polygon_picture)
    drift = [Drawing("drift", "Drift and trajectory", *jobs, drift_picture)] if state.drifts else []
    return rates, sharing, *drift, region


def polygon_picture(state: State) -> Picture:
    """What fits of two classes, and the allocation of each policy; those that agree are rings in rings."""
    view = sharing_view(state)
    marks = _resources(view.outline, view.lines, state)
    for k, (name, one) in enumerate(zip(view.names, view.allocations, strict=True)):
        size = 7 + 4.5 * (len(view.names) - 1 - k)
        told = f"{name}: {one.tasks[0]:.4g} and {one.tasks[1]:.4g} tasks"
        marks.append(_point("ring", one.tasks, label=name, method=name, width=2.5, size=size, told=told))
    return Picture(
        view, marks, *_frame(view.outline), view.note, (state.job_classes[0], state.job_classes[1])
    )


def bars_picture(state: State) -> Picture:
    """The allocation of each policy as bars, for more than two classes."""
    view = sharing_view(state)
    pitch = 0.8 / max(len(view.names), 3)
    marks, most = [], 0.0
    for k, (name, one) in enumerate(zip(view.names, view.allocations, strict=True)):
        marks.append(_key("bar", name, method=name))
        for i, tasks in enumerate(one.tasks.tolist()):
            at = i + pitch * (k - (len(view.names) - 1) / 2), tasks
            told = f"{name}, {state.job_classes[i]}: {tasks:.4g} tasks"
            marks.append(_point("bar", at, method=name, width=0.85 * pitch, told=told))
            most = max(most, tasks)
    return Picture(view, marks, state.n_classes - 0.5, 1.05 * most or 1.0, view.note)


def drift_picture(state: State) -> Picture:
    """Drift field of a policy, and the way from the start."""
    view = drift_view(state)
    # One line with gaps: many small arrays would take longer to send than to compute.
    gap = np.full((1, 2), np.nan)
    strokes = np.concatenate([part for arrow in view.arrows for part in (arrow, gap)] or [gap])
    name = state.policy
    marks = [
        Mark("line", strokes, "drift", role="arrow", width=1.0),
        Mark("line", view.path, f"{name}, from the dot on", name, width=3.0),
        _point("dot", state.start, method=name, size=15),
    ]
    names = state.job_classes[0], state.job_classes[1]
    return Picture(view, marks, state.reach, state.reach, view.note, names)


def region_picture(state: State) -> Picture:
    """Loads of two classes that fit, and the current ones."""
    view = region_view(state)
    one, other = (state.job_classes[k] for k in view.classes)
    marks = _resources(view.outline, view.lines, state)
    ray = np.array([[0.0, 0.0], view.edge])
    marks.append(Mark("line", ray, role="quiet", dash=DOTTED, width=1.0))
    marks.append(_point("dot", view.point, label="current load", size=11))
    return Picture(view, marks, *_frame(view.outline), view.note, (one, other))


def rates_picture(state: State, *, until: float = math.inf, light: bool = False) -> Picture:
    """Service rates, as far as they are known by then: a colour for each method, a dash for each class."""
    view = rates_view(state, until=until, light=light)
    classes = range(state.n_classes) if not state.rated else (state.rated - 1,)
    marks, keys, top = list[Mark](), list[Mark](), 0.0
    for (method, curve), wide in zip(view.curves.items(), widths(view), strict=True):
        keys.append(_key("line", method, method=method))
        for i in classes:
            rates, named = curve.rates[:, i], state.job_classes[i]
            if not np.isnan(rates).all():
                line = np.column_stack([curve.loads, rates])
                style: dict[str, Any] = {"dash": i, "width": 2.0 * wide[i], "job_class": named}
                marks.append(Mark("line", line, method=method, **style))
                top = max(top, float(np.nanmax(rates)))
                if curve.why:
                    told = f"{method} has no point from load {curve.end:.4g} on: {curve.why}"
                    marks.append(_point("cross", line[-1], method=method, width=2.0, size=13, told=told))
            if curve.now is not None and not np.isnan(curve.now[i]):
                told = f"{method}, {named}: {curve.now[i]:.4f} at load {view.load:.4g}"
                now = view.load, float(curve.now[i])
                top = max(top, now[1])
                marks.append(_point("dot", now, method=method, size=8, told=told))
    keys += [_key("line", state.job_classes[i], role="quiet", dash=i) for i in classes]
    if any(mark.kind == "cross" for mark in marks):
        keys.append(_key("cross", "ends (hover: why)", role="quiet"))
    top = 1.05 * top or 1.0
    load = np.array([[view.load, 0.0], [view.load, top]])
    return Picture(
        view, [Mark("line", load, role="quiet", dash=DOTTED, width=1.0), *marks, *keys], 1.0, top, view.note
    )


def _resources(outline: FloatArray, lines: Sequence[tuple[str, FloatArray]], state: State) -> list[Mark]:
    """A polygon, and a line per resource, in the legend also where it is none in the frame."""
    given = dict(lines)
    if state.servers:
        return [Mark("area", outline, role="area")]
    ends = {name: given.get(name, np.empty((0, 2))) for name in state.resources}
    strokes = [Mark("line", points, name, dash=j) for j, (name, points) in enumerate(ends.items())]
    return [Mark("area", outline, role="area"), *strokes]


def _frame(outline: FloatArray) -> tuple[float, float]:
    right, top = (1.15 * outline.max(axis=0)).tolist()
    return right, top


def _point(kind: Any, at: ArrayLike, **more: Any) -> Mark:
    return Mark(kind, np.array(at, dtype=float)[None, :], **more)


def _key(kind: Any, label: str, **more: Any) -> Mark:
    return Mark(kind, np.empty((0, 2)), label, **more)
