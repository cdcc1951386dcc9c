r"""How the means of one cell are found, a policy at one load: by the best method that its time allows.

A *method* plans before it runs: it says what it would take, or why it cannot be taken. :func:`answered` goes
down the ladder,

1. :class:`Named`: balanced fairness and its closed-form bound, which are no policies;
2. :class:`Formula`: processor sharing, where a policy is nothing else: exact for all laws of sizes;
3. :class:`Chain`: the stationary law of the Markov chain, with an estimate of its error;
4. :class:`Bounds`: proved bounds by quadratic functions, where the chain is too large;
5. :class:`Simulated`: means with confidence intervals, longer and longer until they are narrow enough,

and stops where the relative error of all mean jobs is as small as asked for; else the smallest counts. What
was left out, and why, is told beside the answer.

Errors. With the mean number :math:`E` of jobs known up to :math:`e` the service rate :math:`\rho/E` is known
up to :math:`\rho/(E - e) - \rho/E`. For chains :math:`e` is an estimate, for balanced fairness a bound of
what truncation leaves out, of proved bounds half of their distance; simulations have half-widths of
confidence intervals, infinite where the run is too short for one. Stopping at a width makes intervals cover a
little less often than they say.

*Time* is that of the wall, less what kernels take to be compiled, which is done once.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from capacity.sweeping.methods import BALANCED, BOUND
from capacity.sweeping.pooling import pooled
from fairness.arguments.validation import require_number, require_whole
from fairness.display.wording import percent, rough
from fairness.errors import ModelError, NotConvergedError, UnstableError, advised
from fairness.machine.cores import available_cores
from fairness.machine.work import ASIDE, OutOfTime, duration, watching
from fairness.model.problem import FloatArray
from fairness.protocol.calling import policy_tasks
from fairness.protocol.family import Family, family_of
from queueing.balanced.duration_bound import duration_bound
from queueing.balanced.fairness import balanced_fairness
from queueing.balanced.plan import steps
from queueing.balanced.tail_bound import StoreAndForward
from queueing.chain.lower_sets.faces import Bound, Faces
from queueing.chain.lower_sets.set_chain import set_seconds
from queueing.chain.phases.states import count_phase_states
from queueing.chain.solvers.choose_solver import Solver
from queueing.chain.stationary import BOXES, MOST_STATES, PHASED, SETS, stationary
from queueing.enclosures.moment_programs.drift_bound import drift_bound
from queueing.model.arrivals import Poisson
from queueing.model.cluster_load import geometric_ratios
from queueing.model.job_trace import JobTrace
from queueing.model.phase_type import phases_of
from queueing.model.system import System
from queueing.simulation.results import Simulation
from queueing.simulation.simulate import simulate
from queueing.simulation.tasks.schedulers import is_scheduler
from queueing.states.box import SMALLEST

__all__ = [
    "CHAIN",
    "COLUMNS",
    "FORMULA",
    "LADDER",
    "LEAST",
    "MEANS",
    "PROVED",
    "SIMULATION",
    "Bounds",
    "Chain",
    "Effort",
    "Formula",
    "Found",
    "Method",
    "Named",
    "Plan",
    "Simulated",
    "answered",
    "clock",
]

MEANS = ("mean_jobs", "mean_durations", "service_rates")

COLUMNS = (*MEANS, *(f"{name}_error" for name in MEANS))
"""Numbers of a class."""

FORMULA, CHAIN, PROVED, SIMULATION = "formula", "chain", "proved", "simulation"
"""How the means of a policy were found."""

PART = 0.6
"""Part of the time that is left which a method may take by its own guess."""

TAILS = (1e-9, 1e-6, 1e-4)
"""What a chain may leave out: the first of them for which there is time."""

STATE_SECONDS, BOUND_SECONDS = 1e-5, 0.01
"""Of a state of a chain, its policy apart; of drift bounds, times the cube of the classes."""

SIMPLEX, WORTH_GUESSING = 5.0, 5.0
"""Times the states below a plane that a set has at least, about; seconds from which more is asked."""

JUDGING = (0.0, 0.02, 0.05, 0.3, 0.8, 0.4, 1.2, 3.0, 6.0, 10.0, 10.0, 10.0, 10.0)
"""Seconds that it takes to estimate the error of a chain, by the number of classes: far beyond its states."""

ASKED = 2.0
"""Times the states of a chain about which its policy is asked: also about those beyond, for the error."""

LONGER = 4
"""Times the last run that a run which was too short is repeated."""

LONGEST = 16
"""Times the first run that the last one lasts where no time is given."""

MOST_FAILURES = 3
"""Runs of no result, each four times as long as the one before, after which it is not their length."""

FIRST = {"events": 1_000, "jobs": 250}
"""Of a run of which nothing is known but the time."""

WORTH_PRUNING = 10.0
"""Seconds from which pruned recursions are thought of."""

LEAST = 0.02
"""Seconds that are worth another run."""

SAMPLE = 32
"""States from which the time of a policy is read."""

BALANCED_STATES = 100_000_000_000
"""Most states of balanced fairness, unless told otherwise: as it has them itself."""

SMALLER = "take smaller loads, or the bound alone, which needs no states"


def _busy() -> float:
    """Times that work takes longer because others work on this machine, too."""
    working = os.getloadavg()[0] if hasattr(os, "getloadavg") else 1.0
    return max(1.0, working / available_cores())


def clock() -> float:
    """Seconds, the compilation of kernels left out."""
    return time.monotonic() - ASIDE.seconds


@dataclass(frozen=True, eq=False)
class Found:
    """Means of a policy at one load, with their errors.

    Attributes
    ----------
    result : Result
        What the method gave: a law, bounds, a simulation.
    found_by : str
        "formula", "balanced", "bound", "chain", "proved" or "simulation".
    known : str
        How well, in words.
    mean_jobs, mean_durations, service_rates : ndarray of shape (n_classes,)
    mean_jobs_error, mean_durations_error, service_rates_error : ndarray of shape (n_classes,)
    remark : str
        Why no better method was taken, or there is no interval.
    """

    result: Any
    found_by: str
    known: str
    mean_jobs: FloatArray
    mean_durations: FloatArray
    service_rates: FloatArray
    mean_jobs_error: FloatArray
    mean_durations_error: FloatArray
    service_rates_error: FloatArray
    remark: str = ""

    @classmethod
    def of(
        cls, result: Any, found_by: str, known: str, errors: Sequence[FloatArray], remark: str = ""
    ) -> Found:
        """Means of a result that has them."""
        columns: Any = zip(COLUMNS, (*(getattr(result, name) for name in MEANS), *errors), strict=True)
        return cls(result, found_by, known, remark=remark, **dict(columns))

    @classmethod
    def of_law(cls, law: Any, found_by: str) -> Found:
        """Of a law that knows how far its mean jobs may be off."""
        worst = float(np.max(law.mean_jobs_error / np.maximum(law.mean_jobs, SMALLEST), initial=0.0))
        known = f"chain, error about {worst:.0e}"
        if found_by != CHAIN:
            known = f"exact up to {worst:.0e}, proved" if worst else "exact"
        errors = _carried(law.mean_jobs, law.mean_jobs_error, law.mean_durations, law.service_rates)
        return cls.of(law, found_by, known, errors)

    @classmethod
    def between(cls, system: System, result: Any, lower: FloatArray, upper: FloatArray) -> Found:
        """Of mean jobs between proved bounds: their middle; the lower one where there is no upper one."""
        finite = np.isfinite(upper)
        jobs = np.where(finite, (lower + np.where(finite, upper, 0.0)) / 2, lower)
        half = np.where(finite, upper - jobs, np.inf)
        means = jobs, system.mean_durations(jobs), system.service_rates(jobs)
        known = "proved bounds" if finite.all() else "proved lower bounds"
        columns: Any = zip(COLUMNS, (*means, *_carried(jobs, half, *means[1:])), strict=True)
        return cls(result, PROVED, known, **dict(columns))

    def precision(self, system: System) -> float:
        """Largest relative error of the mean jobs of a class with arrivals; infinite where one has none."""
        live = system.arrival_rates > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            part = self.mean_jobs_error[live] / self.mean_jobs[live]
        return float(np.nan_to_num(part, nan=math.inf).max(initial=0.0))

    def outputs(self) -> dict[str, Any]:
        """The means and errors with the dimension job_class, and words, as a sweep takes them."""
        told: dict[str, Any] = {name: ("job_class", getattr(self, name)) for name in COLUMNS}
        return told | {"found_by": self.found_by, "remark": self.remark}


def _carried(
    jobs: FloatArray, error: FloatArray, durations: FloatArray, rates: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors of the mean jobs, durations and service rates, from those of the jobs."""
    part = np.divide(error, jobs, out=np.zeros_like(jobs), where=jobs > 0)
    grown = np.divide(part, 1.0 - part, out=np.full_like(jobs, np.inf), where=part < 1.0)
    return error, durations * part, rates * grown


@dataclass(frozen=True, eq=False)
class Effort:
    """What a cell may cost, and how well it is to be known.

    Attributes
    ----------
    seconds : float
        Infinite where the time does not matter.
    precision : float
        Relative error of the mean jobs that is small enough.
    rng : numpy Generator or seed
    n_jobs : int
        Replications of a simulation run at the same time.
    """

    seconds: float = math.inf
    precision: float = 0.0
    rng: Any = None
    n_jobs: int = 1

    @property
    def timed(self) -> bool:
        """Whether time matters."""
        return math.isfinite(self.seconds)

    @property
    def limit(self) -> float | None:
        """As verbs take a time limit."""
        return max(self.seconds, 0.0) if self.timed else None


@dataclass(frozen=True, eq=False)
class Plan:
    """What a method would do.

    Attributes
    ----------
    seconds : float
        About; 0 where it is little, or nothing is known.
    amount, unit : float and str
        The work.
    run : callable
        Of an Effort: does it.
    """

    seconds: float
    run: Callable[[Effort], Found]
    amount: float = 1.0
    unit: str = "step"

    @property
    def what(self) -> str:
        """The work in words."""
        return f"{rough(self.amount)} {self.unit}"


class Method(ABC):
    """One way to the means of a policy."""

    name: ClassVar[str]

    @abstractmethod
    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """What it would do; None if it is none for the cell, ModelError if it says why it cannot."""


@dataclass(frozen=True)
class Named(Method):
    """Balanced fairness ("balanced") and its closed-form bound ("bound").

    Where the recursion would take too long, balanced fairness is enclosed between closed-form bounds.
    """

    most_states: int = BALANCED_STATES
    tail: float = 1e-12
    name: ClassVar[str] = "recursion"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """Exact if there is time."""
        if policy == BOUND:
            return Plan(0.0, partial(self._bound, system))
        if policy != BALANCED:
            return None
        if effort.timed:
            # What can be pruned is tried out, which is worth it where there is time for more.
            _, parts = steps(system, self.tail, prune=effort.seconds > WORTH_PRUNING)
            states, seconds = sum(part.states for part in parts), sum(part.seconds for part in parts)
            if _busy() * seconds > PART * effort.seconds:
                why = f"no {self.name}: about {rough(states)} states, about {duration(seconds)}"
                return Plan(0.0, partial(self._between, system, why))
        return Plan(0.0, partial(self._balanced, system))

    def _bound(self, system: System, effort: Effort) -> Found:
        bound = duration_bound(system)
        known = "an upper bound of jobs and durations, proved"
        return Found.of(bound, BOUND, known, [np.zeros(system.n_classes)] * len(MEANS))

    def _balanced(self, system: System, effort: Effort) -> Found:
        law = balanced_fairness(system, tail=self.tail, max_states=self.most_states)
        return Found.of_law(law, BALANCED)

    def _between(self, system: System, why: str, effort: Effort) -> Found:
        bound = duration_bound(system)
        least = system.arrival_rates * bound.least_durations
        return replace(Found.between(system, bound, least, bound.mean_jobs), remark=why)


@dataclass(frozen=True)
class Formula(Method):
    """Processor sharing: of one class, and of classes with equal weights on one resource.

    There the policies of the families below are balanced fairness, which is insensitive: means depend on the
    sizes through their means alone.
    """

    name: ClassVar[str] = "formula"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """Only where it is exact."""
        if not _shares_equally(system, policy):
            return None
        return Plan(0.0, lambda _: Found.of_law(balanced_fairness(system), FORMULA))


def _shares_equally(system: System, policy: Any) -> bool:
    """Whether a policy is processor sharing of this system."""
    if system.is_cluster or isinstance(system.arrivals, JobTrace):
        return False
    if not all(isinstance(process, Poisson) for process in system.processes):
        return False
    problem, live = system.problem, system.arrival_rates > 0
    match family_of(policy):
        case Family("filling", {"growth": "tasks" | "dominant" | "assets" as growth, **more}):
            equal = growth != "tasks" and not more
        case Family("alpha-fair", {"alpha": alpha}) if alpha > 0:
            equal = alpha == 1.0
        case Family("bottleneck-max"):
            equal = True
        case _:
            return False
    one_resource = np.count_nonzero(problem.demands[live].any(axis=0)) == 1
    alike = np.ptp(problem.weights[live], axis=0) == 0 and not np.isfinite(problem.limits[live]).any()
    return bool(live.sum() == 1 or (equal and one_resource and alike))


@dataclass(frozen=True)
class Chain(Method):
    """The stationary law of the Markov chain; arguments are those of :func:`queueing.stationary`.

    Attributes
    ----------
    tail : float, optional
        Default: the smallest of 1e-9, 1e-6, 1e-4 for which there is time.
    """

    tail: float | None = None
    max_states: int = MOST_STATES
    shape: Any = None
    solver: Solver | None = None
    name: ClassVar[str] = "chain"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """Of the smallest tail for which there is time, else of the largest one."""
        if isinstance(policy, str) or is_scheduler(policy):
            return None
        tails = TAILS if self.tail is None else (self.tail,)
        if not effort.timed or self.shape is not None:
            return Plan(0.0, partial(self._law, system, policy, tails[0], PART))
        own = _seconds_a_state(system, policy)
        python = f" at {own * 1e3:.2g} ms each" if own > STATE_SECONDS else ""
        plan, busy = None, _busy()
        judging = busy * JUDGING[min(int((system.arrival_rates > 0).sum()), len(JUDGING) - 1)]
        for tail in reversed(tails):
            states, seconds = self._size(system, policy, tail, effort.seconds)
            seconds = busy * seconds + ASKED * own * states + (judging if states else 0.0)
            if plan is not None and seconds > PART * effort.seconds:
                break
            unit = f"states or more{python}"
            # The more the policy takes, the longer it takes to judge what is known in the end.
            part = PART if own < STATE_SECONDS else PART / ASKED
            law = partial(self._law, system, policy, tail, part - judging / effort.seconds)
            plan = Plan(seconds, law, states, unit)
        return plan

    def _size(self, system: System, policy: Any, tail: float, given: float) -> tuple[float, float]:
        """States, and the seconds that they take without the policy, about; rather too few."""
        live = np.flatnonzero(system.arrival_rates > 0)
        n, plain = len(live), all(law.memoryless for law in system.sizes)
        if isinstance(system.arrivals, JobTrace) or n > (SETS if plain else PHASED):
            return 0.0, 0.0  # refused at once, with the reason
        if n > BOXES:
            bound = Bound.of(system, live.tolist())
            reach = sorted(bound.reach(row, tail) for row in np.eye(n))
            # States below a plane; further faces leave more of them, which takes longer to guess.
            states = SIMPLEX * math.prod((r + k) / k for k, r in enumerate(reach, 1))
            seconds = set_seconds(n, states)
            if seconds < PART * given and given > WORTH_GUESSING:
                states = Faces.of(bound, tail).guessed_states
                seconds = set_seconds(n, states)
            return states, seconds
        phases = [1 if law.memoryless else phases_of(law).n_phases for law in system.sizes]
        states = count_phase_states(_box(system, tail), phases)
        return states, STATE_SECONDS * states

    def _law(self, system: System, policy: Any, tail: float, part: float, effort: Effort) -> Found:
        options: dict[str, Any] = {"shape": self.shape, "tail": tail, "solver": self.solver}
        try:
            law = stationary(
                system,
                policy,
                distribution=False,
                max_states=self.max_states,
                # Some of the time is for what else can be done.
                time_limit=max(part * effort.seconds, 0.0) if effort.timed else None,
                **options,
            )
        except NotConvergedError as error:
            law = error.best
            if not effort.timed or law is None or not (law.mean_jobs_error <= law.mean_jobs).all():
                raise
            return replace(Found.of_law(law, CHAIN), remark=str(error))
        return Found.of_law(law, CHAIN)


def _box(system: System, tail: float) -> tuple[int, ...]:
    """States per class with so much outside under balanced fairness, or of geometric laws on a cluster."""
    if not system.is_cluster:
        return StoreAndForward.of(system).box(tail)
    ratios = np.minimum(geometric_ratios(system.load_evidence, system.problem), 1.0 - 1e-12)
    return tuple(2 + math.ceil(math.log(tail) / math.log(r)) if r > 0 else 1 for r in ratios)


def _seconds_a_state(system: System, policy: Any) -> float:
    """What it takes to ask the policy about a state, about."""
    counts = np.zeros((SAMPLE, system.n_classes))
    live = system.arrival_rates > 0
    counts[:, live] = np.random.default_rng(0).integers(0, 9, (SAMPLE, int(live.sum())))
    policy_tasks(system.problem, policy, counts[:1])  # a kernel may be loaded
    begin = clock()
    policy_tasks(system.problem, policy, counts)
    return (clock() - begin) / SAMPLE


@dataclass(frozen=True)
class Bounds(Method):
    """Proved bounds of the mean jobs of each class: :func:`queueing.drift_bound`."""

    rounds: int = 20
    name: ClassVar[str] = "proved bounds"

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """By the number of classes."""
        if isinstance(policy, str) or is_scheduler(policy):
            return None
        n = int((system.arrival_rates > 0).sum())
        return Plan(_busy() * BOUND_SECONDS * n**3, partial(self._bounds, system, policy), 2 * n, "bounds")

    def _bounds(self, system: System, policy: Any, effort: Effort) -> Found:
        names = [str(name) for name in np.array(system.problem.job_classes)[system.arrival_rates > 0]]
        with watching(time_limit=effort.limit):
            bound = drift_bound(system, policy, of=names, rounds=self.rounds)
        lower, upper = np.zeros((2, system.n_classes))
        lower[system.arrival_rates > 0], upper[system.arrival_rates > 0] = bound.lower, bound.upper
        return Found.between(system, bound, lower, upper)


@dataclass(frozen=True)
class Simulated(Method):
    """Simulation; arguments are those of :func:`queueing.simulate`.

    Without a limit of time the first run has ``events`` events, or ``jobs`` jobs where these are simulated;
    a run that is too short, or has wider intervals than asked for, is followed by longer ones, 4 and 16 times
    as long. In a given time short runs come first. All that are long enough count together.
    """

    events: int = 200_000
    jobs: int = 20_000
    replications: int = 10
    warmup: float = 0.1
    confidence: float = 0.95
    name: ClassVar[str] = "simulation"

    def __post_init__(self) -> None:
        require_whole("events", self.events, 1000)
        require_whole("jobs", self.jobs, 100)
        require_whole("replications", self.replications, 2)
        require_number("warmup", self.warmup, least=0, below=1)
        require_number("confidence", self.confidence, above=0, below=1)

    def plan(self, system: System, policy: Any, effort: Effort) -> Plan | None:
        """Shortly, it always says something."""
        if isinstance(policy, str):
            return None
        return Plan(0.0, partial(self.lengthened, system, policy, None))

    def lengthened(self, system: System, policy: Any, before: Simulation | None, effort: Effort) -> Found:
        """What a simulation and further runs tell together."""
        unit = "events" if is_scheduler(policy) or _counts(system) else "jobs"
        recorded = isinstance(system.arrivals, JobTrace)
        first = FIRST[unit] if effort.timed else getattr(self, unit)
        runs = _Runs(self, system, policy, None if recorded else unit, effort, before)
        length, replications = float(first), self.replications
        if before is not None and not before.warnings:
            length = max(length, runs.length_of(before))
        while True:
            took = runs.add(round(length), replications)
            if recorded or runs.enough or runs.over:
                break
            if not effort.timed:
                length *= LONGER
                if length > LONGEST * first:
                    break
                continue
            last, possible = runs.last, 0.8 * runs.left / max(took, 1e-6)
            if last is None or last.warnings or last.unseen:
                more = min(LONGER, possible)
                if more < 1.5:
                    break
                length *= more
                continue
            # What is long enough stays as long: there are more of them.
            if possible * replications < 2:
                break
            more = min(LONGER, possible, runs.missing / max(last.events, 1))
            replications = max(3, math.ceil(more * replications))
        return runs.found()


class _Runs:
    """Runs of a simulation, and what they tell together."""

    def __init__(
        self,
        method: Simulated,
        system: System,
        policy: Any,
        unit: str | None,
        effort: Effort,
        before: Simulation | None,
    ) -> None:
        self.method, self.system, self.policy, self.unit, self.effort = method, system, policy, unit, effort
        self.all = before
        self.last: Simulation | None = None
        self.error: ModelError | NotConvergedError | None = None
        self.over, self.failures = False, 0
        self._deadline = clock() + effort.seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return self._deadline - clock()

    @property
    def enough(self) -> bool:
        """Whether the intervals are as narrow as asked for."""
        return self.all is not None and not self.all.warnings and self.all.precision <= self.effort.precision

    @property
    def missing(self) -> float:
        """Events that the precision still takes, about: half-widths fall as one over their root."""
        precision = self.effort.precision
        if self.all is None or not precision > 0 or not math.isfinite(self.all.precision):
            return math.inf
        return 1.1 * self.all.events * ((self.all.precision / precision) ** 2 - 1.0)

    def length_of(self, run: Simulation) -> float:
        """Length of a replication of an earlier run."""
        length = run.events / run.replications / (1.0 - self.method.warmup)
        return length if self.unit == "events" else length / 2

    def add(self, length: int, replications: int) -> float:
        """One more run; seconds that it took."""
        method, begin = self.method, clock()
        options: dict[str, Any] = {} if self.unit is None else {self.unit: length}
        if self.unit != "events":
            options["quantiles"] = ()
        run: Simulation | None
        try:
            run = simulate(
                self.system,
                self.policy,
                warmup=method.warmup,
                replications=replications,
                confidence=method.confidence,
                rng=self.effort.rng,
                n_jobs=self.effort.n_jobs,
                progress=None if self.effort.timed else False,
                time_limit=max(self.left, 0.0) if self.effort.timed else None,
                **options,
            )
        except (ModelError, NotConvergedError) as error:
            # A run may have been too short for a class to be seen; the time may be over.
            if not self.effort.timed:
                raise
            self.error, run = error, getattr(error, "best", None)
            # Where kernels were compiled meanwhile there is time again.
            out_of_time = isinstance(error, NotConvergedError) and self.left < LEAST
            self.failures += 1
            self.over = out_of_time or self.failures > MOST_FAILURES
        self.last = run
        if run is not None:
            self.all = pooled(self.all, run)
        return clock() - begin

    def found(self) -> Found:
        """What all say."""
        if self.all is None:
            assert self.error is not None
            raise self.error
        run = self.all
        known = "no interval" if run.warnings else percent(run.confidence)
        errors = [run.half_widths[name] for name in MEANS]
        remark = "; ".join((*run.gaps, *run.warnings[:1]))
        return Found.of(run, SIMULATION, f"simulated, {known}", errors, remark)


def _counts(system: System) -> bool:
    """Whether the counts are a chain, so that jobs need not be simulated one by one."""
    if isinstance(system.arrivals, JobTrace):
        return False
    exponential = all(law.memoryless for law in system.sizes)
    return exponential and all(isinstance(process, Poisson) for process in system.processes)


LADDER: tuple[Method, ...] = (Named(), Formula(), Chain(), Bounds(), Simulated())
"""What is taken unless methods are named."""


def answered(
    system: System,
    policy: Any,
    methods: Sequence[Method],
    effort: Effort,
    announce: Callable[[str, Plan], None] = lambda *_: None,
) -> Found:
    """Means of one cell by the first method that is good enough, else by the best one.

    ``announce`` is told of plans that would take longer than there is time, before anything else is begun.

    Raises
    ------
    UnstableError
        If there is no stationary law.
    ModelError, NotConvergedError
        If no method has an answer: with what the methods say.
    """
    deadline, best = clock() + effort.seconds, None
    failed: list[tuple[str, Exception]] = []
    said: list[str] = []
    for method in methods:
        now = replace(effort, seconds=deadline - clock())
        if now.seconds <= 0:
            said.append(f"no {method.name}: no time is left")
            continue
        try:
            with advised(SMALLER, "max_states", "tail", "shape") if policy == BALANCED else watching():
                with watching(time_limit=now.limit):
                    plan = method.plan(system, policy, now)
                if plan is None:
                    continue
                if plan.seconds > PART * now.seconds:
                    told = f"{plan.what}, about {duration(plan.seconds)}"
                    said.append(f"no {method.name}: {told}, and there are {duration(now.seconds)}")
                    announce(method.name, plan)
                    continue
                found = _run(plan, now, deadline)
        except UnstableError:
            raise
        except (ModelError, NotConvergedError, OutOfTime) as error:
            failed.append((method.name, error))
            said.append(f"no {method.name}: {error}")
            continue
        if best is None or found.precision(system) < best.precision(system):
            best = found
        if not effort.timed or best.precision(system) <= effort.precision:
            break
    if best is None:
        if len(failed) == 1 and len(said) == 1 and not isinstance(failed[0][1], OutOfTime):
            raise failed[0][1]
        kind = type(failed[-1][1]) if failed and len(failed) == len(said) else NotConvergedError
        texts = [f"{name}: {error}" for name, error in failed] if len(failed) == len(said) else said
        raise (NotConvergedError if kind is OutOfTime else kind)("; ".join(texts))
    own = [] if not best.remark else [best.remark]
    remark = "; ".join(own or (said if best.found_by in (SIMULATION, PROVED) else []))
    return replace(best, remark=" ".join(remark.split()))


def _run(plan: Plan, effort: Effort, deadline: float) -> Found:
    """Do what is planned; again if kernels that were compiled meanwhile have taken the time."""
    aside = ASIDE.seconds
    try:
        return plan.run(replace(effort, seconds=deadline - clock()))
    except (NotConvergedError, OutOfTime):
        left = deadline - clock()
        if not effort.timed or left < LEAST or ASIDE.seconds - aside < LEAST:
            raise
    return plan.run(replace(effort, seconds=left))
