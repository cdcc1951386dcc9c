r"""The verb: rigorous bounds of stationary means of an infinite chain, with a certificate that proves them.

Three things are found, none of which is trusted: a function V that falls on average outside of a box
(:mod:`queueing.enclosures.drift_search`), and on the box the functions h and v
(:mod:`queueing.enclosures.poisson_equation`). The checker (:mod:`queueing.certificates.checking`), which
knows neither solvers nor the engines of policies, says in one pass with outward rounding what follows. The
box is enlarged until the bounds are as close as was asked.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from fairness.arguments.validation import require_number
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.work import OutOfTime, ProgressOption, stopped, watching
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.certificates.arrival_phases import ArrivalPhases
from queueing.certificates.certificate import Certificate, Functional
from queueing.certificates.errors import CertificateError
from queueing.certificates.families import BY_CELLS, FAMILIES, certified, pool_of
from queueing.chain.box_chain import extended
from queueing.chain.solvers.choose_solver import Automatic
from queueing.chain.stationary import estimated_law
from queueing.chain.stationary_law import Stationary
from queueing.enclosures.building import Builder
from queueing.enclosures.drift_search import Outlook, Plan, Wish, candidates, falls, has_lemma, planned
from queueing.enclosures.poisson_equation import eliminated
from queueing.enclosures.power_search import planned_power, powers
from queueing.model.system import System, check_system
from queueing.proved_bounds.enclosure import AtLeast, Enclosure
from queueing.states.box import box_name

__all__ = ["enclose"]

_log = logging.getLogger(__name__)

FIRST_TAIL = 1e-5
"""Of the law that shows how far a box must reach."""
ROUGH = 1e-6
"""Tolerance of that law, which is only a guide."""
ROUNDS = 4
"""Boxes that are tried."""
SURE = 0.45
"""Part of the width that the first box is planned for."""
MORE = 0.3
"""Part of what a box fell short of the width by, that the next is planned for."""
SPENT = 0.1
"""Part of the flow through the faces that may be spent on rounding."""
FURTHEST = 100.0
"""Times ``max_states``: so large boxes are planned, to say how many states are needed."""
FURTHER = 1.25
"""Times the radius of a box around which limits on the tasks of a job still matter."""
MOST_CLASSES = 4
"""With arrivals: boxes of more classes do not fit."""
MOST_PHASED = 2
"""The same where arrivals have phases."""
MOST_STATES = 500_000
"""Where arrivals have phases: counts times phases, as the equations are eliminated."""


def enclose(
    system: System,
    policy: AnyPolicy,
    *,
    of: str | AtLeast | Sequence[str | AtLeast] = "jobs",
    width: float = 1e-8,
    max_states: int = 4_000_000,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Enclosure:
    """Enclose stationary means between bounds that are proved.

    Parameters
    ----------
    system : System
        At most four classes with Poisson arrivals, exponential sizes; at most two with
        :class:`~queueing.MAP` or :class:`~queueing.OnOff` arrivals.
    policy : callable
        One whose drift is known: the names are in :data:`queueing.certificates.families.FAMILIES`.
    of : "jobs", "variances" or AtLeast, or several of them
        What is enclosed, for each class and for all jobs together: mean counts, with the mean durations and
        service rates that follow; also the variances of the counts; probabilities of at least so many jobs.
    width : float
        How far bounds may be apart: of means (and of mean squares) relative to the mean, of probabilities
        absolute. Below 1e-9 or so rounding decides.
    max_states : int
        Most states of the box; where arrivals have phases, of box and phases, and not above 500,000.
    progress : None, bool or callable
        None shows a bar for long work where standard error is a terminal, False never; a function is called
        with each :class:`~fairness.machine.work.Progress`.
    time_limit : float, seconds, optional
        When to stop; what takes long is told by the progress.

    Returns
    -------
    Enclosure
        With ``shortfall`` where the width is not reached.

    Raises
    ------
    UnstableError
        If a resource has relative load >= 1.
    ModelError
        If an argument is wrong, no drift is known for the policy, arrivals are none of Poisson, OnOff and
        MAP, or sizes not exponential.
    NotConvergedError
        If no box of ``max_states`` gives any bounds, or the time is over; ``best`` has the bounds that were
        proved until then, if any.

    Examples
    --------
    >>> from fairness import Problem, ProportionalFair
    >>> from queueing import MAP, AtLeast, System, enclose
    >>> system = System.with_load(Problem([[1, 0.1], [0.1, 1]], [1, 1]), [1, 1], 0.5)
    >>> enclosure = enclose(system, ProportionalFair(), of=["jobs", AtLeast(3)])
    >>> enclosure.mean_durations.lower.round(5), enclosure.mean_durations.upper.round(5)
    (array([2.00004, 2.00004]), array([2.00004, 2.00004]))
    >>> enclosure.certificate.shape < (100, 100), enclosure.check().upper[0] < 0.93
    (True, np.True_)

    Jobs that arrive in bursts, on one resource:

    >>> bursts = MAP.modulated([9, 1], [[0, 1], [0.25, 0]])
    >>> bursty = System(Problem([[1]], [4]), [2.6], arrivals=bursts)
    >>> total = enclose(bursty, ProportionalFair()).total_jobs
    >>> round(total.low, 6), round(total.high, 6)
    (6.693307, 6.693307)
    """
    check_system(system).require_exponential("enclose", "stationary, which estimates its error")
    system.require_stable()
    system.require_scale()
    width = require_number("width", width, above=0, below=1)
    require_number("max_states", max_states, least=1, most=math.inf)
    live = np.flatnonzero(system.arrival_rates > 0)
    n_phases = ArrivalPhases.of(system).n_phases
    most = MOST_PHASED if n_phases > 1 else MOST_CLASSES
    if not 1 <= len(live) <= most:
        raise ModelError.of(
            "system",
            f"has {len(live)} classes with arrivals; boxes are solved for 1 to {most}"
            f"{' where arrivals have phases' if n_phases > 1 else ''}; use stationary or simulate, which "
            "estimate their errors",
        )
    max_states = min(max_states, MOST_STATES) // n_phases if n_phases > 1 else max_states
    functionals = _functionals(of, live.tolist())
    builder = Builder(system, policy, *_known(policy, system), functionals)
    search = _Search(builder, width, max_states)
    # What leaves the floats while it is looked for proves nothing, and is said so by the checker.
    with watching(progress, time_limit), np.errstate(all="ignore"):
        try:
            return search.enclosed()
        except (OutOfTime, KeyboardInterrupt) as stop:
            known = "no bounds are proved yet"
            if search.best is not None:
                known = f"bounds up to {search.best.reached:.1e} apart are proved, in best"
            left = math.inf if search.best is None else search.best.reached
            raise stopped(stop, known, search.best, left) from None


def _known(policy: AnyPolicy, system: System) -> tuple[str, dict[str, Any]]:
    """A policy as the checker knows it: its name, and its parameters by name."""
    name = policy_name(policy)
    try:
        known, parameters = certified(policy)
        if parameters.get("alpha") == 0:
            raise CertificateError("drift", "alpha = 0 need not be stable below load 1")
        pool = pool_of(system, known)
        cells = known in BY_CELLS and not has_lemma(pool, known, parameters)
        (BY_CELLS if cells else FAMILIES)[known].numbers(pool, known, parameters)
    except CertificateError as error:
        raise ModelError.of(
            "policy",
            f"{name} has no drift that is proved: {error}; there are {', '.join(FAMILIES)}; use stationary, "
            "which estimates its error",
        ) from None
    return known, parameters


def _functionals(of: str | AtLeast | Sequence[str | AtLeast], live: Sequence[int]) -> tuple[Functional, ...]:
    """What has to be bounded, each once."""
    asked = [of] if isinstance(of, str | AtLeast) else list(of)
    places, found = [*live, None], list[Functional]()
    for one in asked:
        if isinstance(one, AtLeast):
            found += [Functional("at least", k, level=one.jobs) for k in places]
        elif one in ("jobs", "variances"):
            found += [Functional("jobs", k) for k in places]
            if one == "variances":
                found += [Functional("products", k) for k in places]
        else:
            raise ModelError.of(
                "of", f"must be 'jobs', 'variances' or AtLeast(jobs), or several; got {one!r}"
            )
    if not found:
        raise ModelError.of("of", "is empty; use of='jobs'")
    return tuple(dict.fromkeys(found))


class _Search:
    """Boxes that grow until the bounds are close enough."""

    def __init__(self, builder: Builder, width: float, max_states: int) -> None:
        self.builder, self.pool = builder, builder.pool
        self.width, self.max_states, self.system = width, max_states, builder.system
        self.further, self.n_phases = 1.0, builder.pool.phases.n_phases
        self.phased, self.each = self.n_phases > 1, " in each phase" * (self.n_phases > 1)
        self.best: Enclosure | None = None

    def _prepare(self) -> None:
        """The law on a small box, and the drifts that are proved."""
        builder = self.builder
        refusal = ModelError.of(
            "policy",
            f"{builder.name} has no drift that is proved at load {self.pool.load.high:.6g}; reduce "
            "arrival_rates, or use stationary, which estimates its error",
        )
        # Not stable, perhaps: its law on a small box would be looked for in vain.
        if not falls(self.pool, builder.name, builder.parameters):
            raise refusal
        self.first = self._first()
        self.outlook = Outlook.of([self.first.marginals[k] for k in self.pool.classes])
        reach = self.outlook.needed(self.pool.arrival_rates, self.width)
        self.options = list(candidates(self.pool, builder.name, builder.parameters, reach))
        if not self.options:
            raise refusal
        self.powers = powers(self.pool, builder.name, builder.parameters, self.options)

    def _first(self) -> Stationary:
        """The law on a small box."""
        law = None
        with suppress(*[NotConvergedError] * self.phased):
            law = estimated_law(
                self.system,
                self.builder.policy,
                tail=FIRST_TAIL,
                solver=Automatic(ROUGH),
                max_states=self.max_states * self.n_phases,
            )
        if law is None or law.states is not None:
            raise NotConvergedError(
                f"already a box that leaves {FIRST_TAIL:g} outside exceeds max_states={self.max_states:,}"
                f"{self.each}{', or its law is not found' * self.phased}; raise max_states, or use "
                "stationary, which estimates its error",
                residual=math.inf,
            )
        return law

    def enclosed(self) -> Enclosure:
        """The first that is close enough, or the best."""
        self._prepare()
        part, why, last, remedy = SURE, "", math.inf, f"raise {'width' if self.phased else 'max_states'}, or "
        for _ in range(ROUNDS):
            plan = self._plan(part)
            if plan is None or plan.states > self.max_states:
                needed = "far more" if plan is None else box_name(plan.sides)
                why = f"{needed} states are needed, more than max_states={self.max_states:,}{self.each}"
                break
            try:
                certificate = self._certified(plan)
            except CertificateError as error:
                why = f"what was found on {box_name(plan.sides)} states proves nothing ({error})"
                remedy = ""
                break
            reached = self._reached(certificate)
            if self.best is None or reached < self.best.reached:
                self.best = Enclosure(self.system, self.builder.name, certificate, self.width, reached)
            box = box_name(plan.sides)
            _log.info("%s: proved to a relative width of %.2g on %s", self.builder.name, reached, box)
            if reached <= self.width:
                return self.best
            part *= MORE * self.width / reached
            why = "rounding" if reached > last / 2 else f"{ROUNDS} boxes were too small"
            last = reached
        if self.best is None:
            raise NotConvergedError(
                f"no bounds: {why}; {remedy}use stationary, which estimates its error",
                residual=math.inf,
            )
        return replace(self.best, shortfall=why)

    def _plan(self, part: float) -> Plan | None:
        """A box for this part of the width, outside of which V is proved to fall, if it is not too large."""
        while True:
            plan = self._planned(part)
            if plan is None or plan.states > self.max_states:
                return plan
            scales = np.ones(self.system.n_classes)
            scales[self.pool.classes] = plan.drift.scales
            try:
                drift = self.builder.proved(replace(plan.drift, scales=scales), self._box(plan))
            except CertificateError:
                # Planned without the limits on the tasks of a job, which matter there still.
                self.further *= FURTHER
                continue
            return replace(plan, drift=drift)

    def _planned(self, part: float) -> Plan | None:
        """A box for this part of the width, as far as floats can tell."""
        means = [self._mean(one) for one in self.builder.functionals]
        degrees = [len(one.factors) for one in self.builder.functionals]
        slow = 1.5 * self.pool.n / (1.0 - self.pool.load.high)

        def loss(side: float) -> float:
            return max(slow * side**degree / mean for degree, mean in zip(degrees, means, strict=True))

        wish = Wish(self.outlook, part * self.width, loss, max(degrees), self.further)
        most = FURTHEST * self.max_states
        # An exponential V is not proved to fall where arrivals have phases.
        plans = [] if self.phased else [planned(self.pool, self.options, wish, most)]
        for power in self.powers:
            least = min((one.states for one in plans if one), default=most)
            plans.append(planned_power(self.pool, power, wish, least))
        return min((one for one in plans if one), key=lambda one: one.states, default=None)

    def _mean(self, one: Functional) -> float:
        """Of a functional, by the law on the small box; 1 for probabilities, whose widths are absolute."""
        if one.kind == "at least":
            return 1.0
        jobs, spread = self.first.mean_jobs, self.first.covariance
        places = slice(None) if one.job_class is None else slice(one.job_class, one.job_class + 1)
        mean = float(jobs[places].sum())
        return mean if one.kind == "jobs" else float(spread[places, places].sum()) + mean**2

    def _certified(self, plan: Plan) -> Certificate:
        """The certificate on the box of a plan."""
        box = self._box(plan)
        law = self.first.distribution
        assert law is not None
        guide = extended(law, box)[tuple(map(slice, box))]
        if not self.phased and not eliminated(plan.sides):
            # Multigrid wants a law that is right also where several counts are large.
            solver = Automatic(ROUGH)
            with suppress(NotConvergedError):
                far = estimated_law(self.system, self.builder.policy, shape=box, solver=solver)
                guide = guide if far.distribution is None else far.distribution
        return self.builder.certificate(box, plan.drift, guide, SPENT * plan.flow)

    def _box(self, plan: Plan) -> tuple[int, ...]:
        """States per class, 1 for those without arrivals."""
        shape = np.ones(self.system.n_classes, dtype=int)
        shape[self.pool.classes] = plan.sides
        return tuple(shape.tolist())

    def _reached(self, certificate: Certificate) -> float:
        """Largest width of the bounds."""
        widths = certificate.upper - certificate.lower
        for k, one in enumerate(certificate.functionals):
            if one.kind != "at least":
                middle = (certificate.upper[k] + certificate.lower[k]) / 2
                widths[k] = widths[k] / middle if middle > 0 else math.inf
        return float(widths.max())
