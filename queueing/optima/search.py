r"""The search: a set of states that grows, the best policy on it, and the functions of both certificates.

1. The set grows until a level set for a c near its least cost (:mod:`queueing.optima.stopping`) is inside.
2. The best policy on the set becomes a table; its law on the infinite chain gives its costs, V.
3. For c = V less a little the problem of stopping for every policy gives the lower certificate.
4. For c = V and a little the same for the policy alone gives the upper one.

Where a function reaches the border of the set, this grows; where that is not allowed, c moves away from V.
What the functions prove is found out by the checkers.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairness.arguments.validation import frozen
from fairness.errors import ModelError
from fairness.exact.outward import above, below
from fairness.model.problem import FloatArray
from queueing.certificates.lower_certificate import LowerCertificate
from queueing.certificates.table_policy import TablePolicy
from queueing.certificates.upper_certificate import UpperCertificate, far_bound
from queueing.chain.stationary import estimated_law
from queueing.chain.stationary_law import Stationary
from queueing.model.system import System
from queueing.optima.decisions import Decisions, States
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
BITS = 61
"""Of the largest number in h."""


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
    """

    policy: TablePolicy
    law: Stationary
    lower: LowerCertificate
    upper: UpperCertificate
    full = False

    def __init__(
        self, system: System, costs: FloatArray, decisions: Decisions, precision: float, most: float
    ) -> None:
        self.system, self.costs, self.decisions = system, costs, decisions
        self.precision, self.most = precision, most
        self.exact_costs = tuple(map(Fraction, costs.tolist()))
        self.live, caps = list(decisions.departures.classes), decisions.departures.caps
        # Beyond the table jobs count by what the tasks of one class alone can be.
        alone = np.array([points.max(axis=0) for points in decisions.vertices]).max(axis=0)
        alone *= system.mean_sizes[self.live]
        taken = alone @ system.problem.demands[self.live]
        spare = system.problem.capacities - system.resource_loads
        self.gains = costs.copy()
        self.gains[self.live] /= alone
        self.factor = Fraction(STEEPER * float((taken[taken > 0] / spare[taken > 0]).max()))
        self.shape = tuple(max(FIRST[len(caps)], cap + 2) for cap in caps)
        if (needed := math.ceil(States.number(self.shape))) > most:
            raise ModelError.of("max_states", f"must be at least {needed:,} for this system; got {most:,}")
        self.space = States(decisions, self.shape)
        self.average = least_mean_cost(self.space, LITTLE * precision)

    def run(self) -> None:
        """Find the policy, its law, and both certificates."""
        while self._every().level(self.average.cost * (1 - self.precision), self._level()) is None:
            if not self._widened(self._larger()):
                break
            self._solve()
        value = self._evaluate()
        # What the table leaves to the largest weight costs something.
        while value > self.average.cost * (1 + SPENT * self.precision) and self._wider():
            value = self._evaluate()
        h = self._lower_function(value)
        lower = LowerCertificate(self.system, self.exact_costs, *self._function(h, h < 0), Fraction(0))
        self.lower = replace(lower, bound=Fraction(below(lower.check())))
        h = self._upper_function(value, h)
        # Where the bound for all states is too large, they are looked at one by one.
        counts = self.space.counts
        known = (h < 0) | self._tabulated(counts) | (counts @ self.slopes + self.constant > value)
        upper = UpperCertificate(
            self.system, self.exact_costs, self.policy, self.factor, *self._function(-h, known), BEYOND
        )
        self.upper = replace(upper, bound=Fraction(above(upper.check())))

    def _every(self) -> Stopping:
        """The problem of stopping for every policy."""
        return Stopping(self.space, self.space.costs, self.average.h, self.average.chosen, True)

    def _one(self) -> Stopping:
        """The same for the policy that was found."""
        space, d, system = self.space, self.decisions, self.system
        live, counts = self.live, np.zeros((space.n_states, system.n_classes))
        counts[:, live] = space.counts
        sizes, squares = system.mean_sizes[live], (float(self.factor) * self.gains * system.mean_sizes)[live]
        chosen = self.policy(system.problem, counts)[:, live] / sizes
        rises = d.arrival_rates * (space.counts + 0.5) - chosen * (space.counts - 0.5)
        return Stopping(space, -space.costs - rises @ squares, None, chosen, False)

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
            if level is None and self._wider():
                continue
            level = level or stopping.within(most)
            h = stopping.value(level.states, min(constant, level.constant))
            if h is not None:
                return h
            if not self._wider():
                part /= WIDER

    def _upper_function(self, value: float, h: FloatArray) -> FloatArray:
        """The same for the policy that was found, from the function for every policy."""
        error = float(self.costs @ self.law.mean_jobs_error)
        room = SPENT * self.precision * value + (error if math.isfinite(error) else 0.0)
        start = self.space.counts[h < 0]
        costs, gains = (
            [Fraction(float(values[i])) for i in self.live] for values in (self.costs, self.gains)
        )
        constant, slopes = far_bound(self.system, self.decisions.departures, costs, gains, self.factor)
        self.constant, self.slopes = float(constant), np.array(slopes, dtype=float)
        ends = np.ceil((self.constant - value) / -self.slopes) + 3
        if self._widened(tuple(np.maximum(ends, self.shape).astype(int).tolist()), 1.0):
            self.space = States(self.decisions, self.shape)
        while True:
            first = np.zeros(self.space.n_states, dtype=bool)
            first[self.space.places(start)] = True
            found = self._one().value(first, -value - room)
            if found is not None:
                return found
            if self._widened(self._scaled()):
                self.space = States(self.decisions, self.shape)
            else:
                room *= 2

    def _scaled(self) -> tuple[int, ...]:
        return tuple(math.ceil(WIDER * side) for side in self.shape)

    def _wider(self) -> bool:
        """Take a somewhat larger set, and solve; False if that is not allowed."""
        wider = self._widened(self._scaled())
        if wider:
            self._solve()
        return wider

    def _function(self, h: FloatArray, states: NDArray[np.bool_]) -> tuple[Any, Any, int]:
        """Where a function is not 0, its values in multiples of a power of 2, and this."""
        bits = BITS - math.frexp(float(np.abs(h).max()))[1]
        values = np.rint(np.ldexp(h[states], bits)).astype(np.int64)
        return frozen(self.space.counts[states]), frozen(values), bits

    def _solve(self) -> None:
        """The best policy on the states of ``shape``."""
        self.space = States(self.decisions, self.shape)
        self.average = least_mean_cost(self.space, LITTLE * self.precision, self.average)
        _log.info("least mean costs %.9g on %d states", self.average.cost, self.space.n_states)

    def _level(self) -> float:
        """Below it level sets end well before the border."""
        return AWAY * float(self.average.h[self.space.border].min())

    def _larger(self) -> tuple[int, ...]:
        """Sides at whose ends h, about a quadratic function, is twice its least at the border."""
        goal = 2.0 * float(self.average.h[self.space.border].min())
        scales = np.sqrt(goal / self.average.h[self.space.tips])
        scales = np.maximum(scales, 1.0) if scales.max() > 1.05 else np.full(len(scales), math.sqrt(2.0))
        return tuple(math.ceil(side * scale) for side, scale in zip(self.shape, scales, strict=True))

    def _widened(self, shape: tuple[int, ...], least: float = 1.1) -> bool:
        """Take a larger set, or what is allowed of it; False if it is not larger by this factor."""
        scale = min(1.0, (self.most / States.number(shape)) ** (1 / len(shape)))
        self.full = self.full or scale < 1.0
        fitting = tuple(max(old, int(side * scale)) for old, side in zip(self.shape, shape, strict=True))
        if States.number(fitting) > self.most or math.prod(fitting) <= least * math.prod(self.shape):
            return False
        self.shape = fitting
        return True

    def _tabulated(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The states that are in the table of the policy."""
        table, whole = self.policy.table, np.zeros((len(counts), self.system.n_classes), dtype=np.int64)
        whole[:, self.live] = counts
        found = np.asarray((whole < table.shape[:-1]).all(axis=1))
        found[found] = ~np.isnan(table[tuple(whole[found].T)][:, 0])
        return found

    def _evaluate(self) -> float:
        """The policy as an object, its law, and the mean costs."""
        system, departures = self.system, self.decisions.departures
        live, sizes, n = self.live, system.mean_sizes, system.n_classes
        near = self.space.inner(INNER)
        places = np.zeros((np.count_nonzero(near), n), dtype=np.int64)
        places[:, live] = self.space.counts[near]
        tasks = np.zeros(places.shape)
        tasks[:, live] = self.average.chosen[near] * sizes[live]
        table = np.full((*(places.max(axis=0) + 1), n), np.nan)
        table[tuple(places.T)] = tasks
        vertices = {}
        for pattern, rates in zip(departures.vertices, self.decisions.vertices, strict=True):
            points, whole = np.zeros((len(rates), n)), np.zeros(n, dtype=int)
            points[:, live], whole[live] = rates * sizes[live], pattern
            vertices[tuple(whole.tolist())] = frozen(points)
        self.policy = TablePolicy(system.problem, frozen(table), frozen(self.gains), vertices)
        self.law = estimated_law(system, self.policy, tail=min(TAIL, LITTLE * self.precision))
        return float(self.costs @ self.law.mean_jobs)
