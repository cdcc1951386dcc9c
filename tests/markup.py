"""Names that HTML, XML and matplotlib would read as something else, and what stands where in HTML and SVG."""

import io
from dataclasses import dataclass
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib as mpl

from fairness import DRF

# Tags, and formulas, one of them a wrong one.
CLASSES = ["<b>A</b> $\\frac{$", 'B & "c" $x^2$']
RESOURCES = ["<script>cpu</script>", "$ram_$"]


@dataclass(frozen=True)
class Priced:
    """DRF under a name with dollars."""

    name: str = "DRF at $\\frac{$"

    def __call__(self, problem, counts):
        return DRF()(problem, counts)


VOID = {"br", "hr", "image", "img", "input", "link", "meta", "path", "use"}


class Page(HTMLParser):
    """Tags and attributes, all text, that of cells and of headings, and that outside of tables and prose."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes = [], set(), []
        self.text, self.rows, self.heads, self.outside = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if {"style", "script"} & set(self.open):
            return
        self.text.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif not {"table", "p"} & set(self.open):
            self.outside += filter(None, [data.strip()])
        if self.open and self.open[-1] == "h2":
            self.heads.append(data)


def words_of(figure):
    """All text of the SVG, which has to be sound XML."""
    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(text, format="svg")
    return "".join(ElementTree.fromstring(text.getvalue()).itertext())
