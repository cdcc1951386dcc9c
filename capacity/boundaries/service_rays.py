r"""The boundary of guaranteed service on one ray.

Along the ray of a direction the load is measured by the relative load u of the busiest resource. The margin
:math:`\min_i \gamma_i(u)/g_i - 1` of the service rates :math:`\gamma_i` over their minima :math:`g_i` starts
positive and is -1 at u = 1, where nothing is stable; its first crossing of 0 is the boundary. On one
resource it is linear. Rates need not fall with the load under every policy: the rates seen on the way are
compared, and a certain rise is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from capacity.boundaries.rays import Crossing, crossing
from capacity.boundaries.region import RayPoint, Rays
from capacity.boundaries.service_rates import RateModel, Rates
from fairness.arguments.validation import frozen
from fairness.errors import ModelError, NotConvergedError, UnstableError
from fairness.model.problem import FloatArray, Problem

__all__ = ["ServicePoint", "ServiceRays"]

TIGHTEST = 1e-14
"""Smallest tail tried before the rates are called too inaccurate."""

BEYOND = 1 / 6
"""Part of the way from the closed form to load 1 where the boundary is expected: it was .15 to .35."""

TIGHTER = 1e-3
"""The next tail over the last: most rates need the second."""

EQUAL = 1e-9
"""Rates over their minima that differ by less, relatively, are equal but for rounding."""

FAINTEST = 1e-100
"""Smallest load of a class next to the largest: the probability that a job of it is present stays a float."""


@dataclass(frozen=True, eq=False)
class ServicePoint(RayPoint):
    """Where one ray leaves the region, with the evidence.

    Attributes
    ----------
    direction : ndarray of shape (n_classes,), tasks
        The ray, scaled to relative load 1 on the busiest resource.
    inner, outer : float
        Relative loads: every class keeps its rate at ``inner`` (0 if the ray leaves at once), some class
        does not at ``outer``.
    binding : int
        Class with the smallest rate over minimum at the boundary; the first of those that are equal but
        for rounding.
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

    binding: int
    service_rates: FloatArray
    tail_mass: float
    residual: float
    monotone: bool
    evaluations: int


class ServiceRays(Rays):
    """The margin on rays, for one model of the service rates."""

    problem: Problem
    single, least = "service_boundary", {1: 1, 2: 3, 3: 6}

    def __init__(self, model: RateModel, minimum: FloatArray, precision: float) -> None:
        super().__init__(model.problem, precision)
        self.model, self.minimum = model, minimum
        self._bounds: dict[bytes, float] = {}
        self.alone = model.alone()
        low = ~(minimum < self.alone) & ~self.problem.blocked
        if low.any():
            i = int(np.argmax(low))
            raise ModelError(
                f"minimum_service_rate[{i}] ({self.problem.job_classes[i]!r}) is {minimum[i]:g}, but a job "
                f"of this class that is alone runs {self.alone[i]:.6g} tasks, so no load keeps it: the "
                f"region is empty; ask for less than {self.alone[i]:.6g}"
            )

    def _found(self, direction: FloatArray) -> Crossing:
        self.seen = {0.0: self._at_start(direction)}
        live = direction > 0
        least = self.minimum[live]

        def margin(u: float) -> tuple[float, float]:
            self.seen[u] = rates = self._rates(u * direction, self.precision / 4)
            low, high = (float((r[live] / least).min()) - 1.0 for r in (rates.low, rates.high))
            return low, high

        # What the closed form misses is much the same on neighbouring rays.
        bound = self._bound(direction)
        ratio = self._learnt(direction)
        guess = bound if ratio is None else min(0.5 * (1.0 + bound), ratio * bound)
        at_zero = float((self.alone[live] / least).min()) - 1.0
        seconds = self._seconds(direction, ratio is not None, guess)
        return crossing(margin, at_zero, guess, self.precision, seconds, self.model.instead)

    def _at_start(self, direction: FloatArray) -> Rates:
        """Rates at load 0, where every job is alone."""
        start = np.where(direction > 0, self.alone, np.nan)
        return Rates(start, start, 0.0, 0.0)

    def _ends(self, found: Crossing) -> tuple[Rates, Rates]:
        """Rates at the ends of a bracket."""
        inner: Rates = self.seen[found.inner]
        return inner, self.seen.get(found.outer, inner)

    def _made(self, direction: FloatArray, found: Crossing) -> ServicePoint:
        """The bracket with the rates at its ends; those seen on the ray tell whether any rises."""
        inner, outer = self._ends(found)
        ordered = [self.seen[u] for u in sorted(self.seen)]
        risen = any((after.low > before.high).any() for before, after in pairwise(ordered))
        over = outer.high / self.minimum
        return ServicePoint(
            frozen(direction), found.inner, found.outer,
            int(np.argmax(over <= (1.0 + EQUAL) * np.nanmin(over))), frozen(inner.low),
            inner.tail_mass, inner.residual, not risen, found.evaluations,
        )  # fmt: skip

    def _seconds(self, direction: FloatArray, learnt: bool, guess: float) -> float:
        """Time of one evaluation, about, at the tail that most of them need.

        A first guess is that of the closed form; the boundary lies somewhat beyond.
        """
        u = guess if learnt else guess + BEYOND * (1.0 - guess)
        return self.model.seconds(u * direction, TIGHTER * self._first_tail)

    @property
    def _first_tail(self) -> float:
        """Tail that is tried first."""
        return min(1e-4, 0.01 * self.precision)

    def _lesson(self, point: RayPoint) -> float:
        """How far the boundary lies beyond that of the closed-form bound."""
        return super()._lesson(point) / self._bound(point.direction)

    def _keeps(self, loads: FloatArray) -> bool:
        """Whether every class with arrivals keeps its rate."""
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
            tail *= TIGHTER

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
        key = direction.tobytes()
        if key not in self._bounds:
            load, live = direction @ self.problem.task_shares, direction > 0
            longest = self.minimum[live] / self.alone[live]
            shares = self.problem.task_shares[live] * self.minimum[live, None]
            low, high = 0.0, 1.0
            for _ in range(50):
                u = (low + high) / 2
                kept = (longest + shares @ (u * load / (1.0 - u * load)) < 1.0).all()
                low, high = (u, high) if kept else (low, u)
            self._bounds[key] = max(low, 1e-3 * self.precision)
        return self._bounds[key]
