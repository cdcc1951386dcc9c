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

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from capacity.boundaries.policy_rays import PolicyPoint, PolicyRays
from capacity.boundaries.rays import volume
from capacity.boundaries.region import RayRegion, traced
from fairness.arguments.validation import require_whole
from fairness.machine.work import ProgressOption, watching
from fairness.model.cluster import Cluster
from fairness.model.problem import Problem
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.simulation.tasks.schedulers import Scheduler
from queueing.waiting.whole_jobs import Order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PolicyPoint", "PolicyRegion", "policy_stability_boundary", "policy_stability_region"]

GAP = 0.1
"""Default distance of the confirming tests from the bracket, as a part of the load."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PolicyRegion(RayRegion):
    """Loads at which a policy is stable; made by :func:`policy_stability_region`.

    Numerical evidence, and proof only where ``evidence`` of a point says so. What the points span is an inner
    approximation, flat between the rays; ``contains`` asks for a verdict.

    Attributes
    ----------
    problem : Problem or Cluster
    policy : policy or scheduler
    mean_sizes : ndarray of shape (n_classes,)
    precision : float
        Largest width asked of a bracket.
    confirm : {None, "chain", "simulation"}
    gap : float
    options : dict
        Of the verdicts or the tests.
    points : tuple of PolicyPoint
    faces : ndarray of shape (n_faces, n_classes)
        Neighbouring points, by index: segments for two classes, triangles for three.
    """

    policy: AnyPolicy | Scheduler | Order
    confirm: str | None = None
    gap: float = GAP
    options: dict[str, Any] = field(default_factory=dict)

    def _engine(self) -> PolicyRays:
        return PolicyRays(
            self.problem, self.policy, self.mean_sizes, self.precision, self.confirm, self.gap, self.options
        )

    @property
    def name(self) -> str:
        """Name of the policy."""
        return str(self._rays.name)

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

    def _columns(self) -> list[tuple[str, Sequence[Any]]]:
        names = ("evidence", "outer_evidence", "confirmed", "evaluations")
        return [(name, [getattr(p, name) for p in self.points]) for name in names]

    def summary(self) -> str:
        """The size of the region, what is lost, the evidence."""
        widest = max(p.outer - p.inner for p in self.points)
        lines = [
            f"PolicyRegion of {self.name}: volume {self.volume:.6g}, of {self.optimal_volume:.6g} "
            f"that fit; {100 * self.lost_at_least:.3g} to {100 * self.lost_share:.3g} % are lost",
            f"  inner approximation by {len(self.points)} boundary points at "
            f"{self.relative_loads.min():.6g} to {self.relative_loads.max():.6g} of the largest load; "
            f"brackets at most {widest:.1e} wide",
        ]
        if (cut := self.points[0].tasks) is not None:
            lines.append(f"  tasks of a job: {cut.law}, {cut.times} times")
        proofs = sum("proved" in p.evidence for p in self.points)
        if proofs < len(self.points):
            lines.append(f"  numerical evidence, no proof, inside {len(self.points) - proofs} of the points")
        tested = [p for p in self.points if p.tests]
        if tested:
            agree = sum(bool(p.confirmed) for p in tested)
            lines.append(
                f"  the random system agrees on both sides of {agree} of {len(tested)} points ("
                f"{self.confirm})"
            )
        return "\n".join(lines)

    @property
    def _painted(self) -> str:
        return self.name

    def _label(self) -> str:
        return f"{self.name} ({100 * self.lost_share:.3g} % lost)"

    def _mark(self, ax: Axes) -> None:
        """Where the random system was asked as well."""
        for says, marker in (("settles", "o"), ("grows", "x")):
            spots = [t.relative_load * p.direction for p in self.points for t in p.tests if t.says == says]
            if spots:
                ax.plot(*np.array(spots).T, marker, color="black", label=f"random system {says}")


def policy_stability_boundary(
    problem: Problem | Cluster,
    policy: AnyPolicy | Scheduler | Order,
    direction: ArrayLike,
    *,
    mean_sizes: ArrayLike = 1.0,
    precision: float | None = None,
    confirm: str | None = None,
    gap: float = GAP,
    progress: ProgressOption = None,
    time_limit: float | None = None,
    **options: Any,
) -> PolicyPoint:
    """Where one ray leaves the stability region of a policy; any number of classes.

    Parameters
    ----------
    direction : array_like of shape (n_classes,)
        Class loads, on any scale; >= 0. Classes with entry 0 have no arrivals.
    problem, policy, mean_sizes, precision, confirm, gap, progress, time_limit, **options
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
    with watching(progress, time_limit):
        point = rays.point(rays.scaled(direction))
        return point if confirm is None else rays.confirmed(point)


def policy_stability_region(
    problem: Problem | Cluster,
    policy: AnyPolicy | Scheduler | Order,
    *,
    mean_sizes: ArrayLike = 1.0,
    points: int = 40,
    precision: float | None = None,
    confirm: str | None = None,
    confirm_points: int = 3,
    gap: float = GAP,
    progress: ProgressOption = None,
    time_limit: float | None = None,
    **options: Any,
) -> PolicyRegion:
    """Loads at which a policy is stable, and what it loses against the optimal region; numerical evidence.

    Parameters
    ----------
    problem : Problem or Cluster
        Two or three classes (one works too); for more take :func:`policy_stability_boundary`.
    policy : policy or scheduler or Order
        A policy that depends on the proportions of the counts only (on a Cluster a cluster policy), judged by
        its fluid limit; a scheduler of whole tasks, judged by simulation; or an order of whole jobs, by what
        is known of it (:mod:`queueing.waiting.saturation`), or else by simulation as well.
    mean_sizes : array_like of shape (n_classes,) or float, task-time per job
        Matters for some policies that are not efficient.
    points : int
        Boundary points, at least 3 (10 for three classes, for one inside). A third of them (half for three
        classes) is spread evenly, the corners of the optimal region are added, and the others go where
        the boundary bends.
    precision : float, optional
        Largest width of a bracket, as a part of the largest load. Default: 1e-4; of a scheduler 0.02, and
        its bracket may stay wider.
    confirm : {None, "chain", "simulation"}
        Test the random system on both sides of some points (:mod:`capacity.boundaries.growth_tests`).
    confirm_points : int
        How many, spread over the points where all classes have a load.
    gap : float
        The tests are at loads (1 - gap) inner and (1 + gap) outer.
    progress, time_limit
        As in :func:`capacity.service_region`.
    **options
        Of a policy those of :func:`queueing.fluid_verdict`: starts, rng, max_evaluations, theorems. Of a
        scheduler those of :func:`capacity.boundaries.growth_tests.simulation_test`: events, replications,
        confidence, rng, and ``tasks``, a :class:`queueing.Tasks` as in :func:`queueing.simulate`, for where a
        scheduler is stable depends on how jobs are cut. Default: ``Tasks(per_job=10)``, a geometric number of
        exponential tasks.

    Returns
    -------
    PolicyRegion

    Raises
    ------
    ModelError
        If an argument is wrong, there are more than three classes, a job class has a limit of tasks, or the
        policy depends on more than proportions.
    NotConvergedError
        If a verdict is undecided away from the boundary (the message names the ray and the load), or the
        time is over. ``best`` is the region of the points found by then, None where they span none.

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
    require_whole("confirm_points", confirm_points, 1)
    build = partial(
        PolicyRegion, problem=problem, policy=policy, mean_sizes=rays.mean_sizes, precision=rays.precision,
        confirm=confirm, gap=rays.gap, options=options,
    )  # fmt: skip
    region = traced(rays, points, build, progress, time_limit)
    if confirm is None:
        return region
    found = list(region.points)
    full = [k for k, p in enumerate(found) if (p.direction > 0).all()] or [0]
    with watching(progress, time_limit):
        for k in np.unique(np.linspace(0, len(full) - 1, confirm_points + 2).round().astype(int)[1:-1]):
            found[full[k]] = rays.confirmed(found[full[k]])
    return replace(region, points=tuple(found))
