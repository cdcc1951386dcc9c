r"""The boundary of the stability of a policy on one ray.

Along the ray of a direction the load is measured by the part u of the largest load that any policy carries.
The fluid verdict (:mod:`queueing.fluid.verdict`) says at each u whether the policy is stable, and how fast
jobs drain along the slowest invariant direction: that rate is the margin whose first change of sign is
bracketed (:mod:`capacity.boundaries.rays`). It is almost linear in u, so few verdicts are needed.

Schedulers of whole tasks have no fluid limit here: runs of different lengths are compared instead
(:mod:`capacity.boundaries.growth_tests`), by bisection, until the bracket is narrow or the test stays open
on both sides of some load, which leaves the bracket wider. For most orders of whole jobs the boundary itself
is known (:mod:`queueing.waiting.saturation`); others are schedulers of jobs of one task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from capacity.boundaries.growth_tests import TASKS, GrowthTest, chain_test, simulation_test
from capacity.boundaries.rays import Crossing, crossing
from capacity.boundaries.region import RayPoint, Rays
from fairness.arguments.plain import near
from fairness.arguments.validation import frozen, require_number
from fairness.display.storage import LATER
from fairness.errors import ModelError, NotConvergedError
from fairness.model.cluster import Cluster
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import policy_name
from queueing.fluid.verdict import FluidVerdict, fluid_verdict
from queueing.model.system import System
from queueing.simulation.tasks.options import Tasks
from queueing.simulation.tasks.schedulers import is_scheduler, order_scheduler
from queueing.waiting.saturation import saturate
from queueing.waiting.whole_jobs import Order

__all__ = ["PolicyPoint", "PolicyRays"]

CRITICAL = 1e-7
"""Growth, over the arrival rate, that an undecided verdict may have to count as the boundary itself."""

ROUNDING = 1e-12
"""By what part of a boundary that is known its floats may be off."""

LONGER = (1, 4, 16)
"""Lengths of the runs of a scheduler, over those that come first."""

PRECISIONS = {False: 1e-4, True: 0.02}
"""Width of a bracket unless another is asked for: of a policy, and of a scheduler."""

OPTIONS = {
    False: ("starts", "rng", "max_evaluations", "theorems"),
    True: ("tasks", "events", "replications", "confidence", "rng"),
}
"""Options of a verdict on a policy, and of a test of a scheduler."""

EDGES = {0.0: "empty system", 1.0: "load 1: no policy is stable (proof)"}
"""Evidence that needs no computation."""


@dataclass(frozen=True, eq=False)
class PolicyPoint(RayPoint):
    """Where one ray leaves the region of stability, with the evidence.

    Attributes
    ----------
    direction : ndarray of shape (n_classes,), tasks
        The ray, scaled to the largest load that any policy carries.
    inner, outer : float
        Parts of that load: stable at ``inner`` (or it is 0), not at ``outer`` (or it is 1).
    evidence : str
        What the verdict at the inner end rests on.
    outer_evidence : str
        The same at the outer end.
    evaluations : int
        Verdicts.
    tests : tuple of GrowthTest
        Of the random system, somewhat inside and somewhat outside of the bracket.
    tasks : Tasks or None
        Under a scheduler, how jobs are cut into tasks.
    """

    evidence: str
    outer_evidence: str
    evaluations: int
    tests: tuple[GrowthTest, ...] = ()
    tasks: Tasks | None = field(default=None, metadata=LATER)

    @property
    def confirmed(self) -> bool | None:
        """Whether all tests agree with the bracket; None without tests."""
        if not self.tests:
            return None
        middle = (self.inner + self.outer) / 2
        return all(t.says == ("settles" if t.relative_load < middle else "grows") for t in self.tests)


class PolicyRays(Rays):
    """The verdicts on rays."""

    single, least = "policy_stability_boundary", {1: 1, 2: 3, 3: 10}

    def __init__(
        self,
        problem: Problem | Cluster,
        policy: Any,
        mean_sizes: ArrayLike,
        precision: float | None,
        confirm: str | None,
        gap: float,
        options: dict[str, Any],
    ) -> None:
        self.order, name = None, getattr(policy, "name", None)
        if isinstance(policy, Order) and (policy.by_counts or policy.has_front):
            self.order = policy
        elif isinstance(policy, Order):
            policy, options = order_scheduler(policy, problem), {"tasks": Tasks(per_job=1), **options}
        self.scheduler = is_scheduler(policy) and self.order is None
        super().__init__(problem, PRECISIONS[self.scheduler] if precision is None else precision)
        gap = require_number("gap", gap, above=0, below=1, hint=", a relative load")
        if confirm not in (None, "chain", "simulation"):
            raise ModelError.of("confirm", f"must be None, 'chain' or 'simulation'; got {confirm!r}")
        if not (self.scheduler or self.order or callable(policy)):
            raise ModelError.of("policy", f"must be a policy or a scheduler of tasks; got {policy!r}")
        if self.scheduler and confirm is not None:
            raise ModelError("schedulers are judged by simulation already; leave confirm out")
        if self.order and (confirm is not None or options):
            name = "confirm" if confirm is not None else next(iter(options))
            raise ModelError.of(
                name, f"is not for {self.order.name}, of which the boundary is known; leave it out"
            )
        for name in options:
            if name not in OPTIONS[self.scheduler]:
                raise ModelError.of(
                    name,
                    f"is no option of {'a scheduler' if self.scheduler else 'a policy'}; "
                    f"{near(name, OPTIONS[self.scheduler])}",
                )
        self.tasks = options.get("tasks", TASKS) if self.scheduler else None
        if not isinstance(self.tasks, Tasks | None):
            raise ModelError.of("tasks", f"must be Tasks such as Tasks(per_job=1); got {self.tasks!r}")
        self.policy = policy
        self.name = name if self.scheduler or self.order else policy_name(policy)
        self.mean_sizes = System(problem, np.zeros(problem.n_classes), mean_sizes).mean_sizes
        self.confirm, self.gap, self.options = confirm, gap, options

    def first(self, points: int, largest: FloatArray) -> FloatArray:
        """A grid and the corners of the optimal region, so that its edges are drawn as they are."""
        grid = super().first(points, largest)
        corners = self.region.vertices
        corners = corners[corners.any(axis=1)] / largest
        corners = corners / corners.sum(axis=1, keepdims=True)
        apart = [w for w in corners if np.abs(grid - w).max(axis=1).min() > 1e-6]
        return np.vstack([grid, *apart])

    def system(self, direction: FloatArray, u: float) -> System:
        """The system at part u of the largest load."""
        return System(self.problem, u * direction / self.mean_sizes, self.mean_sizes)

    def _found(self, direction: FloatArray) -> Crossing:
        self.seen = dict(EDGES)
        if self.order:
            return self._saturated(direction, self.order)
        return self._simulated(direction) if self.scheduler else self._fluid(direction)

    def _saturated(self, direction: FloatArray, order: Order) -> Crossing:
        found = saturate(self.system(direction, 1.0), order)
        exact = "in fractions" if isinstance(found.throughput, Fraction) else "in floats"
        rests = found.basis or "throughput of the saturated system"
        part = min(1.0, 1.0 / found.relative_load)
        inner, outer = part * (1.0 - ROUNDING), min(1.0, part * (1.0 + ROUNDING))
        self.seen |= dict.fromkeys((inner, outer), f"{rests}, {exact}")
        return Crossing(inner, outer, 1)

    def _keeps(self, loads: FloatArray) -> bool:
        """Whether the policy is stable, by one verdict or test."""
        if self.order:
            return saturate(self.system(loads, 1.0), self.order).stable
        if self.scheduler:
            test, _ = self._tested(self.system(loads, 1.0))
            says, evidence = {"settles": "stable", "grows": "unstable"}.get(test.says), test.evidence
        else:
            verdict = self.verdict(loads, 1.0)
            says, evidence = verdict.status, verdict.evidence
        if says not in ("stable", "unstable"):
            raise NotConvergedError(
                f"the stability of {self.name} at loads {loads} is not decided, they may lie on the "
                f"boundary: {evidence}"
            )
        return says == "stable"

    def confirmed(self, point: PolicyPoint) -> PolicyPoint:
        """The same point with tests of the random system on both sides."""
        test: Callable[..., GrowthTest] = chain_test if self.confirm == "chain" else simulation_test
        loads = (point.inner * (1 - self.gap), point.outer * (1 + self.gap))
        tests = tuple(
            replace(test(self.system(point.direction, u), self.policy), relative_load=u)
            for u in loads
            if u > 0
        )
        return replace(point, tests=tests)

    def verdict(self, direction: FloatArray, u: float) -> FluidVerdict:
        """Of the fluid limit at part u of the largest load."""
        return fluid_verdict(self.system(direction, u), self.policy, **self.options)

    def _fluid(self, direction: FloatArray) -> Crossing:
        shown = "(" + ", ".join(f"{v:.6g}" for v in direction) + ")"

        def margin(u: float) -> tuple[float, float]:
            verdict = self.verdict(direction, u)
            self.seen[u] = verdict.evidence
            rate = float(verdict.system.arrival_rates.sum())
            if verdict.basis in ("load", "theorem") and verdict.status != "undecided":
                return (1.0 - u, 1.0 - u) if verdict.stable else (-1.0, -1.0)
            if verdict.status == "undecided":
                if abs(verdict.growth) <= CRITICAL * rate:
                    return -CRITICAL, CRITICAL
                raise NotConvergedError(f"undecided: {verdict.evidence}", best=verdict)
            value = -verdict.growth / rate
            return value, value

        try:
            return crossing(margin, 1.0, self._guess(direction), self.precision)
        except NotConvergedError as error:
            raise NotConvergedError(
                f"the stability of {self.name} on the ray {shown}: {error}",
                best=error.best,
                residual=error.residual,
            ) from error

    def _made(self, direction: FloatArray, found: Crossing) -> PolicyPoint:
        """The bracket with its evidence."""
        inner, outer = self.seen[found.inner], self.seen.get(found.outer, "not computed")
        ends = found.inner, found.outer, inner, outer
        return PolicyPoint(frozen(direction), *ends, found.evaluations, tasks=self.tasks)

    def _guess(self, direction: FloatArray) -> float:
        """Where the nearest ray ended; just below load 1 for the first."""
        last, u = 1.0 - self.precision / 2, self._learnt(direction)
        return last if u is None else min(max(u, self.precision), last)

    def _simulated(self, direction: FloatArray) -> Crossing:
        inner, outer, evaluations = 0.0, 1.0, 0
        stuck: float | None = None
        below, above = True, True
        while outer - inner > self.precision and (below or above):
            if stuck is None:
                u = (inner + outer) / 2
            else:
                # The test stays open at ``stuck``, so the bracket closes in on it, first from the wider side.
                over = above and (not below or outer - stuck > stuck - inner)
                u = (stuck + (outer if over else inner)) / 2
            try:
                test, runs = self._tested(self.system(direction, u))
            except (NotConvergedError, KeyboardInterrupt) as error:
                # What a simulation knows by then is no point.
                error.best = Crossing(inner, outer, evaluations)  # type: ignore[union-attr]
                raise
            evaluations += runs
            self.seen[u] = test.evidence
            if test.says == "settles":
                inner = u
            elif test.says == "grows":
                outer = u
            elif stuck is None:
                stuck = u
                continue
            else:
                below, above = below and over, above and not over
            if stuck is not None and not inner < stuck < outer:
                stuck = None
        return Crossing(inner, outer, evaluations)

    def _tested(self, system: System) -> tuple[GrowthTest, int]:
        """The test, with longer runs while it stays open, and how often it was made."""
        made = 0
        for times in LONGER:
            test, made = simulation_test(system, self.policy, times=times, **self.options), made + 1
            if test.says != "open":
                break
        return test, made
