"""The scenarios that come with the package, by name."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

__all__ = ["examples"]

REPOSITORY = Path(__file__).resolve().parents[2] / "examples" / "scenarios"
"""Where they lie in the repository; an installed package, which may be a zip file, has them itself."""


def examples() -> dict[str, Traversable]:
    """Files of the shipped scenarios by name.

    Examples
    --------
    >>> "drf_example" in examples()
    True
    """
    own = files("fairqueues").joinpath("scenarios")
    folder = own if own.is_dir() else REPOSITORY
    found = folder.iterdir() if folder.is_dir() else ()
    listed = sorted((one for one in found if one.name.endswith(".toml")), key=str)
    return {one.name.removesuffix(".toml"): one for one in listed}
