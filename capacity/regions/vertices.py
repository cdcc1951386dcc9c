"""The vertices of a region: counted before they are solved, and watched.

A region of 30 classes has millions of vertices. They are walked in floating point first, which takes a few
microseconds each, up to the largest number that is allowed; the exact proof (:mod:`fairness.exact.corners`)
begins where there are no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from fairness.arguments.validation import FloatArray
from fairness.errors import ModelError
from fairness.exact.corners import Corners, corners, rounded_vertices
from fairness.exact.double_description import Facet
from fairness.machine.work import OutOfTime, Task, stopped

__all__ = ["all_corners", "all_rounded"]

T = TypeVar("T")


def all_corners(facets: Sequence[Facet], n: int, most: float, refusal: str) -> Corners:
    """Vertices of the bounded region {x >= 0: normal * x <= offset}, exactly.

    Raises
    ------
    ModelError
        The refusal, if there are more bases than ``most``.
    NotConvergedError
        If the time is over.
    """
    return _watched(lambda work: corners(facets, n, most, work.advance), refusal)


def all_rounded(
    facets: Sequence[Facet], n: int, most: float, refusal: str, tolerance: float
) -> FloatArray | None:
    """The same in floats, of offsets that may be larger by ``tolerance``; None if floats cannot prove it."""
    return _watched(lambda work: rounded_vertices(facets, n, most, tolerance, work.advance), refusal)


def _watched(found: Callable[[Task], T], refusal: str) -> T:
    work = Task("the vertices of the region", 1, "vertices", instead="take region_section or region_volume")
    try:
        with work:
            return found(work)
    except (OutOfTime, KeyboardInterrupt) as stop:
        raise stopped(stop, f"{work.done:.0f} of about {work.total:.0f} vertices are known", None) from None
    except ModelError:
        raise ModelError(refusal) from None
