"""Versions that results and checkpoints carry."""

from __future__ import annotations

from importlib import metadata

__all__ = ["version"]


def version(package: str = "fairqueues") -> str:
    """Version of a package, or that it is not installed: it may run from a folder or a zip file.

    Examples
    --------
    >>> version("no-such-package")
    'not installed'
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
