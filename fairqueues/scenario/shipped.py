"""The scenarios that come with the package, by name."""

from __future__ import annotations

from pathlib import Path

__all__ = ["examples"]

PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (PACKAGE / "scenarios", PACKAGE.parent / "examples" / "scenarios")
"""In an installed package, and in the repository."""


def examples() -> dict[str, Path]:
    """Files of the shipped scenarios by name.

    Examples
    --------
    >>> "drf_example" in examples()
    True
    """
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    return {} if folder is None else {path.stem: path for path in sorted(folder.glob("*.toml"))}
