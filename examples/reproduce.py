"""Run the pages of a source and write its gallery.

A :class:`Source` lists the functions that draw its pages; :func:`run` draws them one by one, with the seconds of
each on standard error, and :func:`command` is the command line of a single source.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

from examples.gallery import Page, Tally, write_front_page, write_gallery
from examples.kernels import compile_together

__all__ = ["Source", "command", "run"]


@dataclass(frozen=True)
class Source:
    """A source document: its pages and what to compile before the clock of a page starts.

    Parameters
    ----------
    stem : str
        Name of its script and of its folder.
    title, introduction : str
    pages : sequence of callables ``draw(full=...) -> Page``
    kernels : sequence of callables
        Of :mod:`examples.kernels`: what to compile before the clock of a page starts.
    """

    stem: str
    title: str
    introduction: str
    pages: Sequence[Callable[..., Page]]
    kernels: Sequence[Callable[[], None]]


def run(source: Source, out: Path, *, full: bool, compile_seconds: float) -> tuple[Tally, list[str]]:
    """Draw all pages of a source into ``out/<stem>``; the verdicts, and what differs from what is expected."""
    _say(f"{source.stem}: {source.title}")
    pages, seconds = [], {}
    for number, draw in enumerate(source.pages, start=1):
        start = time.perf_counter()
        page = draw(full=full)
        seconds[page.key] = time.perf_counter() - start
        _say(f"{number:2d}/{len(source.pages):2d}  {seconds[page.key]:6.1f} s  {page.title}")
        pages.append(page)
    tally = write_gallery(
        out / source.stem,
        source.title,
        source.introduction,
        pages,
        seconds,
        stem=source.stem,
        command=f"python -m examples.{source.stem}" + (" --full" if full else ""),
        compile_seconds=compile_seconds,
    )
    return tally, [f"{page.title}: {c.statement}" for page in pages for c in page.checks if c.agrees is False]


def command(sources: Sequence[Source], program: str, arguments: list[str] | None = None) -> int:
    """Command line: draw the sources; exit code 1 if a number differs, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {program}", description=f"Redraw: {'; '.join(source.title for source in sources)}"
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to (default: out)")
    parser.add_argument(
        "--full", action="store_true", help="the papers' full scale, longer simulations, finer curves"
    )
    options = parser.parse_args(arguments)
    matplotlib.use("Agg")
    start = time.perf_counter()
    # All at once, so that no process waits at the end of each source.
    compile_together({kernel for source in sources for kernel in source.kernels})
    compile_seconds = time.perf_counter() - start
    _say(f"       {compile_seconds:6.1f} s  compiling the kernels (kept for the next run)")
    tallies, differing = [], []
    for source in sources:
        try:
            tally, lines = run(source, options.out, full=options.full, compile_seconds=compile_seconds)
        except KeyboardInterrupt:
            done = ", ".join(t.folder for t in tallies) or "none"
            print(f"interrupted in {source.stem}; galleries written: {done}", file=sys.stderr)
            return 130
        tallies.append(tally)
        differing += lines
    for line in differing:
        print(f"differs from what is expected: {line}", file=sys.stderr)
    index = options.out / sources[0].stem / "index.html"
    if len(sources) > 1:
        index = write_front_page(options.out, tallies, f"python -m {program}{' --full' * options.full}")
    print(f"{index} ({sum(tally.seconds for tally in tallies):.0f} s)")
    return 1 if differing else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
