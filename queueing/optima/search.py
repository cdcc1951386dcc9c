r"""The search: a set of states that grows, the best policy on it, and the functions of both certificates.

1. The set grows until a level set for a c near its least cost (:mod:`queueing.optima.stopping`) is inside.
2. The best policy on the set becomes a table; its law on the infinite chain gives its costs, V.
3. For c = V less a little the problem of stopping for every policy gives the lower certificate. It is left
   out, a certificate without states, where a bound that is known already comes as near.
4. For c = V and a little the same for the policy alone gives the upper one.

Where a function reaches the border of the set, this grows; where that is not allowed, or floats do not tell
the function, c moves away from V.
What the functions prove is found out by the checkers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import frozen
from fairness.errors import ModelError, NotConvergedError
from fairness.exact.outward import above, below
from fairness.model.problem import FloatArray
from queueing.certificates.cost_certificate import Numbers
from queueing.certificates.lower_certificate import LowerCertificate
from queueing.certificates.pool import LARGEST, SMALLEST
from queueing.certificates.state_function import MOST_JOBS
from queueing.certificates.table_policy import TablePolicy
from queueing.certificates.upper_certificate import UpperCertificate, far_bound
from queueing.chain.stationary import estimated_law
from queueing.chain.stationary_law import Stationary
from queueing.model.system import System
from queueing.optima.decisions import States
from queueing.optima.policy_iteration import INNER, least_mean_cost
from queueing.optima.stopping import Stopping

__all__ = ["Search"]

_log = logging.getLogger(__name__)

FIRST = {1: 64, 2: 32, 3: 12}
"""Jobs of a class alone in the first set, by the number of classes."""
WIDER = 1.25
"""Growth of the sides of a set that turns out to be too small."""
AWAY = 0.75
"""Part of the least h on the border, below which level sets are trusted."""
NEAR = 0.95
"""The same where the set cannot grow."""
LITTLE = 1e-3
"""Part of the precision that a round of policy iteration must gain to be worth its time."""
TAIL = 1e-9
"""Of the law of the policy, at most."""
SPENT = 0.45
"""Part of the precision that each c lies away from the costs of the policy."""
SURE = 0.05
"""Part of the precision that c lies below the least cost at least."""
STEEPER = 1.5
"""The quadratic part of an upper bound, over the least that falls everywhere."""
BEYOND = Fraction(2**1023)
"""A claim that nothing refutes."""
FARTHEST = 1e-3
"""The least part of a level, and the precision over that of the costs, at which a function is looked for."""
BITS = 61
"""Of the largest number in h."""

Certificate = TypeVar("Certificate", LowerCertificate, UpperCertificate)


class Search:
    """What is found for one system.

    Attributes
    ----------
    policy : TablePolicy
    law : Stationary
    lower : LowerCertificate
    upper : UpperCertificate
    full : bool
        Whether a larger set was wanted than is allowed.
    weak : bool
        Whether, beyond the set, the upper bound for many jobs is above the costs of the policy.
    """

    policy: TablePolicy
    law: Stationary
    lower: LowerCertificate
    upper: UpperCertificate
    full = weak = False

    def __init__(
        self, system: System, numbers: Numbers, costs: FloatArray, precision: float, most: int
    ) -> None:
        self.system, self.numbers, self.costs = system, numbers, costs
        self.precision, self.most = precision, most
        self.live, caps = list(numbers.classes), numbers.running.caps
        self.sizes = system.mean_sizes[self.live]
        # Beyond the table jobs count by what the tasks of one class alone can be.
        alone = np.array(numbers.running.vertices[caps], dtype=float).max(axis=0)
        taken = alone @ system.problem.demands[self.live]
        spare = system.problem.capacities - system.resource_loads
        self.gains = costs[self.live] / alone
        if not ((self.gains >= SMALLEST) & (self.gains <= LARGEST)).all():
            told = f"over the most tasks of each class must be from {SMALLEST:g} to {LARGEST:g}"
            raise ModelError.of("cost", f"{told}; got {self.gains.tolist()}; take another unit of costs")
        self.factor = Fraction(STEEPER * float((taken[taken > 0] / spare[taken > 0]).max()))
        self.shape = tuple(max(FIRST[len(caps)], cap + 2) for cap in caps)
        if (needed := math.ceil(States.number(self.shape))) > most:
            raise ModelError.of("max_states", f"must be at least {needed:,} for this system; got {most:,}")
        self.space = States(numbers, self.shape)
        self.average = least_mean_cost(self.space, LITTLE * precision)

    def run(self, known: float) -> None:
        """Find the policy, its law, and both certificates, where ``known`` is a bound for every policy."""
        while self._every().level(self.average.cost * (1 - self.precision), self._level()) is None:
            if not self._widened(self._larger()):
                break
        value = self._evaluate()
        # What the table leaves to the largest weight costs something.
        while value > self.average.cost * (1 + SPENT * self.precision) and self._wider():
            value = self._evaluate()
        enough = known * (1 + SPENT * self.precision) >= value
        h = np.zeros(self.space.n_states) if enough else self._lower_function(value)
        self.lower, states = self._proved(LowerCertificate, h, h < 0, Fraction(0)), h < 0
        if enough:
            every, most = self._every(), self._level()
            level = every.level(self.average.cost * (1 - SPENT * self.precision), most)
            states = (level or every.within(most)).states
        h = self._upper_function(value, states)
        # Where the bound for all states is too large, they are looked at one by one.
        states = (h < 0) | (self.space.counts @ self.slopes + self.constant > value)
        states[self.space.set.places(self.policy.tabulated())] = True
        kind = partial(UpperCertificate, policy=self.policy, factor=self.factor)
        self.upper = self._proved(kind, -h, states, BEYOND)

    def _every(self) -> Stopping:
        """The problem of stopping for every policy."""
        return Stopping(self.space, self.space.costs, self.average.h, self.average.chosen, True)

    def _one(self) -> Stopping:
        """The same for the policy that was found."""
        space, counts = self.space, np.zeros((self.space.n_states, self.system.n_classes))
        counts[:, self.live] = space.counts
        chosen = self.policy(self.system.problem, counts)[:, self.live] / self.sizes
        rises = space.arrival_rates * (space.counts + 0.5) - chosen * (space.counts - 0.5)
        costs = space.costs + rises @ (float(self.factor) * self.gains * self.sizes)
        return Stopping(space, -costs, None, chosen, False)

    def _lower_function(self, value: float) -> FloatArray:
        """The function of a c below the costs of the policy, or of the nearest that the states allow."""
        # Where they cannot grow, level sets may come near the border.
        part = 1.0 if not self.full else NEAR / AWAY
        while True:
            # Beyond the least cost there is no function; that of a set of states is a little less.
            least = (1.0 - SURE * self.precision) * self.average.cost
            constant = min(least, (1.0 - SPENT * self.precision) * value)
            stopping, most = self._every(), part * self._level()
            level = stopping.level(constant, most)
            if level is None and part >= 1.0 and self._wider():
                continue
            level = level or stopping.within(most)
            try:
                h = stopping.value(level.states, min(constant, level.constant))
            except NotConvergedError:
                if part < FARTHEST:
                    raise
                part /= WIDER  # a larger set would not help
                continue
            if h is not None:
                return h
            if not self._wider():
                part /= WIDER

    def _upper_function(self, value: float, states: NDArray[np.bool_]) -> FloatArray:
        """The same for the policy that was found, from a first guess of the states where it is not 0."""
        error = float(self.costs @ self.law.mean_jobs_error)
        room = SPENT * self.precision * value + (error if math.isfinite(error) else 0.0)
        start, gains = self.space.counts[states], [Fraction(g) for g in self.gains.tolist()]
        constant, slopes = far_bound(self.system.problem, self.numbers, gains, self.factor)
        self.constant, self.slopes = float(constant), np.array(slopes, dtype=float)
        ends = np.ceil((self.constant - value) / -self.slopes) + 3
        self._widened(np.maximum(ends, self.shape), 1.0, solve=False)
        self.weak = bool((ends > self.shape).any())
        while True:
            first = np.zeros(self.space.n_states, dtype=bool)
            first[self.space.set.places(start)] = True
            try:
                found = self._one().value(first, -value - room)
            except NotConvergedError:
                if room * FARTHEST > value:
                    raise
                room *= 2
                continue
            if found is not None:
                return found
            if not self._wider(solve=False):
                room *= 2
            if room * FARTHEST > value:
                raise NotConvergedError(
                    f"no function bounds the policy found on {self.space.n_states:,} states"
                )

    def _proved(
        self, kind: Callable[..., Certificate], h: FloatArray, states: NDArray[np.bool_], claim: Fraction
    ) -> Certificate:
        """The certificate of a function, with what the checker says that it proves."""
        bits = BITS - math.frexp(float(np.abs(h).max()))[1]
        values = np.rint(np.ldexp(h[states], bits)).astype(np.int64)
        costs, counts = tuple(map(Fraction, self.costs.tolist())), self.space.counts[states]
        certificate = kind(self.system, costs, frozen(counts), frozen(values), bits, claim)
        proved = certificate.check()
        return replace(certificate, bound=Fraction((above if certificate.is_upper else below)(proved)))

    def _level(self) -> float:
        """Below it level sets end well before the border."""
        return AWAY * max(0.0, float(self.average.h[self.space.border].min()))

    def _larger(self) -> FloatArray:
        """Sides at whose ends h, about a quadratic function, is twice its least at the border."""
        goal, tips = 2.0 / AWAY * self._level(), self.average.h[self.space.tips]
        scales = np.sqrt(goal / np.where(tips > 0, tips, np.inf))
        return np.array(self.shape) * (np.maximum(scales, 1.0) if scales.max() > 1.05 else math.sqrt(2.0))

    def _wider(self, *, solve: bool = True) -> bool:
        return self._widened(WIDER * np.array(self.shape), solve=solve)

    def _widened(self, sides: FloatArray, least: float = 1.1, *, solve: bool = True) -> bool:
        """Take a larger set, or what is allowed of it, and solve; False if it is not so much larger."""
        wanted = tuple(np.ceil(np.fmin(sides, MOST_JOBS - 1)).astype(int).tolist())
        scale = min(1.0, (self.most / States.number(wanted)) ** (1 / len(wanted)))
        self.full = self.full or scale < 1.0
        shape = tuple(max(old, int(side * scale)) for old, side in zip(self.shape, wanted, strict=True))
        if States.number(shape) > self.most or math.prod(shape) <= least * math.prod(self.shape):
            return False
        self.shape, self.space = shape, States(self.numbers, shape)
        if solve:
            self.average = least_mean_cost(self.space, LITTLE * self.precision, self.average)
            _log.info("least mean costs %.9g on %d states", self.average.cost, self.space.n_states)
        return True

    def _evaluate(self) -> float:
        """The policy as an object, its law, and the mean costs."""
        near = self.space.inner(INNER) & self.average.chosen.any(axis=1)
        places = self.space.counts[near]
        table = np.full((*(places.max(axis=0) + 1), len(self.live)), np.nan)
        table[tuple(places.T)] = self.average.chosen[near] * self.sizes
        self.policy = TablePolicy(
            self.system.problem, self.numbers.classes, frozen(table), frozen(self.gains)
        )
        self.law = estimated_law(self.system, self.policy, tail=min(TAIL, LITTLE * self.precision))
        return float(self.costs @ self.law.mean_jobs)
