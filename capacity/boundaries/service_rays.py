r"""The boundary of guaranteed service on one ray.

Along the ray of a direction the load is measured by the relative load u of the busiest resource. The margin
:math:`\min_i \gamma_i(u)/g_i - 1` of the service rates :math:`\gamma_i` over their minima :math:`g_i` starts
positive and is -1 at u = 1, where nothing is stable; its first crossing of 0 is the boundary. On one
resource it is linear. Rates need not fall with the load under every policy: the rates seen on the way are
compared, and a certain rise is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from capacity.boundaries.rays import Crossing, crossing
from capacity.boundaries.service_rates import RateModel, Rates, rate_model
from fairness.arguments.validation import frozen, model_array, require, require_number, require_whole
from fairness.errors import ModelError, NotConvergedError, UnstableError
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import Policy

__all__ = ["ServicePoint", "ServiceRays", "service_rays"]

TIGHTEST = 1e-14
"""Smallest tail tried before the rates are called too inaccurate."""

FAINTEST = 1e-100
"""Smallest load of a class next to the largest: the probability that a job of it is present stays a float."""


@dataclass(frozen=True, eq=False)
class ServicePoint:
    """Where one ray leaves the region, with the evidence.

    Attributes
    ----------
    direction : ndarray of shape (n_classes,), tasks
        The ray, scaled to relative load 1 on the busiest resource.
    inner, outer : float
        Relative loads: every class keeps its rate at ``inner`` (0 if the ray leaves at once), some class
        does not at ``outer``.
    binding : int
        Class with the smallest rate over minimum at the boundary.
    service_rates : ndarray of shape (n_classes,), tasks
        At the inner end (at load 0 if that is 0): lower bounds within the evidence of the method; nan
        without arrivals.
    tail_mass, residual : float
        Of the law at the inner end; 0 where they do not apply.
    monotone : bool
        No service rate was seen to rise with the load on this ray.
    evaluations : int
        Laws computed.
    """

    direction: FloatArray
    inner: float
    outer: float
    binding: int
    service_rates: FloatArray
    tail_mass: float
    residual: float
    monotone: bool
    evaluations: int

    @property
    def loads(self) -> FloatArray:
        """Class loads at the inner end, (n_classes,), tasks."""
        return self.inner * self.direction


class ServiceRays:
    """The margin on rays, for one model of the service rates; remembers where the last rays ended."""

    def __init__(self, model: RateModel, minimum: FloatArray, precision: float) -> None:
        self.model, self.minimum, self.precision = model, minimum, precision
        self.problem = model.problem
        self.alone = model.alone()
        low = ~(minimum < self.alone) & ~self.problem.blocked
        if low.any():
            i = int(np.argmax(low))
            raise ModelError(
                f"minimum_service_rate[{i}] ({self.problem.job_classes[i]!r}) is {minimum[i]:g}, but a job "
                f"of this class that is alone runs {self.alone[i]:.6g} tasks, so no load keeps it: the "
                f"region is empty; ask for less than {self.alone[i]:.6g}"
            )
        self._ended: list[tuple[FloatArray, float]] = []

    def scaled(self, direction: ArrayLike) -> FloatArray:
        """Validated direction with relative load 1 on the busiest resource."""
        problem = self.problem
        d = model_array("direction", direction, problem, "job_classes")
        if d.shape != (problem.n_classes,) or not (np.isfinite(d) & (d >= 0)).all() or not d.any():
            raise ModelError(
                f"direction must list {problem.n_classes} class loads, finite and >= 0, not all 0; "
                f"got {direction!r}"
            )
        blocked = np.flatnonzero((d > 0) & problem.blocked)
        if len(blocked):
            raise ModelError(
                f"direction gives load to class {problem.job_classes[blocked[0]]!r}, which demands a "
                "resource of capacity 0 and never runs; set its entry to 0"
            )
        d = d / d.max()
        busiest = float((d @ problem.task_shares).max())
        if busiest == 0:
            raise ModelError(
                "direction gives load to classes without demands only: their load has no boundary; add a "
                "class with demands"
            )
        return d / busiest

    def point(self, direction: FloatArray) -> ServicePoint:
        """The boundary on one ray."""
        seen: dict[float, Rates] = {}
        live = direction > 0
        least = self.minimum[live]

        def margin(u: float) -> tuple[float, float]:
            seen[u] = rates = self._rates(u * direction, self.precision / 4)
            low, high = (float((r[live] / least).min()) - 1.0 for r in (rates.low, rates.high))
            return low, high

        # What the closed form misses is much the same on neighbouring rays.
        bound = self._bound(direction)
        guess = bound
        if self._ended:
            ratios = [
                (float(np.abs(d / d.sum() - direction / direction.sum()).sum()), r) for d, r in self._ended
            ]
            guess = min(0.5 * (1.0 + bound), min(ratios)[1] * bound)
        at_zero = float((self.alone[live] / least).min()) - 1.0
        seconds = self.model.seconds(guess * direction, self._first_tail)
        try:
            found = crossing(margin, at_zero, guess, self.precision, seconds)
        except (NotConvergedError, KeyboardInterrupt) as error:
            known = getattr(error, "best", None)
            if known is not None:
                error.best = self._point(direction, known, seen)  # type: ignore[union-attr]
            raise
        self._ended.append((direction, (found.inner + found.outer) / 2 / bound))
        return self._point(direction, found, seen)

    def _point(self, direction: FloatArray, found: Crossing, seen: dict[float, Rates]) -> ServicePoint:
        """The bracket with its evidence: the rates that were seen on the ray."""
        live = direction > 0
        start = np.where(live, self.alone, np.nan)
        at_start = Rates(start, start, 0.0, 0.0)
        inner = seen.get(found.inner, at_start)
        edge = seen.get(found.outer, inner)
        ordered = [seen[u] for u in sorted(seen)]
        risen = any(
            (after.low[live] > before.high[live]).any()
            for before, after in zip([at_start, *ordered], ordered, strict=False)
        )
        return ServicePoint(
            frozen(direction), found.inner, found.outer,
            int(np.nanargmin(edge.high / self.minimum)), frozen(inner.low),
            inner.tail_mass, inner.residual, not risen, found.evaluations,
        )  # fmt: skip

    @property
    def _first_tail(self) -> float:
        """Tail that is tried first."""
        return min(1e-4, 0.01 * self.precision)

    def keeps(self, loads: FloatArray) -> bool:
        """Whether every class with arrivals keeps its rate at these loads."""
        if (loads < 0).any() or ((loads > 0) & self.problem.blocked).any():
            return False
        if not loads.any():
            return True
        if (loads @ self.problem.task_shares >= 1).any():
            return False
        return self._keeps_inside(loads)

    def _keeps_inside(self, loads: FloatArray) -> bool:
        """The same for some loads > 0 that fit."""
        live = loads > 0
        try:
            rates = self._rates(loads, 0.0)
        except UnstableError:  # a load of 1 up to rounding
            return False
        if (rates.low >= self.minimum)[live].all():
            return True
        if (rates.high < self.minimum)[live].any():
            return False
        raise NotConvergedError(
            f"loads {loads} lie on the boundary within the accuracy of the service rates: between "
            f"{rates.low} and {rates.high} tasks against {self.minimum}",
            best=rates,
            residual=float(np.max((rates.high - rates.low)[live])),
        )

    def _rates(self, loads: FloatArray, accuracy: float) -> Rates:
        """Rates with a tail small enough to decide, or to be accurate near the minimum."""
        live = loads > 0
        self._require_visible(loads)
        tail = self._first_tail
        least = self.minimum[live]
        while True:
            rates = self.model.rates(loads, tail)
            low, high = rates.low[live], rates.high[live]
            decided = (high < least).any() or (low >= least).all()
            middle = (low + high) / 2
            # Far from the minimum a rate need not be known well.
            enough = ((high - low) <= accuracy * least + 1e-4 * np.abs(middle - least)).all()
            if (decided and (enough or accuracy == 0.0)) or tail < TIGHTEST:
                return rates
            tail *= 1e-3

    def _require_visible(self, loads: FloatArray) -> None:
        """Refuse loads so small next to the others that the probability of a job is lost in underflow."""
        used = loads * self.problem.task_shares.max(axis=1)
        faint = np.flatnonzero((used > 0) & (used < FAINTEST * used.max()))
        if len(faint):
            raise ModelError(
                f"the load of class {self.problem.job_classes[faint[0]]!r} is below {FAINTEST:g} of the "
                "largest; set it to 0"
            )

    def _bound(self, direction: FloatArray) -> float:
        """Relative load at which the closed-form bound reaches a minimum, by bisection: a guess."""
        load, live = direction @ self.problem.task_shares, direction > 0
        longest = self.minimum[live] / self.alone[live]
        shares = self.problem.task_shares[live] * self.minimum[live, None]
        low, high = 0.0, 1.0
        for _ in range(50):
            u = (low + high) / 2
            kept = (longest + shares @ (u * load / (1.0 - u * load)) < 1.0).all()
            low, high = (u, high) if kept else (low, u)
        return max(low, 1e-3 * self.precision)


def service_rays(
    problem: Problem,
    method: str | Policy,
    minimum_service_rate: ArrayLike,
    mean_sizes: ArrayLike,
    precision: float,
    max_states: int | None,
) -> ServiceRays:
    """Validated rays for the arguments of :func:`capacity.boundaries.service.service_region`."""
    if not 0 < require_number("precision", precision) <= 0.1:
        raise ModelError(f"precision must be a relative load between 0 and 0.1; got {precision}")
    if max_states is not None:
        require_whole("max_states", max_states, 1)
    n = problem.n_classes
    rate = model_array("minimum_service_rate", minimum_service_rate, problem, "job_classes")
    if rate.shape not in ((), (n,)):
        raise ModelError(
            f"minimum_service_rate must be a number or list {n} of them, one per class; "
            f"got shape {rate.shape}"
        )
    rate = np.full(n, rate)
    require(
        "minimum_service_rate", rate, np.isfinite(rate) & (rate > 0), "finite and > 0", problem.job_classes
    )
    return ServiceRays(rate_model(problem, method, mean_sizes, max_states), frozen(rate), float(precision))
