"""The figures of the page as files (SVG, PDF or PNG), drawn with matplotlib from the same pictures."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from fairness.arguments.plain import near
from fairness.display.lettering import label
from fairness.display.printing.saving import drawn_file
from fairness.errors import ModelError
from fairqueues.explorer.fields import DISTINCT
from fairqueues.explorer.model import State
from fairqueues.explorer.palette import DASHES, DAY, hue_of
from fairqueues.explorer.pictures import Drawing, drawings_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMATS", "figure_file"]

STYLES: tuple[Any, ...] = ("-", *((0, tuple(map(float, dashes.split()))) for dashes in DASHES[1:]))
"""The dashes of the page as matplotlib takes them."""

WIDTH, TALL = 66, 44
"""Signs of a line of legend or title, and of the label of an axis, that fit a file."""

THIN, SMALL = 0.7, 0.6
"""Points of a line, and of a dot or ring, for a pixel of the page."""

FORMATS = {"svg": "image/svg+xml; charset=utf-8", "pdf": "application/pdf", "png": "image/png"}
"""Endings of files, and what browsers call them."""


def figure_file(state: State, name: str, ending: str) -> bytes:
    """What a file of a figure holds.

    Parameters
    ----------
    state : State
    name : str
        Of one of :func:`~fairqueues.explorer.pictures.drawings_of`.
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
    drawings = {drawing.name: drawing for drawing in drawings_of(state)}
    if name not in drawings:
        raise ModelError(f"no figure {name[:30]!r}; {near(name, drawings)}")
    # Not pyplot: its figures are global, and requests come at any time.
    canvas = Canvas(figsize=(5.2, 4.4), layout="constrained")
    ax = canvas.add_subplot()
    # Dashes say the class, so they are the same for lines of all widths.
    with rc_context({"lines.scale_dashes": False}):
        _draw(drawings[name], state, ax)
    # Beside the drawing, where nothing lies under it.
    handles, words = ax.get_legend_handles_labels()
    columns = max(1, min(3, WIDTH // (max(map(len, words), default=0) + 6)))
    folded = [fill(text, WIDTH) for text in words]
    canvas.legend(handles, folded, loc="outside upper center", ncols=columns, fontsize="small", frameon=False)
    return drawn_file(canvas, ending)


def _draw(drawing: Drawing, state: State, ax: Axes) -> None:
    """The marks, with the axes and the note above them."""
    picture = drawing.make(state)
    for mark in picture.marks:
        colour = hue_of(state, mark.method) if mark.method else getattr(DAY, mark.role)
        words, x, y = label(mark.label) if mark.label else None, *mark.points.T
        width, size = THIN * mark.width, SMALL * mark.size
        if mark.kind == "area":
            ax.fill(x, y, color=colour, linewidth=0)
        elif mark.kind == "bar":
            ax.bar(x, y, mark.width, color=colour, label=words)
        elif mark.kind == "line":
            ax.plot(x, y, color=colour, linestyle=STYLES[mark.dash], linewidth=width, label=words)
        else:
            face = colour if mark.kind == "dot" else "none"
            sign = "x" if mark.kind == "cross" else "o"
            look: Any = {"mec": colour, "mfc": face, "mew": width, "ms": size, "clip_on": False}
            ax.plot(x, y, sign, label=words, **look)
    if drawing.ticks:
        turned = 90 if len(drawing.ticks) > DISTINCT else 0
        ax.set_xticks(range(len(drawing.ticks)), list(map(label, drawing.ticks)), rotation=turned)
    low = -0.5 if drawing.ticks else 0.0
    ax.set(xlim=(low, picture.right), ylim=(0, picture.top))
    for axis, text, name in zip((ax.xaxis, ax.yaxis), (drawing.x, drawing.y), picture.names, strict=True):
        axis.set_label_text(fill(label(text.format(name)), TALL))
    ax.set_title(fill(label(picture.note), WIDTH), fontsize="small")
