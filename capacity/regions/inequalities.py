"""Facets and vertices as fractions, as floats and as text; which facets the others imply."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from fairness.arguments.validation import FloatArray, frozen
from fairness.exact.double_description import Facet, Point
from fairness.exact.pivoting import maximum

__all__ = ["MERGE", "ROUNDING", "Facets", "float_points", "inequality", "necessary", "scaled"]

ROUNDING = 1e-12
"""Data given as floats are rounded: an inequality exceeded by less than this part of it is redundant."""

MERGE = 1e-9
"""Vertices of rounded data closer than this, relative to the largest load of each class, are one; a vertex
lies on a facet if it is closer to it than this, relatively."""

TWO_TO_53 = 2**53
"""Integers below this are floats."""


class Facets(NamedTuple):
    """Inequalities ``normals @ loads <= offsets``; unpacks as the arrays A, b.

    Attributes
    ----------
    normals : ndarray of shape (n_facets, n_classes)
    offsets : ndarray of shape (n_facets,)
    """

    normals: FloatArray
    offsets: FloatArray


def necessary(facets: Sequence[Facet], tolerance: Fraction) -> list[int]:
    """Numbers of the facets that the others do not imply, to a relative tolerance; of equal ones the first.

    A facet is redundant if and only if the largest value that the others allow it is at most its offset.
    """
    rows, kept = [[*normal, offset] for normal, offset in facets], list(range(len(facets)))
    for j in reversed(range(len(rows))):
        most = maximum([rows[k] for k in kept if k != j], rows[j][:-1])
        if most is not None and most <= rows[j][-1] * (1 + tolerance):
            kept.remove(j)
    return kept


def scaled(facet: Facet) -> tuple[list[Fraction], Fraction]:
    """Normal and offset as they are; with offset 1 if the integers are too long for floats."""
    normal, offset = facet
    unit = 1 if max(*normal, offset) < TWO_TO_53 else offset
    return [Fraction(v, unit) for v in normal], Fraction(offset, unit)


def float_points(points: Sequence[Point], rational: bool) -> FloatArray:
    """Points as floats, (n_points, n_classes); in a model of floats neighbours by rounding are one."""
    array = np.array([[float(v) for v in point] for point in points])
    if not rational and len(array) > 1:
        top = array.max(axis=0)
        pairs = cKDTree(array / np.where(top > 0, top, 1.0)).query_pairs(MERGE, output_type="ndarray")
        array = np.delete(array, np.unique(pairs.max(axis=1)) if len(pairs) else [], axis=0)
    return frozen(array)


def inequality(normal: Sequence[float], offset: float, job_classes: Sequence[str]) -> str:
    """A facet as a person writes it."""
    terms = (
        f"{'' if a == 1 else f'{a:g} '}[{name}]" for a, name in zip(normal, job_classes, strict=True) if a > 0
    )
    return f"{' + '.join(terms)} < {offset:g}"
