"""The figures of the page, drawn once with Bokeh; an update changes their data, axes and colours only.

Legends are no part of them: they stand beside the figures, in the page, where nothing lies under them.
"""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource, CustomJS, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure

from fairness.errors import FairqueuesError
from fairqueues.explorer.fields import DISTINCT
from fairqueues.explorer.model import State
from fairqueues.explorer.palette import DASHES, DAY, Palette
from fairqueues.explorer.pictures import Drawing, Mark, Picture

__all__ = ["Figure", "Key"]

Key = dict[str, str]
"""A line of a legend: its "label", "colour", "dash", and "mark" ("line", "ring", "bar", "dot" or "cross")."""

LETTERS, TICKS, UPRIGHT = 18, 42, 10
"""Of a name in the label of an axis, of all names below one, and of each of them where they are many."""

HOVER = '<div style="max-width: 260px; white-space: normal">@told</div>'
COLUMNS = {
    "area": ("x", "y", "colour"),
    "line": ("x", "y", "colour", "dash", "width", "class"),
    "bar": ("x", "y", "colour", "width", "told"),
    "point": ("x", "y", "colour", "fill", "edge", "width", "size", "marker", "told"),
}
"""Data of the glyphs: of areas and lines, x and y are lists."""

NOTHING = "#00000000"


class Figure:
    """A figure of the page.

    Attributes
    ----------
    name, title : str
        Of the place in the page and of the files; what a person reads above it.
    view : Any
        What is shown.
    keys : list of Key
        Its legend.
    """

    def __init__(self, drawing: Drawing) -> None:
        self.drawing, self.name, self.title = drawing, drawing.name, drawing.title
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
        )
        for axis in self.plot.axis:
            axis.axis_label_text_font_style = "normal"
            axis.axis_label_standoff = 4
        self.view: Any = None
        self.keys: list[Key] = []
        self._draw()
        self.paint(DAY)

    def _draw(self) -> None:
        """Glyphs without data."""
        plot = self.plot
        self.sources = {kind: ColumnDataSource({n: [] for n in names}) for kind, names in COLUMNS.items()}
        area, line, bar, point = self.sources.values()
        plot.patches("x", "y", source=area, fill_color="colour", line_color=None)
        plot.multi_line("x", "y", source=line, line_color="colour", line_dash="dash", line_width="width")
        bars = plot.vbar("x", "width", "y", source=bar, color="colour")
        look = {"line_color": "edge", "fill_color": "fill", "line_width": "width"}
        points = plot.scatter("x", "y", source=point, marker="marker", size="size", **look)
        plot.add_tools(HoverTool(renderers=[bars, points], tooltips=HOVER))
        if names := self.drawing.ticks:
            axis = plot.xaxis[0]
            axis.ticker = FixedTicker(ticks=list(range(len(names))))
            most = TICKS // len(names) if len(names) <= DISTINCT else UPRIGHT
            axis.major_label_overrides = {k: _short(name, most) for k, name in enumerate(names)}
            plot.x_range.start = -0.5
            if len(names) > DISTINCT:
                axis.major_label_orientation = "vertical"
        if self.name == "drift":
            drag = CustomJS(code="window.explorer.drag(cb_obj.x, cb_obj.y)")
            for event in ("panstart", "pan", "panend", "tap"):
                plot.js_on_event(event, drag)

    def paint(self, palette: Palette) -> None:
        """Take the colours of the page; those of the data come with the next update."""
        self.palette = palette
        self.plot.background_fill_color = self.plot.border_fill_color = palette.page
        self.plot.outline_line_color = self.plot.grid.grid_line_color = palette.grid
        self.plot.border_line_color = palette.page
        if self.drawing.ticks:
            self.plot.xgrid.grid_line_color = None
        for axis in self.plot.axis:
            axis.axis_label_text_color = axis.major_label_text_color = palette.ink
            axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = palette.quiet

    def update(self, state: State, **limits: Any) -> str:
        """Compute the picture and show it; a note for beside the title. Sets ``view`` and ``keys``."""
        try:
            picture = self.drawing.make(state, **limits)
        except FairqueuesError as error:
            if self.name in ("rates", "sharing"):
                raise
            picture = Picture(None, [], 1.0, 1.0, f"cannot be drawn: {str(error).splitlines()[0]}")
        self.view = picture.view
        self.keys = []
        rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in COLUMNS}
        for mark in picture.marks:
            row = self._row(mark, state)
            if mark.label:
                key = {"label": mark.label, "mark": mark.kind, "colour": row["colour"], "dash": row["dash"]}
                self.keys.append(key)
            if len(mark.points):
                rows[mark.kind if mark.kind in COLUMNS else "point"].append(row)
        for kind, source in self.sources.items():
            source.data = {name: [row[name] for row in rows[kind]] for name in COLUMNS[kind]}
        texts = (self.drawing.x, self.drawing.y) if picture.view else ("", "")
        for axis, text, name in zip(self.plot.axis, texts, picture.names, strict=True):
            axis.axis_label = text.format(_short(name))
        self.plot.x_range.end, self.plot.y_range.end = picture.right, picture.top
        return f"{picture.note}; drag the dot" if self.name == "drift" else picture.note

    def _row(self, mark: Mark, state: State) -> dict[str, Any]:
        """Columns of a mark."""
        colour = self.palette.hue(state, mark.method) if mark.method else getattr(self.palette, mark.role)
        several = mark.kind in ("area", "line") or not len(mark.points)
        x, y = mark.points.T if several else mark.points[0].tolist()
        return {
            "x": x, "y": y, "colour": colour, "dash": DASHES[mark.dash], "class": mark.job_class,
            "width": mark.width, "size": mark.size, "told": mark.told,
            "marker": "x" if mark.kind == "cross" else "circle",
            "fill": colour if mark.kind == "dot" else NOTHING,
            "edge": self.palette.page if mark.kind == "dot" else colour,
        }  # fmt: skip


def _short(name: str, most: int = LETTERS) -> str:
    """The beginning of a name that is too long for a figure; tables and tooltips have the whole."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
