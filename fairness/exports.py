"""What a package exports stands in its ``__init__.pyi``; nothing is imported before it is asked for.

``lazy_loader.attach_stub`` opens the stub as a file; here the loader of the package is asked for it, so that
a package may also lie inside a zip file.
"""

from __future__ import annotations

import ast
import os
import sys
from typing import Any

import lazy_loader

__all__ = ["exports"]


def exports(package: str) -> tuple[Any, Any, list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from its stub.

    Parameters
    ----------
    package : str
        Its ``__name__``.

    Examples
    --------
    >>> "DRF" in exports("fairness")[2]
    True
    """
    module = sys.modules[package]
    assert module.__spec__ is not None  # of a package that the import system made
    loader: Any = module.__spec__.loader
    stub = ast.parse(loader.get_data(os.path.join(module.__path__[0], "__init__.pyi")))
    submodules: set[str] = set()
    attributes: dict[str, list[str]] = {}
    for line in stub.body:
        if isinstance(line, ast.ImportFrom):
            names = [alias.name for alias in line.names]
            if line.module is None:
                submodules.update(names)
            else:
                attributes.setdefault(line.module, []).extend(names)
    found: tuple[Any, Any, list[str]] = lazy_loader.attach(package, submodules, attributes)
    return found
