r"""Vertices of small bounded polytopes, over the rationals or in floats.

A polytope is a list of rows :math:`(g, h)` with :math:`g y \le h`. Its vertices are the points at which as
many rows as there are dimensions hold with equality and fix the point: all such choices of rows are tried, so
this is for a handful of dimensions. Numbers may be :class:`fractions.Fraction` with tolerance 0, or floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from fairness.arguments.validation import FloatArray
from fairness.exact.linear_algebra import Number, affine_solutions

__all__ = ["Point", "distinct", "enumerate_vertices", "hull_distance", "joined_segments"]

Point = tuple[Number, ...]


def enumerate_vertices(rows: list[list[Number]], dimension: int, tol: Number) -> Iterator[list[Number]]:
    """Vertices of the bounded polytope g y <= h, rows (g, h)."""

    def inside(y: Sequence[Number]) -> bool:
        return all(sum(g * t for g, t in zip(row, y, strict=False)) <= row[-1] + tol for row in rows)

    if dimension == 0:
        if inside(()):
            yield []
        return
    sloping = [list(row) for row in {tuple(row): None for row in rows if any(abs(g) > tol for g in row[:-1])}]
    for tight in combinations(sloping, dimension):
        solved = affine_solutions(list(tight), dimension, tol)
        if solved is not None and not solved[1] and inside(solved[0]):
            yield solved[0]


def distinct(points: Sequence[Point], tol: Number) -> list[Point]:
    """Drop repeated points."""
    kept: list[Point] = []
    for p in points:
        if not any(_same(p, q, tol) for q in kept):
            kept.append(p)
    return kept


def _same(p: Point, q: Point, tol: Number) -> bool:
    return all(abs(v - w) <= tol * 10 * max(abs(v), abs(w)) for v, w in zip(p, q, strict=True))


def joined_segments(one: tuple[Point, ...], other: tuple[Point, ...], tol: Number) -> tuple[Point, ...]:
    """Union of two segments of one line (or points, or equal pieces) that meet; empty if they do not."""
    if len(one) == len(other) and all(_same(p, q, tol) for p, q in zip(one, other, strict=True)):
        return one
    if len(one) > 2 or len(other) > 2:
        return ()
    longest = one if len(one) == 2 else other
    if len(longest) < 2:
        return ()
    start, end = longest
    lead = max(
        range(len(start)), key=lambda i: abs(end[i] - start[i]) / max(abs(end[i]), abs(start[i]), 1e-300)
    )
    spans = []
    for p in (*one, *other):
        t = (p[lead] - start[lead]) / (end[lead] - start[lead])
        foot = tuple(s + t * (e - s) for s, e in zip(start, end, strict=True))
        if not _same(p, foot, tol):
            return ()
        spans.append((t, p))
    times = [t for t, _ in spans]
    mine, others = times[: len(one)], times[len(one) :]
    if max(min(mine), min(others)) > min(max(mine), max(others)) + tol:
        return ()
    return min(spans)[1], max(spans)[1]


def hull_distance(vertices: tuple[Point, ...], target: FloatArray) -> float:
    """Largest relative distance of the target from the nearest convex combination of the vertices."""
    from scipy.optimize import nnls

    points = np.array([[float(v) for v in p] for p in vertices]).T
    scale = np.maximum(np.abs(points).max(axis=1), np.abs(target))
    scale[scale == 0] = 1.0
    matrix = np.vstack([points / scale[:, None], np.ones(points.shape[1])])
    goal = np.append(target / scale, 1.0)
    if points.shape[1] == 1:
        return float(np.max(np.abs(matrix[:, 0] - goal)))
    weights = nnls(matrix, goal)[0]
    return float(np.max(np.abs(matrix @ weights - goal)))
