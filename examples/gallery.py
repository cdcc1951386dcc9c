"""Pages of redrawn figures and tables: each beside its source, what to see in it, and the numbers behind it.

A :class:`Page` holds a figure, tables or both; :func:`write_figure` writes the figure as SVG and PNG, and a small
picture of it; :func:`write_gallery` one JSON file with every plotted number and an index page; :func:`write_front_page`
writes the page that leads to the galleries of all sources. Each file is written whole or not at all.
"""

from __future__ import annotations

import html
import json
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

from fairqueues.files import write_all

__all__ = [
    "EXACT",
    "Check",
    "DrawnPage",
    "Page",
    "Table",
    "Tally",
    "distance",
    "write_figure",
    "write_front_page",
    "write_gallery",
]

PNG_DPI = 130
THUMBNAIL = (400, 300)
"""Largest width and height of a small picture, in pixels: two for each of the page, as sharp screens have."""

EXACT = 1e-12
"""Relative error with which a computed number counts as equal to an exact one."""


@dataclass(frozen=True)
class Check:
    """One number or statement beside what is expected of it.

    ``expected`` is what the source prints or its definitions determine (a closed form, exact fractions, or a
    value computed independently of this library); ``agrees`` is None where nothing is expected. With a
    ``remark`` the expected value is a claim of the source that does not hold, and the remark says why;
    ``agrees`` then says whether the claim is refuted as the remark says.
    """

    statement: str
    expected: str
    ours: str
    agrees: bool | None
    remark: str = ""

    @classmethod
    def refuted(cls, statement: str, claim: str, ours: str, refuted: bool, remark: str) -> Check:
        """Record a claim of the source that does not hold, with the reason."""
        return cls(statement, claim, ours, refuted, remark)

    @classmethod
    def close(cls, statement: str, expected: float, ours: float, *, digits: int = 4) -> Check:
        """Compare with a number that is known to ``digits`` decimals."""
        agrees = bool(abs(expected - ours) <= 0.5001 * 10.0**-digits)
        return cls(statement, f"{expected:.{digits}f}", f"{ours:.{digits + 2}f}", agrees)

    @classmethod
    def exact(cls, statement: str, expected: Sequence[Fraction], ours: np.ndarray) -> Check:
        """Compare with fractions, to a relative error of 1e-12."""
        agrees = bool(np.abs(ours / np.array([float(f) for f in expected]) - 1).max() < EXACT)
        guesses = [Fraction(float(v)).limit_denominator(1000) for v in ours]
        return cls(statement, _listed(expected), _listed(guesses), agrees)

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        if self.remark and self.agrees:
            return "refuted"
        return {True: "agrees", False: "DIFFERS", None: "new"}[self.agrees]


@dataclass(frozen=True)
class Table:
    """A table of texts with a caption; the first column names the rows."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Tally:
    """How many comparisons a gallery makes and how they ended."""

    title: str
    folder: str
    pages: int
    seconds: float
    verdicts: Mapping[str, int]
    contents: Sequence[DrawnPage] = ()

    @property
    def text(self) -> str:
        """The verdicts in a sentence."""
        count = {key: self.verdicts.get(key, 0) for key in ("agrees", "refuted", "DIFFERS", "new")}
        return (
            f"{sum(count.values())} comparisons: {count['agrees']} agree, {count['refuted']} claims of the source are "
            f"refuted, {count['DIFFERS']} differ, {count['new']} numbers are new"
        )


@dataclass(frozen=True)
class Page:
    """One figure (or table) with its explanation.

    Parameters
    ----------
    key : str
        File name stem.
    title, place, see : str
        Title; the slide, figure or table of the source that it redraws; what to see in it.
    figure : matplotlib Figure or None
    numbers : mapping
        Every plotted number, JSON-serialisable (arrays allowed).
    checks : sequence of Check
    tables : sequence of Table
    listings : mapping from a caption to a text to copy, in LaTeX
    """

    key: str
    title: str
    place: str
    see: str
    figure: Figure | None
    numbers: Mapping[str, Any]
    checks: Sequence[Check] = field(default=())
    tables: Sequence[Table] = field(default=())
    listings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DrawnPage:
    """A page whose figure is written, and no longer kept.

    Parameters
    ----------
    page : Page
        Without its figure.
    seconds : float
        What drawing it took.
    pictured : bool
        Whether it has a figure, in ``<key>.svg`` and ``<key>.png``, and small in ``<key>.thumb.png``.
    """

    page: Page
    seconds: float
    pictured: bool


def distance(value: ArrayLike, truth: ArrayLike, half_width: ArrayLike) -> np.ndarray:
    """How far a truth is from the middle of an interval, in half-widths.

    Infinite where the interval is: it holds everything, and says nothing.

    Examples
    --------
    >>> distance([1.0, 1.0], 1.5, [2.0, np.inf])
    array([0.25,  inf])
    """
    wide = np.asarray(half_width, dtype=float)
    off = np.abs(np.asarray(value) - np.asarray(truth))
    return np.divide(
        off, wide, out=np.full(np.broadcast_shapes(off.shape, wide.shape), np.inf), where=np.isfinite(wide)
    )


def _listed(fractions: Sequence[Fraction]) -> str:
    return "(" + ", ".join(str(f) for f in fractions) + ")"


def write_figure(page: Page, out: Path, seconds: float) -> DrawnPage:
    """Write the figure of a page, if it has one, into ``out``."""
    if page.figure is None:
        return DrawnPage(page, seconds, pictured=False)
    out.mkdir(parents=True, exist_ok=True)
    layout = page.figure.get_layout_engine()
    if layout is not None:
        # Once, for the PNG: found anew for each file, on a drawing of its own, it takes as long as both files.
        page.figure.set_dpi(PNG_DPI)
        layout.execute(page.figure)
        page.figure.set_layout_engine(None)
    picture = BytesIO()
    writers = {
        out / f"{page.key}.svg": partial(page.figure.savefig, format="svg", metadata={"Date": None}),
        out / f"{page.key}.png": partial(_write_png, page.figure, picture),
        out / f"{page.key}.thumb.png": partial(_write_small, picture),
    }
    # A fixed salt makes the SVG of a figure the same in every run.
    with matplotlib.rc_context({"svg.hashsalt": page.key}):
        write_all(writers)
    plt.close(page.figure)
    return DrawnPage(replace(page, figure=None), seconds, pictured=True)


def _write_png(figure: Figure, picture: BytesIO, path: Path) -> None:
    """Write a figure, and keep the file for the small copy."""
    figure.savefig(picture, format="png", dpi=PNG_DPI)
    path.write_bytes(picture.getvalue())


def _write_small(picture: BytesIO, path: Path) -> None:
    """Write a small copy of a PNG file, of few colours: some ten kilobytes."""
    with Image.open(picture) as image:
        copy = image.convert("RGB")
    copy.thumbnail(THUMBNAIL, Image.Resampling.LANCZOS, reducing_gap=2.0)
    copy.quantize(64, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, format="png")


def write_gallery(
    out: Path,
    title: str,
    introduction: str,
    drawn: Sequence[DrawnPage],
    *,
    stem: str,
    command: str,
    sources: str,
    compile_seconds: float = 0.0,
) -> Tally:
    """Write ``<stem>.json`` and ``index.html`` into ``out``, where the figures are; return the verdicts.

    ``sources`` is the stamp of what drew them, taken before they were drawn.
    """
    out.mkdir(parents=True, exist_ok=True)
    pages = [one.page for one in drawn]
    record = {
        page.key: {
            "title": page.title,
            "place": page.place,
            "see": page.see,
            "pictured": one.pictured,
            "seconds": round(one.seconds, 2),
            "numbers": _plain(page.numbers),
            "checks": [
                {
                    "statement": c.statement,
                    "expected": c.expected,
                    "ours": c.ours,
                    "verdict": c.verdict,
                    "remark": c.remark,
                }
                for c in page.checks
            ],
            "tables": [
                {"caption": t.caption, "header": list(t.header), "rows": [list(row) for row in t.rows]}
                for t in page.tables
            ],
            "listings": dict(page.listings),
        }
        for one, page in zip(drawn, pages, strict=True)
    }
    text = json.dumps(
        {
            "command": command,
            "sources": sources,
            "versions": _versions(),
            "compile_seconds": round(compile_seconds, 1),
            "figures": record,
        },
        indent=1,
    )
    write_all({out / f"{stem}.json": partial(Path.write_text, data=text, encoding="utf-8")})
    verdicts = Counter(check.verdict for page in pages for check in page.checks)
    tally = Tally(title, out.name, len(pages), sum(one.seconds for one in drawn), verdicts, drawn)
    index = _index(tally, introduction, drawn, stem, command, compile_seconds)
    write_all({out / "index.html": partial(Path.write_text, data=index, encoding="utf-8")})
    return tally


def write_front_page(out: Path, tallies: Sequence[Tally], command: str) -> Path:
    """Write ``out/index.html``, which leads to the galleries in the folders of ``out``; return its path."""
    text = html.escape
    rows = "".join(
        f'<li><a href="{t.folder}/index.html">{text(t.title)}</a><br><small>{t.pages} pages, {t.seconds:.0f} s. '
        f"{text(t.text)}.</small>{_cards(t.contents, t.folder)}</li>"
        for t in tallies
    )
    versions = ", ".join(f"{name} {number}" for name, number in _versions().items())
    page = f"""{_head("The sources, redrawn")}
<h1>The sources, redrawn</h1><p>One gallery per source. Every page names the figure or table that it redraws; its
comparisons say what the source prints or its definitions determine, what comes out here, and the verdict. Where a
claim of a source does not hold, the page shows the counterexample.</p><ul class="sources">{rows}</ul>
<p>Written by <code>{text(command)}</code> with {text(versions)}.</p></body></html>
"""
    write_all({out / "index.html": partial(Path.write_text, data=page, encoding="utf-8")})
    return out / "index.html"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        # JSON knows no NaN and no infinity.
        return value if np.isfinite(value) else None
    return value


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("fairqueues", "numpy", "scipy", "numba", "matplotlib")}
    return {"python": platform.python_version(), **packages}


def _head(title: str) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><style>
:root {{ color-scheme: light dark; --text: #222; --pale: #555; --page: #fff; --line: #ddd; --code: #f2f2f2; --link: #0b5cad; --shade: #0004;
  --agrees: #00694e; --refuted: #8a4b00; --differs: #b00020; }}
@media (prefers-color-scheme: dark) {{ :root {{ --text: #e4e4e4; --pale: #aaa; --page: #16181b; --line: #3a3d42; --code: #26292e; --shade: #fff4;
  --link: #7ab7ff; --agrees: #4fc79f; --refuted: #e0a458; --differs: #ff7b8a; }} }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: var(--text); background: var(--page); }}
a {{ color: var(--link); }} h1, h2 {{ line-height: 1.2; }} ul {{ list-style: none; padding: 0; }} section {{ border-top: 1px solid var(--line); margin-top: 2.5rem; }}
img {{ max-width: 100%; height: auto; background: #fff; border-radius: 4px; }}
table {{ display: block; overflow-x: auto; border-collapse: collapse; font-size: .9rem; margin: 1rem 0; background:
  linear-gradient(to right, var(--page) 1rem, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--page) 1rem, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / 1rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) right / 1rem 100% no-repeat scroll; }} /* a shadow where more is to be reached by scrolling */
caption {{ text-align: left; color: var(--pale); padding-bottom: .3rem; position: sticky; left: 0; max-width: min(60rem, calc(100vw - 2rem)); }}
td, th {{ border-bottom: 1px solid var(--line); padding: .2rem .7rem; text-align: left; vertical-align: top; }}
.agrees {{ color: var(--agrees); }} .refuted {{ color: var(--refuted); }} .DIFFERS {{ color: var(--differs); font-weight: bold; }} .new {{ color: var(--pale); }}
.statement {{ min-width: min(13.5rem, 60vw); }}
.lines {{ white-space: pre-wrap; min-width: 26rem; font: .8rem/1.3 ui-monospace, monospace; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(12.5rem, 1fr)); gap: .8rem; margin: .8rem 0; }}
.cards a {{ border: 1px solid var(--line); border-radius: 6px; padding: .5rem; text-decoration: none; font-size: .85rem; line-height: 1.3; }}
.cards img {{ display: block; width: 100%; height: 8.5rem; object-fit: contain; margin-bottom: .4rem; }}
.sources li {{ margin-bottom: 1.6rem; }} small, .place {{ color: var(--pale); }} code, pre {{ background: var(--code); padding: 0 .2em; }}
figure {{ margin: 1rem 0; font-size: .9rem; }} figcaption {{ color: var(--pale); }} pre {{ overflow-x: auto; padding: .6rem; margin: .3rem 0; }}
</style></head><body>"""


def _index(
    tally: Tally,
    introduction: str,
    drawn: Sequence[DrawnPage],
    stem: str,
    command: str,
    compile_seconds: float,
) -> str:
    text = html.escape
    body = "".join(map(_section, drawn))
    versions = ", ".join(f"{name} {number}" for name, number in _versions().items())
    return f"""{_head(tally.title)}
<p><a href="../index.html">All sources</a></p><h1>{text(tally.title)}</h1><p>{text(introduction)}</p>
<p>{tally.pages} pages; {text(tally.text)}.
All plotted numbers: <a href="{stem}.json">{stem}.json</a>. Drawn in {tally.seconds:.0f} s (seconds of each page below), after {compile_seconds:.0f} s for compiling the kernels, by <code>{text(command)}</code>
with {text(versions)}.</p>{_cards(drawn, ".")}{body}</body></html>
"""


def _cards(drawn: Sequence[DrawnPage], folder: str) -> str:
    """What leads to each page of a source: its small picture, if it has one, title and seconds."""
    text = html.escape
    links = "".join(
        f'<a href="{folder}/index.html#{one.page.key}">'
        + f'<img src="{folder}/{one.page.key}.thumb.png" alt="" loading="lazy">' * one.pictured
        + f"{text(one.page.title)} <small>{one.seconds:.1f}&nbsp;s</small></a>"
        for one in drawn
    )
    return f'<div class="cards">{links}</div>'


def _section(drawn: DrawnPage) -> str:
    text = html.escape
    page = drawn.page
    checks = "".join(
        f"<tr><td>{text(c.statement)}</td><td>{text(c.expected)}</td><td>{text(c.ours)}</td>"
        f'<td class="{c.verdict}">{c.verdict}{": " + text(c.remark) if c.remark else ""}</td></tr>'
        for c in page.checks
    )
    if checks:
        checks = f"<table><thead><tr><th>statement</th><th>expected</th><th>here</th><th></th></tr></thead><tbody>{checks}</tbody></table>"
    picture = links = ""
    if drawn.pictured:
        picture = f'<a href="{page.key}.svg"><img src="{page.key}.svg" alt="{text(page.title)}"></a>'
        links = f'<a href="{page.key}.svg">SVG</a> · <a href="{page.key}.png">PNG</a> · '
    tables = "".join(_table(table) for table in page.tables)
    tables += "".join(
        f"<figure><figcaption>{text(caption)}</figcaption><pre>{text(listing)}</pre></figure>"
        for caption, listing in page.listings.items()
    )
    return (
        f'<section id="{page.key}"><h2>{text(page.title)}</h2><p class="place">{text(page.place)}</p>'
        f"{picture}<p>{text(page.see)}</p>{tables}{checks}<p><small>{links}{drawn.seconds:.1f} s</small></p></section>"
    )


def _table(table: Table) -> str:
    text = html.escape
    head = "".join(f"<th>{text(cell)}</th>" for cell in table.header)
    rows = "".join(
        "<tr>" + "".join(_cell(*pair) for pair in zip(row, table.header, strict=True)) + "</tr>"
        for row in table.rows
    )
    return f"<table><caption>{text(table.caption)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(cell: str, head: str) -> str:
    # Text of several lines is laid out as it stands; statements are read, so their column is not the narrowest.
    kind = ' class="lines"' if "\n" in cell else ' class="statement"' if head == "statement" else ""
    return f"<td{kind}>{html.escape(cell)}</td>"
