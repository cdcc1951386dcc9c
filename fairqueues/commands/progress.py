"""Progress with the remaining time: on standard error, and only if that is a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

__all__ = ["steps"]

T = TypeVar("T")


def steps(items: Iterable[T], what: str, unit: str = "policy") -> Iterator[T]:
    """Go through items under a bar."""
    from tqdm import tqdm

    total = len(items) if isinstance(items, Sized) else None
    # disable=None: off where standard error is no terminal.
    yield from tqdm(items, desc=what, unit=unit, total=total, disable=None, leave=False)
