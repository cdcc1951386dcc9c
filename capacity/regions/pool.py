r"""The stability region of a pool: which class loads fit.

With loads :math:`\rho_i = \lambda_i\sigma_i` (tasks) the pool can be stabilised if and only if

.. math:: \rho \ge 0, \qquad \sum_i \rho_i a_{ij} < C_j \quad\text{for all } j

[1]_. The closure is a polytope: facets are the resources that matter, vertices the extreme mixes. A class
that demands nothing may have any load (the region contains a ray); a class that demands a resource of
capacity 0 must have load 0 (it is *pinned*, and the region has no volume). Limits of tasks per job do not
matter, since an overloaded class has jobs enough.

Everything is computed over the integers, after clearing denominators (a float is a fraction too), by the
exact pivoting of :mod:`fairness.exact.pivoting`.

* *Facets.* Resource j is redundant if and only if the largest load that the other resources let through is
  at most :math:`C_j` (simplex method).
* *Vertices.* Found by walking along the edges from the origin.
* *Volume.* Lawrence's formula [2]_ for a generic objective c: with reduced costs :math:`\gamma` at vertex v,

  .. math:: \operatorname{vol} = \sum_v \frac{(c\cdot v)^n}{n!\; |d_v| \prod_k \gamma_k(v)} .

  It cancels badly in floating point and not at all over the rationals.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and
   Control of Large-Scale Networks, Eindhoven, 2014.
.. [2] J. Lawrence, "Polytope volume computation", Mathematics of Computation 57, 1991.
   DOI 10.1090/S0025-5718-1991-1079024-2.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from fairness.arguments.validation import model_array
from fairness.display.notebook import shown
from fairness.errors import ModelError
from fairness.exact.pivoting import Corner, maximum, walk
from fairness.model.problem import FloatArray, Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["StabilityRegion", "float_points", "inequality", "pool_stability_region"]

ROUNDING = 1e-12
"""Demands given as floats are rounded: a resource exceeded by less than this part of it is redundant."""

MOST_CLASSES = 6
"""A notebook lists the vertices up to here: beyond they may be thousands, and take minutes."""

MERGE = 1e-9
"""Vertices of rounded demands closer than this, relative to the largest load of each class, are one."""


@dataclass(frozen=True, eq=False, repr=False)
class StabilityRegion:
    """All class loads that fit; made by :func:`pool_stability_region`.

    Attributes
    ----------
    problem : Problem
    facets : tuple of int
        Resources that bound the region; of resources that say the same only the first.
    redundant : tuple of int
        Resources implied by the others (a resource of capacity 0 pins classes and is in neither list).
    pinned, free : tuple of int
        Classes that must have load 0, because they demand a resource of capacity 0 / may have any load,
        because they demand nothing.
    max_vertices : int
        The enumeration of vertices is given up beyond this number (degenerate ones count as several).
    """

    problem: Problem
    facets: tuple[int, ...]
    redundant: tuple[int, ...]
    pinned: tuple[int, ...]
    free: tuple[int, ...]
    max_vertices: int

    @property
    def facet_names(self) -> tuple[str, ...]:
        """Names of the resources that bound the region."""
        return tuple(self.problem.resources[j] for j in self.facets)

    @property
    def normals(self) -> FloatArray:
        """Demands on the bounding resources, shape (n_facets, n_classes), units per task."""
        return np.ascontiguousarray(self.problem.demands[:, list(self.facets)].T)

    @property
    def offsets(self) -> FloatArray:
        """Capacities of the bounding resources, shape (n_facets,), units: normals @ loads < offsets."""
        return self.problem.capacities[list(self.facets)]

    @property
    def bounded(self) -> bool:
        """Whether every class has a largest load."""
        return not self.free

    @property
    def rays(self) -> FloatArray:
        """Directions in which the region is unbounded, shape (n_rays, n_classes)."""
        return np.eye(self.problem.n_classes)[list(self.free)]

    @cached_property
    def exact_vertices(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """Vertices over the rationals in increasing order, (n_vertices, n_classes); None for float demands.

        Raises
        ------
        ModelError
            If there are more than ``max_vertices``.
        """
        return self._exact_points if self.problem.is_rational else None

    @cached_property
    def vertices(self) -> FloatArray:
        """Vertices of the closed region, shape (n_vertices, n_classes), tasks; in increasing order.

        Raises
        ------
        ModelError
            If there are more than ``max_vertices``.
        """
        return float_points(self._exact_points, self.problem.is_rational)

    @cached_property
    def exact_volume(self) -> Fraction | None:
        """Volume over the rationals, tasks to the power n_classes; None for float demands or if infinite."""
        volume = self._volume
        return volume if self.problem.is_rational and isinstance(volume, Fraction) else None

    @cached_property
    def volume(self) -> float:
        """Volume, tasks to the power n_classes; 0 if a class is pinned, infinite if unbounded.

        Raises
        ------
        ModelError
            If it is beyond the range of floats.
        """
        try:
            return float(self._volume)
        except OverflowError:
            raise ModelError(
                "the volume is beyond the range of floats; give demands in a larger unit"
            ) from None

    def contains(self, loads: ArrayLike) -> Any:
        """Whether loads of shape (..., n_classes) fit strictly; bool or bool array of shape (...).

        Boundary points do not: the condition is strict, as evaluated in floating point.
        """
        rho = self._check(loads)
        inside = (self._relative_loads(rho) < 1).all(axis=-1) & (rho >= 0).all(axis=-1)
        return bool(inside) if rho.ndim == 1 else inside

    def slack(self, loads: ArrayLike) -> Any:
        """Part of the busiest resource that stays free, 1 - max_j load_j/C_j; negative when overloaded.

        Loads have shape (..., n_classes); minus infinity where a pinned class has a load.
        """
        rho = self._check(loads)
        slack = 1.0 - self._relative_loads(rho).max(axis=-1)
        return float(slack) if rho.ndim == 1 else slack

    def max_scale(self, mix: ArrayLike) -> Any:
        """Largest t such that t*mix lies in the closed region; mix >= 0 of shape (..., n_classes)."""
        rho = self._check(mix)
        if (rho < 0).any() or not rho.any(axis=-1).all():
            raise ModelError("mix must have entries >= 0, not all 0: it is a direction of loads")
        busiest = self._relative_loads(rho).max(axis=-1)
        scale = np.divide(1.0, busiest, out=np.full_like(busiest, np.inf), where=busiest > 0)
        return float(scale) if rho.ndim == 1 else scale

    def full_at(self, loads: FloatArray) -> NDArray[np.bool_]:
        """Which resources are full at loads of shape (..., n_classes), up to rounding; (..., n_resources)."""
        full: NDArray[np.bool_] = self._relative_loads(self._check(loads)) > 1 - MERGE
        return full

    def to_dataframe(self) -> pd.DataFrame:
        """One row per vertex: the load of every class, and the resources that are full there."""
        full = self.full_at(self.vertices)
        frame = pd.DataFrame(self.vertices, columns=pd.Index(self.problem.job_classes, name="job_class"))
        frame.index.name = "vertex"
        frame["full"] = [", ".join(self.problem.resources[j] for j in np.flatnonzero(row)) for row in full]
        return frame

    def summary(self) -> str:
        """The inequalities that bound the region, and what does not."""
        p = self.problem
        lines = [f"StabilityRegion of {p.n_classes} classes: loads >= 0 (tasks) with"]
        for j in self.facets:
            bound = inequality(p.demands[:, j].tolist(), p.capacities[j], p.job_classes)
            lines.append(f"  {bound}  ({p.resources[j]})")
        for label, names, which in (
            ("redundant resources", p.resources, self.redundant),
            ("load must be 0", p.job_classes, self.pinned),
            ("any load fits", p.job_classes, self.free),
        ):
            if which:
                lines.append(f"  {label}: {', '.join(names[k] for k in which)}")
        return "\n".join(lines)

    _repr_html_ = shown(table=lambda region: region.problem.n_classes <= MOST_CLASSES)

    def __repr__(self) -> str:
        return self.summary()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the region of two or three classes, with its vertices and the names of its facets.

        Raises
        ------
        ModelError
            If there are not two or three classes, or the region is unbounded or has no interior.
        """
        n = self.problem.n_classes
        if n not in (2, 3) or self.free or self.pinned:
            raise ModelError(
                f"a plot needs 2 or 3 classes and a bounded region with interior; here {n} classes, "
                f"{len(self.free)} unbounded, {len(self.pinned)} pinned"
            )
        from capacity.regions.plotting import plot_region

        return plot_region(self, ax)

    def _check(self, loads: ArrayLike) -> FloatArray:
        rho = model_array("loads", loads, self.problem, "job_classes")
        if rho.ndim == 0 or rho.shape[-1] != self.problem.n_classes:
            raise ModelError(
                f"loads has shape {rho.shape}; its last axis must list the {self.problem.n_classes} classes"
            )
        if not np.isfinite(rho).all():
            raise ModelError("loads must be finite")
        return rho

    def _relative_loads(self, loads: FloatArray) -> FloatArray:
        usage, capacities = loads @ self.problem.demands, self.problem.capacities
        empty = np.where(usage > 0, np.inf, 0.0)
        relative: FloatArray = np.divide(usage, capacities, out=empty, where=capacities > 0)
        return relative

    @cached_property
    def _live(self) -> list[int]:
        return [i for i in range(self.problem.n_classes) if i not in self.pinned + self.free]

    @cached_property
    def _corners(self) -> list[Corner]:
        rows = integer_rows(self.problem, self._live, self.facets)
        return walk(rows, self.max_vertices)

    @cached_property
    def _exact_points(self) -> tuple[tuple[Fraction, ...], ...]:
        points = set()
        for corner in self._corners:
            point = [Fraction(0)] * self.problem.n_classes
            for i, value in zip(self._live, corner[0], strict=True):
                point[i] = value
            points.add(tuple(point))
        return tuple(sorted(points))

    @cached_property
    def _volume(self) -> Fraction | float:
        if self.pinned:
            return Fraction(0)
        if self.free:
            return math.inf
        n = len(self._live)
        terms = [(z**n, d * math.prod(gamma)) for _, d, z, gamma in self._corners]
        if self.problem.is_rational:
            total = sum((Fraction(top, bottom) for top, bottom in terms), start=Fraction(0))
        else:
            # Sums of fractions of floats get very long. The region contains the simplex of the largest
            # loads, so a fixed point 64 bits below that leaves a relative error of 2^-64 at most.
            size = math.floor(np.log2(self.max_scale(np.eye(n))).sum())
            bits = max(0, 64 + len(terms).bit_length() - size)
            total = Fraction(sum((top << bits) // bottom for top, bottom in terms), 1 << bits)
        return total / math.factorial(n)


def integer_rows(problem: Problem, classes: list[int], resources: Any) -> list[list[int]]:
    """Rows (demands of the classes, capacity), one per resource, scaled to integers without common factor."""
    if problem.is_rational:
        demands, capacities = problem.as_fractions()
    else:
        demands = [[Fraction(v) for v in row] for row in problem.demands.tolist()]
        capacities = [Fraction(v) for v in problem.capacities.tolist()]
    rows = []
    for j in resources:
        row = [*(demands[i][j] for i in classes), capacities[j]]
        common = math.lcm(*(v.denominator for v in row))
        whole = [int(v * common) for v in row]
        divisor = math.gcd(*whole)
        rows.append([v // divisor for v in whole])
    return rows


def float_points(points: Sequence[Sequence[Fraction]], rational: bool) -> FloatArray:
    """Points as floats, (n_points, n_classes); in a model of floats neighbours by rounding are one."""
    array = np.array([[float(v) for v in point] for point in points])
    if rational or len(array) == 1:
        return array
    top = array.max(axis=0)
    pairs = cKDTree(array / np.where(top > 0, top, 1.0)).query_pairs(MERGE, output_type="ndarray")
    return np.delete(array, np.unique(pairs.max(axis=1)) if len(pairs) else [], axis=0)


def inequality(normal: Sequence[float], offset: float, job_classes: Sequence[str]) -> str:
    """A facet as a person writes it."""
    terms = (
        f"{'' if a == 1 else f'{a:g} '}[{name}]" for a, name in zip(normal, job_classes, strict=True) if a > 0
    )
    return f"{' + '.join(terms)} < {offset:g}"


def pool_stability_region(problem: Problem, *, max_vertices: int = 20_000) -> StabilityRegion:
    """Polytope of the class loads that a pool can carry.

    Parameters
    ----------
    problem : Problem
        Give demands and capacities as integers or fractions to get exact vertices and volume.
    max_vertices : int
        Give up the enumeration of vertices, with an error, beyond this number; a degenerate vertex, where
        more facets meet than there are classes, counts as several. Facets, ``contains``, ``slack`` and
        ``max_scale`` never need it.

    Returns
    -------
    StabilityRegion

    Raises
    ------
    ModelError
        If max_vertices is not positive.

    Examples
    --------
    >>> from fairness import Problem
    >>> region = pool_stability_region(Problem([[10, 1], [1, 10]], [1, 1], resources=["cpu", "ram"]))
    >>> region
    StabilityRegion of 2 classes: loads >= 0 (tasks) with
      10 [class 1] + [class 2] < 1  (cpu)
      [class 1] + 10 [class 2] < 1  (ram)
    >>> [tuple(map(str, vertex)) for vertex in region.exact_vertices]
    [('0', '0'), ('0', '1/10'), ('1/11', '1/11'), ('1/10', '0')]
    >>> region.exact_volume, region.contains([0.05, 0.05])
    (Fraction(1, 110), True)
    """
    if not isinstance(max_vertices, numbers.Integral) or max_vertices < 1:
        raise ModelError(f"max_vertices must be a positive integer; got {max_vertices!r}")
    pinned = tuple(int(i) for i in np.flatnonzero(problem.blocked))
    free = tuple(int(i) for i in np.flatnonzero(~problem.demands.any(axis=1)))
    live = [i for i in range(problem.n_classes) if i not in pinned + free]
    kept = [int(j) for j in np.flatnonzero(problem.capacities > 0)]
    rows = dict(zip(kept, integer_rows(problem, live, kept), strict=True))
    tolerance = Fraction(0) if problem.is_rational else Fraction(ROUNDING)
    redundant = []
    for j in reversed(rows):
        *normal, capacity = rows[j]
        others = [rows[k] for k in kept if k != j]
        most = maximum(others, normal)
        if most is not None and most <= capacity * (1 + tolerance):
            redundant.append(j)
            kept.remove(j)
    return StabilityRegion(problem, tuple(kept), tuple(reversed(redundant)), pinned, free, max_vertices)
