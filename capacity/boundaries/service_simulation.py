r"""Regions of guaranteed service by simulation: stochastic root finding on rays.

Where no chain can be solved (many classes, general laws of sizes) the mean service rates are estimated. On a
ray the boundary is found in two steps.

1. *Locate.* The margin is estimated at several loads with the same random numbers, so that its estimates
   move together (common random numbers) and have one crossing; its root is the centre.
2. *Decide.* Independent runs at both ends of a bracket around the centre, each as long as needed: all rates
   are at least their minima at the inner end, some rate is below at the outer end. Run k of an end, twice as
   long as the one before, is judged at the level :math:`\alpha\,2^{-k-1}`, split over the classes, so that
   both
   verdicts of a bracket hold together with probability :math:`1 - \alpha` at least, however long it took
   (Bonferroni), as far as intervals of replications are exact. A bracket that does not decide is widened,
   up to the precision asked for; then NotConvergedError.

*Warm-up.* Runs start from an approximate stationary law (:mod:`queueing.simulation.starts`), and the first
half of every run is left out. Runs that are too short for intervals
(:mod:`queueing.simulation.run_length_checks`) decide nothing, and a verdict stands only if the rates of the
last quarter agree with those of the second half, replication by replication, within their Student interval at
99.9 %; otherwise the run counts as too short and the next, twice as long, decides. A bias that this test does
not see is smaller than the noise of one run, but the confidence is that of a law without bias.

*Cost.* For two classes at loads near 0.65, on one core: 14 s for one ray to 0.02 with the default effort, and
16 s for a region of 9 rays to 0.05 with ``events=50_000`` (about 30 runs per ray).

Randomness comes from ``rng``: the same seed gives the same region.

References
----------
.. [1] S. Asmussen and P. W. Glynn, "Stochastic Simulation: Algorithms and Analysis", Springer, 2007,
   chapters V and VIII.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from capacity.boundaries.rays import Crossing, crossing
from capacity.boundaries.service_rates import RateModel, Rates
from capacity.boundaries.service_rays import ServiceRays
from fairness.arguments.validation import require_whole
from fairness.errors import ModelError, NotConvergedError, UnstableError
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.model.laws import Law
from queueing.model.system import System
from queueing.simulation.replications import Estimate, student
from queueing.simulation.simulate import simulate

__all__ = ["SearchedRates", "Simulated", "SimulatedRays"]

LOOKS = 7
"""Runs at one end of a bracket, each twice as long as the one before."""

LOCATE = 16
"""Length of the runs that locate the root, over the first look: a bracket off its root decides late."""

WARMUP = 0.5
"""Part of each run that is left out."""

BIASED = 1e-3
"""Level at which a difference of second half and last quarter is a bias."""


@dataclass(frozen=True)
class Simulated:
    """Take this as the method of a service region, or of provisioning: simulate the policy.

    Parameters
    ----------
    policy : callable
    sizes : Law or sequence of Law, one per class, optional
        Laws of the sizes, scaled to the mean sizes. Default: exponential, by the faster simulator of counts.
    events : int
        Events (jobs, with ``sizes``) of the first run at one load, all replications together.
    confidence : float
        That both ends of a bracket are on their sides.
    replications : int
        Independent replications per run, at least 5. With dozens of classes take 40: intervals that hold for
        all classes together are then half as wide, from as many events.
    rng : int
        Seed.

    Examples
    --------
    >>> from capacity.boundaries.service import service_boundary
    >>> from fairness import DRF
    >>> method = Simulated(DRF(), events=200_000, rng=1)
    >>> point = service_boundary(Problem([[1]], [1]), method, 0.5, [1], precision=0.05)
    >>> point.inner <= 0.5 <= point.outer, point.outer - point.inner <= 0.05 + 1e-12
    (True, True)
    """

    policy: AnyPolicy
    sizes: Law | Sequence[Law] | None = None
    events: int = 1_000_000
    confidence: float = 0.99
    replications: int = 10
    rng: int = 0

    def __post_init__(self) -> None:
        require_whole("events", self.events, 1000)
        require_whole("replications", self.replications, 5)
        require_whole("rng", self.rng, 0)
        if not 0.5 <= self.confidence < 1:
            raise ModelError.of("confidence", f"must be at least 0.5 and below 1; got {self.confidence}")

    @staticmethod
    def refuse_box(max_states: int | None) -> None:
        """ModelError if a limit on boxes is given."""
        if max_states is not None:
            raise ModelError.of(
                "max_states", "is for chains and balanced fairness; a simulation has no box: leave it out"
            )


class SimulatedRates(RateModel):
    """Service rates with intervals, by simulation."""

    evidence = "simulated, both ends of a bracket significant"
    instead = "take fewer events per run, or method='bound'"

    def __init__(self, problem: Problem, method: Simulated, mean_sizes: ArrayLike) -> None:
        super().__init__(problem, mean_sizes)
        self.method, self.policy = method, method.policy
        self.name = f"{policy_name(method.policy)}, simulated"

    def rates(self, loads: FloatArray, tail: float) -> Rates:
        """One run of the first length; ``tail`` has no meaning here."""
        return self.interval(self.estimate(loads, 1, 0), 1.0 - self.method.confidence)

    def settled(self, loads: FloatArray, length: int, stream: int, estimate: Estimate) -> bool:
        """Whether the run of ``estimate`` is sound, and its last quarter shows the same rates."""
        if not estimate.sound:
            return False
        live = loads > 0
        last = self.estimate(loads, length, stream, warmup=(1.0 + WARMUP) / 2)
        apart = (last.values - estimate.values)[:, live]
        n = len(apart)
        half = student(BIASED / int(live.sum()), n - 1) * apart.std(axis=0, ddof=1) / np.sqrt(n)
        return bool((np.abs(apart.mean(axis=0)) <= half).all())

    def estimate(self, loads: FloatArray, length: int, stream: int, warmup: float = WARMUP) -> Estimate:
        """Service rates from ``length`` times the first effort; the same stream, the same random numbers."""
        method = self.method
        seed = [method.rng, stream]
        each = max(100, length * method.events // method.replications)
        system = self._system(loads)
        options: dict[str, Any] = {"warmup": warmup, "replications": method.replications, "rng": seed}
        if method.sizes is None:
            try:
                run = simulate(system, method.policy, events=each, **options)
            except UnstableError:  # where jobs grow for ever
                none = np.where(loads > 0, 0.0, np.nan)
                return Estimate(none, none, np.tile(none, (method.replications, 1)), method.confidence)
        else:
            given = System(self.problem, system.arrival_rates, sizes=method.sizes)
            laws = [law.with_mean(float(m)) for law, m in zip(given.sizes, self.mean_sizes, strict=True)]
            system = System(self.problem, system.arrival_rates, sizes=laws)
            run = simulate(system, method.policy, level="jobs", jobs=each, **options)
        return run.estimates["service_rates"]

    @staticmethod
    def interval(estimate: Estimate, error: float) -> Rates:
        """Two-sided intervals that hold together with probability 1 - ``error``."""
        live = np.isfinite(estimate.value)
        half = estimate.half_width_at(1.0 - error / max(1, int(live.sum())))
        return Rates(estimate.value - half, estimate.value + half, 0.0, 0.0)


class SearchedRates(SimulatedRates):
    r"""Rates for a search among models: run k of all has its own stream and the level alpha/(k (k + 1)).

    These levels sum up to alpha, so all intervals of a search hold together with probability 1 - alpha,
    whatever it asks next (Bonferroni), as far as intervals of replications are exact.
    """

    evidence = "simulated, all intervals of the search hold together with the confidence asked for"
    proves = False

    def __init__(
        self, problem: Problem, method: Simulated, mean_sizes: ArrayLike, runs: Iterator[int]
    ) -> None:
        super().__init__(problem, method, mean_sizes)
        self._runs = runs

    def rates(self, loads: FloatArray, tail: float) -> Rates:
        """One run, the longer the smaller the tail; refused if it is too short for intervals above 0."""
        k, length = next(self._runs), 2 ** max(0, round(-math.log10(tail) / 4) - 1)
        estimate = self.estimate(loads, length, k)
        rates = self.interval(estimate, (1.0 - self.method.confidence) / (k * (k + 1)))
        live = loads > 0
        if not (self.settled(loads, length, k, estimate) and (rates.low > 0)[live].all()):
            raise NotConvergedError(
                f"{length * self.method.events} events are too few for service rates at loads of "
                f"{self._system(loads).relative_loads.max():.4g}; give more events",
                best=rates,
            )
        return rates


class SimulatedRays(ServiceRays):
    """Rays whose boundary is found by stochastic root finding."""

    model: SimulatedRates

    def __init__(
        self,
        problem: Problem,
        method: Simulated,
        mean_sizes: ArrayLike,
        minimum: FloatArray,
        precision: float,
    ) -> None:
        super().__init__(SimulatedRates(problem, method, mean_sizes), minimum, precision)
        self._stream = 1  # stream 0 locates; every verdict has its own
        self._evaluations = 0
        self._decisive: tuple[Rates, Rates] | None = None

    def _ends(self, found: Crossing) -> tuple[Rates, Rates]:
        """Rates of the verdicts on both ends."""
        return super()._ends(found) if self._decisive is None else self._decisive

    def _found(self, direction: FloatArray) -> Crossing:
        try:
            return self._searched(direction)
        except (NotConvergedError, KeyboardInterrupt) as error:
            # A single run, or where the boundary seems to be, is no bracket: no end of one is significant.
            self.seen = {0.0: self._at_start(direction)}
            error.best = Crossing(0.0, 1.0, self._evaluations)  # type: ignore[union-attr]
            raise

    def _searched(self, direction: FloatArray) -> Crossing:
        self._evaluations, self._decisive = 0, None
        live = direction > 0
        least = self.minimum[live]
        at_zero = float((self.alone[live] / least).min()) - 1.0

        at_start = self._at_start(direction)
        self.seen = {0.0: at_start}
        doubt = 1.0 - self.model.method.confidence

        def margin(u: float) -> tuple[float, float]:
            self._evaluations += 1
            found = self.model.estimate(u * direction, LOCATE, 0)
            self.seen[u] = self.model.interval(found, doubt)
            value = float((found.value[live] / least).min()) - 1.0
            return value, value

        guess, instead = self._bound(direction), self.model.instead
        located = crossing(margin, at_zero, guess, self.precision / 8, instead=instead)
        centre = (located.inner + located.outer) / 2
        error = doubt / 4.0  # two ends, two widths
        for half in (self.precision / 4, self.precision / 2):
            low, high = max(centre - half, 0.0), min(centre + half, 1.0)
            kept, inner = self._decided(low * direction, error) if low > 0 else (True, at_start)
            # Nothing is stable at load 1.
            lost, outer = self._decided(high * direction, error) if high < 1 else (False, inner)
            if kept is True and lost is False:
                self._decisive = inner, outer
                return Crossing(low, high, self._evaluations)
        raise NotConvergedError(
            f"on the ray {direction} the bracket [{low:.6g}, {high:.6g}] is not decided with confidence "
            f"{self.model.method.confidence:g} after {self._evaluations} runs; raise precision, events or "
            "replications",
            residual=high - low,
        )

    def _keeps(self, loads: FloatArray) -> bool:
        """With the confidence of the method."""
        verdict, rates = self._decided(loads, 1.0 - self.model.method.confidence)
        if verdict is None:
            raise NotConvergedError(
                f"loads {loads} lie too near the boundary for the effort of the simulation; raise events or "
                "replications",
                best=rates,
            )
        return verdict

    def _decided(self, loads: FloatArray, error: float) -> tuple[bool | None, Rates]:
        """Sequential verdict at these loads, wrong with probability ``error`` at most; None if open."""
        live = loads > 0
        for look in range(LOOKS):
            self._stream += 1
            self._evaluations += 1
            estimate = self.model.estimate(loads, 2**look, self._stream)
            rates = self.model.interval(estimate, error * 0.5 ** (look + 1))
            kept = bool((rates.low >= self.minimum)[live].all())
            lost = bool((rates.high < self.minimum)[live].any())
            if (kept or lost) and self.model.settled(loads, 2**look, self._stream, estimate):
                return kept, rates
        return None, rates
