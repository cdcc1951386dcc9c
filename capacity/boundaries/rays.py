r"""Star-shaped sets by rays from the origin: the crossing on one ray, the choice of rays, the volume.

*One ray.* A margin :math:`f(u)`, positive at 0 and negative at 1, is known through enclosures
:math:`f(u) \in [l, h]`. The crossing is bracketed by an ``inner`` point where :math:`l \ge 0` and an
``outer`` one where :math:`h < 0`. Secant steps find it (service rates are almost linear in the load, so few
are needed), two points on either side close the bracket, and bisection takes over wherever the secant fails.
Points well below the guess are looked at first: if the margin changes sign there already, the bracket
moves there.

*Which rays.* Directions are points of the unit simplex; they span a mesh of segments (two classes) or
triangles (three, Delaunay), whose corners are moved out to the boundary. The face with the largest product of
diameter and angle to a neighbour, which is how far the boundary may lie from it, is halved at its longest
edge, again and again [1]_. Segments are not cut below a least length, since a boundary may jump at an axis.

*Volume.* The faces with the origin are simplices: :math:`\sum |\det(p_1, ..., p_n)|/n!`.

References
----------
.. [1] M.-C. Rivara, "Algorithms for refining triangular grids suitable for adaptive and multigrid
   techniques", International Journal for Numerical Methods in Engineering 20, 1984.
   DOI 10.1002/nme.1620200412.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from fairness.errors import NotConvergedError
from fairness.machine.work import OutOfTime, Task, stopped
from fairness.model.problem import FloatArray

__all__ = ["LARGER", "Crossing", "crossing", "mesh", "simplex_grid", "split", "volume"]

PROBES = (0.25, 0.5, 0.75)
"""Parts of the guess where the sign of the margin is checked first."""

SECANTS, STEPS = 25, 100
"""Secant steps before plain bisection; steps in all (60 bisections exhaust the floats)."""

EVALUATIONS = 9
"""Evaluations that most rays take: the probes, the guess, some secant steps and the two ends."""

LONGEST = 600.0
"""Seconds on one ray that do not start without a time limit: there are faster methods."""

LARGER = "take a larger precision"
"""What makes one ray faster, whatever the margin."""


@dataclass(frozen=True)
class Crossing:
    """Bracket of the first change of sign that was seen on a ray.

    Attributes
    ----------
    inner, outer : float
        The margin is >= 0 at ``inner`` (or inner is 0) and < 0 at ``outer`` (or outer is 1).
    evaluations : int
    """

    inner: float
    outer: float
    evaluations: int


def crossing(
    margin: Callable[[float], tuple[float, float]],
    at_zero: float,
    guess: float,
    precision: float,
    seconds: float = math.nan,
    instead: str = LARGER,
) -> Crossing:
    """Bracket the crossing of a margin on (0, 1) to a width of at most ``precision``.

    Parameters
    ----------
    margin : callable
        Gives lower and upper bound of the margin at u; may raise NotConvergedError where it cannot be
        computed, which counts as too far out.
    at_zero : float
        Its limit at 0, positive; the limit at 1 is taken as -1.
    guess : float
        Where to look first, inside (0, 1).
    precision : float
    seconds : float, optional
        Time of one evaluation, about.
    instead : str, optional
        What can be done where the search takes too long.

    Raises
    ------
    ModelError
        If the search would take longer than :data:`LONGEST`, and has no time limit.
    NotConvergedError
        If the margin could not be computed at the outer end, its enclosures are too wide, or the time is
        over; ``best`` is then the Crossing as far as it is known.

    Examples
    --------
    >>> found = crossing(lambda u: (2 * (1 - u) - 1, 2 * (1 - u) - 1), 1.0, 0.4, 1e-6)
    >>> found.inner <= 0.5 <= found.outer, found.outer - found.inner <= 1e-6
    (True, True)
    """
    inner, outer = 0.0, 1.0
    values = {0.0: at_zero, 1.0: -1.0}
    failures: dict[float, NotConvergedError] = {}
    evaluations = 0
    work = Task("the boundary on a ray", EVALUATIONS, "evaluations", EVALUATIONS * seconds, instead, LONGEST)

    def look(u: float) -> None:
        nonlocal inner, outer, evaluations
        if not inner < u < outer or u in values:
            return
        work.advance(done=evaluations)
        evaluations += 1
        try:
            low, high = margin(u)
        except NotConvergedError as error:
            work.advance(0)  # what lacked the time to converge says nothing about u
            failures[u] = error
            outer = u
            return
        values[u] = (low + high) / 2 if math.isfinite(high) else low
        if low >= 0:
            inner = u
        elif high < 0:
            outer = u

    def search() -> None:
        for part in PROBES:
            look(part * guess)
        estimate = guess
        for step in range(STEPS):
            look(estimate)
            if outer - inner <= precision:
                break
            following = _secant(values) if step < SECANTS else math.nan
            if not inner < following < outer:
                following = (inner + outer) / 2
            elif abs(following - estimate) <= precision / 4:
                centre = following
                look(centre - 0.45 * precision)
                look(centre + 0.45 * precision)
                if outer - inner <= precision:
                    break
                # The bracket is still open on one side: the estimate was not as good as it seemed.
                following = (inner + outer) / 2
            estimate = following

    try:
        with work:
            search()
    except (OutOfTime, KeyboardInterrupt) as stop:
        known = f"the crossing lies between relative loads {inner:.6g} and {outer:.6g}"
        raise stopped(stop, known, Crossing(inner, outer, evaluations), outer - inner) from None
    if outer in failures:
        raise NotConvergedError(
            f"the margin could not be computed from relative load {outer:.6g} on ({failures[outer]})",
            best=Crossing(inner, outer, evaluations),
            residual=outer - inner,
        ) from failures[outer]
    if outer - inner > precision:
        raise NotConvergedError(
            f"the crossing is known to lie between relative loads {inner:.9g} and {outer:.9g} only: the "
            f"margin is not computed accurately enough for precision={precision:g}; raise precision",
            best=Crossing(inner, outer, evaluations),
            residual=outer - inner,
        )
    return Crossing(inner, outer, evaluations)


def _secant(values: dict[float, float]) -> float:
    """Zero of the line through the two known points with the smallest margins; nan if it is flat."""
    (a, fa), (b, fb) = sorted(values.items(), key=lambda item: abs(item[1]))[:2]
    return a - fa * (b - a) / (fb - fa) if fa != fb else math.nan


def simplex_grid(n: int, most: int) -> FloatArray:
    """Regular grid of at most ``most`` points of the simplex, but at least its corners and edge midpoints.

    Examples
    --------
    >>> simplex_grid(2, 3)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    if n == 1:
        return np.ones((1, 1))
    k = 2
    while math.comb(k + n, n - 1) <= most:
        k += 1
    bars = combinations(range(k + n - 1), n - 1)
    counts = [np.diff([-1, *bar, k + n - 1]) - 1 for bar in bars]
    return np.array(counts[::-1], dtype=float) / k


def mesh(weights: FloatArray) -> NDArray[np.intp]:
    """Faces, (n_faces, n), between the points ``weights`` (n_points, n) of the simplex; n <= 3."""
    n = weights.shape[1]
    if n == 1:
        return np.zeros((1, 1), dtype=np.intp)
    if n == 2:
        order = np.argsort(weights[:, 1], kind="stable")
        return np.column_stack([order[:-1], order[1:]])
    faces = np.sort(Delaunay(weights[:, 1:]).simplices, axis=1).astype(np.intp)
    corners = weights[faces][:, :, 1:]
    area = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
    # Points of one edge of the simplex that rounding moved off it span faces without area.
    return faces[area > 1e-12]


def split(weights: FloatArray, points: FloatArray, least: float) -> FloatArray | None:
    """Direction in the middle of the face that bends most; None if all edges are shorter than ``least``.

    Parameters
    ----------
    weights : ndarray of shape (n_points, n)
        Directions, n = 2 or 3.
    points : ndarray of shape (n_points, n)
        The boundary in these directions.
    least : float
        Edges are compared and cut in the space of the directions.
    """
    faces = mesh(weights)
    corners = points[faces]
    edges = corners[:, 1:] - corners[:, :1]
    if faces.shape[1] == 2:
        normals = np.column_stack([edges[:, 0, 1], -edges[:, 0, 0]])
    else:
        normals = np.cross(edges[:, 0], edges[:, 1])
    outward = np.sign((normals * corners.mean(axis=1)).sum(axis=1, keepdims=True))
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals * outward, length, out=np.zeros_like(normals), where=length > 0)
    bend = np.zeros(len(faces))
    shared: dict[tuple[int, ...], int] = {}
    for f, face in enumerate(faces.tolist()):
        for ridge in combinations(sorted(face), len(face) - 1):
            if ridge in shared:
                g = shared[ridge]
                angle = math.acos(min(1.0, max(-1.0, float(normals[f] @ normals[g]))))
                bend[f], bend[g] = max(bend[f], angle), max(bend[g], angle)
            else:
                shared[ridge] = f
    best, chosen = -1.0, None
    for f, face in enumerate(faces.tolist()):
        pairs = list(combinations(face, 2))
        lengths = [float(np.abs(weights[a] - weights[b]).sum()) / 2 for a, b in pairs]
        a, b = pairs[int(np.argmax(lengths))]
        if max(lengths) < 2 * least:
            continue
        diameter = max(float(np.linalg.norm(points[p] - points[q])) for p, q in pairs)
        if bend[f] * diameter > best:
            best, chosen = bend[f] * diameter, (weights[a] + weights[b]) / 2
    return chosen


def volume(points: FloatArray, faces: NDArray[np.intp]) -> float:
    """Volume between the origin and the faces."""
    n = points.shape[1]
    return float(np.abs(np.linalg.det(points[faces])).sum()) / math.factorial(n)
