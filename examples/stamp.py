"""The stamp of the sources: galleries carry it, so that whoever uses their figures knows whether they are of today."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["ROOT", "stamp"]

ROOT = Path(__file__).resolve().parent.parent

_FOLDERS = ("fairness", "queueing", "capacity", "proofs", "fairqueues", "examples")
_KINDS = {".py", ".toml"}


def stamp(root: Path = ROOT) -> str:
    """A hash of all that figures are drawn by: names and contents of the sources below ``root``."""
    found = hashlib.sha256()
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in _KINDS and path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                found.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return found.hexdigest()[:16]
