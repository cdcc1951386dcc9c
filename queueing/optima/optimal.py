r"""The verb: how low mean holding costs can be under any policy at all, and a policy that comes near.

Three things are found. A policy: the best on a set of states (:mod:`queueing.optima.policy_iteration`), which
grows until the others fit. Its costs on the infinite chain: by :mod:`queueing.chain.stationary`, with an
estimate of their error. A function h that proves a lower bound for every policy: for c a little below these
costs the obstacle problem of :mod:`queueing.optima.stopping`. What it proves is said by the checker
(:mod:`queueing.certificates.lower_certificate`), in fractions. Near load 1, where no set is large enough, the
bound of a quadratic function stands beside it (:mod:`queueing.enclosures.moment_programs.drift_bound`).
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import frozen, require_choice, require_number
from fairness.errors import ModelError
from fairness.exact.outward import below
from fairness.machine.work import OutOfTime, ProgressOption, stopped, watching
from fairness.model.problem import FloatArray
from queueing.certificates.departures import departures
from queueing.certificates.errors import CertificateError
from queueing.certificates.lower_certificate import LowerCertificate
from queueing.chain.stationary import estimated_law
from queueing.chain.stationary_law import Stationary
from queueing.enclosures.moment_programs.drift_bound import DriftBound, drift_bound
from queueing.model.class_arguments import class_vector
from queueing.model.system import System, check_system
from queueing.optima.decisions import Decisions, States
from queueing.optima.optimum import Optimum
from queueing.optima.policy_iteration import least_mean_cost
from queueing.optima.stopping import level_of, level_within, stopping_value
from queueing.optima.table_policy import TablePolicy

__all__ = ["optimal"]

_log = logging.getLogger(__name__)

MOST_STATES = {1: 200_000, 2: 200_000, 3: 40_000}
"""By the number of classes: the factors of three take far more room."""
FIRST = {1: 64, 2: 32, 3: 12}
"""Jobs of a class alone in the first set."""
WIDER = 1.25
"""Growth of the sides of a set that turns out to be too small."""
INNER = 0.8
"""Part of the sides of a set where its border hardly changes the best policy."""
AWAY = 0.75
"""Part of the least h on the border, below which level sets are trusted."""
NEAR = 0.95
"""The same where the set cannot grow."""
SPENT = 0.9
"""Part of the precision that c lies below the costs of the policy."""
BITS = 61
"""Of the largest number in h."""


def optimal(
    system: System,
    *,
    cost: str | ArrayLike = "jobs",
    precision: float = 1e-6,
    max_states: int | None = None,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Optimum:
    """The least mean holding costs of all policies: a proved lower bound, and a policy that comes near it.

    The bound holds for every policy that does not know the sizes of jobs, also for one that looks at the past
    or runs whole tasks.

    Parameters
    ----------
    system : System
        A pool, at most three classes with Poisson arrivals, exponential sizes.
    cost : "jobs", "duration" or array_like of shape (n_classes,)
        What a job costs per unit of time: 1, so that the mean costs are the mean number of jobs; in proportion
        to 1/arrival rate, so that they are the mean of the classes' mean durations; or holding costs > 0.
    precision : float
        How far the policy may be above the bound, relatively.
    max_states : int, optional
        Most states of the set that is searched. Default: 200,000, of three classes 40,000.
    progress : None, bool or callable
        None shows a bar for long work where standard error is a terminal, False never; a function is called
        with each :class:`~fairness.machine.work.Progress`.
    time_limit : float, seconds, optional
        When to stop.

    Returns
    -------
    Optimum
        With ``shortfall`` where the precision is not reached.

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If an argument is wrong, the system is a cluster or has other arrivals, sizes or numbers of classes, or
        limits on the tasks of a job make too many cases.
    NotConvergedError
        If the time is over.

    References
    ----------
    R. A. Howard, "Dynamic Programming and Markov Processes", MIT Press, 1960.

    D. Bertsimas, I. Paschalidis and J. Tsitsiklis, "Optimization of multiclass queueing networks: polyhedral
    and nonlinear characterizations of achievable performance", Annals of Applied Probability 4(1), 1994.
    DOI 10.1214/aoap/1177005200.

    Examples
    --------
    With equal loads on two resources that are shared little, no policy has less than 20/11 jobs:

    >>> from fairness import Problem
    >>> from queueing import System, optimal
    >>> system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.5)
    >>> best = optimal(system)
    >>> round(best.lower, 5), round(best.value, 5), round(20 / 11, 5)
    (1.81818, 1.81818, 1.81818)
    >>> best.check()
    """
    problem = check_system(system).require_pool("optimal", "stationary or simulate for a policy of your choice")
    system.require_poisson("optimal")
    system.require_exponential("optimal")
    costs = _costs(system, cost)
    system.require_stable()
    system.require_scale()
    precision = require_number("precision", precision, above=0, below=1)
    live = np.flatnonzero(system.arrival_rates > 0)
    if not 1 <= len(live) <= max(MOST_STATES):
        raise ModelError.of(
            "system",
            f"has {len(live)} classes with arrivals; the best policy is looked for of 1 to {max(MOST_STATES)}; "
            "drift_bound(system) bounds every policy for any number",
        )
    most = MOST_STATES[len(live)] if max_states is None else require_number("max_states", max_states, least=1)
    try:
        decisions = Decisions(departures(system), costs[live])
    except CertificateError as error:
        raise ModelError.of("system", f"cannot be taken: {error}") from None
    with watching(progress, time_limit):
        try:
            search = _Search(system, costs, decisions, precision, most)
            certificate = search.certificate()
            by_hand = drift_bound(system, of=costs)
        except (OutOfTime, KeyboardInterrupt) as stop:
            raise stopped(stop, "no bound is proved yet", None, math.inf) from None
    kind = cost if isinstance(cost, str) else "own"
    return Optimum(
        system, kind, costs, certificate, by_hand, search.policy, search.law, precision, search.shortfall(by_hand)
    )


def _costs(system: System, cost: Any) -> FloatArray:
    """Costs of a job per unit of time, (n_classes,)."""
    if isinstance(cost, str):
        if require_choice("cost", cost, ("jobs", "duration")) == "jobs":
            return frozen(np.ones(system.n_classes))
        rates = system.arrival_rates
        live = rates > 0
        # Of classes without arrivals, of which there are no jobs, it says nothing.
        return frozen(np.divide(1.0 / max(1, live.sum()), rates, out=np.ones(len(rates)), where=live))
    return frozen(class_vector("cost", cost, system.problem, positive=True))


class _Search:
    """A set of states that grows, the best policy on it, and what is found with its help."""

    policy: TablePolicy
    law: Stationary
    full = False  # whether a larger set was wanted than is allowed
    bound = 0.0

    def __init__(
        self, system: System, costs: FloatArray, decisions: Decisions, precision: float, most: float
    ) -> None:
        self.system, self.costs, self.decisions = system, costs, decisions
        self.precision, self.most = precision, most
        caps = decisions.departures.caps
        self.shape = tuple(max(FIRST[len(caps)], cap + 2) for cap in caps)
        if (needed := math.ceil(States.number(self.shape))) > most:
            raise ModelError.of("max_states", f"must be at least {needed:,} for this system; got {most:,}")

    def certificate(self) -> LowerCertificate:
        """The lower bound; ``policy`` and ``law`` are found on the way."""
        self._solve()
        while level_of(self.space, self.average, self.average.cost * (1 - self.precision), self._level()) is None:
            if not self._widened(self._larger()):
                break
            self._solve()
        self._evaluate()
        value = float(self.costs @ self.law.mean_jobs)
        # Where the set cannot grow, level sets may come near its border.
        cost, part = value * (1.0 - SPENT * self.precision), 1.0 if not self.full else NEAR / AWAY
        while True:
            space, average, most = self.space, self.average, part * self._level()
            level = level_of(space, average, cost, most) or level_within(space, average, most)
            h = stopping_value(space, level.states, average, min(cost, level.cost))
            if h is not None:
                return self._certified(h)
            if self._widened(tuple(math.ceil(WIDER * side) for side in self.shape)):
                self._solve()
            else:
                part /= WIDER

    def shortfall(self, by_hand: DriftBound) -> str:
        """Why the precision is not reached."""
        value = float(self.costs @ (self.law.mean_jobs + self.law.mean_jobs_error))
        if value <= (1.0 + self.precision) * max(self.bound, float(by_hand.lower[0])):
            return ""
        if self.full:
            return f"more than max_states={self.most:,} states are needed"
        return "the costs of the policy are not known so well"

    def _solve(self) -> None:
        """The best policy on the states of ``shape``."""
        self.space = States(self.decisions, self.shape)
        self.average = least_mean_cost(self.space)
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

    def _widened(self, shape: tuple[int, ...]) -> bool:
        """Take a larger set, or what is allowed of it; False if that is not much."""
        scale = min(1.0, (self.most / States.number(shape)) ** (1 / len(shape)))
        self.full = self.full or scale < 1.0
        fitting = tuple(max(old, int(side * scale)) for old, side in zip(self.shape, shape, strict=True))
        if States.number(fitting) > self.most or math.prod(fitting) < 1.1 * math.prod(self.shape):
            return False
        self.shape = fitting
        return True

    def _evaluate(self) -> None:
        """The policy as an object, and its law."""
        system, departures = self.system, self.decisions.departures
        live, sizes, n = list(departures.classes), system.mean_sizes, system.n_classes
        inner, counts = INNER * np.array(self.shape), self.space.counts
        near = ((counts / inner) ** 2).sum(axis=1) < 1.0
        places = np.zeros((np.count_nonzero(near), n), dtype=np.int64)
        places[:, live] = counts[near]
        tasks = np.zeros(places.shape)
        tasks[:, live] = self.average.chosen[near] * sizes[live]
        table = np.full((*(places.max(axis=0) + 1), n), np.nan)
        table[tuple(places.T)] = tasks
        vertices = {}
        for pattern, rates in zip(departures.vertices, self.decisions.vertices, strict=True):
            points, whole = np.zeros((len(rates), n)), np.zeros(n, dtype=int)
            points[:, live], whole[live] = rates * sizes[live], pattern
            vertices[tuple(whole.tolist())] = frozen(points)
        self.policy = TablePolicy(system.problem, frozen(table), frozen(self.costs / sizes), vertices)
        self.law = estimated_law(system, self.policy)

    def _certified(self, h: FloatArray) -> LowerCertificate:
        """The certificate of a function, with what the checker says that it proves."""
        states = h < 0
        bits = BITS - math.frexp(float(np.abs(h).max()))[1]
        certificate = LowerCertificate(
            self.system,
            tuple(map(Fraction, self.costs.tolist())),
            frozen(self.space.counts[states]),
            frozen(np.rint(np.ldexp(h[states], bits)).astype(np.int64)),
            bits,
            Fraction(0),
        )
        self.bound = below(certificate.check())
        return replace(certificate, bound=Fraction(self.bound))
