"""Formulas as MathML, made when the pages are built.

Every browser of today draws MathML by itself. So the pages need neither a script from a foreign server, as
MathJax usually does, nor a LaTeX installation for pictures of formulas. A command that the converter does not
know would be shown by its name; here it is a warning, hence an error of the build.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

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
    if unknown := re.search(r"\\[A-Za-z]+", unescape(result)):
        logger.warning("formula %r: %s is not understood", latex, unknown.group(), location=where)
    return result


LETTERS = {r"\mathbb R": "ℝ", r"\mathbb N": "ℕ", r"\mathbf 1": "𝟏", r"\mathcal R": "ℛ"}
"""Alphabets by their own characters: browsers ignore the attribute that the converter would write."""
OPERATORS = {"&#x027C2;": "⊥", "&#x000B1;": "±", "&#x02223;": "∣", "&#x0007C;": "|"}
"""Signs that the converter takes for letters, so that they would stand without space."""


def _prepared(latex: str) -> str:
    """The formula in the words that the converter knows."""
    text = latex.strip()
    for command, letter in LETTERS.items():
        text = text.replace(command, letter)
    text = re.sub(r"\\tag\{(.*?)\}", r"\\qquad (\1)", text)
    return text.replace("{aligned}", "{split}")


def _mended(result: str) -> str:
    """MathML with relations as operators, and limits below max and min where formulas stand alone."""
    for entity, sign in OPERATORS.items():
        result = result.replace(f"<mi>{entity}</mi>", f"<mo>{sign}</mo>")
    if 'display="block"' in result:
        result = LIMITS.sub(_below, result)
    return result


LIMITS = re.compile(r"<msub>(<mo>(?:max|min)</mo>)(<mi>[^<]*</mi>|<mrow>(?:(?!</?mrow>).)*</mrow>)</msub>")
"""What the converter writes for the limits of max and min, whose index has no further group."""


def _below(found: re.Match[str]) -> str:
    return f'<munder><mo movablelimits="false">{found[1][4:-5]}</mo>{found[2]}</munder>'


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


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
