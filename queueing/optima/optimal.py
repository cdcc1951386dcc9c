"""The verb: how low mean holding costs can be under any policy at all, and a policy that comes near.

:mod:`queueing.optima.search` finds a policy, a proof that no policy has lower costs than some c, and one that
this policy has hardly higher ones. Near load 1, where no set of states is large enough, the bound of a
quadratic function stands beside the first (:mod:`queueing.enclosures.moment_programs.drift_bound`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairness.arguments.validation import frozen, require_choice, require_number, require_whole
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.work import OutOfTime, ProgressOption, current_watch, stopped, watching
from fairness.model.problem import FloatArray
from queueing.certificates.cost_certificate import Numbers
from queueing.certificates.errors import CertificateError
from queueing.certificates.pool import LARGEST, SMALLEST
from queueing.enclosures.moment_programs.drift_bound import drift_bound
from queueing.model.class_arguments import class_vector
from queueing.model.system import System, check_system
from queueing.optima.optimum import Optimum
from queueing.optima.search import Search

__all__ = ["MOST_STATES", "holding_costs", "optimal"]

FINEST = 1e-9
MOST_STATES = {1: 200_000, 2: 200_000, 3: 40_000}
"""By the number of classes: the factors of three take far more room."""


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
        What a job costs per unit of time: 1, so that the mean costs are the mean number of jobs; in
        proportion to 1/arrival rate, so that they are the mean of the classes' mean durations; or holding
        costs > 0.
    precision : float
        How far the policy may be above the bound, relatively; at least 1e-9, below which rounding decides.
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
        If an argument is wrong, the system is a cluster or has other arrivals, sizes or numbers of classes,
        or limits on the tasks of a job make too many cases.
    NotConvergedError
        If the time is over, or floats do not tell the policy; ``best`` is a weaker bound for every policy, a
        DriftBound.

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
    check_system(system).require_pool("optimal", "stationary or simulate with a policy of your choice")
    system.require_poisson("optimal")
    system.require_exponential("optimal")
    costs = holding_costs(system, cost)
    system.require_stable()
    system.require_scale()
    precision = require_number("precision", precision, least=FINEST, below=1)
    live = np.flatnonzero(system.arrival_rates > 0)
    if not 1 <= len(live) <= max(MOST_STATES):
        raise ModelError.of(
            "system",
            f"has {len(live)} classes with arrivals; the best policy is found for 1 to {max(MOST_STATES)}; "
            "drift_bound(system) bounds every policy for any number of classes",
        )
    most = MOST_STATES[len(live)] if max_states is None else require_whole("max_states", max_states, 1)
    try:
        numbers = Numbers.of(system, tuple(map(Fraction, costs.tolist())))
    except CertificateError as error:
        raise ModelError.of("system", f"cannot be taken: {error}") from None
    with watching(progress, time_limit):
        # It is soon found, and what remains where the time is over.
        with watching(watch=replace(current_watch(), deadline=math.inf)):
            by_hand = drift_bound(system, of=costs)
        known = f"mean costs are proved to be at least {by_hand.lower[0]:.6g}, in best"
        try:
            search = Search(system, numbers, costs, precision, most)
            search.run(float(by_hand.lower[0]))
        except (OutOfTime, KeyboardInterrupt) as stop:
            raise stopped(stop, known, by_hand, math.inf) from None
        except NotConvergedError as stop:
            raise NotConvergedError(f"{stop}: {known}", best=by_hand, residual=math.inf) from None
    short = ""
    if search.upper.upper[0] > (1.0 + precision) * max(search.lower.lower[0], by_hand.lower[0]):
        short = f"more than max_states={most:,} states are needed"
        if search.weak:
            short = f"the bound for many jobs, weak near load 1 and for costs of very different size: {short}"
        if not search.full:
            short = "the policy is not near enough to the best"
    kind = cost if isinstance(cost, str) else "own"
    found = search.policy, search.lower, search.upper, by_hand, search.law
    return Optimum(system, kind, costs, *found, precision, short)


def holding_costs(system: System, cost: Any) -> FloatArray:
    """Costs of a job per unit of time, (n_classes,)."""
    if isinstance(cost, str):
        if require_choice("cost", cost, ("jobs", "duration")) == "jobs":
            return frozen(np.ones(system.n_classes))
        rates = system.arrival_rates
        live = rates > 0
        # Of classes without arrivals, of which there are no jobs, it says nothing.
        return frozen(np.divide(1.0 / max(1, live.sum()), rates, out=np.ones(len(rates)), where=live))
    costs = class_vector("cost", cost, system.problem, positive=True)
    if not ((costs >= SMALLEST) & (costs <= LARGEST)).all():
        raise ModelError.of("cost", f"must be from {SMALLEST:g} to {LARGEST:g}; got {costs.tolist()}")
    return frozen(costs)
