r"""Provisioning: the cheapest capacities that keep targets under random traffic.

Targets are smallest mean service rates, largest mean durations (by Little's law the same thing: mean size
over
mean duration is the mean service rate) and a largest relative load. Capacities are bought as they are, or as
servers that bundle resources, in real or in whole numbers. Three costs, from below:

* the *floor*: whatever the policy, :math:`C_j \ge \varrho_j` and :math:`C_j \ge a_{ij} g_i` for a class with
  target :math:`g_i` (a job never runs faster than when it is alone): a linear program;
* the cost of the answer, whose targets the model of the given method keeps
  (:mod:`capacity.boundaries.service_rates`);
* the cheapest under the duration bound, a convex program with a duality certificate
  (:mod:`capacity.provisioning.program`). The bound is conservative for balanced fairness, so the answer costs
  less.

In between, real numbers are tightened thus: scale the bound of each class so that it meets the model at the
present capacities, solve the convex program again, and repeat until nothing changes; the bound has the right
shape, so few rounds do. Then move on the line to the floor until the model just keeps the targets. The
result is verified, but a minimum only as far as the scaled bound has the right slopes (next to brute force
with the exact model, two resources under proportional fairness cost 0.3 % too much). Whole numbers are
tried in the order of their cost: the first that keeps the targets is the optimum, without any assumption;
if the effort does not suffice, NotConvergedError brings the best found and what was proved of it.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and Control of
   Large-Scale Networks, Eindhoven, 2014.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from capacity.boundaries.service_rates import per_class
from capacity.boundaries.service_simulation import Simulated
from capacity.means.words import BALANCED, BOUND
from capacity.provisioning.answer import Provision
from capacity.provisioning.program import BoundProgram, Choice, Purchase
from capacity.provisioning.search import Verifier, cheapest_floor, search_whole, tighten
from fairness.arguments.labels import as_named, by_label
from fairness.arguments.validation import (
    float_array,
    frozen,
    model_array,
    require,
    require_flag,
    require_number,
    require_shape,
    require_whole,
)
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.work import OutOfTime, ProgressOption, stopped, watching
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.policy import Policy
from queueing.model.system import System

__all__ = ["provision"]

MAX_NODES = 20_000
"""Most nodes of the search for whole numbers under the bound: a minute or so."""


def provision(
    demands: ArrayLike | Problem,
    loads: ArrayLike,
    costs: ArrayLike,
    *,
    method: str | Policy | Simulated = BALANCED,
    minimum_service_rate: ArrayLike | None = None,
    maximum_duration: ArrayLike | None = None,
    maximum_load: float = 1.0,
    mean_sizes: ArrayLike = 1.0,
    servers: ArrayLike | None = None,
    whole: bool = False,
    most: ArrayLike | None = None,
    precision: float | None = None,
    max_states: int | None = None,
    max_evaluations: int = 500,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Provision:
    """Buy the cheapest capacities that keep targets.

    Parameters
    ----------
    demands : array_like of shape (n_classes, n_resources), units per task, or Problem
        A problem lends its demands, weights and names; without ``servers`` its capacities are what can be
        bought at most.
    loads : array_like of shape (n_classes,), tasks
        Arrival rate times mean size; classes of load 0 have no say.
    costs : array_like of shape (n_types,)
        Cost per server, > 0; without ``servers``, per unit of each resource.
    method : {"bound", "balanced"}, policy or Simulated
        Model that must keep the targets, as in :func:`capacity.boundaries.service.service_region`. For dozens
        of classes take "bound", or a policy to be simulated: then the targets are kept with its confidence,
        and nothing is claimed to be the cheapest.
    minimum_service_rate : float or array_like of shape (n_classes,), tasks, optional
        Smallest mean number of running tasks of an active job; 0 for no target.
    maximum_duration : float or array_like of shape (n_classes,), time, optional
        Largest mean duration; infinite for no target.
    maximum_load : float
        Largest relative load of any resource, at most 1 (stability is needed in any case).
    mean_sizes : array_like of shape (n_classes,) or float, task-time per job
    servers : array_like of shape (n_types, n_resources), optional
        Units of each resource in a server of each type: one row for identical servers, a diagonal matrix for
        resources that come in units of their own. Default: every resource is bought by itself, in units of 1.
    whole : bool
        Whole numbers of servers only.
    most : array_like of shape (n_types,), optional
        Largest numbers of servers.
    precision : float
        Relative precision of the cost on the last line search (real numbers). Default: 1e-6, and 0.01 for a
        simulation, of which it is at least 0.001.
    max_states : int, optional
        Largest box of states, as in :func:`capacity.boundaries.service.service_region`.
    max_evaluations : int
        Most evaluations of the model. If the search needs more, NotConvergedError.
    progress : callable or bool, optional
    time_limit : float, optional, seconds
        As in :func:`capacity.service_boundary`.

    Returns
    -------
    Provision

    Raises
    ------
    ModelError
        If an argument is wrong, no target bounds the capacities, or ``most`` does not suffice under the
        bound.
    NotConvergedError
        If the convex program, or the model at some capacities, is not accurate enough, no capacities that
        keep the targets under the policy were found, or the effort or the time does not suffice; ``best`` is
        then the cheapest Provision found so far (its ``lower_cost`` is proven; that of the bound, if balanced
        fairness has verified none), None if there is none. A KeyboardInterrupt has the same ``best``.

    Examples
    --------
    One resource, one class: the mean duration is size/(C - load).

    >>> answer = provision([[1]], [3], [1], maximum_duration=0.5, mean_sizes=2)
    >>> answer.capacities.round(4), answer.lower_cost <= answer.cost
    (array([7.]), True)

    Servers with 4 cores and 8 GB each:

    >>> answer = provision([[1, 4], [2, 1]], [3, 4], [1], servers=[[4, 8]], whole=True, maximum_duration=1)
    >>> answer.servers, round(answer.bound_cost, 6), answer.floor_cost
    (array([4.]), 4.0, 3.0)
    """
    problem = _problem(demands)
    offers = _offers(problem, servers, costs, most, owned=isinstance(demands, Problem))
    maximum_load = require_number("maximum_load", maximum_load, least=1e-100, most=1)
    simulated = isinstance(method, Simulated)
    precision = _effort(simulated, precision, max_states, max_evaluations)
    whole = require_flag("whole", whole)
    rho = _loads(problem, loads)
    sizes = System(problem, np.zeros(problem.n_classes), mean_sizes).mean_sizes
    target = _targets(problem, sizes, minimum_service_rate, maximum_duration)
    program = _program(problem, rho, target, maximum_load, offers)

    relaxed, bound, done, reason = _under_bound(program, whole, method == BOUND)
    floor = cheapest_floor(program, whole)
    verifier = Verifier(problem, method, rho, sizes, target, program, max_states, max_evaluations)
    stop: BaseException | None = None
    choice: Choice = bound
    lower = bound.lower if method == BOUND else floor.cost
    if method != BOUND:
        try:
            with watching(progress, time_limit), verifier.searching(bound):
                if whole:
                    choice, lower, done = search_whole(verifier, bound, floor)
                    # What a simulation refuses is refused with some confidence only.
                    lower = floor.cost if simulated else lower
                else:
                    choice = tighten(verifier, bound, floor, precision)
        except NotConvergedError as error:
            if not verifier.exhausted or verifier.best is None:
                raise
            choice, done, reason = verifier.best, False, str(error)
        except (OutOfTime, KeyboardInterrupt) as error:
            stop, done = error, False
            if verifier.best is None and method != BALANCED:
                raise stopped(stop, "no capacities are known yet that keep the targets", None) from None
            if verifier.best is None:
                # What keeps the targets under the bound keeps them under balanced fairness.
                verifier = Verifier(problem, BOUND, rho, sizes, target, program, None, max_evaluations)
            else:
                choice = verifier.best
    final = verifier.rates(choice.servers, last=True)
    result = Provision(
        system=System(verifier.problem(choice.servers), rho / sizes, sizes),
        **verifier.told,
        servers=frozen(choice.servers),
        cost=choice.cost,
        lower_cost=min(lower, choice.cost),
        floor_cost=min(floor.cost, choice.cost),
        bound_servers=frozen(bound.servers),
        bound_cost=bound.cost,
        bound_lower_cost=bound.lower,
        prices=frozen(relaxed.prices),
        minimum_service_rates=frozen(target),
        service_rates=frozen(final.low),
        maximum_load=float(maximum_load),
        tail_mass=final.tail_mass,
        residual=final.residual,
        evaluations=verifier.evaluations,
        optimal=done and not simulated and (whole or method == BOUND),
    )
    return _told(result, done, reason, stop)


def _told(result: Provision, done: bool, reason: str, stop: BaseException | None) -> Provision:
    """The result, or that the search has ended before its end."""
    known = f"best costs {result.cost:.6g}, at least {result.lower_cost:.6g} is needed"
    if stop is not None:
        raise stopped(stop, known, result, result.gap) from None
    if not done:
        raise NotConvergedError(
            reason
            or f"the search for whole numbers stopped after {result.evaluations} evaluations: {known}; "
            "take it, or raise max_evaluations",
            best=result,
            residual=result.gap,
        )
    return result


def _effort(simulated: bool, precision: float | None, max_states: int | None, max_evaluations: int) -> float:
    """The precision, and no effort that cannot be."""
    if precision is None:
        precision = 0.01 if simulated else 1e-6
    precision = require_number("precision", precision, least=1e-3 if simulated else 1e-10, most=0.1)
    if simulated:
        Simulated.refuse_box(max_states)
    if max_states is not None:
        require_number("max_states", max_states, least=1, most=math.inf)
    require_whole("max_evaluations", max_evaluations, 1)
    return precision


def _program(
    problem: Problem,
    rho: FloatArray,
    target: FloatArray,
    maximum_load: float,
    offers: tuple[FloatArray, FloatArray, FloatArray],
) -> BoundProgram:
    """The convex program of the duration bound."""
    live = rho > 0
    if not (target[live] > 0).any() and maximum_load == 1:
        raise ModelError(
            "no class with arrivals has a target and maximum_load is 1: the cheapest capacities do not "
            "exist; give minimum_service_rate, maximum_duration or maximum_load"
        )
    a = problem.demands[live]
    usage = rho[live] @ a
    supplies, costs, top = offers
    for j in np.flatnonzero((usage > 0) & ~(supplies[top > 0] > 0).any(axis=0)):
        what = "has capacity 0" if (supplies[:, j] > 0).any() else "is in no server type"
        raise ModelError(f"{problem.resources[j]!r} {what} and is demanded; add some")
    with np.errstate(divide="ignore", over="ignore"):
        durations = np.where(live, 1.0 / target, np.inf)[live]
    # Of a resource that nobody demands nothing is bought, also where there is none.
    most = np.where(top > 0, top, np.inf)
    return BoundProgram(a, usage, usage / maximum_load, durations, supplies, costs, most)


def _offers(
    problem: Problem,
    servers: ArrayLike | None,
    costs: ArrayLike,
    most: ArrayLike | None,
    *,
    owned: bool,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Units of each resource in a server of each type, and costs; at most what is ``owned``."""
    m = problem.n_resources
    if servers is None:
        costs, most = (
            as_named(name, values, problem, "resources")
            for name, values in (("costs", costs), ("most", most))
        )
    else:
        _, (servers, costs, most) = by_label(
            {"servers": None, "resources": problem.resources},
            {
                "servers": (servers, ("servers", "resources")),
                "costs": (costs, ("servers",)),
                "most": (most, ("servers",)),
            },
        )
    supplies = np.eye(m) if servers is None else float_array("servers", servers)
    if supplies.ndim != 2 or supplies.shape[1] != m or not len(supplies):
        raise ModelError.of("servers", f"must have shape (n_types, {m}); got {supplies.shape}")
    if not (np.isfinite(supplies) & (supplies >= 0)).all():
        raise ModelError.of("servers", "must be finite and >= 0")
    kinds = len(supplies)
    names = problem.resources if servers is None else tuple(f"server type {t}" for t in range(kinds))
    cost = float_array("costs", costs)
    require_shape("costs", cost, (kinds,), "demands" if servers is None else "servers", supplies)
    require("costs", cost, np.isfinite(cost) & (cost > 0), "finite and > 0", names)
    top = np.full(kinds, np.inf)
    if most is not None:
        top = float_array("most", most)
        require_shape("most", top, (kinds,), "costs", cost)
        require("most", top, top > 0, "> 0", names)
    elif servers is None and owned:
        top = np.array(problem.capacities)
    return supplies, cost, top


def _loads(problem: Problem, loads: ArrayLike) -> FloatArray:
    """Loads of which one is not 0."""
    rho = model_array("loads", loads, problem, "job_classes")
    require_shape("loads", rho, (problem.n_classes,), "demands", problem.demands)
    require("loads", rho, np.isfinite(rho) & (rho >= 0), "finite and >= 0", problem.job_classes)
    if not rho.any():
        raise ModelError.of("loads", "are all 0: nothing has to be bought; set one above 0")
    return rho


def _under_bound(program: BoundProgram, whole: bool, suffices: bool) -> tuple[Purchase, Purchase, bool, str]:
    """Cheapest real numbers under the bound, numbers of the kind asked for, and whether they are the best.

    The last word is why they are not known to be; where the bound ``suffices`` they are then the answer.
    """
    relaxed = program.solve(np.zeros(len(program.most)), program.most)
    if relaxed is None:
        raise ModelError(
            "even with everything that can be bought the duration bound does not keep the targets "
            "(strictly); raise most (or the capacities of the problem), or lower the targets"
        )
    bound, done, reason = relaxed, True, ""
    if whole:
        try:
            exact = program.solve_whole(max_nodes=MAX_NODES)
        except NotConvergedError as error:
            # Cheap enough to start from, and an answer where the bound is all that is asked for.
            if error.best is None:
                raise
            exact, done, reason = error.best, not suffices, str(error)
        if exact is None:
            raise ModelError(
                "no whole numbers of servers up to most keep the targets under the bound; raise most (or the "
                "capacities of the problem), or lower the targets"
            )
        bound = exact
    return relaxed, bound, done, reason


def _problem(demands: ArrayLike | Problem) -> Problem:
    if isinstance(demands, Problem):
        problem = demands
    else:
        a = float_array("demands", demands, 2)
        problem = Problem(demands, np.ones(a.shape[1]))
    limited = np.flatnonzero(np.isfinite(problem.limits))
    if len(limited):
        raise ModelError(
            f"limits[{limited[0]}] ({problem.job_classes[limited[0]]!r}) is finite, but the duration bound "
            "that provisioning starts from is for jobs without limits; remove the limits",
            argument="limits",
        )
    return problem


def _targets(
    problem: Problem, sizes: FloatArray, minimum: ArrayLike | None, longest: ArrayLike | None
) -> FloatArray:
    """Smallest mean service rates, all targets in one; 0 without."""
    target, names = np.zeros(problem.n_classes), problem.job_classes
    if minimum is not None:
        target = per_class("minimum_service_rate", minimum, problem)
        require("minimum_service_rate", target, np.isfinite(target) & (target >= 0), "finite and >= 0", names)
    if longest is not None:
        duration = per_class("maximum_duration", longest, problem)
        require("maximum_duration", duration, duration > 0, "> 0", names)
        with np.errstate(over="ignore"):  # refused below
            target = np.maximum(target, np.where(np.isinf(duration), 0.0, sizes / duration))
    if not math.isfinite(float(target.max())):
        raise ModelError("targets must be finite; a maximum_duration is too small")
    return target
