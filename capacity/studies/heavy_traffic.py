r"""Heavy traffic: how the mean numbers of jobs grow as the load of a pool approaches 1.

Along a ray of loads let u be the relative load of the busiest resources, :math:`\rho` the class loads at
u = 1 and J the resources that are then full. What is computed is :math:`y_i(u) = (1 - u)\,E[x_i]`
and its limit for u -> 1.

What is known. The duration bound gives :math:`\limsup y_i \le \rho_i \sum_{j\in J} a_{ij}/C_j` for balanced
fairness [1]_, with equality for a single resource. Under proportional fairness the diffusion limit is the
image of independent exponential prices, one for each full resource, so that one expects

.. math:: y_i \to \rho_i \sum_{j \in J} \frac{a_{ij}}{C_j}

where every full resource has traffic of its own [2]_ or, more generally, the demands for the full resources
have full rank [3]_. The interchange of the two limits (time and load) is not part of these theorems; for
other policies the numbers are evidence and no proof.

Limits are extrapolated with estimated errors (:mod:`capacity.studies.extrapolation`): in powers of
:math:`1 - u`, or of its square root, which is how large random fluctuations are next to the counts when
several resources are full. A policy whose queues grow faster than 1/(1 - u) has no limit, and where the loads
computed do not reach the region in which the differences decay, none is claimed; the local exponent
:math:`-d\log E[x]/d\log(1 - u)` is given for both, and is 1 in the limit where there is one.

How far the errors can be trusted was measured on random systems of two classes and two resources (entries
and capacities of a whole order of magnitude, mean sizes from 0.2 to 5) that were not looked at before the
rule was fixed, at the default loads, next to the limit stated above. Balanced fairness: 76 means of 80 had a
limit claimed, all within their errors, which were below 0.01 % with one resource full and 0.4 % with two
(medians). Proportional fairness: with one full 21 of 24 claimed, all within errors of 0.001 %; with two only
8 of 24, all within errors of about 6 %: its means approach their limits like the square root of 1 - u, and
where the loads of the classes on both resources are nearly proportional that begins beyond u = 0.975. Earlier
rules claimed limits there too, and missed one in seven.

References
----------
.. [1] T. Bonald and J. Roberts, "Resource sharing in data centers", Workshop on Performance and Control of
   Large-Scale Networks, Eindhoven, 2014.
.. [2] W. N. Kang, F. P. Kelly, N. H. Lee and R. J. Williams, "State space collapse and diffusion
   approximation for a network operating under a fair bandwidth sharing policy", Annals of Applied Probability
   19(5), 2009. DOI 10.1214/08-AAP591.
.. [3] H.-Q. Ye and D. D. Yao, "A stochastic network under proportional fair resource control: diffusion limit
   with multiple bottlenecks", Operations Research 60(3), 2012. DOI 10.1287/opre.1120.1047.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from capacity.means.words import BALANCED, METHODS
from capacity.studies.extrapolation import extrapolated
from fairness.arguments.validation import float_array, frozen, require_number
from fairness.catalogue import colour
from fairness.display.drawing import given_axes, legend_beside
from fairness.display.lettering import label
from fairness.display.result import Result
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.problem import FloatArray, Problem
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import Policy, policy_name
from queueing.balanced.fairness import balanced_fairness
from queueing.chain.solvers.choose_solver import Automatic
from queueing.chain.stationary import stationary
from queueing.enclosures.enclose import enclose
from queueing.model.system import System
from queueing.states.table import Table, tabulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HeavyTraffic", "ScaledQueue", "heavy_traffic"]

FULL = 1e-9
"""Resources whose relative load is the largest up to this are full in the limit."""

LOADS, LOADS_OF_THREE = (0.6, 0.8, 0.9, 0.95, 0.975), (0.2, 0.6, 0.8, 0.9)
"""Loads unless others are given, and those that chains of three classes reach in seconds."""

FINE = 1e-12
"""Tail of balanced fairness where its bounds are asked for."""

EPSILON = float(np.finfo(float).eps)

ROUNDING = 1e-11
"""Relative error of a computed mean: sums of up to 10^8 positive terms, each some hundred roundings."""


@dataclass(frozen=True, eq=False)
class ScaledQueue:
    """(1 - u) E[x] of one policy, and its limit.

    Attributes
    ----------
    policy : str
    loads : ndarray of shape (n_loads,)
        Relative loads u, increasing.
    values, errors : ndarray of shape (n_loads, n_classes), jobs
        (1 - u) E[x_i] and the errors of the computation: rigorous for balanced fairness, else estimates.
    limit, limit_error : ndarray of shape (n_classes,), jobs
        Extrapolated to u = 1, with the estimated error; nan and infinite where none is seen.
    exponents : ndarray of shape (n_classes,)
        Local exponent of the growth of E[x_i] in 1/(1 - u), from the last two loads.
    power, free_power : ndarray of shape (n_classes,)
        Of 1 - u: in which the limit was extrapolated, and through the last three points
        (:mod:`capacity.studies.extrapolation`).
    """

    policy: str
    loads: FloatArray
    values: FloatArray
    errors: FloatArray
    limit: FloatArray
    limit_error: FloatArray
    exponents: FloatArray
    power: FloatArray
    free_power: FloatArray


@dataclass(frozen=True, eq=False)
class ScaledBounds:
    """(1 - u) E[x] of one policy between bounds that are proved.

    Attributes
    ----------
    policy : str
    loads : ndarray of shape (n_loads,)
        Relative loads u, increasing.
    lower, upper : ndarray of shape (n_loads, n_classes), jobs
        By :func:`queueing.enclose`, with rounding; or by the bounds that balanced fairness has of its own,
        to which 10^-11 of the mean is added for rounding.
    """

    policy: str
    loads: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class HeavyTraffic(Result):
    """Scaled queues near load 1; made by :func:`heavy_traffic`.

    Attributes
    ----------
    problem : Problem
    direction : ndarray of shape (n_classes,), tasks
        Class loads at u = 1.
    bottlenecks : tuple of str
        Resources that are full at u = 1.
    reference : ndarray of shape (n_classes,), jobs
        rho_i times the sum of a_ij/C_j over the full resources.
    independent : bool
        Whether the demands for the full resources have full rank, as the reference supposes for
        proportional fairness.
    queues : tuple of ScaledQueue
        One per policy.
    bounds : tuple of ScaledBounds
        One per policy, if some loads are ``certified``.
    """

    problem: Problem
    direction: FloatArray
    bottlenecks: tuple[str, ...]
    reference: FloatArray
    independent: bool
    queues: tuple[ScaledQueue, ...]
    bounds: tuple[ScaledBounds, ...] = ()

    def __getitem__(self, policy: str) -> ScaledQueue:
        """The queue of a policy by its name."""
        for queue in self.queues:
            if queue.policy == policy:
                return queue
        raise KeyError(f"no policy is named {policy!r}; there are {', '.join(q.policy for q in self.queues)}")

    def to_dataframe(self) -> pd.DataFrame:
        """One row per policy, class and load: (1 - u) E[x] and its error."""
        return self._by_load(self.queues, scaled_jobs="values", error="errors")

    def limits(self) -> pd.DataFrame:
        """One row per policy and class: limit, its error, the reference, the exponent of growth."""
        rows = [
            (q.policy, name, q.limit[i], q.limit_error[i], self.reference[i], q.exponents[i], q.power[i])
            for q in self.queues
            for i, name in enumerate(self.problem.job_classes)
            if self.direction[i] > 0
        ]
        columns = ["policy", "job_class", "limit", "error", "reference", "exponent", "power"]
        return pd.DataFrame(rows, columns=columns)

    def certified(self) -> pd.DataFrame:
        """One row per policy, class and load that is certified: bounds of (1 - u) E[x], proved."""
        return self._by_load(self.bounds, lower="lower", upper="upper")

    def _by_load(self, parts: Sequence[ScaledQueue | ScaledBounds], **columns: str) -> pd.DataFrame:
        """One row per policy, class and load; columns are arrays that the parts have under these names."""
        rows = [
            (one.policy, name, u, *(getattr(one, array)[k, i] for array in columns.values()))
            for one in parts
            for i, name in enumerate(self.problem.job_classes)
            for k, u in enumerate(one.loads)
        ]
        return pd.DataFrame(rows, columns=["policy", "job_class", "load", *columns])

    def agree(self, one: str, other: str) -> bool | None:
        """Whether the limits of two policies agree within their errors; None where there is no limit."""
        a, b = self[one], self[other]
        live = self.direction > 0
        if not np.isfinite(a.limit[live] + b.limit[live]).all():
            return None
        apart = np.abs(a.limit - b.limit)[live]
        return bool((apart <= (a.limit_error + b.limit_error)[live]).all())

    def summary(self) -> str:
        """Full resources, then one line per policy and class."""
        lines = [f"heavy traffic with {', '.join(self.bottlenecks)} full: limits of (1 - load) E[jobs]"]
        for q in self.queues:
            for i in np.flatnonzero(self.direction > 0):
                value = (
                    f"{q.limit[i]:.5f} +- {q.limit_error[i]:.1e}"
                    if math.isfinite(q.limit[i])
                    else f"none seen: E[jobs] grows locally like (1 - load)^-{q.exponents[i]:.2f}"
                )
                name = self.problem.job_classes[i]
                lines.append(f"  {q.policy:<18} {name:<10} {value} (reference {self.reference[i]:.5f})")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None, *, job_class: int = 0) -> Axes:
        """Draw (1 - u) E[x] of a class against 1 - u, with the limits at 0."""
        ax = given_axes(ax)
        ax.axhline(
            self.reference[job_class], color="0.6", lw=1, ls="--", label="ρ Σ a/C over the full resources"
        )
        for k, (queue, marker) in enumerate(zip(self.queues, "oDs^v<>" * len(self.queues), strict=False)):
            # Wider below, so that curves that lie on each other are seen.
            above = len(self.queues) - 1 - k
            size: dict[str, Any] = {"lw": 1.2 + 1.0 * above, "ms": 4.0 + 2.5 * above}
            shown = METHODS.get(queue.policy, queue.policy)
            shade, values = colour(shown), queue.values[:, job_class]
            ax.plot(1.0 - queue.loads, values, marker + "-", color=shade, label=label(shown), **size)
            limit, error = queue.limit[job_class], queue.limit_error[job_class]
            if math.isfinite(limit):
                ax.errorbar(
                    [0.0],
                    [limit],
                    yerr=[error],
                    fmt=marker,
                    mfc="white",
                    ms=size["ms"],
                    color=shade,
                    capsize=4,
                    clip_on=False,
                )
        for number, one in enumerate(self.bounds):
            middle = (one.upper + one.lower)[:, job_class] / 2
            half = (one.upper - one.lower)[:, job_class] / 2
            said = "proved" if number == len(self.bounds) - 1 else None
            ax.errorbar(1.0 - one.loads, middle, yerr=half, fmt="k_", ms=9, mew=1.5, zorder=4, label=said)
        name = self.problem.job_classes[job_class]
        ax.set(xlabel="1 - load of the busiest resource", ylabel=label(f"(1 - load) × mean jobs of {name}"))
        legend_beside(ax)
        return ax


def heavy_traffic(
    problem: Problem,
    mix: ArrayLike,
    policies: Sequence[str | Policy],
    *,
    loads: Sequence[float] | None = None,
    balanced_loads: Sequence[float] | None = None,
    mean_sizes: ArrayLike = 1.0,
    tail: float = 1e-8,
    tolerance: float = 1e-8,
    max_states: int = 4_000_000,
    certified: Sequence[float] = (),
    width: float = 1e-6,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> HeavyTraffic:
    """Mean numbers of jobs times 1 - load on a ray, and their limits at load 1.

    Parameters
    ----------
    problem : Problem
        Of few classes with load for policies, whose chains are solved; without limits.
    mix : array_like of shape (n_classes,)
        Class loads on any scale.
    policies : sequence of policies, or "balanced" for balanced fairness
    loads : sequence of float, optional
        Relative loads of the busiest resource, increasing, at least 4. Values of 1 - load that halve from
        one to the next suit the extrapolation. Default: 0.6, 0.8, 0.9, 0.95, 0.975; of three classes with
        load 0.2, 0.6, 0.8, 0.9, as far as their chains reach.
    balanced_loads : sequence of float, optional
        For balanced fairness, whose recursion reaches further. Default: ``loads``, if given, or the first of
        their defaults, and after its last two more that halve 1 - load.
    mean_sizes : array_like of shape (n_classes,) or float, task-time per job
    tail, tolerance, max_states
        Of :func:`queueing.stationary`; ``tail`` also of balanced fairness.
    certified : sequence of float
        Loads, increasing, at which the means of all policies are enclosed by :func:`queueing.enclose`, or by
        the own bounds of balanced fairness: near load 1 what is proved reaches further than the chains above.
    width : float
        How far bounds may be apart, relative to the mean.
    progress, time_limit
        As in :func:`capacity.service_boundary`.

    Returns
    -------
    HeavyTraffic

    Raises
    ------
    ModelError
        If an argument is wrong, or a certified policy has no drift that is proved.
    UnstableError
        If a policy is seen to be unstable at one of the loads.
    NotConvergedError
        If a chain is not solved; if the width is not reached at a certified load; or if the time is over, and
        ``best`` is the study of the policies done by then.

    Examples
    --------
    One resource shared by two classes: E[x_i] = u_i/(1 - u), under balanced fairness and PF alike.

    >>> from fairness import ProportionalFair
    >>> study = heavy_traffic(Problem([[1], [1]], [1]), [1, 3], ["balanced", ProportionalFair()],
    ...                       loads=[0.6, 0.8, 0.9, 0.95])
    >>> study["balanced"].limit.round(6), study.agree("balanced", "PF")
    (array([0.25, 0.75]), True)
    """
    limited = np.flatnonzero(np.isfinite(problem.limits))
    if len(limited):
        raise ModelError(
            f"limits[{limited[0]}] is finite, but limits never bind in heavy traffic; remove them from "
            f"the problem",
            argument="limits",
        )
    if isinstance(policies, str) or not len(policies):
        raise ModelError.of("policies", f"must be a sequence of policies or 'balanced'; got {policies!r}")
    edge = System.with_load(problem, mix, 1.0, mean_sizes)
    wide = _increasing("loads", LOADS if loads is None else loads, 4)
    three = loads is None and np.count_nonzero(edge.loads) == 3
    steps = np.array(LOADS_OF_THREE) if three else wide
    further = [*wide, 1 - (1 - wide[-1]) / 2, 1 - (1 - wide[-1]) / 4]
    far = _increasing("balanced_loads", further if balanced_loads is None else balanced_loads, 4)
    relative = edge.relative_loads
    full = np.flatnonzero(relative >= 1.0 - FULL)
    shares = problem.task_shares[:, full]
    live = edge.loads > 0
    proved = _increasing("certified", certified, 0)
    width = require_number("width", width, above=0, below=1)
    queues: list[ScaledQueue] = []
    bounds: list[ScaledBounds] = []

    def found() -> HeavyTraffic:
        return HeavyTraffic(
            problem,
            frozen(edge.loads.copy()),
            tuple(problem.resources[j] for j in full),
            frozen(edge.loads * shares.sum(axis=1)),
            bool(np.linalg.matrix_rank(shares[live]) == len(full)),
            tuple(queues),
            tuple(bounds),
        )

    try:
        with watching(progress, time_limit), Task("heavy traffic", len(policies), "policies") as work:
            for policy in policies:
                if isinstance(policy, str):
                    if policy != BALANCED:
                        raise ModelError(f"a policy must be callable, or 'balanced'; got {policy!r}")
                    queues.append(_queue(BALANCED, edge, far, _balanced(edge, far, tail)))
                    if len(proved):
                        bounds.append(_balanced_bounds(edge, proved))
                else:
                    points = _chain(edge, policy, steps, tail, tolerance, max_states)
                    queues.append(_queue(policy_name(policy), edge, steps, points))
                    if len(proved):
                        bounds.append(_enclosed(edge, policy, proved, width, max_states))
                work.advance()
    except (OutOfTime, KeyboardInterrupt) as stop:
        best = found() if queues else None
        raise stopped(stop, f"{len(queues)} of {len(policies)} policies are done", best) from None
    return found()


def _increasing(name: str, given: Sequence[float], least: int) -> FloatArray:
    loads = float_array(name, given)
    if loads.ndim != 1 or len(loads) < least or not (np.diff([0.0, *loads, 1.0]) > 0).all():
        many = f"at least {least} " if least else ""
        raise ModelError.of(name, f"must be {many}increasing relative loads between 0 and 1; got {given!r}")
    return loads


def _at(edge: System, u: float) -> System:
    return replace(edge, arrival_rates=u * edge.arrival_rates)


def _balanced(edge: System, loads: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    laws = [balanced_fairness(_at(edge, float(u)), tail=tail) for u in loads]
    return np.array([law.mean_jobs for law in laws]), np.array([law.mean_jobs_error for law in laws])


def _balanced_bounds(edge: System, loads: FloatArray) -> ScaledBounds:
    mean, error = _balanced(edge, loads, FINE)
    scale, wide = (1.0 - loads)[:, None], error + ROUNDING * mean
    return ScaledBounds(BALANCED, frozen(loads), frozen(scale * (mean - wide)), frozen(scale * (mean + wide)))


def _enclosed(
    edge: System, policy: AnyPolicy, loads: FloatArray, width: float, max_states: int
) -> ScaledBounds:
    lower, upper = np.empty((2, len(loads), edge.n_classes))
    for k, u in enumerate(loads):
        found = enclose(_at(edge, float(u)), policy, width=width, max_states=max_states)
        if found.shortfall:
            raise NotConvergedError(
                f"{policy_name(policy)} at load {u:g} is enclosed to {found.reached:.2g} of the means, not "
                f"to {width:g}: {found.shortfall}; give a larger width, or leave out this load",
                residual=found.reached,
            )
        # 1 - u is rounded, and so is the product.
        scale = (1.0 - u) * (1.0 - 4 * EPSILON), (1.0 - u) * (1.0 + 4 * EPSILON)
        lower[k], upper[k] = found.mean_jobs.lower * scale[0], found.mean_jobs.upper * scale[1]
    return ScaledBounds(policy_name(policy), frozen(loads), frozen(lower), frozen(upper))


def _chain(
    edge: System, policy: AnyPolicy, loads: FloatArray, tail: float, tolerance: float, max_states: int
) -> tuple[FloatArray, FloatArray]:
    means, errors = [], []
    table: Table | None = None
    # The highest load first: what is too large is refused at once, and its table serves all others.
    for u in loads[::-1]:
        law = stationary(
            _at(edge, float(u)),
            policy,
            tail=tail,
            solver=Automatic(tolerance),
            max_states=max_states,
            table=table,
            distribution=False,
        )
        if law.n_states == math.prod(law.shape):  # a box around a set of states would be far larger
            table = tabulate(edge.problem, policy, law.shape, known=table)
        means.append(law.mean_jobs)
        errors.append(law.mean_jobs_error)
    return np.array(means[::-1]), np.array(errors[::-1])


def _queue(name: str, edge: System, loads: FloatArray, points: tuple[FloatArray, FloatArray]) -> ScaledQueue:
    mean, error = points
    epsilon = 1.0 - loads
    values, errors = epsilon[:, None] * mean, epsilon[:, None] * (error + ROUNDING * mean)
    limit, limit_error, exponents, power, free = np.full((5, edge.n_classes), np.nan)
    for i in np.flatnonzero(edge.loads > 0):
        exponents[i] = math.log(mean[-1, i] / mean[-2, i]) / math.log(epsilon[-2] / epsilon[-1])
        found = extrapolated(epsilon, values[:, i], errors[:, i])
        limit[i], limit_error[i] = found.value, found.error
        power[i], free[i] = found.power, found.free_power
    return ScaledQueue(
        name, frozen(loads), frozen(values), frozen(errors), frozen(limit), frozen(limit_error),
        frozen(exponents), frozen(power), frozen(free),
    )  # fmt: skip
