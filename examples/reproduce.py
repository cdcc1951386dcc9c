"""Run the pages of the sources, side by side, and write their galleries.

A :class:`Source` lists the functions that draw its pages; :func:`command` is the command line of one source or of
all: the pages are drawn by as many processes as there are cores, with the seconds of each on standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from joblib import Parallel, delayed

import examples.interrupted  # noqa: F401 (before what takes long)
from examples.gallery import DrawnPage, Page, Tally, write_figure, write_front_page, write_gallery
from examples.stamp import stamp
from fairqueues.kernels import KEPT, compile_together

__all__ = ["Source", "command", "draw_all", "records_of"]


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
        Of :mod:`fairqueues.kernels`: what to compile before the clock of a page starts.
    slow : sequence of callables
        Pages that take long: they are begun first, so that no process is left alone with one at the end.
    timed : bool
        Whether the pages measure time: then they are drawn one after the other, beside nothing else.
    arguments : str
        Of its own, with which its script was called.
    quick : sequence of callables
        Pages that take a second or two: the documentation draws them itself where the others are not drawn yet.
    """

    stem: str
    title: str
    introduction: str
    pages: Sequence[Callable[..., Page]]
    kernels: Sequence[Callable[[], None]]
    slow: Sequence[Callable[..., Page]] = ()
    timed: bool = False
    arguments: str = ""
    quick: Sequence[Callable[..., Page]] = ()

    @property
    def call(self) -> str:
        """The command that draws it alone."""
        return f"python -m examples.{self.stem}{self.arguments}"


def records_of(folder: Path, source: Source, today: str) -> dict[str, dict[str, Any]] | None:
    """What is recorded of the pages of a source, by key; None unless the same sources drew all of them."""
    path = folder / f"{source.stem}.json"
    if not path.exists():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    usual = {source.call, f"{source.call} --full"}
    if record.get("sources") != today or record["command"] not in usual:
        return None
    found: dict[str, dict[str, Any]] = record["figures"]
    return found if len(found) == len(source.pages) else None


Place = tuple[int, int]
"""A page: the number of its source and its number there, both from 0."""


def draw_all(sources: Sequence[Source], out: Path, *, full: bool) -> Iterator[tuple[Place, DrawnPage]]:
    """Draw the pages of all sources, their figures into ``out/<stem>``, and yield each as it is finished."""
    places = [(s, k) for s, source in enumerate(sources) for k in range(len(source.pages))]
    # Slow ones first, and of these the statements, which stand last and take longest.
    slow = {(s, k) for s, k in places if sources[s].pages[k] in sources[s].slow}
    places.sort(key=lambda place: (place not in slow, -place[0] if place in slow else 0))
    task = delayed(draw)
    yield from Parallel(**KEPT)(
        task(sources[s].pages[k], out / sources[s].stem, (s, k), full=full)
        for s, k in places
        if not sources[s].timed
    )
    for s, k in places:
        if sources[s].timed:
            yield draw(sources[s].pages[k], out / sources[s].stem, (s, k), full=full)


def draw(page: Callable[..., Page], folder: Path, place: Place, *, full: bool) -> tuple[Place, DrawnPage]:
    """One page, its figure written."""
    start = time.perf_counter()
    drawn = page(full=full)
    seconds = time.perf_counter() - start
    return place, write_figure(drawn, folder, seconds)


def command(
    sources: Sequence[Source],
    program: str,
    arguments: list[str] | None = None,
    own: Sequence[argparse.ArgumentParser] = (),
) -> int:
    """Command line: draw the sources; exit code 1 if a number differs, 130 if interrupted.

    ``own`` are parsers of the arguments that a script has already read for itself.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {program}",
        description=f"Redraw: {'; '.join(source.title for source in sources)}",
        parents=own,
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to (default: out)")
    parser.add_argument(
        "--full", action="store_true", help="the papers' full scale, longer simulations, finer curves"
    )
    options = parser.parse_args(arguments)
    matplotlib.use("Agg")
    # Of the processes that draw: no windows, and no bars beside each other.
    os.environ |= {"MPLBACKEND": "Agg", "TQDM_DISABLE": "1"}
    start = time.perf_counter()
    today = stamp()  # before anything is drawn: of sources that change meanwhile nobody knows which drew what
    # All at once, so that no process waits at the end of each source.
    compile_together({kernel for source in sources for kernel in source.kernels})
    compile_seconds = time.perf_counter() - start
    _say(f"       {compile_seconds:6.1f} s  compiling the kernels (kept for the next run)")
    number = sum(len(source.pages) for source in sources)
    drawn: list[dict[int, DrawnPage]] = [{} for _ in sources]
    tallies: dict[int, Tally] = {}
    try:
        for count, ((s, k), page) in enumerate(draw_all(sources, options.out, full=options.full), start=1):
            source = sources[s]
            _say(f"{count:2d}/{number:2d}  {page.seconds:6.1f} s  {source.stem}: {page.page.title}")
            drawn[s][k] = page
            if len(drawn[s]) == len(source.pages):
                tallies[s] = write_gallery(
                    options.out / source.stem,
                    source.title,
                    source.introduction,
                    [drawn[s][k] for k in range(len(source.pages))],
                    stem=source.stem,
                    command=f"{source.call}{' --full' * options.full}",
                    sources=today,
                    compile_seconds=compile_seconds,
                )
    except KeyboardInterrupt:
        done = ", ".join(tallies[s].folder for s in sorted(tallies)) or "none"
        print(f"interrupted; galleries written: {done}", file=sys.stderr)
        return 130
    pages = [page.page for found in drawn for _, page in sorted(found.items())]
    differing = [f"{page.title}: {c.statement}" for page in pages for c in page.checks if c.agrees is False]
    for line in differing:
        print(f"differs from what is expected: {line}", file=sys.stderr)
    index = options.out / sources[0].stem / "index.html"
    if len(sources) > 1:
        index = write_front_page(
            options.out,
            [tallies[s] for s in range(len(sources))],
            f"python -m {program}{' --full' * options.full}",
        )
    print(f"{index} ({time.perf_counter() - start:.0f} s)")
    return 1 if differing else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
