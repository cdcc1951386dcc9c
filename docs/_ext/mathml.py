"""Formulas as MathML, made when the pages are built.

Every browser of today draws MathML by itself. So the pages need neither a script from a foreign server, as
MathJax usually does, nor a LaTeX installation for pictures of formulas. A command that the converter does not
know would be shown by its name; here any backslash that is left is a warning, hence an error of the build.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


def mathml(latex: str, display: str, where: nodes.Element) -> str:
    """One formula; a warning if something in it was not understood."""
    try:
        result = _mended(str(convert(_prepared(latex), display=display)))
    except Exception as error:  # the converter raises many kinds
        logger.warning("formula %r: %r", latex, error, location=where)
        return f"<code>{latex}</code>"
    if unknown := re.search(r"\\(?:[A-Za-z]+|[^<]?)", unescape(result)):
        logger.warning("formula %r: %s is not understood", latex, unknown.group(), location=where)
    return result


LETTERS = {r"\mathbb R": "ℝ", r"\mathbb N": "ℕ", r"\mathbf 1": "𝟏", r"\mathcal R": "ℛ"}
"""Alphabets by their own characters: browsers ignore the attribute that the converter would write."""
OPERATORS = "⟂±∣;"
"""Signs that the converter takes for letters, so that they would stand without space."""
LIMITS = {"∑", "∏", "⋃", "⋂", "⋁", "⋀", "max", "min", "sup", "inf", "lim"}
"""Operators whose index stands below them where there is room."""
FUNCTIONS = {"log", "exp"}
"""Names of functions: signs too, with their space."""
BRACES = {r"\{", r"\}"}
"""What the converter leaves of a brace whose size is given, as that of ``\\Big``."""
SPACE = "{http://www.w3.org/1998/Math/MathML}"
ElementTree.register_namespace("", SPACE[1:-1])


def _prepared(latex: str) -> str:
    """The formula in the words that the converter knows."""
    text = latex.strip().replace("\n", " ")  # a backslash at the end of a line is a space
    for command, letter in LETTERS.items():
        text = text.replace(command, letter)
    text = re.sub(r"\\tag\{(.*?)\}", r"\\qquad (\1)", text)
    return text.replace("{aligned}", "{split}")


def _mended(written: str) -> str:
    """MathML with signs of the right kind, and indices below sums and maxima."""
    root = ElementTree.fromstring(written)
    for element in root.iter():
        tag, text = element.tag.removeprefix(SPACE), element.text
        if tag == "mi" and text and text in OPERATORS:
            element.tag, element.text = f"{SPACE}mo", text.replace("⟂", "⊥")
        elif tag == "mi" and text in FUNCTIONS:
            element.tag = f"{SPACE}mo"
        elif tag == "mo" and text in BRACES:
            element.text = text[1:]
        elif tag == "mo" and text == "∞":
            element.tag = f"{SPACE}mi"
        elif text == "|":  # of an absolute value: the converter knows \\mid for "given" and "such that"
            element.tag = f"{SPACE}mo"
            element.attrib |= {"lspace": "0", "rspace": "0"}
        elif tag in ("msub", "msubsup") and element[0].text in LIMITS:
            element.tag = SPACE + {"msub": "munder", "msubsup": "munderover"}[tag]
            element[0].set("movablelimits", "true")  # beside it in a line and in a fraction
        if element.tag == f"{SPACE}mo" and text and text.isalpha():
            element.attrib |= {"lspace": "0.167em", "rspace": "0.167em"}  # as TeX has it
    return ElementTree.tostring(root, encoding="unicode")


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula in the line."""
    self.body.append(mathml(node.astext(), "inline", node))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has a label."""
    number = ""
    if node.get("number"):
        number = f'<span class="eqno">({get_node_equation_number(self, node)})</span>'
    target = f' id="{node["ids"][0]}"' if node["ids"] else ""
    self.body.append(f'<div class="math"{target}>{number}{mathml(node.astext(), "block", node)}</div>\n')
    raise nodes.SkipNode


def joined(app: Any, page: nodes.document, name: str) -> None:
    """A bracket or a stop beside a formula stays on its line: browsers would break between them."""
    for formula in list(page.findall(nodes.math)):
        parent = formula.parent
        place = parent.index(formula)
        before, after = (
            str(parent[k]) if 0 <= k < len(parent) and isinstance(parent[k], nodes.Text) else ""
            for k in (place - 1, place + 1)
        )
        opened = re.search(r"[(\[]*$", before).group()
        closed = re.match(r"[.,;:!?)\]]*", after).group()
        if not opened + closed:
            continue
        together = nodes.inline("", "", nodes.Text(opened), formula, nodes.Text(closed), classes=["joined"])
        parts = [nodes.Text(before[: len(before) - len(opened)]), together, nodes.Text(after[len(closed) :])]
        parent[place - bool(before) : place + 1 + bool(after)] = [
            part for part in parts if part is together or str(part)
        ]


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.connect("doctree-resolved", joined)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
