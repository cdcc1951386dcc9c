"""What is done to docstrings before they are set: data, and names of authors.

Data are documented by the docstring below their assignment, from wherever it is exported.

Sphinx looks for it in the package under which the reference lists a name. Ours stand in the module that the
package takes the name from; without them the pages would say what Python does of every tuple. Data without a
docstring are a warning here, hence an error of the build.

A source on one line that begins with an initial would be taken for a list, numbered by letters.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging

from fairness.exports import origins

logger = logging.getLogger(__name__)


def docstring(module: str, name: str) -> list[str]:
    """Lines of the docstring of a value; none if it has no docstring."""
    while spec := find_spec(module):
        taken = origins(spec) if spec.submodule_search_locations else {}
        if name not in taken:
            break
        module, name = taken[name]
    return list(ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name), ()))


def process(app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Put the docstring of data in the place of that of their type; initials of authors are no numbers."""
    if what == "data":
        lines[:] = docstring(*name.rsplit(".", 1))
        if not lines:
            logger.warning("%s has no docstring below its assignment", name)
    lines[:] = [re.sub(r"^( *\.\. \[\S+\] )(?=[A-Z]\. )", r"\1\\", line) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    """Look at every docstring before it is set."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
