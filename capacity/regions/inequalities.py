"""Facets and vertices as fractions, as floats and as text; which facets the others imply."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial import cKDTree

from fairness.arguments.validation import FloatArray, frozen
from fairness.exact.double_description import Facet, Point
from fairness.exact.pivoting import maximum

__all__ = ["MERGE", "ROUNDING", "Facets", "float_points", "in_units", "inequality", "necessary", "scaled"]

ROUNDING = 1e-12
"""Data given as floats are rounded: an inequality exceeded by less than this part of it is redundant."""

MERGE = 1e-9
"""Vertices of rounded data closer than this, relative to the largest load of each class, are one; a vertex
lies on a facet if it is closer to it than this, relatively."""

FEW = 200
"""Entries of the facets up to which the exact simplex method is as fast as a solver in floating point."""

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

    A facet is redundant if and only if the largest value that the others allow it is at most its offset. Most
    are decided by evidence that floating point finds and a rounding margin makes sure: loads that all others
    allow and this one does not, or others that imply it; the rest exactly, by the simplex method.
    """
    if not facets:
        return []
    shares, _ = in_units(facets)
    kept, evident = list(range(len(facets))), _met_alone(shares, float(tolerance))
    for j in reversed(range(len(facets))):
        others = [k for k in kept if k != j]
        if not evident[j] and _implied(facets, shares, j, others, tolerance):
            kept = others
    return kept


def in_units(facets: Sequence[Facet]) -> tuple[FloatArray, list[Fraction]]:
    """Normals over offsets, (n_facets, n_classes), in units of the largest load of each class; these loads.

    Every class occurs in some facet, and offsets are > 0; so the entries lie between 0 and 1.

    Examples
    --------
    >>> in_units([((1, 2), 4), ((1, 0), 8)])
    (array([[1. , 1. ],
           [0.5, 0. ]]), [Fraction(4, 1), Fraction(2, 1)])
    """
    least = []
    for column in zip(*(normal for normal, _ in facets), strict=True):
        ends = [Fraction(offset, v) for v, (_, offset) in zip(column, facets, strict=True) if v]
        least.append(min(ends, default=Fraction(1)))
    shares = [
        [float(v * top / offset) if v else 0.0 for v, top in zip(normal, least, strict=True)]
        for normal, offset in facets
    ]
    return np.array(shares).reshape(len(facets), -1), least


def _margin(n: int) -> float:
    """Far more than the relative rounding of a sum of n products of numbers >= 0."""
    return 8.0 * (n + 4) * float(np.finfo(float).eps)


def _met_alone(shares: FloatArray, tolerance: float) -> NDArray[np.bool_]:
    """Facets that some class alone meets before all others, (n_facets,)."""
    met = np.zeros(len(shares), dtype=bool)
    first = shares.argmax(axis=0)
    others = shares.copy()
    others[first, np.arange(shares.shape[1])] = 0.0
    before = shares.max(axis=0) > others.max(axis=0) * (1.0 + tolerance + _margin(1))
    met[first[before]] = True
    return met


def _implied(
    facets: Sequence[Facet], shares: FloatArray, j: int, others: list[int], tolerance: Fraction
) -> bool:
    """Whether the other facets imply facet j."""
    normal, offset = facets[j]
    room = 1 + tolerance
    for k in others:
        if (shares[j] <= shares[k] * (1.0 + 1e-9)).all():
            other, end = facets[k]
            if all(a * end <= b * offset * room for a, b in zip(normal, other, strict=True)):
                return True
    if shares.size > FEW:
        told = _told(shares[others], shares[j], float(tolerance))
        if told is not None:
            return told
    most = maximum([[*facets[k][0], facets[k][1]] for k in others], normal)
    return most is not None and most <= offset * room


def _told(others: FloatArray, facet: FloatArray, tolerance: float) -> bool | None:
    """Whether others @ x <= 1, x >= 0, imply facet @ x <= 1 + tolerance, surely; None if it is too close.

    A solver proposes loads x and multipliers; both are made feasible before they are believed.
    """
    wide = _margin(facet.size + len(others))
    solved = linprog(-facet, A_ub=np.vstack([others, facet]), b_ub=np.r_[np.ones(len(others)), 2.0])
    if solved.status != 0:
        return None
    x = np.maximum(solved.x, 0.0)
    x = x / max(1.0, float((others @ x).max(initial=0.0)))
    if float(facet @ x) > (1.0 + tolerance) * (1.0 + wide):
        return False
    multipliers = np.maximum(-solved.ineqlin.marginals[:-1], 0.0)
    covered, asked = multipliers @ others, facet > 0
    if (covered[asked] <= 0).any():
        return None
    implied = float((facet[asked] / covered[asked]).max(initial=0.0)) * float(multipliers.sum())
    return True if implied * (1.0 + wide) <= 1.0 + tolerance else None


def scaled(facet: Facet) -> tuple[list[Fraction], Fraction]:
    """Normal and offset as they are; with offset 1 if the integers are too long for floats."""
    normal, offset = facet
    unit = 1 if max(*normal, offset) < TWO_TO_53 else offset
    return [Fraction(v, unit) for v in normal], Fraction(offset, unit)


def float_points(points: Sequence[Point] | FloatArray, rational: bool) -> FloatArray:
    """Points as floats, (n_points, n_classes); in a model of floats neighbours by rounding are one."""
    array = np.array(points, dtype=float)
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
