"""Figures as files: for print in the size that they will have there, with fonts that publishers take.

Fonts of a PDF are TrueType (Type 42), formulas too: what matplotlib writes on its own, Type 3, is refused by
IEEE, ACM and others. Letters of an SVG are outlines, so that it looks the same where no such font is. No file
depends on the day.
"""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairness.display.printing.fitting import Size, fit, untitled
from fairness.errors import ModelError
from fairness.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "SIZES", "drawn_file", "printed", "printed_file", "savefig"]

SIZES = {
    "column": Size(width=3.5, height=None, text=9.0, least=6.3),
    "page": Size(width=7.16, height=None, text=9.0, least=6.3),
    "slide": Size(width=6.3, height=3.54, text=10.0, least=6.3),
}
"""Column and page of IEEE journals. A column of ACM is 3.34 inches, its page 7.0: shrunk to these, 6.3 points
are 6. The slide is that of beamer, 16:9; on one of 13.33 inches its text has 21 points."""

FORMATS = {"pdf": {"CreationDate": None}, "png": {}, "svg": {"Date": None}}
"""Kinds of files, and what would tell the day."""

_FINE = 600
"""Dots per inch of line art in print."""


def savefig(
    drawn: Axes | Figure, path: str | os.PathLike[str], *, size: str | None = None, titles: bool = True
) -> None:
    """Write a figure as PDF, SVG or PNG, in the size that it will have in print.

    The figure itself stays as it is: a copy is laid out for the size. Panels that would be too narrow go
    below each other, long labels are broken, names that run into each other are turned, and a legend that
    would cover the data goes above it; names at the ends of lines go where a legend of the figure tells them.
    Fonts in a PDF are TrueType, as publishers ask.

    Parameters
    ----------
    drawn : Axes or Figure
        What a ``plot`` returned, or any figure of matplotlib.
    path : path-like
        The suffix decides: ``.pdf``, ``.svg`` or ``.png``. The file appears whole or not at all.
    size : {"column", "page", "slide"}, optional
        Width 3.5 inches (a column of IEEE; ACM's is 3.34), 7.16 inches (both columns), or a slide of 16:9
        (6.3 x 3.54 inches, as in beamer). The text has 9 points (10 on the slide), and no letter less than
        6.3, sub- and superscripts included. Without it, the figure's own size.
    titles : bool
        False leaves out the titles, as a caption says it; those that tell several panels apart stay.

    Raises
    ------
    ModelError
        If an argument is wrong, the path cannot be written, or the figure holds what cannot be copied, such
        as a function without a name.

    Examples
    --------
    >>> import tempfile
    >>> from fairness import DRF, Problem, allocate, savefig
    >>> result = allocate(Problem([[1, 4], [3, 1]], [9, 18]), DRF())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     savefig(result.plot(), f"{folder}/allocation.svg", size="column", titles=False)
    """
    figure: Any = drawn if hasattr(drawn, "savefig") else getattr(drawn, "figure", None)
    # Axes of a subfigure lead to the whole.
    figure = getattr(figure, "figure", figure)
    if not hasattr(figure, "savefig"):
        raise ModelError.of("drawn", f"must be axes or a figure of matplotlib; got {type(drawn).__name__}")
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        known = ", ".join(f".{one}" for one in FORMATS)
        raise ModelError.of("path", f"must end in one of {known}; got {target.name!r}")
    write_whole(target, printed_file(figure, kind, size, titles))


def printed_file(figure: Figure, kind: str, size: str | None = None, titles: bool = True) -> bytes:
    """What :func:`savefig` writes."""
    return drawn_file(printed(figure, size, titles), kind, dpi=_FINE if size else 200)


def printed(figure: Figure, size: str | None = None, titles: bool = True) -> Figure:
    """A copy of the figure as it will be printed; the figure itself where nothing is asked for."""
    if size is not None and size not in SIZES:
        raise ModelError.of("size", f"must be one of {', '.join(SIZES)}; got {size!r}")
    if size is None and titles:
        return figure
    copy = _copied(figure)
    if not titles:
        untitled(copy)
    if size is not None:
        fit(copy, SIZES[size])
    return copy


def drawn_file(figure: Figure, kind: str, dpi: int = 200) -> bytes:
    """The figure as a file of this kind.

    In memory: where the disk is full, writers of figures fail in ways of their own.
    """
    import matplotlib

    data = io.BytesIO()
    # No random identifiers, and TrueType instead of Type 3.
    with matplotlib.rc_context({"svg.hashsalt": "fairqueues", "pdf.fonttype": 42}):
        figure.savefig(data, format=kind, metadata=FORMATS[kind], dpi=dpi)
    return data.getvalue()


def _copied(figure: Figure) -> Figure:
    """Another figure of the same, which no window shows."""
    canvas: Any = figure.canvas
    manager, canvas.manager = canvas.manager, None  # else the copy would be one of pyplot's
    try:
        copy: Figure = pickle.loads(pickle.dumps(figure))
        return copy
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ModelError.of(
            "drawn",
            f"holds what cannot be copied ({error}); give functions, such as those that write numbers at an "
            "axis, a name at the top of a module, or call figure.savefig",
        ) from None
    finally:
        canvas.manager = manager
