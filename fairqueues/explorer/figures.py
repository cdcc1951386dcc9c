"""The figures of the page, drawn once with Bokeh; an update changes their data, axes and colours only.

Legends are no part of them: they stand beside the figures, in the page, where nothing lies under them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure

from fairness.model.problem import FloatArray
from fairqueues.explorer.model import State
from fairqueues.explorer.palette import DASHES, DAY, Palette
from fairqueues.explorer.rates import Rates, rates_view, widths
from fairqueues.explorer.views import Sharing, drift_view, region_view, sharing_view

__all__ = ["Figure", "Key", "RatesFigure", "SharingFigure", "TasksFigure", "figures_of"]

Key = dict[str, str]
"""A line of a legend: its "label", "colour", "dash", and "mark" ("line", "ring", "bar", "dot" or "cross")."""


LETTERS, TICKS = 18, 42
"""Of a name in the label of an axis, and of all names below one."""

END = (
    '<div style="max-width: 260px; white-space: normal">'
    "<b>@method</b> has no point from load @from on: @why</div>"
)
"""What is told about the end of a curve."""


class Figure(ABC):
    """A figure of the page.

    Attributes
    ----------
    name, title : str
        Of the place in the page and of the files; what a person reads above it.
    keys : list of Key
        Its legend.
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
            min_height=120,
            x_range=interval(start=0, end=1),
            y_range=interval(start=0, end=1),
            x_axis_label=x_label,
            y_axis_label=y_label,
        )
        for axis in self.plot.axis:
            axis.axis_label_text_font_style = "normal"
            axis.axis_label_standoff = 4
        self.keys: list[Key] = []
        self.palette = DAY
        self.draw(state)
        self.paint(DAY)

    @abstractmethod
    def draw(self, state: State) -> None:
        """Add glyphs to ``plot``."""

    @abstractmethod
    def update(self, state: State) -> str:
        """Compute the view and show it; a note for beside the title. Sets ``keys``."""

    def paint(self, palette: Palette) -> None:
        """Take the colours of the page; those of the data come with the next update."""
        self.palette = palette
        self.plot.background_fill_color = self.plot.border_fill_color = palette.page
        self.plot.outline_line_color = self.plot.grid.grid_line_color = palette.grid
        self.plot.border_line_color = palette.page
        for axis in self.plot.axis:
            axis.axis_label_text_color = axis.major_label_text_color = palette.ink
            axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = palette.quiet

    def _reach(self, right: float, top: float) -> None:
        self.plot.x_range.end, self.plot.y_range.end = float(right), float(top)


class _Resources:
    """A polygon and one line per resource, as two figures have them."""

    def __init__(self, plot: Any, resources: Sequence[str]) -> None:
        self.outline = ColumnDataSource({"x": [], "y": []})
        self.area = plot.patch("x", "y", source=self.outline, line_color=None)
        self.lines, self.strokes = {}, []
        for name, dash in zip(resources, DASHES, strict=False):
            source = self.lines[name] = ColumnDataSource({"x": [], "y": []})
            self.strokes.append(plot.line("x", "y", source=source, line_width=1.5, line_dash=dash))

    def show(self, outline: FloatArray, lines: Sequence[tuple[str, FloatArray]]) -> tuple[float, float]:
        """Show them; a good end for each axis."""
        self.outline.data = _columns(outline)
        given = dict(lines)
        for name, source in self.lines.items():
            source.data = _columns(given.get(name, np.empty((0, 2))))
        right, top = 1.15 * outline.max(axis=0)
        return right, top

    def paint(self, palette: Palette) -> None:
        self.area.glyph.fill_color = palette.area
        for stroke in self.strokes:
            stroke.glyph.line_color = palette.ink

    def keys(self, palette: Palette) -> list[Key]:
        names = zip(self.lines, DASHES, strict=False)
        return [_key(name, palette.ink, "line", dash) for name, dash in names]


class SharingFigure(Figure):
    """What fits of two classes, and the allocation of each policy."""

    view: Sharing
    name, title = "sharing", "Sharing polygon"

    def __init__(self, state: State) -> None:
        a, b = state.job_classes
        super().__init__(state, f"tasks of {_short(a)}", f"tasks of {_short(b)}")

    def draw(self, state: State) -> None:
        """Glyphs without data."""
        self.resources = _Resources(self.plot, state.resources)
        self.points = ColumnDataSource(_rings([], np.empty((0, 2)), []))
        marks = self.plot.scatter(
            "x", "y", source=self.points, size="size", line_color="colour", line_width=2.5, fill_color=None
        )
        self.plot.add_tools(HoverTool(renderers=[marks], tooltips=[("policy", "@name"), ("tasks", "@x, @y")]))

    def paint(self, palette: Palette) -> None:
        """Take the colours of the page."""
        super().paint(palette)
        self.resources.paint(palette)

    def update(self, state: State) -> str:
        """Show the allocations; which policies failed."""
        view = self.view = sharing_view(state)
        self._reach(*self.resources.show(view.outline, view.lines))
        tasks = np.array([allocation.tasks for allocation in view.allocations]).reshape(-1, 2)
        hues = [self.palette.hue(state, name) for name in view.names]
        self.points.data = _rings(view.names, tasks, hues)
        rings = [_key(name, hue, "ring") for name, hue in zip(view.names, hues, strict=True)]
        self.keys = [*self.resources.keys(self.palette), *rings]
        return view.note


class TasksFigure(Figure):
    """The allocation of each policy as bars, for more than two classes."""

    view: Sharing
    name, title = "sharing", "Allocations"

    def __init__(self, state: State) -> None:
        super().__init__(state, "", "tasks")

    def draw(self, state: State) -> None:
        """Glyphs without data."""
        self.bars = ColumnDataSource({name: [] for name in ("x", "top", "width", "colour", "name", "class")})
        bars = self.plot.vbar("x", "width", "top", source=self.bars, color="colour")
        self.plot.add_tools(
            HoverTool(
                renderers=[bars], tooltips=[("policy", "@name"), ("class", "@class"), ("tasks", "@top")]
            )
        )
        self.plot.xgrid.grid_line_color = None
        axis = self.plot.xaxis[0]
        axis.ticker = FixedTicker(ticks=list(range(state.n_classes)))
        most = TICKS // state.n_classes
        axis.major_label_overrides = {k: _short(name, most) for k, name in enumerate(state.job_classes)}
        self.plot.x_range.start, self.plot.x_range.end = -0.5, state.n_classes - 0.5

    def paint(self, palette: Palette) -> None:
        """Take the colours of the page."""
        super().paint(palette)
        self.plot.xgrid.grid_line_color = None

    def update(self, state: State) -> str:
        """Show the allocations; which policies failed."""
        view = self.view = sharing_view(state)
        n, many = state.n_classes, len(view.names)
        tasks = np.array([allocation.tasks for allocation in view.allocations]).reshape(-1, n)
        pitch = 0.8 / max(many, 3)
        hues = [self.palette.hue(state, name) for name in view.names]
        self.bars.data = {
            "x": [i + pitch * (k - (many - 1) / 2) for k in range(many) for i in range(n)],
            "top": tasks.ravel().tolist(),
            "width": [0.85 * pitch] * tasks.size,
            "colour": [hue for hue in hues for _ in range(n)],
            "name": [name for name in view.names for _ in range(n)],
            "class": list(state.job_classes) * many,
        }
        self.plot.y_range.end = 1.05 * float(tasks.max(initial=0.0)) or 1.0
        self.keys = [_key(name, hue, "bar") for name, hue in zip(view.names, hues, strict=True)]
        return view.note


class _DriftFigure(Figure):
    name, title = "drift", "Drift and trajectory"

    def __init__(self, state: State) -> None:
        a, b = state.job_classes
        super().__init__(state, f"jobs of {_short(a)}", f"jobs of {_short(b)}")

    def draw(self, state: State) -> None:
        self.arrows = ColumnDataSource({"along": [], "up": []})
        self.path = ColumnDataSource({"x": [], "y": []})
        self.start = ColumnDataSource({"x": [], "y": []})
        self.field = self.plot.line("along", "up", source=self.arrows, line_width=1)
        self.line = self.plot.line("x", "y", source=self.path, line_width=3)
        self.dot = self.plot.scatter("x", "y", source=self.start, size=15, line_width=2)
        drag = CustomJS(code="window.explorer.drag(cb_obj.x, cb_obj.y)")
        for event in ("panstart", "pan", "panend", "tap"):
            self.plot.js_on_event(event, drag)

    def paint(self, palette: Palette) -> None:
        super().paint(palette)
        self.field.glyph.line_color = palette.arrow
        self.dot.glyph.line_color = palette.page

    def update(self, state: State) -> str:
        view = drift_view(state)
        # One line with gaps: many small arrays would take longer to send than to compute.
        gap = np.full((1, 2), np.nan)
        strokes = np.concatenate([part for arrow in view.arrows for part in (arrow, gap)] or [gap])
        self.arrows.data = {"along": strokes[:, 0], "up": strokes[:, 1]}
        self.path.data = _columns(view.path)
        self.start.data = _columns(np.array([state.start]))
        hue = self.palette.hue(state, state.policy)
        self.line.glyph.line_color = self.dot.glyph.fill_color = hue
        self.keys = [
            _key(f"{state.policy}, from the dot on", hue, "line"),
            _key("drift", self.palette.arrow, "line"),
        ]
        self._reach(state.reach, state.reach)
        return f"{view.note}; drag the dot"


class _RegionFigure(Figure):
    def __init__(self, state: State, one: int, other: int) -> None:
        a, b = state.job_classes[one], state.job_classes[other]
        self.pair = one, other
        self.name = "region" if state.n_classes == 2 else f"region-{one + 1}-{other + 1}"
        self.title = "Capacity region" if state.n_classes == 2 else f"Capacity region {a}, {b}"
        super().__init__(state, f"load of {_short(a)} (tasks)", f"load of {_short(b)} (tasks)")

    def draw(self, state: State) -> None:
        self.resources = _Resources(self.plot, state.resources)
        self.ray = ColumnDataSource({"x": [], "y": []})
        self.point = ColumnDataSource({"x": [], "y": []})
        self.way = self.plot.line("x", "y", source=self.ray, line_width=1, line_dash="dotted")
        self.dot = self.plot.scatter("x", "y", source=self.point, size=11)

    def paint(self, palette: Palette) -> None:
        super().paint(palette)
        self.resources.paint(palette)
        self.way.glyph.line_color = palette.quiet
        self.dot.glyph.line_color = self.dot.glyph.fill_color = palette.ink

    def update(self, state: State) -> str:
        view = region_view(state, *self.pair)
        self._reach(*self.resources.show(view.outline, view.lines))
        self.ray.data = _columns(np.array([[0.0, 0.0], view.edge]))
        self.point.data = _columns(view.point[None, :])
        self.keys = [*self.resources.keys(self.palette), _key("current load", self.palette.ink, "dot")]
        return view.note


class RatesFigure(Figure):
    """Service rates: a colour for each method, a dash for each class; what is known of them so far."""

    name, title = "rates", "Mean service rates"
    view: Rates

    def __init__(self, state: State) -> None:
        super().__init__(state, "relative load of the busiest resource", "tasks per active job")

    def draw(self, state: State) -> None:
        """Glyphs without data."""
        self.now = ColumnDataSource({"x": [], "y": []})
        self.mark = self.plot.line("x", "y", source=self.now, line_dash="dotted")
        names = ("load", "rate", "colour", "dash", "width", "method", "class")
        self.curves = ColumnDataSource({name: [] for name in names})
        self.dots = ColumnDataSource({name: [] for name in names})
        self.plot.multi_line(
            "load", "rate", source=self.curves, line_color="colour", line_dash="dash", line_width="width"
        )
        dots = self.plot.scatter("load", "rate", source=self.dots, color="colour", size=8)
        told = [("method", "@method"), ("class", "@class"), ("load", "@load"), ("rate", "@rate{0.0000}")]
        self.plot.add_tools(HoverTool(renderers=[dots], tooltips=told))
        self.ends = ColumnDataSource(
            {name: [] for name in ("load", "rate", "colour", "method", "from", "why")}
        )
        ends = self.plot.scatter(
            "load", "rate", source=self.ends, marker="x", line_color="colour", line_width=2, size=13
        )
        self.plot.add_tools(HoverTool(renderers=[ends], tooltips=END))

    def paint(self, palette: Palette) -> None:
        """Take the colours of the page."""
        super().paint(palette)
        self.mark.glyph.line_color = palette.quiet

    def update(self, state: State, *, until: float = math.inf, light: bool = False) -> str:
        """Show what is known by then of the rates; which methods cannot be told at the load."""
        view = self.view = rates_view(state, until=until, light=light)
        classes = range(state.n_classes) if not state.rated else (state.rated - 1,)
        lines: list[dict[str, Any]] = []
        dots: list[dict[str, Any]] = []
        ends: list[dict[str, Any]] = []
        self.keys, top = [], 0.0
        for (method, curve), wide in zip(view.curves.items(), widths(view), strict=True):
            hue = self.palette.hue(state, method)
            self.keys.append(_key(method, hue, "line"))
            for i in classes:
                look = {
                    "colour": hue,
                    "dash": DASHES[i],
                    "width": 2.0 * wide[i],
                    "method": method,
                    "class": state.job_classes[i],
                }
                rates = curve.rates[:, i]
                if not np.isnan(rates).all():
                    lines.append({"load": curve.loads, "rate": rates, **look})
                    top = max(top, float(np.nanmax(rates)))
                    if curve.why:
                        last = {"load": curve.loads[-1], "rate": rates[-1], "from": curve.end}
                        ends.append({**look, **last, "why": curve.why})
                if curve.now is not None and not np.isnan(curve.now[i]):
                    dots.append({"load": view.load, "rate": float(curve.now[i]), **look})
        self.keys += [_key(state.job_classes[i], self.palette.quiet, "line", DASHES[i]) for i in classes]
        if ends:
            self.keys.append(_key("ends (hover: why)", self.palette.quiet, "cross"))
        for source, rows in ((self.curves, lines), (self.dots, dots), (self.ends, ends)):
            source.data = {name: [row[name] for row in rows] for name in source.column_names}
        top = 1.05 * top or 1.0
        self._reach(1.0, top)
        self.now.data = {"x": [view.load, view.load], "y": [0.0, top]}
        return view.note


def figures_of(state: State) -> list[Figure]:
    """The figures for a state of this size, in the order of the page."""
    rates = RatesFigure(state)
    if state.n_classes == 2:
        return [rates, SharingFigure(state), _DriftFigure(state), _RegionFigure(state, 0, 1)]
    sections = [_RegionFigure(state, 0, 1)]
    if state.n_classes == 3:
        sections.append(_RegionFigure(state, 0, 2))
    return [rates, TasksFigure(state), *sections]


def _key(label: str, colour: str, mark: str, dash: str = "solid") -> Key:
    return {"label": label, "colour": colour, "mark": mark, "dash": dash}


def _short(name: str, most: int = LETTERS) -> str:
    """The beginning of a name that is too long for a figure; tables and tooltips have the whole."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _columns(points: FloatArray) -> dict[str, Any]:
    return {"x": points[:, 0], "y": points[:, 1]}


def _rings(names: Sequence[str], tasks: FloatArray, colours: Sequence[str]) -> dict[str, Any]:
    """Policies that agree are rings within rings, so the first has the largest."""
    sizes = [7 + 4.5 * (len(names) - 1 - k) for k in range(len(names))]
    return {**_columns(tasks), "name": list(names), "colour": list(colours), "size": sizes}
