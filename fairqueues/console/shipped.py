"""The scenarios that are shipped: every example of the sources, by the name of its file."""

from __future__ import annotations

from pathlib import Path

__all__ = ["example", "examples"]

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


def example(name: str) -> Path | None:
    """File of the shipped scenario of that name, with or without ".toml"; None if there is none."""
    return examples().get(name.removesuffix(".toml"))
