r"""From replications to a result, at every level: how many, in parallel, until when, and how far they are.

A *sequential* run (``precision``) adds replications until the half-widths of all mean durations are at most
that part of their values; its intervals cover a little less often than they say, the less so the more
replications it starts with [1]_.

References
----------
.. [1] S. Asmussen and P. W. Glynn, "Stochastic Simulation: Algorithms and Analysis", Springer, 2007,
   section IV.5.
"""

from __future__ import annotations

import logging
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Generic, TypeVar

import numpy as np

from fairness.arguments.validation import Entropy, Seed, require_number, require_whole
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.backends import BackendError
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from queueing.model.system import System
from queueing.simulation.replications import Estimate, RunLength, Streams, replicate, spawn_streams, withheld
from queueing.simulation.results import Simulation
from queueing.states.growing_table import LESS

__all__ = ["Effort", "Level", "Pace", "estimated"]

_log = logging.getLogger(__name__)

S = TypeVar("S")
R = TypeVar("R", bound=Simulation)


@dataclass(frozen=True)
class Effort:
    """How many replications, where and how long, validated; the arguments of ``simulate``."""

    replications: int
    precision: float | None
    max_replications: int
    rng: Seed
    n_jobs: int
    progress: ProgressOption
    time_limit: float | None

    def __post_init__(self) -> None:
        if self.precision is not None:
            require_number("precision", self.precision, above=0, below=1, hint=", a relative half-width")
            require_whole("max_replications", self.max_replications, self.replications)


class Level(ABC, Generic[S]):
    """A system made ready for one level of simulation."""

    kind: str
    """The level: "counts", "jobs" or "tasks"."""
    options: type[Any]
    """Record of what ``simulate`` can tell this level alone: its fields, with their defaults."""
    system: System
    name: str
    """Of the policy or scheduler."""
    length: RunLength
    one_run: bool = False
    """Whether one sample, cut into batches, is all there is."""
    drawn: bool = True
    """Whether anything is drawn."""
    longer: str = "more events"
    """What makes the runs longer, for remedies."""
    effort: float
    """Events of one sample, about."""

    @abstractmethod
    def sample(self, generator: np.random.Generator, pace: Pace) -> S:
        """What one replication measures; its events are told to ``pace``."""

    @abstractmethod
    def result(self, samples: Sequence[S], entropy: Entropy | None) -> Simulation:
        """What the replications estimate together."""

    def told(
        self, made: Callable[..., R], estimates: dict[str, Estimate], warnings: tuple[str, ...], **more: Any
    ) -> R:
        """A result, with what is the same at every level; where there are warnings, without intervals."""
        return made(
            system=self.system,
            policy=self.name,
            level=self.kind,
            estimates=withheld(estimates) if warnings else estimates,
            confidence=self.length.confidence,
            warnings=warnings,
            **more,
        )


def estimated(make: Callable[[], Level[S]], effort: Effort) -> Simulation:
    """Replicate, until the precision is reached if one is asked for.

    Raises
    ------
    NotConvergedError
        If the time is over, or the precision is not reached; ``best`` is the result so far.
    BackendError
        If workers die; ``best`` is the result so far.
    """
    finished: dict[int, S] = {}
    target = effort.replications
    level: Level[S] | None = None
    entropy: Entropy | None = None
    try:
        with watching(effort.progress, effort.time_limit):
            level = make()
            most = target if effort.precision is None else effort.max_replications
            if level.one_run:
                target = most = 1
            streams = spawn_streams(effort.rng, most) if level.drawn else Streams((None,), None)
            entropy = streams.entropy
            while True:
                done = len(finished)
                events = (target - done) * level.effort
                with Task("the simulation", events, "events", instead=LESS) as work:
                    run, more = _Run(level, work), Streams(streams.generators[done:target], entropy)
                    for number, (sample, untold) in replicate(run, more, effort.n_jobs):
                        finished[done + number] = sample
                        # A process of its own has told nobody.
                        behind = (len(finished) - done) * level.effort - work.done
                        work.advance(max(untold, behind))
                best = level.result([finished[k] for k in range(target)], entropy)
                # More replications of runs that are too short stay too short.
                if effort.precision is None or best.warnings or best.precision <= effort.precision:
                    break
                if target == most:
                    break
                # Half-widths fall as 1/sqrt(replications); at most doubled, as the first guess is rough.
                _log.info(
                    "%d replications: relative half-width %.3g, more than %g; more follow",
                    len(finished), best.precision, effort.precision,
                )  # fmt: skip
                wanted = math.ceil(target * min(2.0, (best.precision / effort.precision) ** 2))
                target = min(most, max(target + 1, wanted))
    except (OutOfTime, KeyboardInterrupt, BackendError) as stop:
        known, so_far = _partial(level, finished, target, entropy)
        complete = len(finished) >= target and effort.precision is None
        if so_far is not None and complete and isinstance(stop, OutOfTime):
            return so_far
        raise stopped(stop, known, so_far) from None
    # A NaN is not a precision reached.
    if effort.precision is not None and not best.precision <= effort.precision:
        remedy = level.longer + ("" if level.one_run else ", or raise max_replications")
        reached = (
            f"no interval of the mean durations: {(*best.warnings, *best.gaps)[0]}"
            if math.isinf(best.precision)
            else f"relative half-width {best.precision:.3g} of the mean durations, more than the precision "
            f"{effort.precision:g} asked for; give {remedy}"
        )
        raise NotConvergedError(
            f"after {best.events:,} events: {reached}", best=best, residual=best.precision
        )
    return best


class _Run(Generic[S]):
    """One replication, its events told to a task; its sample, and the events that remain to be told."""

    def __init__(self, level: Level[S], work: Task) -> None:
        self.level, self.work = level, work

    def __call__(self, generator: np.random.Generator) -> tuple[S, float]:
        pace = Pace(self.work, self.level.effort)
        sample = self.level.sample(generator, pace)
        return sample, self.level.effort - pace.total


def _partial(
    level: Level[S] | None, finished: dict[int, S], target: int, entropy: Entropy | None
) -> tuple[str, Simulation | None]:
    """What is known when a simulation is stopped: the first replications in the order of the streams.

    Which finishes next may depend on what it meets.
    """
    first = [finished[k] for k in takewhile(finished.__contains__, range(target))]
    known = f"not all of {target} replications are finished"
    if level is not None and (len(first) >= 2 or (level.one_run and first)):
        with suppress(ModelError):  # some class was never present
            return f"the first {len(first)} of {target} replications are finished", level.result(
                first, entropy
            )
    return known, None


SECONDS = 0.05
"""Between two looks at the clock, about."""


class Pace:
    """Events that one replication has made, told every few hundredths of a second, whatever an event costs.

    Parameters
    ----------
    work : Task
        What they are told to. It may raise, which ends the replication.
    effort : float
        Events of a replication, about. The last of them are for the caller to tell, when the replication is
        kept.

    Attributes
    ----------
    stride : int
        Events to make before the next look at the clock.
    total : float
        Events told so far.
    """

    def __init__(self, work: Task, effort: float) -> None:
        self._work, self._effort = work, effort
        self.stride, self.total = 1, 0.0
        self._since, self._begin = 0, math.nan

    def through(self, events: int, go: Callable[[int], int]) -> None:
        """Make some events; ``go`` makes as many as it is asked for, or fewer, and says how many."""
        while events > 0:
            made = go(min(events, self.stride))
            self.made(made)
            events -= made

    def made(self, events: int) -> None:
        """Count events."""
        self._since += events
        if self._since < self.stride:
            return
        now = time.monotonic()
        if math.isnan(self._begin):
            # The first event may have waited for compilation, which says nothing of the others.
            self._work.prepared()
            self._begin = now
            return
        if now - self._begin < SECONDS / 2:
            self.stride *= 2
        elif now - self._begin > 2 * SECONDS and self.stride > 1:
            self.stride //= 2
        told = max(0.0, min(self._since, self._effort - 1 - self.total))
        self._since, self._begin = 0, now
        self.total += told
        self._work.advance(told)
