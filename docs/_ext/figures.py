"""The figures of the gallery: what is drawn is taken, what is quick is drawn, what takes long is left out.

Those of ``docs/gallery`` are short scripts for a system of one's own: they are drawn here. Those of the
sources are drawn by ``make reproduce``, which checks them too: what lies in ``out`` is taken if the same
sources drew it. Else the quick ones are drawn here (``Source.quick``). Nothing is drawn again before a source
changes.
"""

from __future__ import annotations

import ast
import hashlib
import os
import runpy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from examples.gallery import Page, write_gallery
from examples.reproduce import Source, draw_all, records_of
from examples.stamp import ROOT, stamp

OWN = "own"
SCRIPTS = ROOT / "docs" / "gallery"
GENERATED = ROOT / "docs" / "generated" / "gallery"
ORDER = (
    "service_rates",
    "allocation",
    "sharing",
    "explanation",
    "hierarchy",
    "cluster",
    "whole_tasks",
    "join_times",
    "million_tenants",
    "properties",
    "law",
    "duration",
    "enclosure",
    "drift_bounds",
    "best_possible",
    "waiting",
    "sizes_known",
    "sizes_within",
    "exact_means",
    "simulation",
    "replay",
    "fluid",
    "region",
    "region_3d",
    "section",
    "provisioning",
    "network",
    "letters",
    "parameters",
)
"""The scripts: what is asked first stands first."""
LOOK = {"figure.figsize": (6.4, 4.0), "figure.constrained_layout.use": True}
"""How the figures of the scripts are laid out."""


@dataclass(frozen=True)
class Entry:
    """One page of the gallery.

    Parameters
    ----------
    place : str
        Folder and name of the page.
    title : str
    function : callable or None
        What draws it; None for a script.
    record : dict or None
        What the JSON of its gallery says of it; None if it is not drawn.
    key : str
        Of its figure.
    """

    place: str
    title: str
    function: Callable[..., Page] | None
    record: dict[str, Any] | None
    key: str

    @property
    def pictured(self) -> bool:
        """Whether there is a figure."""
        return self.record is not None and self.record["pictured"]

    @property
    def picture(self) -> str:
        """File stem of its figure, below the folder of the gallery."""
        return f"{self.place.split('/')[0]}/{self.key}"


def scripts() -> Source:
    """The scripts for one's own system, as one more source."""
    pages = tuple(partial(drawn, SCRIPTS / f"{name}.py") for name in ORDER)
    return Source(OWN, "For your own system", "", pages, ())


def drawn(script: Path, *, full: bool = False) -> Page:
    """Run a script: what it calls ``figure``, or of ``axes``, and the words at its beginning."""
    import matplotlib

    title, see = told(script)
    with matplotlib.rc_context(LOOK):
        names = runpy.run_path(str(script))
    figure = names["figure"] if "figure" in names else names["axes"].figure
    return Page(script.stem, title, "", see, figure, {})


def told(script: Path) -> tuple[str, str]:
    """Title and explanation of a script."""
    words = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    title, _, see = words.partition("\n\n")
    return title.rstrip("."), see


def entries() -> list[tuple[Source, list[Entry]]]:
    """All pages, by source; what is quick is drawn if it is not of today."""
    import examples.__main__ as sources

    known = [
        source for source in sources.SOURCES if source.stem != "statements"
    ]  # they have pages of their own
    library = stamp()
    today = dict.fromkeys((source.stem for source in known), library) | {OWN: own_stamp(library)}
    result, lacking = [], []
    for source in known:
        whole = figures_of(ROOT / "out" / source.stem, source, today[source.stem])
        if whole is None:
            lacking.append(replace(source, pages=source.quick, slow=(), timed=False))
        else:
            take(whole, ROOT / "out" / source.stem, GENERATED / source.stem)
            result.append((source, whole))
    lacking.append(scripts())
    stale = [s for s in lacking if figures_of(GENERATED / s.stem, s, today[s.stem]) is None]
    draw(stale, today)
    if stale and own_stamp(stamp()) != today[OWN]:
        raise RuntimeError("the sources changed while they were drawn; build the pages again")
    for source in lacking:
        made = figures_of(GENERATED / source.stem, source, today[source.stem])
        assert made is not None  # drawn above
        result.append((source, made))
    order = [OWN, *(source.stem for source in known)]
    result.sort(key=lambda item: order.index(item[0].stem))
    whole_of = {source.stem: source for source in known}
    return [
        (source, [entry(source, page, found) for page in whole_of.get(source.stem, source).pages])
        for source, found in result
    ]


Figures = dict[str, tuple[str, dict[str, Any]]]
"""By the name of what draws it: the key of a figure, and what is recorded of it."""


def figures_of(folder: Path, source: Source, today: str) -> Figures | None:
    """The figures of a source that lie in a folder; None unless the same sources drew all of them."""
    records = records_of(folder, source, today)
    if records is None:
        return None
    return {name_of(page): item for page, item in zip(source.pages, records.items(), strict=True)}


def own_stamp(library: str) -> str:
    """The stamp of what draws the scripts: the library, and the scripts in their order."""
    found = hashlib.sha256(library.encode())
    for path in (Path(__file__), *(SCRIPTS / f"{name}.py" for name in ORDER)):
        found.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


def name_of(page: Callable[..., Page]) -> str:
    """The name of a page: of its function, or of its script."""
    if isinstance(page, partial):
        return page.args[0].stem if page.func is drawn else str(page.func.__name__)
    return page.__name__


def entry(source: Source, function: Callable[..., Page], figures: Figures) -> Entry:
    """One page, drawn or not."""
    name = name_of(function)
    place = f"{source.stem}/{name}"
    if name in figures:
        key, record = figures[name]
        return Entry(place, record["title"], function, record, key)
    words = (inner(function).__doc__ or name).partition("\n")[0].rstrip(".")
    return Entry(place, words, function, None, name)


def inner(page: Any) -> Any:
    """The function itself."""
    return page.func if isinstance(page, partial) else page


def draw(lacking: Sequence[Source], today: dict[str, str]) -> None:
    """Draw sources, side by side, into the folders of the pages; ``today`` has the stamp of each."""
    if not lacking:
        return
    import matplotlib

    from fairqueues import kernels
    from fairqueues.kernels import compile_together

    matplotlib.use("Agg")
    before = dict(os.environ)
    os.environ |= {"MPLBACKEND": "Agg", "TQDM_DISABLE": "1"}
    try:
        compile_together(
            (kernels.prices, kernels.bottlenecks, kernels.markets, kernels.servers, kernels.chains)
        )
        found: list[dict[int, Any]] = [{} for _ in lacking]
        for (s, k), page in draw_all(lacking, GENERATED, full=False):
            found[s][k] = page
    finally:
        os.environ.clear()
        os.environ.update(before)
    for source, pages in zip(lacking, found, strict=True):
        write_gallery(
            GENERATED / source.stem,
            source.title,
            source.introduction,
            [pages[k] for k in range(len(source.pages))],
            stem=source.stem,
            command=source.call,
            sources=today[source.stem],
        )


def take(figures: Figures, here: Path, there: Path) -> None:
    """Copy figures and their small pictures, unless they are there already."""
    there.mkdir(parents=True, exist_ok=True)
    for key, record in figures.values():
        for kind in ("svg", "thumb.png") if record["pictured"] else ():
            content = (here / f"{key}.{kind}").read_bytes()
            target = there / f"{key}.{kind}"
            if not target.exists() or target.read_bytes() != content:
                target.write_bytes(content)
