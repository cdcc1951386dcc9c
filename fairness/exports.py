"""What a package exports stands in its ``__init__.pyi``; nothing is imported before it is asked for.

A stub says where each name comes from: ``from .model.problem import Problem``, or ``from queueing import *``
for all that another package exports by a stub of its own. The loader of the package is asked for the stub, so
that a package may also lie inside a zip file.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, resolve_name
from typing import Any

__all__ = ["exports"]


def exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
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
    origins = _origins(package, module.__spec__)
    names = sorted(origins)

    def get(name: str) -> Any:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        source, original = origins[name]
        value = getattr(import_module(source), original)
        setattr(module, name, value)
        return value

    return get, lambda: list(names), names


def _origins(package: str, spec: Any) -> dict[str, tuple[str, str]]:
    """For each name of a stub the module and the name that it comes from."""
    stub = ast.parse(spec.loader.get_data(os.path.join(spec.submodule_search_locations[0], "__init__.pyi")))
    found: dict[str, tuple[str, str]] = {}
    for line in stub.body:
        if isinstance(line, ast.ImportFrom):
            source = resolve_name("." * line.level + (line.module or ""), package)
            for alias in line.names:
                if alias.name == "*":
                    found |= {name: (source, name) for name in _origins(source, find_spec(source))}
                else:
                    found[alias.asname or alias.name] = (source, alias.name)
    return found
