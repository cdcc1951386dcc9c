"""How Sphinx builds these pages: ``python -m sphinx -W --keep-going -b html docs out/docs``.

Nothing on the pages is fetched from elsewhere: formulas become MathML when the pages are built, fonts and
icons come with the theme, the search index is a local file.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

project = "fairqueues"
author = "The fairqueues developers"
copyright = author
version = release = "0.2.0"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "mathml",
    "source_pages",
    "data_docs",
    "gallery",  # before what checks statements: it compiles the kernels on all cores
    "papers",
    "search_entries",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = [
    "_ext",
    "gallery",
    "_templates",
    "generated/errors.md",
    "generated/statements.md",
]  # the last two are included
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say types, shapes and units
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_preserve_defaults = True
numpydoc_show_class_members = False  # autodoc lists them already
numpydoc_xref_param_type = False

highlight_language = "none"  # a block without a language is no Python; doctests know their own

suppress_warnings = ["ref.citation"]  # a list of sources may name one that the text cites in words

html_theme = "pydata_sphinx_theme"
html_title = "fairqueues"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["fairqueues.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("pictures.js", "tables.js", "lines.js")]
html_search_scorer = str(HERE / "_static" / "scorer.js")  # Sphinx looks from where it is called
smartquotes_action = "qe"  # two hyphens are the beginning of an option
html_sidebars: dict[str, list[str]] = {
    page: []
    for page in (
        "index",
        "tutorial",
        "papers",
        "statements",
        "glossary",
        "units",
        "conventions",
        "memory",
        "benchmarks",
        "reach",
        "installation",
        "comparison",
        "development",
        "generated/gallery/**",
        "generated/modules/**",  # hundreds of them: their package leads to them
    )
}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "fairqueues"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "collapse_navigation": True,  # else every page holds the list of all modules
    "header_links_before_dropdown": 5,  # more do not fit on a small laptop
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_math_renderer = "mathml"
