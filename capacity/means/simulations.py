"""Means by simulation: runs that are longer and longer, and count together.

Stopping at a width makes confidence intervals cover a little less often than they say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from capacity.means.found import Found
from capacity.means.method import Effort, Method, Plan, clock
from capacity.means.pooling import pooled
from fairness.arguments.validation import require_number, require_whole
from fairness.errors import ModelError, NotConvergedError
from queueing.model.job_trace import JobTrace
from queueing.model.system import System
from queueing.simulation.results import Simulation
from queueing.simulation.simulate import simulate
from queueing.simulation.tasks.schedulers import is_scheduler

__all__ = ["LEAST", "BySimulation"]

LONGER = 4
"""Times the last run that a run which was too short is repeated."""

LONGEST = 16
"""Times the first run that another one lasts at most where no time is given."""

MOST = 21
"""Times the first run that all may last together where no time is given."""

MOST_FAILURES = 3
"""Runs of no result, each four times as long as the one before, after which it is not their length."""

FIRST = {"events": 1_000, "jobs": 250}
"""Of a run of which nothing is known but the time."""

LEAST = 0.02
"""Seconds that are worth another run."""


@dataclass(frozen=True)
class BySimulation(Method):
    """Simulation; arguments are those of :func:`queueing.simulate`.

    Without a limit of time the first run has ``events`` events, or ``jobs`` jobs where these are simulated. A
    run that is too short is followed by longer ones, 4 and 16 times as long, and one of wider intervals than
    asked for by what their precision still takes. In a given time short runs come first. All that are long
    enough count together.
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
        """What a simulation and further runs tell together; of a recorded trace there is one run."""
        unit = "events" if is_scheduler(policy) or system.is_markovian else "jobs"
        recorded = isinstance(system.arrivals, JobTrace)
        if recorded and before is not None:
            return Found.of_run(before)
        first = FIRST[unit] if effort.timed else getattr(self, unit)
        runs = _Runs(self, system, policy, None if recorded else unit, effort, before)
        length, made, replications = float(first), 0.0, self.replications
        if before is not None and not before.warnings:
            length = max(length, runs.length_of(before))
        while True:
            took = runs.add(round(length), replications)
            if recorded or runs.enough or runs.over:
                break
            if not effort.timed:
                made += length / first
                wanted = LONGER * length
                if runs.last_counts:
                    wanted = max(first, runs.in_unit(runs.missing / replications))
                length = float(min(wanted, LONGEST * first, (MOST - made) * first))
                if length < first:
                    break
                continue
            last, possible = runs.last, 0.8 * runs.left / max(took, 1e-6)
            if last is None or not runs.last_counts:
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


@dataclass(eq=False)
class _Runs:
    """Runs of a simulation, and what they tell together."""

    method: BySimulation
    system: System
    policy: Any
    unit: str | None
    effort: Effort
    all: Simulation | None
    last: Simulation | None = None
    error: ModelError | NotConvergedError | None = None
    over: bool = False
    failures: int = 0

    def __post_init__(self) -> None:
        self._deadline = clock() + self.effort.seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return self._deadline - clock()

    @property
    def enough(self) -> bool:
        """Whether the intervals are as narrow as asked for."""
        return self.all is not None and not self.all.warnings and self.all.precision <= self.effort.precision

    @property
    def last_counts(self) -> bool:
        """Whether the last run was long enough to be counted with the others."""
        return self.last is not None and not (self.last.warnings or self.last.unseen)

    @property
    def missing(self) -> float:
        """Events that the precision still takes, about: half-widths fall as one over their root."""
        precision = self.effort.precision
        if self.all is None or not precision > 0 or not math.isfinite(self.all.precision):
            return math.inf
        return 1.1 * self.all.events * ((self.all.precision / precision) ** 2 - 1.0)

    def length_of(self, run: Simulation) -> float:
        """Length of a replication of an earlier run."""
        return self.in_unit(run.events / run.replications)

    def in_unit(self, events: float) -> float:
        """Events or jobs, warm-up included, of a run that counts so many events: two for each job."""
        length = events / (1.0 - self.method.warmup)
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
        return Found.of_run(self.all)
