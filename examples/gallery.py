"""Pages of redrawn figures: each figure beside its source, what to see in it, and the numbers behind it.

A :class:`Page` holds one figure; :func:`write_gallery` writes SVG, PNG, one JSON file with every plotted
number and an index page, each file whole or not at all.
"""

from __future__ import annotations

import html
import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

__all__ = ["EXACT", "Check", "Page", "write_gallery"]

PNG_DPI = 130

EXACT = 1e-12
"""Relative error with which a computed number counts as equal to an exact one."""


@dataclass(frozen=True)
class Check:
    """One number or statement beside what is expected of it.

    ``expected`` is what the source prints or its definitions determine (a closed form, exact fractions, or a
    value computed independently of this library); ``agrees`` is None where nothing is expected.
    """

    statement: str
    expected: str
    ours: str
    agrees: bool | None

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
        return {True: "agrees", False: "DIFFERS", None: "new"}[self.agrees]


@dataclass(frozen=True)
class Page:
    """One figure with its explanation.

    Parameters
    ----------
    key : str
        File name stem.
    title, slide, see : str
        Title; the slide or figure of the source that it redraws; what to see in it.
    figure : matplotlib Figure
    numbers : mapping
        Every plotted number, JSON-serialisable (arrays allowed).
    checks : sequence of Check
    """

    key: str
    title: str
    slide: str
    see: str
    figure: Figure
    numbers: Mapping[str, Any]
    checks: Sequence[Check] = field(default=())


def _listed(fractions: Sequence[Fraction]) -> str:
    return "(" + ", ".join(str(f) for f in fractions) + ")"


def write_gallery(
    out: Path,
    title: str,
    introduction: str,
    pages: Sequence[Page],
    seconds: Mapping[str, float],
    *,
    stem: str,
    command: str,
    compile_seconds: float = 0.0,
) -> Path:
    """Write figures, ``<stem>.json`` and ``index.html`` into ``out``; return the path of the index page."""
    out.mkdir(parents=True, exist_ok=True)
    for page in pages:
        for suffix, options in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": PNG_DPI})):
            # A fixed salt makes the SVG of a figure the same in every run.
            with matplotlib.rc_context({"svg.hashsalt": page.key}):
                _whole(
                    out / f"{page.key}.{suffix}",
                    lambda path, p=page, s=suffix, o=options: p.figure.savefig(path, format=s, **o),
                )
        plt.close(page.figure)
    record = {
        page.key: {
            "title": page.title,
            "slide": page.slide,
            "seconds": round(seconds[page.key], 2),
            "numbers": _plain(page.numbers),
            "checks": [
                {"statement": c.statement, "expected": c.expected, "ours": c.ours, "verdict": c.verdict}
                for c in page.checks
            ],
        }
        for page in pages
    }
    text = json.dumps(
        {
            "command": command,
            "versions": _versions(),
            "compile_seconds": round(compile_seconds, 1),
            "figures": record,
        },
        indent=1,
    )
    _whole(out / f"{stem}.json", lambda path: path.write_text(text, encoding="utf-8"))
    index = _index(title, introduction, pages, seconds, stem, command, compile_seconds)
    _whole(out / "index.html", lambda path: path.write_text(index, encoding="utf-8"))
    return out / "index.html"


def _whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name first, so that a reader never meets half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        write(Path(name))
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


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


def _index(
    title: str,
    introduction: str,
    pages: Sequence[Page],
    seconds: Mapping[str, float],
    stem: str,
    command: str,
    compile_seconds: float,
) -> str:
    text = html.escape
    checks = [check for page in pages for check in page.checks]
    agreed = sum(check.agrees is True for check in checks)
    differing = sum(check.agrees is False for check in checks)
    total = sum(seconds[page.key] for page in pages)
    contents = "".join(
        f'<li><a href="#{page.key}">{text(page.title)}</a> <small>{seconds[page.key]:.1f} s</small></li>'
        for page in pages
    )
    body = "".join(_section(page, seconds[page.key]) for page in pages)
    versions = ", ".join(f"{name} {number}" for name, number in _versions().items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff; }}
h1, h2 {{ line-height: 1.2; }} ul {{ list-style: none; padding: 0; }} section {{ border-top: 1px solid #ccc; margin-top: 2.5rem; }}
img {{ max-width: 100%; height: auto; }} table {{ border-collapse: collapse; font-size: .9rem; }}
td, th {{ border-bottom: 1px solid #ddd; padding: .2rem .7rem; text-align: left; vertical-align: top; }}
.agrees {{ color: #00694e; }} .DIFFERS {{ color: #b00020; font-weight: bold; }} .new {{ color: #666; }}
small, .slide {{ color: #555; }} code {{ background: #f2f2f2; padding: 0 .2em; }}
</style></head><body>
<h1>{text(title)}</h1><p>{text(introduction)}</p>
<p>{len(pages)} figures; {agreed} of {len(checks)} comparisons agree, {differing} differ, the others are new numbers.
All plotted numbers: <a href="{stem}.json">{stem}.json</a>. Drawn in {total:.0f} s (seconds of each figure below), after {compile_seconds:.0f} s for compiling the kernels, by <code>{text(command)}</code>
with {text(versions)}.</p><ul>{contents}</ul>{body}</body></html>
"""


def _section(page: Page, seconds: float) -> str:
    text = html.escape
    rows = "".join(
        f"<tr><td>{text(c.statement)}</td><td>{text(c.expected)}</td><td>{text(c.ours)}</td>"
        f'<td class="{c.verdict}">{c.verdict}</td></tr>'
        for c in page.checks
    )
    table = (
        f"<table><thead><tr><th>statement</th><th>expected</th><th>here</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
        if rows
        else ""
    )
    return (
        f'<section id="{page.key}"><h2>{text(page.title)}</h2><p class="slide">{text(page.slide)}</p>'
        f'<a href="{page.key}.svg"><img src="{page.key}.svg" alt="{text(page.title)}"></a><p>{text(page.see)}</p>{table}'
        f'<p><small><a href="{page.key}.svg">SVG</a> · <a href="{page.key}.png">PNG</a> · {seconds:.1f} s</small></p></section>'
    )
