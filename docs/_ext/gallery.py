"""The gallery: small pictures that lead to figures with their code, and figures of it inside other pages.

``{drawn} region`` in a page shows the figure of ``docs/gallery/region.py``, with what stands below it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from docutils import nodes
from figures import GENERATED, OWN, SCRIPTS, Entry, entries, inner, told
from papers import safe
from source_pages import write_text
from sphinx.util.docutils import SphinxDirective

from examples.reproduce import Source

FOR_YOURS = {
    "clusters": "replay",
    "clusters/starvation": "hierarchy",
    "clusters/cohort": "hierarchy",
    "clusters/explained": "explanation",
    "clusters/throughputs": "cluster",
    "dcdrf": "million_tenants",
    "drf": "allocation",
    "drf/counterexamples": "properties",
    "drf/positive_demands": "properties",
    "drf/whole_tasks": "whole_tasks",
    "drf/zero_demands": "properties",
    "psdsf": "cluster",
    "psdsf/property_table": "properties",
    "psdsf/whole_tasks": "whole_tasks",
    "regions": "region",
    "regions/backbone": "network",
    "regions/bmf_stability": "fluid",
    "regions/enclosures": "enclosure",
    "regions/heavy_traffic": "service_rates",
    "regions/insensitivity": "simulation",
    "regions/random_cluster": "simulation",
    "regions/random_traffic": "network",
    "tdrf": "join_times",
    "workshop": "sharing",
    "workshop/capacity_region": "region",
    "workshop/closed_forms": "letters",
    "workshop/drift_fields": "fluid",
    "workshop/other_models": "network",
    "workshop/results": "simulation",
    "workshop/saturation_map": "letters",
    "workshop/schedulers": "whole_tasks",
    "workshop/service_rates": "service_rates",
    "workshop/validation": "simulation",
}
"""The script that draws the like of a page for one's own system; of a source, where a page has no other."""


def write(app: Any, config: Any) -> None:
    """Write the pages below ``generated/gallery``."""
    found = entries()
    titles = {item.place: item.title for _, items in found for item in items}
    wanted = {GENERATED / "index.md"}
    write_text(GENERATED / "index.md", index(found))
    for source, items in found:
        (GENERATED / source.stem).mkdir(parents=True, exist_ok=True)
        for item in items:
            path = GENERATED / f"{item.place}.md"
            write_text(path, own_page(item, titles) if source.stem == OWN else source_page(source, item))
            wanted.add(path)
            if source.stem == OWN:
                write_text(path.with_suffix(".ipynb"), notebook(item.key))
    for old in set(GENERATED.rglob("*.md")) - wanted:
        old.unlink()


def index(found: Sequence[tuple[Source, list[Entry]]]) -> str:
    """The small pictures of all pages."""
    lines = ["# Gallery", ""]
    lines += [
        "Short scripts for a system of your own first: copy one, put your numbers in, and keep the figure "
        'with `figure.savefig("figure.pdf")`, or `axes.figure.savefig`. Below them the figures of the '
        "sources, redrawn: each beside what the source says, with the numbers compared and the code. "
        "[Statements](../../statements.md) of the papers have pages of their own.",
        "",
    ]
    for source, items in found:
        lines += [f"## {source.title}", "", *([safe(source.introduction), ""] if source.introduction else [])]
        lines += [":::{container} cards", ""]
        for item in items:
            name = item.place.split("/")[1]
            shown = f"![]({item.picture}.thumb.png) " if item.pictured else ""
            lines += [f"[{shown}{safe(item.title)}]({source.stem}/{name}.md)", ""]
        lines += [":::", ""]
    lines += ["```{toctree}", ":hidden:", ""]
    lines += [item.place for _, items in found for item in items] + ["```"]
    return "\n".join(lines) + "\n"


def own_page(item: Entry, titles: dict[str, str]) -> str:
    """A script, its figure and what to see; the figures of the sources that are like it."""
    lines = [*_head(item), "## Code", "", *_code(item.key), ""]
    lines += [
        f"Take it along: {{download}}`{item.key}.py <../../../gallery/{item.key}.py>` or, as a notebook,"
    ]
    lines += [f"{{download}}`{item.key}.ipynb <{item.key}.ipynb>`.", ""]
    like = [place for place in titles if "/" in place and _script_for(place) == item.key]
    if like:
        lines += ["## Figures of the sources like this one", ""]
        lines += [f"- [{safe(titles[place])}](../{place}.md)" for place in like]
    return "\n".join(lines) + "\n"


def notebook(script: str) -> str:
    """A script as a notebook: its words, then its code."""
    _, words, code = (SCRIPTS / f"{script}.py").read_text(encoding="utf-8").split('"""', 2)
    title, _, rest = words.partition("\n")
    cells = [
        {"id": "words", "cell_type": "markdown", "metadata": {}, "source": f"# {title}\n{rest}".strip()},
        {"id": "code", "cell_type": "code", "metadata": {}, "source": code.strip(), "outputs": [],
         "execution_count": None},
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def source_page(source: Source, item: Entry) -> str:
    """A figure of a source: what it shows, what is compared, its code, the script for one's own system."""
    lines = _head(item)
    for table in item.record["tables"] if item.record else ():
        lines += [f"*{safe(table['caption'])}*", "", *_table(table["header"], table["rows"])]
    for caption, listing in item.record["listings"].items() if item.record else ():
        lines += [f"*{safe(caption)}*", "", "```latex", listing, "```", ""]
    if item.record and item.record["checks"]:
        rows = [
            (c["statement"], c["expected"], c["ours"], ": ".join(filter(None, (c["verdict"], c["remark"]))))
            for c in item.record["checks"]
        ]
        lines += [
            "## Compared with the source",
            "",
            *_table(("statement", "expected", "here", "verdict"), rows),
        ]
    script = _script_for(item.place)
    lines += ["## For your own system", "", f"[The like of it](../{OWN}/{script}.md), in a few lines:", ""]
    lines += [*_code(script), "", "## Code of this page", ""]
    function = inner(item.function)
    path = function.__module__.replace(".", "/") + ".py"
    lines += [
        f"`{function.__name__}` in `{path}`; `{source.call}` draws it with the others of its source.",
        "",
    ]
    lines += [f"```{{literalinclude}} ../../../../{path}", ":language: python"]
    lines += [f":pyobject: {function.__name__}", "```"]
    return "\n".join(lines) + "\n"


def _code(script: str) -> list[str]:
    """A script without the words at its beginning."""
    words = (SCRIPTS / f"{script}.py").read_text(encoding="utf-8").split('"""')[1].count("\n")
    lines = [f"```{{literalinclude}} ../../../gallery/{script}.py", ":language: python"]
    return [*lines, f":lines: {words + 3}-", "```"]


def _script_for(place: str) -> str:
    return FOR_YOURS.get(place) or FOR_YOURS.get(place.split("/")[0], "")


def _head(item: Entry) -> list[str]:
    """Title, place in the source, figure and what to see; or how to draw it."""
    lines = [f"# {safe(item.title)}", ""]
    if item.record is None:
        return [
            *lines,
            "This figure takes a while: `make reproduce` draws it, and `make docs` shows it from then on.",
            "",
        ]
    if item.record["place"]:
        lines += [f"*{safe(item.record['place'])}*", ""]
    if item.pictured:
        name = item.picture.split("/")[1]
        lines += [f"```{{image}} {name}.svg", f":alt: {item.title}", ":class: drawn", "```", ""]
    return [*lines, safe(item.record["see"]), ""]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[safe(cell).replace("\n", "<br>") for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], "|" + "---|" * len(header), *lines[1:], ""]


class Drawn(SphinxDirective):
    """A figure of the gallery with a link to its page, where its code is."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write it as a figure."""
        place = self.arguments[0]
        up = "../" * self.env.docname.count("/")
        title, _ = told(SCRIPTS / f"{place}.py")
        where = f"generated/gallery/{OWN}/{place}"
        lines = [
            f"```{{figure}} /{where}.svg",
            f":alt: {title}",
            f":target: {up}{where}.html",
            ":class: drawn",
            "",
        ]
        caption = " ".join(self.content) or f"{title}."
        lines += ["", f"{caption} [Code](/{where}.md)", "```"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.add_directive("drawn", Drawn)
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
