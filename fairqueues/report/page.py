"""The HTML page of one result: self-contained, readable without a network, light or dark, printable.

Figure as inline SVG that can be enlarged, inputs as TOML, tables, evidence, what failed, versions, seed, and
the command that makes the page again. The same result makes the same page: nothing on it depends on the day.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING

from fairqueues.report.outcome import Outcome, versions
from fairqueues.report.pivoting import Grid, pivoted
from fairqueues.report.tables import cells

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["page"]

_LONGEST = 200
"""Rows of a table on the page."""


def page(outcome: Outcome, command: str) -> str:
    """One self-contained HTML page.

    Parameters
    ----------
    outcome : Outcome
    command : str
        The command line that makes this page again.
    """
    title = html.escape(outcome.title)
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_asset('page.css')}</style></head><body><main>",
        f"<h1>{title}</h1>",
    ]
    if outcome.missed:
        lines = "".join(f'<li class="fails">{html.escape(line)}</li>' for line in outcome.missed)
        parts.append(f"<h2>Failed</h2><ul>{lines}</ul>")
    if outcome.figure is not None:
        parts.append(f"<h2>Figure</h2><figure>{_svg(outcome)}</figure>")
    # A page is read by people: of a long table only what they would be shown.
    table = outcome.table
    if outcome.brief is not None and len(table) > _LONGEST:
        table = outcome.brief
    parts.append(f"<h2>Results</h2>{_table(table)}")
    parts += [_table(other, name) for name, other in outcome.tables.items() if other is not table]
    if outcome.notes:
        parts.append("<pre>" + html.escape("\n".join(outcome.notes)) + "</pre>")
    if outcome.evidence:
        parts.append(f"<h2>Evidence</h2><ul>{''.join(map(_evidence, outcome.evidence))}</ul>")
    if outcome.scenario:
        parts.append(f"<h2>Inputs</h2><pre>{html.escape(outcome.scenario)}</pre>")
    told = "".join(_row(f"<td>{html.escape(word)}</td>" for word in pair) for pair in versions().items())
    seed = "none: nothing here is random" if outcome.seed is None else str(outcome.seed)
    script = "" if outcome.figure is None else f"<script>{_asset('page.js')}</script>"
    parts += [
        "<h2>Repeat</h2>",
        f"<pre>{html.escape(command)}</pre><p>Seed: {seed}</p>",
        f"<table><caption>Versions</caption>{told}</table>",
        f"</main>{script}</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _asset(name: str) -> str:
    """How a page looks (light, dark, on paper), and what enlarges its figure: nothing comes from elsewhere.

    Figures keep their white ground and their colours in the dark: these are the colours of the policies.
    Buttons, Ctrl and the wheel, or a double click enlarge one; it then follows the pointer. Paper shows all.
    """
    return files("fairqueues.report").joinpath("assets", name).read_text(encoding="utf-8").strip()


def _svg(outcome: Outcome) -> str:
    """The figure without the XML head, which has no place inside a page."""
    import matplotlib

    assert outcome.figure is not None
    text = io.StringIO()
    # Text as text: readers can search and copy it. The salt keeps the identifiers the same.
    with matplotlib.rc_context({"svg.hashsalt": "fairqueues", "svg.fonttype": "none"}):
        outcome.figure().savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    label = html.escape(outcome.title, quote=True)
    return re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL).replace(
        "<svg", f'<svg role="img" aria-label="{label}"', 1
    )


def _table(table: pd.DataFrame, name: str = "") -> str:
    """The table; one that repeats itself as a table per quantity."""
    if grids := pivoted(table):
        parts = "".join(map(_grid, grids))
        return (f"<h3>{html.escape(name)}</h3>" if name else "") + f'<div class="tables">{parts}</div>'
    heads, rows = cells(table)
    return _grid(Grid(name, [[(head, 1) for head in heads]], rows))


def _grid(grid: Grid) -> str:
    caption = f"<caption>{html.escape(grid.caption)}</caption>" if grid.caption else ""
    *above, last = grid.heads
    group = '<th class="group" colspan="{}">{}</th>'.format
    heads = [_row(group(n, html.escape(head)) for head, n in row) for row in above]
    heads.append(_row(f"<th>{html.escape(head)}</th>" for head, _ in last))
    body = "".join(_row(f"<td>{html.escape(cell)}</td>" for cell in row) + "\n" for row in grid.rows)
    return f'<div class="wide"><table>{caption}{"".join(heads)}\n{body}</table></div>'


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _evidence(one: object) -> str:
    holds = getattr(one, "holds", None)
    kind = {True: ' class="holds"', False: ' class="fails"', None: ""}[holds]
    return f"<li{kind}>{html.escape(str(one))}</li>"
