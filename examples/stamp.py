"""The stamp of the sources: galleries carry it, so that whoever uses their figures knows whether they are of today.

Other versions of Python, and of what computes or proves, are other sources: they may find something else.
"""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

from fairness.versions import version

__all__ = ["ROOT", "stamp"]

ROOT = Path(__file__).resolve().parent.parent

_FOLDERS = ("fairness", "queueing", "capacity", "proofs", "fairqueues", "examples")
_KINDS = {".py", ".toml"}
_TOOLS = ("numpy", "scipy", "numba", "sympy", "matplotlib", "z3-solver", "cvc5", "clarabel")


def stamp(root: Path = ROOT) -> str:
    """A hash of all that figures are drawn by: names and contents of the sources below ``root``."""
    found = hashlib.sha256(" ".join([platform.python_version(), *map(version, _TOOLS)]).encode())
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in _KINDS and path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                found.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return found.hexdigest()[:16]
