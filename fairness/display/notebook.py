"""Models and results in a notebook: a heading, a table, and the evidence below it, as HTML.

Names are escaped everywhere, nothing is loaded from elsewhere, and colours are those of the page, so that
light and dark themes are both readable. Long tables are cut in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["notebook_html"]

MOST_ROWS, MOST_COLUMNS = 40, 20
MOST_LINES = 40
"""Lines of evidence; the text has all of them."""

_STYLE = (
    ".fairqueues{overflow-x:auto}"
    ".fairqueues table{border-collapse:collapse;margin:.3em 0;color:inherit}"
    ".fairqueues th,.fairqueues td{padding:.15em .7em;text-align:right;color:inherit;"
    "border-bottom:1px solid rgba(128,128,128,.35)}"
    ".fairqueues tbody th{text-align:left}"
)
_LINE = "white-space:pre-wrap;opacity:.85;font-size:.92em"


def notebook_html(heading: str, table: pd.DataFrame | None = None, evidence: Sequence[str] = ()) -> str:
    """A heading, a table and lines of evidence as one piece of HTML.

    Parameters
    ----------
    heading : str
    table : DataFrame, optional
        Cut in the middle beyond 40 rows or 20 columns, and then its size is told below it.
    evidence : sequence of str
        Lines; beyond 40 their number is told instead.

    Returns
    -------
    str

    Examples
    --------
    >>> notebook_html("1 < 2", evidence=["  it holds"])
    '<div class="fairqueues">...<strong>1 &lt; 2</strong><div style="...">it holds</div></div>'
    """
    parts = [f"<style>{_STYLE}</style>", f"<strong>{escape(heading)}</strong>"]
    if table is not None:
        large = len(table) > MOST_ROWS or table.shape[1] > MOST_COLUMNS
        text = table.to_html(
            escape=True,
            border=0,
            max_rows=MOST_ROWS,
            max_cols=MOST_COLUMNS,
            show_dimensions=large,
            float_format="{:.6g}".format,
        )
        parts.append(text)
    lines = [line.strip() for line in evidence[:MOST_LINES]]
    if len(evidence) > MOST_LINES:
        lines.append(f"... {len(evidence) - MOST_LINES} more lines")
    parts += [f'<div style="{_LINE}">{escape(line)}</div>' for line in lines if line]
    return f'<div class="fairqueues">{"".join(parts)}</div>'
