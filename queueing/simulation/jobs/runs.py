r"""Driver of the kernel: one run, its supply of jobs, its phases, and what its log says.

A run has three parts: a warm-up; the measured phases, whose arriving jobs are logged; and a drain, in which
jobs go on arriving, unmeasured, until every logged job has left. So no duration is cut off, and which jobs
are measured does not depend on the policy.

Arrivals and sizes of every class come from generators of their own, in blocks: what a class brings depends
neither on the other classes nor on the policy (common random numbers).

Of the jobs that arrived in a measured phase, with sizes :math:`S_k` and durations :math:`T_k`, the totals
:math:`\sum 1, \sum T_k, \sum T_k/T'_k, \sum S_k` are kept per class, of the phase and of consecutive parts of
it; :math:`T'_k` is the time that the job would take with everything to itself. For quantiles all
:math:`T_k` and :math:`T_k/T'_k` are kept, ranked.

Durations are differences of recorded times, and so exact to the digits of the time; a slowdown is not below 1
for that, and is 1 where the two times do not differ in these digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from fairness.arguments.validation import IntArray
from fairness.errors import ModelError, UnstableError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from queueing.model.job_trace import JobTrace
from queueing.model.laws import Law
from queueing.model.system import System
from queueing.simulation.jobs import events as at
from queueing.simulation.jobs.events import ARRIVAL, CLASS, DEPARTURE, SIZE, State, advance, new_state
from queueing.simulation.jobs.queues import Queues, line_up, new_queues
from queueing.simulation.jobs.shortest_first import OrderSource
from queueing.simulation.policy_rows import Reader
from queueing.simulation.replications import PARTS, Estimate, estimate_ratio, skewness
from queueing.simulation.sampling import Pace
from queueing.simulation.starts import rest_of_sizes

__all__ = [
    "BLOCK",
    "MOST",
    "DrawnJobs",
    "Outcome",
    "Phase",
    "Run",
    "TracedJobs",
    "estimates",
    "work_left",
]

BLOCK = 4096
"""Jobs drawn ahead per class: enough to hide the cost of a call, few enough to stay in the cache."""

FIRST_JOBS = 64
"""Room in each heap before any doubling."""

MOST = int(np.iinfo(np.int64).max)

Arrays = TypeVar("Arrays", State, Queues)


class DrawnJobs:
    """Jobs drawn from the processes and laws of a system."""

    def __init__(self, system: System, generator: np.random.Generator) -> None:
        self.sizes = system.sizes
        streams = generator.spawn(2 * len(self.sizes))
        rates = zip(system.processes, system.arrival_rates.tolist(), streams[::2], strict=True)
        self.gaps = [one.gaps(rate, stream) if rate > 0 else None for one, rate, stream in rates]
        self.clock, self.size_streams = [0.0] * len(self.sizes), streams[1::2]

    def fill(self, i: int, times: FloatArray, sizes: FloatArray) -> None:
        """Write the next arrival times and sizes of class i; times are inf when there are no more jobs."""
        gaps = self.gaps[i]
        if gaps is None:
            times[:] = np.inf
            return
        times[:] = _positive(gaps(len(times)), gaps)
        times[0] += self.clock[i]
        np.cumsum(times, out=times)
        self.clock[i] = float(times[-1])
        sizes[:] = _positive(self.sizes[i].sample(self.size_streams[i], len(sizes)), self.sizes[i])


def work_left(
    counts: IntArray, sizes: Sequence[Law], generator: np.random.Generator
) -> tuple[FloatArray, ...]:
    """What is left of the sizes of jobs present, one array per class."""
    laws = zip(counts, sizes, generator.spawn(len(sizes)), strict=True)
    return tuple(_positive(rest_of_sizes(law, int(count), stream), law) for count, law, stream in laws)


def _positive(values: FloatArray, law: object) -> FloatArray:
    """Values, refused unless finite and > 0: anyone may write a law, and a NaN would pass in silence."""
    good = np.isfinite(values) & (values > 0)
    if not good.all():
        raise ModelError(f"samples of a law must be finite and > 0; {law!r} gave {values[~good][0]}")
    return values


class TracedJobs:
    """Jobs of a trace, the first of which arrives at time 0."""

    def __init__(self, trace: JobTrace) -> None:
        times = trace.arrival_times - trace.arrival_times[0]
        own = [trace.class_indices == i for i in range(trace.problem.n_classes)]
        self.times = [times[mine] for mine in own]
        self.sizes = [trace.sizes[mine] for mine in own]
        self.taken = [0] * len(own)

    def fill(self, i: int, times: FloatArray, sizes: FloatArray) -> None:
        """As for drawn jobs."""
        start = self.taken[i]
        stop = self.taken[i] = min(start + len(times), len(self.times[i]))
        times[: stop - start] = self.times[i][start:stop]
        times[stop - start :] = np.inf
        sizes[: stop - start] = self.sizes[i][start:stop]


# Columns of the totals; parts have the first four.
JOBS, DURATION, SLOWDOWN, WORK, AREA, TIME = range(6)

ROUNDING = 8 * float(np.finfo(float).eps)
"""Rounding of a duration over the time of the departure: both times, and the clocks of attained service."""

Ranks = list[list[FloatArray]]
"""Sorted durations and slowdowns, (2, n_jobs), per phase and class."""


@dataclass(frozen=True)
class Phase:
    """Part of a run: ends after some arrivals, or at a time, whichever comes first."""

    arrivals: int = MOST
    horizon: float = np.inf


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one run measured.

    ``log`` (n_measured, 4) holds class, arrival, size, departure; the jobs of measured phase k are its rows
    ``edges[k]`` to ``edges[k + 1] - 1``; ``area`` (n_phases, n_classes) and ``time`` (n_phases,) are the
    time integrals of the counts and the lengths of the phases; ``events`` are the arrivals and departures
    of the measured phases, ``grid`` is that of the table read, if one. ``warm_area`` (n_classes,) and
    ``warm_time`` belong to the second half of the warm-up, ``warmup`` is the length of all of it.
    """

    log: FloatArray
    edges: IntArray
    area: FloatArray
    time: FloatArray
    events: int
    grid: tuple[int, ...] | None
    warm_area: FloatArray
    warm_time: float
    warmup: float

    @property
    def _phases(self) -> list[FloatArray]:
        """The log of each measured phase."""
        return [self.log[begin:end] for begin, end in pairwise(self.edges)]

    def measured(self, alone: FloatArray, *, ranked: bool) -> tuple[FloatArray, FloatArray, Ranks]:
        """Totals of each measured phase, (n_phases, n_classes, 6), those of its parts, (n_phases, parts,
        n_classes, 4), and its ranks where they are asked for; ``alone`` (n_classes,): the most tasks.
        """
        count = min(PARTS, max(1, int(np.diff(self.edges).min())))
        totals, ranks = np.zeros((*self.area.shape, 6)), []
        parts = np.empty((len(self.area), count, *totals[0, :, : WORK + 1].shape))
        for k, phase in enumerate(self._phases):
            jobs = _lasting(phase, alone)
            totals[k, :, : WORK + 1] = _totals(jobs, len(alone))
            cut = zip(*(np.array_split(column, count) for column in jobs), strict=True)
            parts[k] = [_totals(rows, len(alone)) for rows in cut]
            if ranked:
                both = np.array(jobs[1:3])
                ranks.append([np.sort(both[:, jobs[0] == i], axis=1) for i in range(len(alone))])
        totals[:, :, AREA] = self.area
        totals[:, :, TIME] = self.time[:, None]
        return totals, parts, ranks


class Run:
    """State of the kernel, and what it reads: a system that is empty, or has some jobs.

    ``present`` holds the work left of the first jobs, one array per class; ``log`` is the room of the log at
    first; ``orders`` are those of the classes, ``limits`` their most tasks of a job, ``scales`` those of one
    order of all jobs.
    """

    def __init__(
        self,
        source: DrawnJobs | TracedJobs,
        reader: Reader | OrderSource,
        log: int,
        present: Sequence[FloatArray],
        orders: Sequence[str],
        limits: FloatArray,
        scales: FloatArray,
        pace: Pace,
    ) -> None:
        n = reader.source.problem.n_classes
        self.source, self.reader, self.pace = source, reader, pace
        room = max([FIRST_JOBS, *(2 * len(work) for work in present)])
        self.state = state = new_state(n, BLOCK, room, log)
        self.queues = new_queues(orders, limits, reader.source.problem, room, scales)
        for i, work in enumerate(present):
            # In increasing order they are a heap; in an order of service they have just come.
            state.counts[i] = len(work)
            state.thresholds[i, : len(work)] = np.sort(work)
            state.rows[i, : len(work)] = at.UNMEASURED
            if self.queues is not None:
                line_up(self.queues, state.thresholds[i], i, len(work))
        self.lookup = reader.at(state.counts)

    def outcome(self, warmup: Sequence[Phase], phases: Sequence[Phase]) -> Outcome:
        """Run a warm-up, the measured phases and the drain.

        Raises
        ------
        ModelError
            If the table outgrows the memory.
        UnstableError
            If logged jobs do not leave.
        """
        edges, events = [0], 0
        area: list[FloatArray] = []
        time: list[float] = []
        for phase in (*warmup, *phases):
            start = float(self.state.clock[0])
            self.state.area[:] = 0.0
            counted = len(time) >= len(warmup)
            made = self.go(phase, measured=counted)
            if counted:
                events += made
                edges.append(int(self.state.counters[at.LOGGED]))
            area.append(self.state.area.copy())
            time.append(float(self.state.clock[0]) - start)
        warm = len(warmup)
        # Ten times the run, and at least the busy period of a heavily loaded system.
        self.go(Phase(max(10 * edges[-1], 1_000_000)), drain=True)
        left, policy = int(self.state.counters[at.PENDING]), self.reader.source
        if left:
            still = dict(zip(policy.problem.job_classes, self.state.counts.tolist(), strict=True))
            raise UnstableError(
                f"{left} of {edges[-1]} measured jobs never leave under {policy.name} "
                f"(present: {still}); the policy may be unstable at this load, or gives a class no tasks: "
                "reduce arrival_rates"
            )
        return Outcome(
            log=self.state.log[: edges[-1]],
            edges=np.array(edges),
            area=np.array(area[warm:]),
            time=np.array(time[warm:]),
            events=events,
            grid=self.reader.shape,
            warm_area=area[warm - 1],
            warm_time=time[warm - 1],
            warmup=sum(time[:warm]),
        )

    def go(self, phase: Phase, *, measured: bool = False, drain: bool = False) -> int:
        """Run a phase; its events."""
        left, events = phase.arrivals, 0
        while True:
            stride = min(left, self.pace.stride)
            status, arrived, departed = advance(
                self.state,
                self.queues,
                self.lookup,
                *self.reader.answers,
                stride,
                phase.horizon,
                measured,
                drain,
            )
            left -= arrived
            events += arrived + departed
            self.pace.made(arrived + departed)
            if status == at.BLOCK_USED:
                self._refill()
            elif status == at.ROW_MISSING:
                self.lookup = self.reader.at(self.state.counts)
            elif status == at.HEAP_FULL:
                purpose = "the jobs present"
                self.state = _grown(self.state, "thresholds", "rows", axis=1, purpose=purpose)
                if self.queues is not None:
                    self.queues = _grown(self.queues, "keys", axis=1, purpose=purpose)
            elif status == at.LOG_FULL:
                purpose = "the durations of the measured jobs"
                self.state = _grown(self.state, "log", axis=0, purpose=purpose)
            elif arrived < stride or left == 0:
                # DONE; or STUCK, without a further event: an error only where jobs are left to drain.
                return events

    def _refill(self) -> None:
        state = self.state
        for i in np.flatnonzero(state.position == BLOCK):
            self.source.fill(int(i), state.times[i], state.sizes[i])
            state.position[i] = 0


def _grown(held: Arrays, *names: str, axis: int, purpose: str) -> Arrays:
    """A named tuple with twice the room in some of its arrays."""
    arrays = [getattr(held, name) for name in names]
    require_memory(2 * sum(a.nbytes for a in arrays), purpose, "measure fewer jobs per replication")
    larger = {
        name: np.concatenate([a, np.empty_like(a)], axis=axis) for name, a in zip(names, arrays, strict=True)
    }
    return held._replace(**larger)


def _totals(jobs: Sequence[np.ndarray], n_classes: int) -> FloatArray:
    """Number of jobs, sums of durations, slowdowns and sizes of some jobs, (n_classes, 4)."""
    kinds, *columns = jobs
    return np.array([np.bincount(kinds, values, n_classes) for values in (None, *columns)]).T


def _lasting(log: FloatArray, alone: FloatArray) -> tuple[np.ndarray, ...]:
    """Class, duration, slowdown and size of each job."""
    kinds, sizes = log[:, CLASS].astype(np.int64), log[:, SIZE]
    durations, least = log[:, DEPARTURE] - log[:, ARRIVAL], sizes / alone[kinds]
    equal = durations - least <= ROUNDING * log[:, DEPARTURE]
    return kinds, durations, np.where(equal, 1.0, durations / least), sizes


def estimates(
    totals: FloatArray, parts: FloatArray, confidence: float
) -> tuple[dict[str, Estimate], Estimate]:
    """Estimates by name, and the check of Little's law.

    From totals (n_samples, n_classes, 6) and those of parts (n_samples, parts, n_classes, 4). Classes without
    jobs have 0 jobs, and NaN for the rest.
    """
    jobs, duration, slowdown, work, area, time = np.moveaxis(totals, -1, 0)
    by_part = np.moveaxis(parts, -1, 0)

    def estimate(top: FloatArray, bottom: FloatArray, tops: FloatArray, bottoms: FloatArray) -> Estimate:
        return estimate_ratio(top, bottom, confidence, skewness(tops, bottoms))

    # By Little's law durations per time are in proportion to the jobs present.
    same = np.ones_like(by_part[JOBS])
    by_name = {
        "mean_jobs": estimate(area, time, by_part[DURATION], same),
        "mean_durations": estimate(duration, jobs, by_part[DURATION], by_part[JOBS]),
        "service_rates": estimate(work, duration, by_part[WORK], by_part[DURATION]),
        "mean_slowdowns": estimate(slowdown, jobs, by_part[SLOWDOWN], by_part[JOBS]),
    }
    return by_name, estimate_ratio(area, duration, confidence)
