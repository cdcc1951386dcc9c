"""The figures of the page, drawn once with Bokeh; an update changes their data and axes only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure

from fairness.catalogue import colour
from fairness.model.problem import FloatArray
from fairqueues.explorer.model import POLICIES, State
from fairqueues.explorer.views import (
    Drift,
    Rates,
    Region,
    Sharing,
    drift_view,
    rates_view,
    region_view,
    sharing_view,
)

__all__ = ["DASHES", "Figure", "figures_of", "legible"]

DASHES = ("solid", "dashed", "dotted", "dotdash")
"""Of resources and of classes, in their order; colours belong to policies."""

INK, PALE = "#333333", "#e4e9f0"

CONTRAST = 3.0
"""Least contrast of a line or dot to the white page, as WCAG 2.1 (1.4.11) asks for graphics."""


class Figure(ABC):
    """A figure of the page.

    Attributes
    ----------
    name, title : str
        Of the place in the page and of the SVG file; what a person reads above it.
    """

    name: str
    title: str

    def __init__(self, state: State, x_label: str, y_label: str) -> None:
        # Bokeh's models take their properties as keywords that its stubs do not all know.
        make: Any = figure
        interval: Any = Range1d
        self.plot: Any = make(
            name=self.name,
            toolbar_location=None,
            tools="",
            sizing_mode="stretch_both",
            min_height=180,
            x_range=interval(start=0, end=1),
            y_range=interval(start=0, end=1),
            x_axis_label=x_label,
            y_axis_label=y_label,
        )
        for axis in self.plot.axis:
            axis.axis_label_text_font_style = "normal"
            axis.axis_label_text_color = axis.major_label_text_color = INK
            axis.axis_label_standoff = 4
        self.plot.grid.grid_line_color = "#eeeeee"
        self.draw(state)
        if self.plot.legend:
            self.plot.legend.label_text_font_size = "11px"
            self.plot.legend.padding = self.plot.legend.spacing = 3
            self.plot.legend.glyph_height = 14
            self.plot.legend.background_fill_alpha = 0.95

    @abstractmethod
    def draw(self, state: State) -> None:
        """Add glyphs to ``plot``."""

    @abstractmethod
    def update(self, state: State) -> tuple[Any, str]:
        """Compute the view and show it; the view, and a note for beside the title."""

    def _reach(self, right: float, top: float) -> None:
        self.plot.x_range.end, self.plot.y_range.end = float(right), float(top)


class _Resources:
    """A polygon and one line per resource, as two figures have them."""

    def __init__(self, plot: Any, resources: Sequence[str]) -> None:
        self.outline = ColumnDataSource({"x": [], "y": []})
        plot.patch("x", "y", source=self.outline, fill_color=PALE, line_color=None)
        self.lines = {}
        for name, dash in zip(resources, DASHES, strict=False):
            source = self.lines[name] = ColumnDataSource({"x": [], "y": []})
            plot.line("x", "y", source=source, color=INK, line_width=1.5, line_dash=dash, legend_label=name)

    def show(self, outline: FloatArray, lines: Sequence[tuple[str, FloatArray]]) -> tuple[float, float]:
        """Show them; a good end for each axis."""
        self.outline.data = _columns(outline)
        given = dict(lines)
        for name, source in self.lines.items():
            source.data = _columns(given.get(name, np.empty((0, 2))))
        right, top = 1.15 * outline.max(axis=0)
        return right, top


class _SharingFigure(Figure):
    name, title = "sharing", "Sharing polygon"

    def __init__(self, state: State) -> None:
        a, b = state.job_classes
        super().__init__(state, f"tasks of {a}", f"tasks of {b}")

    def draw(self, state: State) -> None:
        self.resources = _Resources(self.plot, state.resources)
        self.points = ColumnDataSource(_rings([], np.empty((0, 2)), []))
        marks = self.plot.scatter(
            "x", "y", source=self.points, size="size", line_color="colour", line_width=2.5, fill_color=None
        )
        self.plot.add_tools(HoverTool(renderers=[marks], tooltips=[("policy", "@name"), ("tasks", "@x, @y")]))

    def update(self, state: State) -> tuple[Sharing, str]:
        view = sharing_view(state)
        self._reach(*self.resources.show(view.outline, view.lines))
        tasks = np.array([allocation.tasks for allocation in view.allocations]).reshape(-1, 2)
        self.points.data = _rings(view.names, tasks, list(map(legible, view.colours)))
        return view, view.note


class _TasksFigure(Figure):
    name, title = "sharing", "Allocations"

    def __init__(self, state: State) -> None:
        super().__init__(state, "", "tasks")

    def draw(self, state: State) -> None:
        self.bars = ColumnDataSource({"x": [], "top": [], "colour": [], "name": []})
        bars = self.plot.vbar("x", 0.11, "top", source=self.bars, color="colour")
        self.plot.add_tools(HoverTool(renderers=[bars], tooltips=[("policy", "@name"), ("tasks", "@top")]))
        self.plot.xgrid.grid_line_color = None
        axis = self.plot.xaxis[0]
        axis.ticker = FixedTicker(ticks=list(range(state.n_classes)))
        axis.major_label_overrides = dict(enumerate(state.job_classes))
        self.plot.x_range.start, self.plot.x_range.end = -0.5, state.n_classes - 0.5

    def update(self, state: State) -> tuple[Sharing, str]:
        view = sharing_view(state)
        n = state.n_classes
        tasks = np.array([allocation.tasks for allocation in view.allocations]).reshape(-1, n)
        places = [
            i + 0.13 * (k - (len(view.names) - 1) / 2) for k in range(len(view.names)) for i in range(n)
        ]
        self.bars.data = {
            "x": places,
            "top": tasks.ravel().tolist(),
            "colour": [legible(c) for c in view.colours for _ in range(n)],
            "name": [name for name in view.names for _ in range(n)],
        }
        self.plot.y_range.end = 1.05 * float(tasks.max(initial=0.0)) or 1.0
        return view, view.note


class _DriftFigure(Figure):
    name, title = "drift", "Drift and trajectory"

    def __init__(self, state: State) -> None:
        a, b = state.job_classes
        super().__init__(state, f"jobs of {a}", f"jobs of {b}")

    def draw(self, state: State) -> None:
        self.arrows = ColumnDataSource({"along": [], "up": []})
        self.path = ColumnDataSource({"x": [], "y": []})
        self.start = ColumnDataSource({"x": [], "y": []})
        self.plot.line("along", "up", source=self.arrows, color="#8a8a8a", line_width=1)
        self.line = self.plot.line("x", "y", source=self.path, line_width=3)
        self.dot = self.plot.scatter("x", "y", source=self.start, size=15, line_color="white", line_width=2)
        drag = CustomJS(code="window.explorer.drag(cb_obj.x, cb_obj.y)")
        for event in ("panstart", "pan", "panend", "tap"):
            self.plot.js_on_event(event, drag)

    def update(self, state: State) -> tuple[Drift, str]:
        view = drift_view(state)
        # One line with gaps: many small arrays would take longer to send than to compute.
        gap = np.full((1, 2), np.nan)
        strokes = np.concatenate([part for arrow in view.arrows for part in (arrow, gap)] or [gap])
        self.arrows.data = {"along": strokes[:, 0], "up": strokes[:, 1]}
        self.path.data = _columns(view.path)
        self.start.data = _columns(np.array([state.start]))
        self.line.glyph.line_color = self.dot.glyph.fill_color = legible(view.colour)
        self._reach(state.reach, state.reach)
        return view, f"{state.policy}: {view.note}; drag the dot"


class _RegionFigure(Figure):
    def __init__(self, state: State, one: int, other: int) -> None:
        a, b = state.job_classes[one], state.job_classes[other]
        self.pair = one, other
        self.name = "region" if state.n_classes == 2 else f"region-{one + 1}-{other + 1}"
        self.title = "Capacity region" if state.n_classes == 2 else f"Capacity region, {a} and {b}"
        super().__init__(state, f"load of {a} (tasks)", f"load of {b} (tasks)")

    def draw(self, state: State) -> None:
        self.resources = _Resources(self.plot, state.resources)
        self.ray = ColumnDataSource({"x": [], "y": []})
        self.point = ColumnDataSource({"x": [], "y": []})
        self.plot.line("x", "y", source=self.ray, color="#777777", line_width=1, line_dash="dotted")
        self.plot.scatter("x", "y", source=self.point, size=11, color="black", legend_label="current load")

    def update(self, state: State) -> tuple[Region, str]:
        view = region_view(state, *self.pair)
        self._reach(*self.resources.show(view.outline, view.lines))
        self.ray.data = _columns(np.array([[0.0, 0.0], view.edge]))
        self.point.data = _columns(view.point[None, :])
        return view, ""


class _RatesFigure(Figure):
    name, title = "rates", "Mean service rates"

    def __init__(self, state: State) -> None:
        super().__init__(state, "relative load of the busiest resource", "tasks per active job")

    def draw(self, state: State) -> None:
        self.curves, self.marks = [], []
        for _ in state.job_classes:
            self.curves.append(ColumnDataSource({"load": [], "balanced": [], "bound": []}))
            self.marks.append(ColumnDataSource({"load": [], "balanced": [], "bound": []}))
        # The legend fills its columns one after the other: one per method, and so one row per class.
        for column, label in (("balanced", "balanced fairness"), ("bound", "bound")):
            hue = legible(colour(label))
            for i, name in enumerate(state.job_classes):
                self.plot.line(
                    "load", column, source=self.curves[i], color=hue, line_width=2, line_dash=DASHES[i],
                    legend_label=f"{name}, {label}",
                )  # fmt: skip
                self.plot.scatter("load", column, source=self.marks[i], color=hue, size=9)
        self.now = ColumnDataSource({"x": [], "y": []})
        self.plot.line("x", "y", source=self.now, color="#777777", line_dash="dotted")
        # Above the curves, which fill the frame; one row per class.
        legend = self.plot.legend[0]
        legend.ncols, legend.border_line_color, legend.margin = 2, None, 0
        self.plot.center = [item for item in self.plot.center if item is not legend]
        self.plot.add_layout(legend, "above")

    def update(self, state: State) -> tuple[Rates, str]:
        view = rates_view(state)
        for i, (curve, mark) in enumerate(zip(self.curves, self.marks, strict=True)):
            curve.data = {
                "load": view.curves.loads,
                "balanced": view.curves.balanced[:, i],
                "bound": view.curves.bound[:, i],
            }
            mark.data = {"load": [view.load], "balanced": [view.balanced[i]], "bound": [view.bound[i]]}
        top = 1.05 * float(np.nanmax([view.curves.balanced, view.curves.bound]))
        self._reach(1.0, top)
        self.now.data = {"x": [view.load, view.load], "y": [0.0, top]}
        return view, view.note


@cache
def legible(hue: str) -> str:
    """The colour, darkened as little as makes its contrast to white at least :data:`CONTRAST`.

    Examples
    --------
    >>> legible("#0072B2"), legible("#56B4E9")
    ('#0072B2', '#4a9cca')
    """
    channels = [int(hue[k : k + 2], 16) for k in (1, 3, 5)]
    if _contrast(channels) >= CONTRAST:
        return hue
    part = next(
        p for p in np.arange(0.99, 0.0, -0.01) if _contrast([int(p * c) for c in channels]) >= CONTRAST
    )
    return "#" + "".join(f"{int(part * c):02x}" for c in channels)


def _contrast(channels: Sequence[int]) -> float:
    """Contrast of a colour to white by the formula of WCAG 2.1."""
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def figures_of(state: State) -> list[Figure]:
    """The figures for a state of this size, in the order of the page; the first shows the allocations."""
    if state.n_classes == 2:
        return [_SharingFigure(state), _DriftFigure(state), _RegionFigure(state, 0, 1), _RatesFigure(state)]
    return [_TasksFigure(state), _RegionFigure(state, 0, 1), _RegionFigure(state, 0, 2), _RatesFigure(state)]


def _columns(points: FloatArray) -> dict[str, Any]:
    return {"x": points[:, 0], "y": points[:, 1]}


def _rings(names: Sequence[str], tasks: FloatArray, colours: Sequence[str]) -> dict[str, Any]:
    """Policies that agree are rings within rings, so the first has the largest."""
    sizes = [7 + 4.5 * (len(POLICIES) - 1 - k) for k in range(len(names))]
    return {**_columns(tasks), "name": list(names), "colour": list(colours), "size": sizes}
