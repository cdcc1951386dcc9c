r"""Job-level simulation with remaining work: any law of arrivals and sizes, durations job by job.

Each job of class :math:`i` brings work :math:`S` (its size, in task-time) and is served at rate
:math:`\varphi_i(x)/x_i` tasks while :math:`x` jobs are present: the tasks of a class are shared equally
(:mod:`queueing.simulation.jobs.events`), or go to its jobs in an order
(:mod:`queueing.simulation.jobs.queues`): under an order of whole jobs one each, to the oldest first. With the
duration :math:`T` of a job, from arrival to departure, measured are per class

* ``mean_durations`` E[T], ``mean_slowdowns`` E[T/T'], quantiles of both, over the jobs that *arrive* in the
  measured part of the run; it goes on until all of them have left. The *slowdown* is the duration over the
  time :math:`T' = S/m_i` that the job would take with everything to itself, when it runs the most tasks
  :math:`m_i` that its limit and the capacities allow: 1 at least, whatever the policy;
* ``mean_jobs`` E[x_i], by the time integral over the measured part;
* ``service_rates`` E[S]/E[T], the mean number of tasks of an active job;
* ``little``: time integral of :math:`x_i` over the sum of the durations. The two differ by the jobs present
  when the measured part begins and ends only, so Little's law says that the ratio is 1.

Under processor sharing on one resource, and under balanced fairness in general, the means depend on the
laws of the sizes through their means only (*insensitivity* [1]_); under other policies they need not.

Intervals are over independent replications, or over batches, consecutive parts of one long run with equal
numbers of jobs (or lengths), whose means are treated as independent [2]_: make them long. Means of classes of
whose sizes the jobs may have shown too little have none.

*Tails.* Of sizes of finite variance but rare large values a run may meet no large one; its means are too
small then, and the more so their intervals. No test of the data can tell: runs that happen to see little of
the tail are the ones that would pass it. But the law is known, and so is the part of the mean, and of the
second moment, that stands in sizes above a quantile (:meth:`queueing.model.laws.Law.unseen_work`). A run that
hides too much of the mean is refused; one that hides too much of the second moment has no intervals for the
means of this class.

References
----------
.. [1] T. Bonald and A. Proutière, "Insensitive bandwidth sharing in data networks", Queueing Systems 44,
   2003. DOI 10.1023/A:1024094807532.
.. [2] S. Asmussen and P. W. Glynn, "Stochastic Simulation: Algorithms and Analysis", Springer, 2007,
   section IV.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import Entropy, require_number, require_whole
from fairness.errors import ModelError
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import AnyPolicy
from fairness.protocol.policy import policy_name
from queueing.model.job_trace import JobTrace
from queueing.model.laws import Law
from queueing.model.system import System
from queueing.simulation.jobs.queues import NO_SCALES, checked_orders
from queueing.simulation.jobs.results import JobSimulation
from queueing.simulation.jobs.runs import (
    BLOCK,
    DURATION,
    JOBS,
    MOST,
    DrawnJobs,
    Outcome,
    Phase,
    Ranks,
    Run,
    TracedJobs,
    estimates,
    work_left,
)
from queueing.simulation.jobs.shortest_first import SRPT, OrderSource
from queueing.simulation.policy_rows import PolicySource, largest_grid
from queueing.simulation.replications import (
    QuantileEstimate,
    RunLength,
    estimate_quantiles,
    withheld,
    without_interval,
)
from queueing.simulation.run_length_checks import Measured, Memory, relaxations, run_warnings
from queueing.simulation.sampling import Level, Pace
from queueing.simulation.starts import given_start, stationary_start
from queueing.states.table import Table
from queueing.waiting.whole_jobs import Order

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["JobLevel"]


DEFAULT_JOBS = 100_000
"""Arrivals per replication unless ``jobs`` or ``horizon`` is given."""

MOST_JOBS = 10**15
"""Most jobs of a run: beyond it their number would not be exact in floating point."""

MOST_UNSEEN = 0.1
"""Largest part of the work (time) that may be in jobs (gaps) too large to be met: above, means are biased."""

UNMET = 10.0
"""A run meets a job above the quantile of level 1 - 1/(UNMET jobs) with probability 1/UNMET."""

FEW = 5.0
"""Jobs of a class that all samples together meet above a quantile, on average: too few to tell a variance."""

MOST_HIDDEN = 0.6
"""Largest part of the second moment of the sizes above that quantile: up to it intervals were measured to
cover, for sizes as different as two exponentials, Pareto's and the lognormal law."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JobOptions:
    """Options of ``simulate`` for jobs."""

    jobs: int | None = None
    horizon: float | None = None
    batches: bool = False
    quantiles: Sequence[float] = (0.5, 0.9, 0.99)
    record: bool = False
    start: ArrayLike | None = None
    table: Table | None = None
    order: str | Sequence[str] | None = None


def check_levels(quantiles: Sequence[float]) -> tuple[float, ...]:
    """Levels of quantiles, in (0, 1)."""
    try:
        levels = tuple(float(level) for level in quantiles)
    except (TypeError, ValueError):
        raise ModelError.of(
            "quantiles", f"must be a sequence of levels in (0, 1); got {quantiles!r}"
        ) from None
    if not all(0 < level < 1 for level in levels):
        raise ModelError.of("quantiles", f"must be levels strictly between 0 and 1; got {quantiles!r}")
    return levels


def check_length(
    jobs: int | None, horizon: float | None, trace: JobTrace | None
) -> tuple[int | None, float | None]:
    """Length of a run, as jobs or as time."""
    if jobs is not None and horizon is not None:
        raise ModelError("give jobs or horizon, not both")
    if horizon is not None:
        return None, require_number("horizon", horizon, above=0)
    if jobs is None:
        return (DEFAULT_JOBS if trace is None else trace.n_jobs), None
    count = require_whole("jobs", jobs, 1, MOST_JOBS)
    if trace is not None and count > trace.n_jobs:
        raise ModelError(f"jobs={count} are more than the {trace.n_jobs} of the trace")
    return count, None


def run_phases(
    count: int | None, end: float | None, warmup: float, batches: int
) -> tuple[list[Phase], list[Phase]]:
    """Both halves of the warm-up, and measured phases, of equal numbers of jobs or equal lengths."""
    if end is not None:
        times = np.linspace(warmup * end, end, batches + 1)
        halves = [Phase(horizon=float(times[0]) / 2), Phase(horizon=float(times[0]))]
        return halves, [Phase(horizon=float(t)) for t in times[1:]]
    assert count is not None
    edges = np.linspace(int(warmup * count), count, batches + 1).astype(np.int64)
    if count - edges[0] < batches:
        raise ModelError(
            f"{count - edges[0]} measured jobs cannot be cut into {batches} batches; give more jobs or fewer "
            "replications"
        )
    half = int(edges[0]) // 2
    halves = [Phase(half), Phase(int(edges[0]) - half)]
    return halves, [Phase(int(b - a)) for a, b in pairwise(edges)]


def check_tails(system: System, sizes: Sequence[Law], gaps: Sequence[Law | None], jobs: float) -> None:
    """Refuse laws of sizes and of times between arrivals whose tails the run cannot see."""
    shares = system.arrival_rates / system.arrival_rates.sum()
    for i, (size, gap) in enumerate(zip(sizes, gaps, strict=True)):
        seen = jobs * shares[i]
        for name, law, hidden, wrong in (
            ("sizes", size, "work is in jobs so large", "means would be too small"),
            ("arrivals", gap, "time is in gaps so long", "jobs would come too fast"),
        ):
            unseen = law.unseen_work(UNMET * seen) if gap is not None and law is not None else 0.0
            if unseen > MOST_UNSEEN:
                raise ModelError(
                    f"{name} of class {system.problem.job_classes[i]!r}: {unseen:.0%} of the {hidden} that "
                    f"{seen:,.0f} jobs hold one with probability 1/{UNMET:g}: the {wrong}; give more jobs, "
                    "or a law with a lighter or lower tail"
                )


def hidden_tails(sizes: Sequence[Law], jobs: FloatArray) -> NDArray[np.bool_]:
    """Classes whose variance the jobs, (n_classes,), cannot show, because rare large sizes make it."""
    laws = zip(sizes, jobs, strict=True)
    return np.array([bool(count) and law.unseen_work(count / FEW, 2) > MOST_HIDDEN for law, count in laws])


class Sample(NamedTuple):
    """What is kept of a replication, or of all batches of one run."""

    totals: FloatArray  # (n_phases, n_classes, 6)
    parts: FloatArray  # (n_phases, parts, n_classes, 4)
    ranks: Ranks
    outcome: Outcome


class JobLevel(Level[Sample]):
    """The jobs of a system, drawn from its laws or recorded, under a policy."""

    kind, options = "jobs", JobOptions

    def __init__(
        self,
        system: System,
        policy: AnyPolicy | SRPT,
        length: RunLength,
        options: JobOptions,
    ) -> None:
        self.name = policy.name if isinstance(policy, SRPT) else policy_name(policy)
        self.system, self.length, self.record = system, length, options.record
        start, table = options.start, options.table
        trace = self.trace = system.arrivals if isinstance(system.arrivals, JobTrace) else None
        self.drawn, self.one_run = trace is None, options.batches or trace is not None
        self.levels = check_levels(options.quantiles)
        # Whole jobs run one task each, or none.
        whole = isinstance(policy, Order)
        self.limits = np.ones(system.n_classes) if whole else system.limits
        self.alone = np.minimum(system.most_tasks, self.limits)
        order = options.order if options.order is not None else "fcfs" if whole else "ps"
        self.orders = checked_orders(order, system.problem.job_classes)
        if whole and (equal := {"ps", "las"} & set(self.orders)):
            raise ModelError.of(
                "order",
                f"{min(equal)!r} shares tasks among jobs, which run whole under {self.name}: leave it out",
            )
        self.scales = NO_SCALES
        if isinstance(policy, SRPT):
            self.orders = ("srpt",) * system.n_classes
            self.scales = policy.scales(system.require_pool("an order of all jobs"))
        count, end = check_length(options.jobs, options.horizon, trace)
        self.longer = "more jobs" if end is None else "a longer horizon"
        replications, warmup = length.replications, length.warmup
        self.warmup, self.phases = run_phases(count, end, warmup, replications if self.one_run else 1)
        system.require_arrivals()
        if trace is not None:
            if start is not None:
                raise ModelError("a trace starts empty, with its first job; leave out start")
            self.start = given_start(system, np.zeros(system.n_classes))
            self.memory = Memory.of(system, *trace.variation)
            self.effort = 2.0 * (trace.n_jobs if count is None else count)
            self.source = _source(system, policy, table, self.effort)
        else:
            fixed = None if start is None else given_start(system, start)
            system.require_stable()
            rates = [*zip(system.processes, system.arrival_rates.tolist(), strict=True)]
            gaps = [one.interarrival(rate) if rate > 0 else None for one, rate in rates]
            arrivals = float(count) if count is not None else float(end or 0) * system.arrival_rates.sum()
            self.effort = 2.0 * arrivals
            # A sequential run may stop after those it starts with.
            measured = (1 - warmup) * arrivals * (1 if self.one_run else replications)
            check_tails(system, system.sizes, gaps, measured)
            self.source = _source(system, policy, table, 2 * measured / (1 - warmup))
            self.start = fixed or stationary_start(system, self.source.table is not None)
            variation = np.array([law.scv for law in system.sizes])
            dispersion = np.array([one.dispersion(rate) if rate > 0 else 1.0 for one, rate in rates])
            self.memory = Memory.of(system, variation, dispersion)
        if count is not None:
            every = 1 if self.one_run else replications
            # The log of one run or of all, and the ranked durations and slowdowns of all.
            each = 32.0 * (every if self.record else 1) + 16.0 * (every if self.levels else 0)
            less = "fewer jobs and more replications" if not self.levels else "quantiles=(), or fewer jobs"
            require_memory(
                each * count * (1 - warmup), f"measuring {count:,} jobs per replication", f"give {less}"
            )

    def sample(self, generator: np.random.Generator, pace: Pace) -> Sample:
        """One replication, or all batches of one run."""
        source: DrawnJobs | TracedJobs
        present: tuple[FloatArray, ...] = ()
        if self.trace is not None:
            source = TracedJobs(self.trace)
        else:
            sizes = self.system.sizes
            source = DrawnJobs(self.system, generator)
            # Spawned last: the jobs that arrive are the same from wherever the run begins.
            early = generator.spawn(1)[0]
            present = work_left(self.start.draw(early), sizes, early)
        measured = sum(phase.arrivals for phase in self.phases)
        log = measured if measured < MOST else BLOCK
        run = Run(source, self.source.reader(), log, present, self.orders, self.limits, self.scales, pace)
        outcome = run.outcome(self.warmup, self.phases)
        measured_of = outcome.measured(self.alone, ranked=bool(self.levels))
        kept = outcome if self.record else replace(outcome, log=outcome.log[:0].copy())
        return Sample(*measured_of, kept)

    def result(self, samples: Sequence[Sample], entropy: Entropy | None) -> JobSimulation:
        """What finished replications estimate."""
        system, confidence = self.system, self.length.confidence
        totals = np.concatenate([s.totals for s in samples])
        fewest = min(s.parts.shape[1] for s in samples)
        parts = np.concatenate([s.parts[:, :fewest] for s in samples])
        outcomes = [s.outcome for s in samples]
        _check_jobs(system, totals[:, :, JOBS])
        by_name, little = estimates(totals, parts, confidence)
        jobs = totals[:, :, JOBS].sum(axis=0)
        if self.trace is None:
            by_name = without_interval(by_name, hidden_tails(system.sizes, jobs))
        warm_time = sum(outcome.warm_time for outcome in outcomes)
        area: FloatArray = np.sum([outcome.warm_area for outcome in outcomes], axis=0)
        measured = Measured(
            parts[..., DURATION] / np.maximum(parts[..., JOBS].sum(axis=-1, keepdims=True), 1),
            by_name["mean_jobs"].value,
            area / warm_time if warm_time > 0 else np.full(system.n_classes, np.nan),
            self.start.mean_jobs,
            float(np.mean([outcome.time for outcome in outcomes])),
            float(np.mean([outcome.warmup for outcome in outcomes])),
            self.longer,
            self.one_run,
        )
        warnings = run_warnings(self.memory, measured)
        independent = np.minimum(jobs, relaxations(self.memory, measured))
        by_level: list[dict[float, QuantileEstimate]] = [{}, {}]
        for k in range(2) if self.levels else ():
            ranked = [[own[k] for own in phase] for s in samples for phase in s.ranks]
            by_level[k] = estimate_quantiles(ranked, self.levels, confidence, independent)
        if warnings:
            little = replace(little, sound=False)
            by_level = [withheld(quantiles) for quantiles in by_level]
        return self.told(
            JobSimulation,
            by_name,
            warnings,
            replications=len(totals),
            events=sum(outcome.events for outcome in outcomes),
            time=float(sum(outcome.time.sum() for outcome in outcomes)),
            entropy=entropy,
            table_shape=largest_grid(outcome.grid for outcome in outcomes),
            duration_quantiles=by_level[0],
            slowdown_quantiles=by_level[1],
            little=little,
            alone_rates=self.alone,
            jobs=jobs.astype(np.int64),
            orders=self.orders if self.scales is NO_SCALES else (),
            record=self._recorded(outcomes) if self.record else None,
        )

    def _recorded(self, outcomes: Sequence[Outcome]) -> pd.DataFrame:
        """The measured jobs in the order of arrival, sample by sample."""
        import pandas as pd

        names = np.array(self.system.problem.job_classes, dtype=object)
        phases = [np.repeat(np.arange(len(o.time)), np.diff(o.edges)) for o in outcomes]
        before = np.cumsum([0] + [len(o.time) for o in outcomes[:-1]])
        log = np.concatenate([outcome.log for outcome in outcomes])
        since = 0.0 if self.trace is None else float(self.trace.arrival_times[0])
        return pd.DataFrame(
            {
                "sample": np.concatenate([phase + k for phase, k in zip(phases, before, strict=True)]),
                "job_class": names[log[:, 0].astype(np.int64)],
                "arrival_time": log[:, 1] + since,
                "size": log[:, 2],
                "duration": log[:, 3] - log[:, 1],
            }
        )


def _source(
    system: System, policy: AnyPolicy | SRPT, table: Table | None, events: float
) -> PolicySource | OrderSource:
    if isinstance(policy, SRPT):
        return OrderSource(system.problem, policy.name)
    return PolicySource(system, policy, table, events)


def _check_jobs(system: System, jobs: FloatArray) -> None:
    """Refuse samples, (n_samples, n_classes), that lack jobs of a class."""
    for i in np.flatnonzero((system.arrival_rates > 0) & (jobs == 0).any(axis=0)):
        raise ModelError(
            f"no job of class {system.problem.job_classes[i]!r} arrived in {(jobs[:, i] == 0).sum()} of the "
            f"{len(jobs)} replications or batches; give more jobs or a longer horizon"
        )
