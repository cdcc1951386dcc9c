r"""Sections of regions: which loads of a few classes fit while those of the others stay where they are.

With the loads :math:`\rho_R` of the other classes fixed, the section is the monotone polytope

.. math:: \{x \ge 0 : (x, \rho_R) \in P\}.

*A pool's* section is the region of a pool with the capacities that the others leave, :math:`C - \rho_R a_R`:
exact where the region is. *Other regions* are only known by relative loads, each with prices v that prove it
(:meth:`~capacity.results.StabilityRegion.judge`): loads in P have :math:`v\cdot\rho \le 1`. So where loads do
not fit, their prices cut them off,

.. math:: v_S\cdot x \le 1 - v_R\cdot\rho_R,

and the next point on the same ray is where it meets this plane: Newton's method for the convex function
:math:`t \mapsto u(tx, \rho_R)`, which ends at a plane that supports the section. The vertices of the planes
found so far are asked one after the other, until all of them fit. The planes contain the section, and
exceed it by at most 1e-8 of the relative load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import HalfspaceIntersection

from capacity.regions.divisible_tasks import PoolRegion
from capacity.regions.load_region import LoadRegion, check_region
from capacity.regions.loads import checked_loads
from fairness.arguments.labels import as_named
from fairness.arguments.plain import near
from fairness.arguments.validation import FloatArray, frozen, rationals
from fairness.errors import ModelError
from fairness.machine.work import OutOfTime, Task, stopped, watching
from fairness.model.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RegionSection", "region_section"]

TOLERANCE = 1e-8
"""Loads fit if their relative load exceeds 1 by less than this: what solvers prove is known to 1e-9."""

NAMED = 10
"""Classes that a message names."""

SHOWN = 6
"""Classes with fixed loads that a summary names."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RegionSection(PoolRegion):
    """Loads of some classes that fit beside given loads of the others; made by :func:`region_section`.

    It answers as the stability region of a pool of these classes: facets, vertices, volume, ``contains``,
    ``max_scale``, ``plot``. Relative loads are parts of what the other classes leave.

    Attributes
    ----------
    model : Problem
        Pool of the classes of the section: the resources with the capacities that the others leave, or one
        virtual resource per facet.
    region : LoadRegion
        What the section is of.
    loads : ndarray of shape (region.n_classes,), tasks
        Loads of the other classes; nan for those of the section.
    """

    region: LoadRegion = field(kw_only=True)
    loads: FloatArray = field(kw_only=True)

    _called = "RegionSection"

    def summary(self) -> str:
        """The inequalities that bound the section, and the loads of the other classes."""
        names, fixed = self.region.job_classes, np.nan_to_num(self.loads)
        busy = np.flatnonzero(fixed)
        told = ", ".join(f"{names[n]} {fixed[n]:.4g}" for n in busy[:SHOWN])
        if len(busy) > SHOWN:
            told = f"{len(busy)} classes with {fixed.sum():.4g} tasks in all"
        return f"{super().summary()}\n  beside fixed loads: {told or 'none'}"

    def plot(self, ax: Axes | None = None, loads: ArrayLike | None = None) -> Axes:
        """Draw a section of two or three classes, as :meth:`StabilityRegion.plot` does."""
        axes = super().plot(ax, loads)
        busy = int((self.loads > 0).sum())
        axes.set_title(f"beside fixed loads of {busy} {'class' if busy == 1 else 'classes'}")
        return axes


def region_section(
    region: LoadRegion, job_classes: Sequence[str | int], loads: ArrayLike | None = None
) -> RegionSection:
    """Loads of some classes that fit while the other classes keep the given loads.

    Parameters
    ----------
    region : StabilityRegion or PackingRegion
        Of a pool or a cluster, with any number of classes.
    job_classes : sequence of str or int
        The classes of the section, by name or number: any of a pool, up to three of others. Two or three
        can be drawn.
    loads : array_like of shape (n_classes,), optional, tasks
        Loads >= 0 that fit, such as a mix times a factor; those of the section's classes do not matter.
        Default: 0.

    Returns
    -------
    RegionSection

    Raises
    ------
    ModelError
        If a class is unknown or named twice, or the other classes' loads do not fit by themselves.
    NotConvergedError
        If the time limit of the region is over.

    Examples
    --------
    Three routes over two links, and what is left for two of them while the third has a load of 1/2:

    >>> from capacity import stability_region
    >>> region = stability_region(Problem([[1, 1], [1, 0], [0, 1]], [2, 1], job_classes=["long", "A", "B"]))
    >>> region_section(region, ["A", "B"], [0.5, 0, 0])
    RegionSection of 2 classes: loads >= 0 (tasks) with
      [A] < 1.5  (resource 1)
      [B] < 0.5  (resource 2)
      beside fixed loads: long 0.5
    """
    check_region(region)
    chosen = _numbers(region.job_classes, job_classes)
    given: Any = [0] * region.n_classes if loads is None else loads
    fixed = checked_loads(region.model, given, batch=False, least=0).copy()
    fixed[chosen] = 0.0
    taken = float(region.judge(fixed).relative_load)
    if taken >= 1:
        raise ModelError.of(
            "loads",
            f"of the other classes do not fit by themselves: their relative load is {taken:.6g}; make them "
            "smaller",
        )
    if isinstance(region, PoolRegion):
        model = _left(region.model, chosen, given)
    else:
        model = _enclosing(region, chosen, fixed)
    shown = fixed.copy()
    shown[chosen] = np.nan
    limits: dict[str, Any] = {"max_facets": region.max_facets, "progress": region.progress}
    limits |= {"time_limit": region.time_limit, "max_vertices": getattr(region, "max_vertices", 20_000)}
    return RegionSection(model, region=region, loads=frozen(shown), **limits)


def _numbers(names: Sequence[str], job_classes: Sequence[str | int]) -> list[int]:
    """Classes by number."""
    if isinstance(job_classes, str) or not len(job_classes):
        raise ModelError.of("job_classes", f"must list classes by name or number; got {job_classes!r}")
    chosen = []
    for one in job_classes:
        known = names.index(one) if one in names else one
        if isinstance(known, bool) or not isinstance(known, int | np.integer) or not 0 <= known < len(names):
            listed = ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
            told = f"has {one!r}, but the classes are {listed}"
            raise ModelError.of("job_classes", "; ".join(filter(None, [told, near(str(one), names, "")])))
        chosen.append(int(known))
    if len(set(chosen)) < len(chosen):
        raise ModelError.of("job_classes", f"must be different classes; got {list(job_classes)!r}")
    return chosen


def _left(pool: Problem, chosen: list[int], loads: Any) -> Problem:
    """The chosen classes with what the others leave of each resource; exact where all is given so."""
    others = [n for n in range(pool.n_classes) if n not in chosen]
    given = np.array(as_named("loads", loads, pool, "job_classes"), dtype=object)
    given[chosen] = 0  # they do not matter
    exact = rationals(given)
    if pool.is_rational and exact is not None:
        demands, capacities = pool.as_fractions()
        left: Any = [c - sum(exact[n] * demands[n][j] for n in others) for j, c in enumerate(capacities)]
        kept: Any = [demands[n] for n in chosen]
    else:
        rho = given.astype(float)
        # Rounding may take a capacity that the others nearly fill below 0.
        left = np.maximum(pool.capacities - rho[others] @ pool.demands[others], 0.0)
        kept = pool.demands[chosen]
    names = [pool.job_classes[n] for n in chosen]
    return Problem(kept, left, limits=pool.limits[chosen], job_classes=names, resources=pool.resources)


def _enclosing(region: LoadRegion, chosen: list[int], fixed: FloatArray) -> Problem:
    """One virtual resource of capacity 1 per plane that encloses the section."""
    k, names = len(chosen), [region.job_classes[n] for n in chosen]
    if k > 3:
        raise ModelError.of("job_classes", f"must be at most three classes of such a region; got {k}")
    stuck = [region.job_classes[n] for n in chosen if n in region.pinned]
    if stuck:
        raise ModelError.of(
            "job_classes", f"has {stuck[0]!r}, of which no server can run a task; leave it out"
        )
    # Loads in units of the largest of each class.
    unit = region.max_scale(np.eye(region.n_classes)[chosen])
    planes: list[FloatArray] = []

    def fits(point: FloatArray) -> bool:
        """Whether a point fits; if not, planes cut it off."""
        loads, part, begun = fixed.copy(), 1.0, len(planes)
        while True:
            loads[chosen] = part * point * unit
            seen = region.judge(loads)
            if seen.relative_load <= 1.0 + TOLERANCE:
                return len(planes) == begun
            prices = np.where(np.isfinite(seen.prices), seen.prices, 0.0)
            plane = prices[chosen] * unit / (1.0 - prices @ fixed)
            shorter = 1.0 / float(plane @ point)
            if not shorter < part:
                return len(planes) == begun
            planes.append(plane)
            part = shorter
            work.advance()

    known: list[FloatArray] = []
    work = Task("the section of the region", 8 * 3**k, "planes")
    try:
        with watching(region.progress, region.time_limit), work:
            for axis in np.eye(k):
                fits(2.0 * axis)
            while True:
                open_ones = [v for v in _vertices(np.array(planes)) if not _near(v, known)]
                if not open_ones:
                    break
                if len(planes) > region.max_facets:
                    raise ModelError(
                        f"the section has more than {region.max_facets:,} facets; leave out a class"
                    )
                if fits(open_ones[0]):
                    known.append(open_ones[0])
    except (OutOfTime, KeyboardInterrupt) as stop:
        raise stopped(stop, f"{len(planes)} planes around the section are known", None) from None
    rows = np.array(planes) / unit
    return Problem(
        rows.T, np.ones(len(rows)), job_classes=names, resources=[f"facet {j + 1}" for j in range(len(rows))]
    )


def _near(point: FloatArray, known: list[FloatArray]) -> bool:
    return any(np.abs(point - other).max() < TOLERANCE for other in known)


def _vertices(planes: FloatArray) -> FloatArray:
    """Vertices other than the origin of {x >= 0: planes x <= 1}, in increasing order."""
    k = planes.shape[1]
    if k == 1:
        return np.array([[1.0 / planes.max()]])
    halfspaces = np.vstack([np.c_[planes, -np.ones(len(planes))], np.c_[-np.eye(k), np.zeros(k)]])
    inside = np.full(k, 0.5 / planes.sum(axis=1).max())
    corners = HalfspaceIntersection(halfspaces, inside).intersections
    corners = np.unique(np.maximum(corners, 0.0).round(12), axis=0)
    return corners[corners.max(axis=1) > TOLERANCE]
