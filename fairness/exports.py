"""What a package exports stands in its ``__init__.pyi``; nothing is imported before it is asked for.

A stub says where each name comes from: ``from .model.problem import Problem``, or ``from queueing import *``
for all that stands in the ``__all__`` of another package. The loader of the package is asked for the stub, so
that a package may also lie inside a zip file.

A name that has moved to another package is still found where it was, for a release, and says where it is now.
"""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, resolve_name
from typing import Any

__all__ = ["exports", "origins"]


def exports(package: str, *moved_to: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from its stub.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    *moved_to : str
        Packages whose names were names of this one: asked for here, they come with a DeprecationWarning.

    Examples
    --------
    >>> "DRF" in exports("fairness")[2]
    True
    """
    module = sys.modules[package]
    spec: Any = module.__spec__
    found = origins(spec)
    names = sorted(found)

    def get(name: str) -> Any:
        if name not in found:
            for place in () if name.startswith("_") else moved_to:
                if name in _public(find_spec(place)):
                    warnings.warn(
                        f"{package}.{name} is {place}.{name} now; the old name goes with the next release",
                        DeprecationWarning,
                        stacklevel=2,
                    )
                    return getattr(import_module(place), name)
            import difflib

            likely = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {likely[0]!r}?" if likely else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        source, original = found[name]
        value = getattr(import_module(source), original)
        setattr(module, name, value)
        return value

    return get, lambda: list(names), names


def origins(spec: Any) -> dict[str, tuple[str, str]]:
    """For each name that a package takes from elsewhere the module and the name that it comes from.

    Parameters
    ----------
    spec : ModuleSpec
        Of the package, which has a stub or imports the names itself.

    Examples
    --------
    >>> origins(find_spec("fairness"))["DRF"]
    ('fairness.policies.maxmin', 'DRF')
    """
    found: dict[str, tuple[str, str]] = {}
    for line in ast.parse(_text(spec)).body:
        if isinstance(line, ast.ImportFrom):
            source = resolve_name("." * line.level + (line.module or ""), spec.name)
            for alias in line.names:
                if alias.name == "*":
                    found |= {name: (source, name) for name in _public(find_spec(source))}
                else:
                    found[alias.asname or alias.name] = (source, alias.name)
    return found


def _public(spec: Any) -> list[str]:
    """``__all__`` of a package that is not imported."""
    assigned = (line for line in ast.parse(_text(spec)).body if isinstance(line, ast.Assign))
    names: list[str] = ast.literal_eval(
        next(a.value for a in assigned if ast.unparse(a.targets[0]) == "__all__")
    )
    return names


def _text(spec: Any) -> bytes:
    """The stub of a package or, if it has none, its source."""
    folder, load = spec.submodule_search_locations[0], spec.loader.get_data
    try:
        text: bytes = load(os.path.join(folder, "__init__.pyi"))
    except OSError:
        text = load(os.path.join(folder, "__init__.py"))
    return text
