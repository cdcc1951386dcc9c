"""The lowest versions that ``pyproject.toml`` allows, as constraints for pip; ``make lowest`` tests them."""

import re
import sys
import tomllib
from pathlib import Path

BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\w.]+)")
"""How each requirement is written: a name, perhaps extras, and the lowest version that is tested."""


def requirements():
    """All that users and tests need; tools of developers are not tested with their lowest versions."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    extras = {k: v for k, v in project["optional-dependencies"].items() if k not in ("docs", "dev")}
    return sorted({*project["dependencies"], *(one for extra in extras.values() for one in extra)})


def constraints():
    """Lines such as ``numpy==1.26``."""
    found = [BOUND.fullmatch(one) for one in requirements()]
    return [f"{bound['name']}=={bound['version']}" for bound in found]


if __name__ == "__main__":
    sys.stdout.write("\n".join(constraints()) + "\n")
