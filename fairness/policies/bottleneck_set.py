r"""All bottleneck-max fair allocations of a small problem, exactly where the data are rational.

An allocation is BMF when every class has a bottleneck: a saturated resource on which its weighted share is
the largest, or its limit (see :mod:`fairness.policies.bottleneck`). For a given assignment of a bottleneck
:math:`\beta(i)` to every class the conditions are linear. With :math:`b_{ij}` the demand shares over the
dominant one, :math:`u_i` the dominant weighted shares, :math:`S` the resources that :math:`\beta` names and
:math:`f_j` the common share of all classes assigned to :math:`j`:

.. math::

   u_i = f_{\beta(i)}/b_{i\beta(i)}, \qquad \sum_i x_i w_i u_i b_{ij} = 1 \quad (j \in S), \qquad
   \sum_i x_i w_i u_i b_{ij} \le 1 \quad (j \notin S), \qquad b_{ij} u_i \le f_j \quad (j \in S),

and :math:`u_i` at most its limit (equal to it for classes assigned to their limit). So the BMF allocations
are a finite union of polytopes, one per assignment; almost always each is empty or a point. Their vertices
are enumerated, over the rationals when demands and capacities are integers or fractions. (Counts, weights and
limits are taken as the binary numbers that they are.)

Most assignments are discarded early: two classes :math:`i, k` on two resources :math:`j, l` need
:math:`b_{kj} f_l/b_{kl} \le f_j` and :math:`b_{il} f_j/b_{ij} \le f_l`, hence
:math:`b_{kj} b_{il} \le b_{ij} b_{kl}`, whatever the levels; equality fixes the ratio of the levels.

Bonald and Roberts (arXiv:1410.0782) introduce BMF; :func:`all_bottleneck_max` shows a continuum of BMF
allocations of three jobs on three resources.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.labels import as_named
from fairness.arguments.validation import float_array, model_array, require_number
from fairness.display.colours import part_line
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError
from fairness.evidence.pools import bottleneck_certificate
from fairness.exact.linear_algebra import Number, affine_solutions
from fairness.exact.small_polytopes import Point, distinct, enumerate_vertices, hull_distance, joined_segments
from fairness.model.problem import FloatArray, Problem

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["AT_LIMIT", "NO_JOB", "BottleneckPiece", "BottleneckSet", "all_bottleneck_max"]

AT_LIMIT = "(limit)"
"""Stands for the bottleneck of a class at its limit."""
NO_JOB = "(no job)"
"""Stands for the bottleneck of a class without jobs."""

_Assignment = tuple[int, ...]
_Polytopes = dict[tuple[Point, ...], list[_Assignment]]

TOLERANCE = 1e-9
"""Relative tolerance of all comparisons when the data are floats; 0 for rationals."""


@dataclass(frozen=True, eq=False)
class BottleneckPiece:
    """A polytope of BMF allocations.

    Attributes
    ----------
    vertices : tuple of points
        Tasks per class at each vertex: Fractions if the problem is rational, else floats.
    assignments : tuple of tuples of str
        Maps class -> bottleneck (resource names, :data:`AT_LIMIT`, :data:`NO_JOB`) that work on the piece or
        on a part of it.
    """

    vertices: tuple[Point, ...]
    assignments: tuple[tuple[str, ...], ...]

    @property
    def dimension(self) -> int:
        """0 for a point, 1 for a segment, ..."""
        points = np.array([[float(v) for v in p] for p in self.vertices])
        scale = np.abs(points).max(axis=0)
        edges = (points - points[0]) / np.where(scale > 0, scale, 1.0)
        return int(np.linalg.matrix_rank(edges, tol=TOLERANCE)) if len(points) > 1 else 0


@dataclass(frozen=True, eq=False, repr=False)
class BottleneckSet(Result):
    """Every BMF allocation of a problem; made by :func:`all_bottleneck_max`.

    Attributes
    ----------
    problem : Problem
    counts : ndarray of shape (n_classes,), jobs
    pieces : tuple of BottleneckPiece
        Their union is the set. Segments are merged as far as possible; pieces of higher dimension may touch.
    exact : bool
        Whether the enumeration was done over the rationals.
    residual : float
        Largest residual of the bottleneck certificate over all vertices, in floating point.
    """

    problem: Problem
    counts: FloatArray
    pieces: tuple[BottleneckPiece, ...]
    exact: bool
    residual: float

    @property
    def points(self) -> tuple[Point, ...]:
        """Isolated allocations."""
        return tuple(piece.vertices[0] for piece in self.pieces if piece.dimension == 0)

    @property
    def segments(self) -> tuple[tuple[Point, Point], ...]:
        """End points of the one-dimensional pieces."""
        return tuple((piece.vertices[0], piece.vertices[-1]) for piece in self.pieces if piece.dimension == 1)

    @property
    def is_unique(self) -> bool:
        """Whether there is exactly one BMF allocation."""
        return len(self.pieces) == 1 and self.pieces[0].dimension == 0

    def contains(self, tasks: ArrayLike, *, tolerance: float = 1e-9) -> bool:
        """Whether the allocation lies on a piece (in the hull of its vertices), to a relative tolerance."""
        target = model_array("tasks", tasks, self.problem, "job_classes")
        if target.shape != self.counts.shape:
            raise ModelError.of("tasks", f"must have shape {self.counts.shape}; got {target.shape}")
        return any(hull_distance(piece.vertices, target) <= tolerance for piece in self.pieces)

    def assignments_at(self, tasks: ArrayLike) -> tuple[tuple[str, ...], ...]:
        """All maps class -> bottleneck that work at the allocation; empty if it is not BMF.

        Exact where both the set and the tasks are rational, else to a tolerance of 1e-9.
        """
        point = np.asarray(as_named("tasks", tasks, self.problem, "job_classes"))
        float_array("tasks", point)
        if point.shape != self.counts.shape:
            raise ModelError.of("tasks", f"must have shape {self.counts.shape}; got {point.shape}")
        exact = self.exact and all(isinstance(v, numbers.Rational) for v in point.tolist())
        return _Instance(self.problem, self.counts, exact).assignments_at(tuple(point.tolist()))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per vertex, indexed by piece and vertex: dimension of the piece, tasks of each class."""
        import pandas as pd

        rows = [
            (k, v, piece.dimension, *(float(t) for t in vertex))
            for k, piece in enumerate(self.pieces)
            for v, vertex in enumerate(piece.vertices)
        ]
        columns = ["piece", "vertex", "dimension", *(f"tasks of {name}" for name in self.problem.job_classes)]
        return pd.DataFrame(rows, columns=columns).set_index(["piece", "vertex"])

    def summary(self) -> str:
        """Number and kind of the pieces, with their vertices."""
        how = "exact" if self.exact else f"to {TOLERANCE:g}"
        number, plural = ("The", "") if self.is_unique else ("All", "s")
        lines = [f"{number} BMF allocation{plural} ({how})"]
        for piece in self.pieces:
            size = piece.dimension
            kind = ("point", "segment")[size] if size < 2 else f"{size}-polytope"
            ends = " -- ".join("(" + ", ".join(_text(v) for v in p) + ")" for p in piece.vertices)
            lines.append(f"  {kind:<10}{ends}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Tasks of each class at every vertex; vertices of one piece are lines of one colour."""
        ax = given_axes(ax)
        names = [label(name) for name in self.problem.job_classes]
        for k, piece in enumerate(self.pieces):
            for v, vertex in enumerate(piece.vertices):
                text = f"piece {k + 1}, of dimension {piece.dimension}" if v == 0 else None
                ax.plot(names, [float(t) for t in vertex], marker="o", label=text, **part_line(k))
        ax.set(ylabel="tasks", ylim=(0, None), title="BMF allocations")
        legend_beside(ax)
        return ax


def all_bottleneck_max(
    problem: Problem, counts: ArrayLike | None = None, *, max_assignments: int = 10**6
) -> BottleneckSet:
    """Every BMF allocation of a small problem.

    Parameters
    ----------
    problem : Problem
        With integers or Fractions as demands and capacities the result is exact.
    counts : array_like of shape (n_classes,), jobs, optional
        Default: one job per class.
    max_assignments : int
        Refuse a problem with more assignments class -> bottleneck than this.

    Returns
    -------
    BottleneckSet

    Raises
    ------
    ModelError
        If counts is not one vector, or there are too many assignments.
    NotConvergedError
        If the data are floats and no allocation was found to the tolerance (one exists always).

    Examples
    --------
    Jobs 2 and 3 can trade against job 1, because the third resource is the mean of the others.

    >>> from fractions import Fraction
    >>> from fairness import Problem
    >>> demands = [[1, 1, 1], [2, 1, Fraction(3, 2)], [1, 2, Fraction(3, 2)]]
    >>> all_bottleneck_max(Problem(demands, [1, 1, 1]))
    All BMF allocations (exact)
      segment   (1/3, 2/9, 2/9) -- (2/5, 1/5, 1/5)
    """
    x = problem.check_state(counts)
    require_number("max_assignments", max_assignments, most=math.inf)
    instance = _Instance(problem, x, problem.is_rational)
    needed = math.prod(len(options) for options in instance.options)
    if needed > max_assignments:
        raise ModelError(
            f"enumerating all BMF allocations needs up to {needed} assignments of bottlenecks to classes, "
            f"more than max_assignments = {max_assignments}; take fewer classes or resources, raise "
            "max_assignments, or use BottleneckMax() for one allocation"
        )
    found: _Polytopes = {}
    for assignment in instance.candidates():
        vertices = instance.polytope(assignment)
        if vertices:
            found.setdefault(vertices, []).append(assignment)
    if not found:
        raise NotConvergedError(
            f"no BMF allocation found to the tolerance {TOLERANCE:g}; give integers or fractions"
        )
    pieces = tuple(
        BottleneckPiece(vertices, tuple(instance.names(a) for a in sorted(assignments)))
        for vertices, assignments in instance.merge(found)
    )
    residual = max(
        bottleneck_certificate(problem, x, np.array([float(v) for v in p])).residual
        for piece in pieces
        for p in piece.vertices
    )
    return BottleneckSet(problem, x, pieces, instance.exact, residual)


class _Instance:
    """The numbers of one problem, rational or floating, and the polytopes of its assignments.

    Assignments list, per live class, a resource index or m for the limit.
    """

    def __init__(self, problem: Problem, counts: FloatArray, exact: bool) -> None:
        self.problem, self.counts, self.exact = problem, counts, exact
        self.tol: Number = 0 if exact else TOLERANCE
        number = Fraction if exact else float
        self.zero: Number = number(0)
        n, m = problem.n_classes, problem.n_resources
        self.m = m
        a, c = problem.as_fractions() if exact else (problem.demands.tolist(), problem.capacities.tolist())
        x, w = [number(v) for v in counts], [number(v) for v in problem.weights]
        shares = [[number(v) / c[j] if c[j] > 0 else self.zero for j, v in enumerate(row)] for row in a]
        self.base: list[Number] = [self.zero] * n
        self.live: list[int] = []
        self.mass: list[Number] = []
        self.scale: list[Number] = []
        self.b: list[list[Number]] = []  # Column m: the limit, a private resource of level 1.
        for i in range(n):
            if x[i] == 0 or problem.blocked[i]:
                continue
            bounded = not math.isinf(problem.limits[i])
            dominant = max(shares[i])
            if dominant == 0:  # Bounded by its limit alone.
                self.base[i] = x[i] * number(problem.limits[i])
                continue
            self.live.append(i)
            bound = w[i] / (number(problem.limits[i]) * dominant) if bounded else self.zero
            self.b.append([*(v / dominant for v in shares[i]), bound])
            self.mass.append(x[i] * w[i])
            self.scale.append(x[i] * w[i] / dominant)
        # Masses that sum to 1 keep the levels, and so the tolerances, on one scale.
        total = sum(self.mass)
        self.mass = [q / total for q in self.mass]
        self.scale = [s / total for s in self.scale]
        self.b = [[*row[:-1], row[-1] / total] for row in self.b]
        self.options = [[j for j in range(m + 1) if row[j] > 0] for row in self.b]
        # ratio[i][j][k]: share of k per level of j, for a class i that follows j.
        self.ratio = [{j: [v / row[j] for v in row] for j in range(m + 1) if row[j] > 0} for row in self.b]

    def names(self, assignment: Sequence[int]) -> tuple[str, ...]:
        """Assignment of all classes by name; a blocked class is stopped by a resource of capacity 0."""
        problem = self.problem
        result = []
        on = dict(zip(self.live, assignment, strict=True))
        for i in range(problem.n_classes):
            if i in on:
                result.append(AT_LIMIT if on[i] == self.m else problem.resources[on[i]])
            elif self.counts[i] > 0 and problem.blocked[i]:
                stops = (problem.capacities == 0) & (problem.demands[i] > 0)
                result.append(problem.resources[int(np.argmax(stops))])
            else:
                result.append(AT_LIMIT if self.counts[i] > 0 else NO_JOB)
        return tuple(result)

    def candidates(self) -> Iterator[_Assignment]:
        """Assignments in which every two classes are compatible (see the module docstring)."""
        m, slack, ratio = self.m, 1 + self.tol, self.ratio

        @cache
        def compatible(i: int, j: int, k: int, other: int) -> bool:
            return j == other or m in (j, other) or ratio[k][other][j] * ratio[i][j][other] <= slack

        def extend(chosen: _Assignment) -> Iterator[_Assignment]:
            k = len(chosen)
            if k == len(self.live):
                yield chosen
                return
            for option in self.options[k]:
                if all(compatible(i, j, k, option) for i, j in enumerate(chosen)):
                    yield from extend((*chosen, option))

        return extend(())

    def polytope(self, assignment: _Assignment) -> tuple[Point, ...]:
        """Vertices, sorted, of the allocations for which the assignment works; empty if there is none."""
        m, zero, one = self.m, self.zero, self.zero + 1
        used = sorted(set(assignment) - {m})
        position = {j: r for r, j in enumerate(used)} | {m: len(used)}
        size = len(used)
        # Usage of each resource: coefficients of the levels f, then what classes at their limit use.
        usage = [[zero] * (size + 1) for _ in range(m)]
        for i, j in enumerate(assignment):
            column, ratios, mass = position[j], self.ratio[i][j], self.mass[i]
            for k in range(m):
                if ratios[k]:
                    usage[k][column] += mass * ratios[k]
        # Levels in units of what fills some resource keep the floats near 1.
        unit = [1 / max(usage[k][r] for k in range(m)) for r in range(size)] + [one]
        usage = [[v * s for v, s in zip(row, unit, strict=True)] for row in usage]
        equations = [[*usage[j][:-1], 1 - usage[j][-1]] for j in used]
        for j, other, ratio in self._ties(assignment):
            row = [zero] * (size + 1)
            row[position[j]], row[position[other]] = unit[position[j]], -ratio * unit[position[other]]
            equations.append(row)
        solved = affine_solutions(equations, size, self.tol)
        if solved is None:
            return ()
        # Levels as affine functions (slopes, then the constant) of the free parameters y; rows g y <= h.
        origin, directions = solved
        level = [
            [*(direction[r] * unit[r] for direction in directions), origin[r] * unit[r]] for r in range(size)
        ]
        level.append([zero] * len(directions) + [one])
        rows = [[*(-v for v in f[:-1]), f[-1]] for f in level[:-1]]
        for j in range(m):
            if j not in position:
                slopes = [
                    sum((v * d for v, d in zip(usage[j], direction, strict=False)), zero)
                    for direction in directions
                ]
                used_up = sum((v * o for v, o in zip(usage[j], origin, strict=False)), usage[j][-1])
                rows.append([*slopes, 1 - used_up])
        for i, own in enumerate(assignment):
            mine = level[position[own]]
            for j in (*used, m):
                ratio = self.ratio[i][own][j]
                if j != own and ratio:
                    other_level = level[position[j]]
                    rows.append(
                        [ratio * v - w for v, w in zip(mine[:-1], other_level[:-1], strict=True)]
                        + [other_level[-1] - ratio * mine[-1]]
                    )
        points = set()
        for y in enumerate_vertices(rows, len(directions), self.tol):
            f = [row[-1] + sum((v * t for v, t in zip(row, y, strict=False)), zero) for row in level]
            if all(v > 0 for v in f):
                points.add(self._tasks([f[position[j]] / self.b[i][j] for i, j in enumerate(assignment)]))
        return tuple(distinct(sorted(points), self.tol))

    def _ties(self, assignment: _Assignment) -> list[tuple[int, int, Number]]:
        """Ratios f_j/f_l that two classes fix: b_kj b_il = b_ij b_kl in the module docstring."""
        found: dict[tuple[int, int], Number] = {}
        for (i, j), (k, other) in combinations(enumerate(assignment), 2):
            if j == other or self.m in (j, other) or (j, other) in found or (other, j) in found:
                continue
            if self.ratio[k][other][j] * self.ratio[i][j][other] >= 1 - self.tol:
                found[j, other] = self.ratio[k][other][j]
        return [(j, other, ratio) for (j, other), ratio in found.items()]

    def _tasks(self, shares: Sequence[Number]) -> Point:
        tasks = list(self.base)
        for i, u, scale in zip(self.live, shares, self.scale, strict=True):
            tasks[i] = u * scale
        return tuple(tasks)

    def assignments_at(self, point: Point) -> tuple[tuple[str, ...], ...]:
        """Names of all assignments that work at a point, by the definition."""
        return tuple(self.names(a) for a in product(*self._bottlenecks(point)))

    def _bottlenecks(self, point: Point) -> list[list[int]]:
        """Per live class, its bottlenecks at a point (any tasks; none at an infeasible point)."""
        number = Fraction if self.exact else float
        u = [number(point[i]) / scale for i, scale in zip(self.live, self.scale, strict=True)]
        held = [[v * s for v in row] for row, s in zip(self.b, u, strict=True)]
        tol = self.tol
        used = [sum(q * row[j] for q, row in zip(self.mass, held, strict=True)) for j in range(self.m)]
        largest = [max(row[j] for row in held) for j in range(self.m)] if held else []
        if any(v > 1 + tol for v in used) or any(row[self.m] > 1 + tol for row in held):
            return [[] for _ in held]
        return [
            [
                j
                for j in range(self.m)
                if row[j] > 0 and used[j] >= 1 - tol and row[j] >= largest[j] * (1 - tol)
            ]
            + [self.m] * (row[self.m] >= 1 - tol)
            for row in held
        ]

    def merge(self, found: _Polytopes) -> list[tuple[tuple[Point, ...], list[_Assignment]]]:
        """Drop polytopes inside others and join segments on a line, keeping all assignments."""
        pieces: list[tuple[tuple[Point, ...], list[_Assignment]]] = []
        # What is inside another polytope comes after it.
        for vertices, assignments in sorted(found.items(), key=lambda item: -len(item[0])):
            bottlenecks = [self._bottlenecks(p) for p in vertices]
            for _, others in pieces:
                if any(
                    all(j in stops for at in bottlenecks for j, stops in zip(assignment, at, strict=True))
                    for assignment in others
                ):
                    others.extend(assignments)
                    break
            else:
                pieces.append((vertices, list(assignments)))
        k = 0
        while k < len(pieces):
            for other in range(k + 1, len(pieces)):
                union = joined_segments(pieces[k][0], pieces[other][0], self.tol)
                if union:
                    pieces[k] = (union, pieces[k][1] + pieces.pop(other)[1])
                    k = -1
                    break
            k += 1
        return sorted(pieces, key=lambda piece: piece[0])


def _text(value: Number) -> str:
    return str(value) if isinstance(value, Fraction) else f"{value:.6g}"
