r"""The stability region of a policy: the loads at which this policy, good or bad, keeps the jobs in check.

Max-min fair and proportionally fair policies reach every load that fits
(:mod:`capacity.regions.divisible_tasks`); others lose part of it, efficient ones (strict priorities) among
them. A policy may also waste resources and lose nothing: progressive filling that stops at the first full
resource is stable wherever any policy is (:mod:`queueing.fluid.lyapunov`), since the proportions of the
jobs adapt. Loss comes from shares that do not adapt: priorities, fixed partitions.

The boundary is found on rays (:mod:`capacity.boundaries.policy_rays`), more of them where it bends
(:mod:`capacity.boundaries.rays`). Each point is a bracket: stable inside, unstable outside, in the fluid
limit or, for schedulers of whole tasks, by a test on simulated runs. On chosen rays the random system
confirms it. All this is numerical evidence, and proof only where the evidence of a point says so: at load 1,
and below it for policies with a known Lyapunov function (:mod:`queueing.fluid.verdict`).

The lost share compares volumes on the same mesh: rays cut off at the policy's boundary against the same rays
cut off at that of the optimal region. A region need not be star-shaped for a bad policy: it is the part
of each ray up to the first change of sign that was seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from capacity.boundaries.policy_rays import PolicyPoint, PolicyRays
from capacity.boundaries.rays import mesh, simplex_grid, split, volume
from capacity.boundaries.region import RayRegion
from fairness.arguments.validation import frozen, require_whole
from fairness.display.notebook import shown
from fairness.errors import ModelError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import Policy
from queueing.simulation.tasks.schedulers import Scheduler

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PolicyPoint", "PolicyRegion", "policy_stability_boundary", "policy_stability_region"]

GAP = 0.1
"""Default distance of the confirming tests from the bracket, as a part of the load."""


@dataclass(frozen=True, eq=False, repr=False)
class PolicyRegion(RayRegion):
    """Loads at which a policy is stable; made by :func:`policy_stability_region`.

    Numerical evidence, and proof only where ``evidence`` of a point says so.

    Attributes
    ----------
    problem : Problem or Cluster
    policy : str
    precision : float
        Largest width asked of a bracket.
    points : tuple of PolicyPoint
    faces : ndarray of shape (n_faces, n_classes)
        Neighbouring points, by index: segments for two classes, triangles for three.
    """

    problem: Problem | Cluster
    policy: str
    precision: float
    points: tuple[PolicyPoint, ...]
    faces: NDArray[np.intp]
    _rays: PolicyRays = field(repr=False)

    @cached_property
    def optimal_volume(self) -> float:
        """Volume of the optimal region on the same rays, tasks to the power n_classes."""
        return volume(self.directions, self.faces)

    @cached_property
    def lost_share(self) -> float:
        """Part of the optimal region that the policy loses, from the inner ends of the brackets."""
        return 1.0 - self.volume / self.optimal_volume

    @cached_property
    def lost_at_least(self) -> float:
        """The same from the outer ends of the brackets."""
        outer = np.array([p.outer for p in self.points])[:, None] * self.directions
        return 1.0 - volume(outer, self.faces) / self.optimal_volume

    def to_dataframe(self) -> pd.DataFrame:
        """One row per point: class loads, bracket, evidence, and whether tests of the random system agree."""
        frame = pd.DataFrame(self.loads, columns=[f"load {name}" for name in self.problem.job_classes])
        frame.index.name = "point"
        for name in ("inner", "outer", "evidence", "outer_evidence", "confirmed", "evaluations"):
            frame[name] = [getattr(p, name) for p in self.points]
        return frame

    def summary(self) -> str:
        """The size of the region, what is lost, the evidence."""
        widest = max(p.outer - p.inner for p in self.points)
        lines = [
            f"PolicyRegion of {self.policy}: volume {self.volume:.6g}, of {self.optimal_volume:.6g} "
            f"that fit; {100 * self.lost_at_least:.3g} to {100 * self.lost_share:.3g} % are lost",
            f"  {len(self.points)} boundary points at {self.relative_loads.min():.6g} to "
            f"{self.relative_loads.max():.6g} of the largest load; brackets at most {widest:.1e} wide",
        ]
        proofs = sum("proved" in p.evidence for p in self.points)
        if proofs < len(self.points):
            lines.append(f"  numerical evidence, no proof, inside {len(self.points) - proofs} of the points")
        tested = [p for p in self.points if p.tests]
        if tested:
            agree = sum(bool(p.confirmed) for p in tested)
            lines.append(
                f"  the random system agrees on both sides of {agree} of {len(tested)} points ("
                f"{self._rays.confirm})"
            )
        return "\n".join(lines)

    _repr_html_ = shown()

    def __repr__(self) -> str:
        return self.summary()

    def _label(self) -> str:
        return f"{self.policy} ({100 * self.lost_share:.3g} % lost)"

    def _mark(self, ax: Axes) -> None:
        """Where the random system was asked as well."""
        for says, marker in (("settles", "o"), ("grows", "x")):
            spots = [t.relative_load * p.direction for p in self.points for t in p.tests if t.says == says]
            if spots:
                ax.plot(*np.array(spots).T, marker, color="C1", label=f"random system {says}")


def policy_stability_boundary(
    problem: Problem | Cluster,
    policy: Policy | Scheduler,
    direction: ArrayLike,
    *,
    mean_sizes: ArrayLike = 1.0,
    precision: float = 1e-4,
    confirm: str | None = None,
    gap: float = GAP,
    **options: Any,
) -> PolicyPoint:
    """Where one ray leaves the stability region of a policy; any number of classes.

    Parameters
    ----------
    direction : array_like of shape (n_classes,)
        Class loads, on any scale; >= 0. Classes with entry 0 have no arrivals.
    problem, policy, mean_sizes, precision, confirm, gap, **options
        As in :func:`policy_stability_region`.

    Returns
    -------
    PolicyPoint
        Loads in tasks, bracketed: stable at the inner end, unstable at the outer one.

    Raises
    ------
    ModelError, NotConvergedError
        As in :func:`policy_stability_region`.

    Examples
    --------
    Each of four classes owns a quarter of one resource, used or not.

    >>> from fairness import Problem
    >>> quarters = lambda problem, counts: 0.25 * (np.asarray(counts) > 0)
    >>> point = policy_stability_boundary(Problem([[1]] * 4, [1]), quarters, [1, 2, 0, 1])
    >>> point.loads.round(3)
    array([0.125, 0.25 , 0.   , 0.125])
    """
    rays = PolicyRays(problem, policy, mean_sizes, precision, confirm, gap, options)
    point = rays.point(rays.scaled(direction))
    return point if confirm is None else rays.confirmed(point)


def policy_stability_region(
    problem: Problem | Cluster,
    policy: Policy | Scheduler,
    *,
    mean_sizes: ArrayLike = 1.0,
    points: int = 40,
    precision: float = 1e-4,
    confirm: str | None = None,
    confirm_points: int = 3,
    gap: float = GAP,
    **options: Any,
) -> PolicyRegion:
    """Loads at which a policy is stable, and what it loses against the optimal region; numerical evidence.

    Parameters
    ----------
    problem : Problem or Cluster
        Two or three classes (one works too); for more take :func:`policy_stability_boundary`.
    policy : policy or scheduler
        A policy that depends on the proportions of the counts only (on a Cluster a cluster policy), judged by
        its fluid limit, or a scheduler of whole tasks, judged by simulation.
    mean_sizes : array_like of shape (n_classes,) or float, task-time per job
        Matters for some policies that are not efficient.
    points : int
        Boundary points, at least 3 (10 for three classes, for one inside). A third of them (half for three
        classes) is spread evenly, the corners of the optimal region are added, and the others go where
        the boundary bends.
    precision : float
        Largest width of a bracket, as a part of the largest load; a scheduler's may stay wider.
    confirm : {None, "chain", "simulation"}
        Test the random system on both sides of some points (:mod:`capacity.boundaries.growth_tests`).
    confirm_points : int
        How many, spread over the points where all classes have a load.
    gap : float
        The tests are at loads (1 - gap) inner and (1 + gap) outer.
    **options
        Passed to :func:`queueing.fluid.verdict.fluid_verdict` (starts, rng, max_evaluations, theorems), or,
        for a scheduler, to :func:`capacity.boundaries.growth_tests.simulation_test` (events, replications,
        confidence, rng).

    Returns
    -------
    PolicyRegion

    Raises
    ------
    ModelError
        If an argument is wrong, there are more than three classes, a job class has a limit of tasks, or the
        policy depends on more than proportions.
    NotConvergedError
        If a verdict is undecided away from the boundary; the message names the ray and the load.

    Examples
    --------
    Two classes that own half of a resource each: used or not, or handed to the other when not used.

    >>> from fairness import DRF, Problem
    >>> pool = Problem([[1], [1]], [1])
    >>> halves = lambda problem, counts: 0.5 * (np.asarray(counts) > 0)
    >>> region = policy_stability_region(pool, halves, points=12)
    >>> round(region.lost_share, 3)
    0.5
    >>> round(policy_stability_region(pool, DRF(), points=12).lost_share, 3)
    0.0
    """
    rays = PolicyRays(problem, policy, mean_sizes, precision, confirm, gap, options)
    n = problem.n_classes
    if n > 3:
        raise ModelError(
            f"a whole region needs at most 3 classes, but there are {n}; take policy_stability_boundary for "
            "one ray"
        )
    require_whole("points", points, {1: 1, 2: 3, 3: 10}[n])
    require_whole("confirm_points", confirm_points, 1)
    largest = np.array([rays.scaled(axis).max() for axis in np.eye(n)])
    weights = _first(simplex_grid(n, points // 3 if n == 2 else max(10, points // 2)), rays, largest)
    found = [rays.point(rays.scaled(w * largest)) for w in weights]
    least = 0.25 / points ** (1.0 / max(1, n - 1))
    while n > 1 and len(found) < points:
        new = split(weights, np.array([p.loads for p in found]) / largest, least)
        if new is None:
            break
        weights = np.vstack([weights, new])
        found.append(rays.point(rays.scaled(new * largest)))
    if n == 2:
        order = np.argsort(weights[:, 1], kind="stable")
        weights, found = weights[order], [found[k] for k in order]
    if confirm is not None:
        full = [k for k, p in enumerate(found) if (p.direction > 0).all()] or [0]
        for k in np.unique(np.linspace(0, len(full) - 1, confirm_points + 2).round().astype(int)[1:-1]):
            found[full[k]] = rays.confirmed(found[full[k]])
    return PolicyRegion(
        problem, rays.name, float(precision), tuple(found), frozen(mesh(weights)), rays
    )  # fmt: skip


def _first(grid: FloatArray, rays: PolicyRays, largest: FloatArray) -> FloatArray:
    """The grid and the corners of the optimal region, so that its edges are drawn as they are."""
    if len(largest) == 1:
        return grid
    corners = rays.region.vertices
    corners = corners[corners.any(axis=1)] / largest
    corners = corners / corners.sum(axis=1, keepdims=True)
    apart = [w for w in corners if np.abs(grid - w).max(axis=1).min() > 1e-6]
    return np.vstack([grid, *apart])
