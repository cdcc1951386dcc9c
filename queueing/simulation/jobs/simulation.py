r"""Job-level simulation with remaining work: any law of arrivals and sizes, durations job by job.

Each job of class :math:`i` brings work :math:`S` (its size, in task-time) and is served at rate
:math:`\varphi_i(x)/x_i` tasks while :math:`x` jobs are present: the tasks of a class are shared equally
(:mod:`queueing.simulation.jobs.events`). With the duration :math:`T` of a job, from arrival to departure,
measured are per class

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

Intervals are Student's over independent replications, or over batches, consecutive parts of one long run
with equal numbers of jobs (or lengths), whose means are treated as independent [2]_: make them long. A
*sequential* run (``precision``) adds replications until the half-widths of all mean durations are at most
that part of their values; its intervals cover a little less often than they say, the less so the more
replications it starts with [2]_.

References
----------
.. [1] T. Bonald and A. Proutière, "Insensitive bandwidth sharing in data networks", Queueing Systems 44,
   2003. DOI 10.1023/A:1024094807532.
.. [2] S. Asmussen and P. W. Glynn, "Stochastic Simulation: Algorithms and Analysis", Springer, 2007,
   sections IV.4 and IV.5.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairness.arguments.validation import Entropy, Seed, require_number
from fairness.errors import ModelError, NotConvergedError
from fairness.machine.kernels import IntArray
from fairness.machine.memory import require_memory
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.policy import Policy, policy_name
from queueing.model.arrivals import Arrivals
from queueing.model.class_results import class_table
from queueing.model.job_trace import JobTrace
from queueing.model.laws import Law
from queueing.model.system import System
from queueing.simulation.jobs.arguments import (
    check_length,
    check_levels,
    check_tails,
    run_phases,
    scaled_laws,
    traced_system,
)
from queueing.simulation.jobs.runs import DrawnJobs, JobSource, Outcome, TracedJobs, run, work_left
from queueing.simulation.jobs.statistics import (
    JOBS,
    SLOWDOWN,
    estimates,
    phase_parts,
    phase_quantiles,
    phase_totals,
    quantile_estimates,
)
from queueing.simulation.replications import (
    Estimate,
    EstimatedMeans,
    RunLength,
    Streams,
    estimate_columns,
    estimates_lines,
    replicate,
    spawn_streams,
    warning_lines,
    withheld,
)
from queueing.simulation.soundness import Measured, Memory, run_warnings
from queueing.simulation.starts import check_start, given_start, stationary_start
from queueing.states.growing_table import GrowingTable
from queueing.states.table import Table

__all__ = ["JobSimulation", "simulate_jobs"]


class Sample(NamedTuple):
    """What is kept of a replication, or of all batches of one run."""

    totals: FloatArray  # (n_phases, n_classes, 6)
    ranked: FloatArray  # (n_phases, 2, n_levels, n_classes)
    parts: FloatArray  # (n_phases, parts, n_classes)
    outcome: Outcome


@dataclass(frozen=True, eq=False, repr=False)
class JobSimulation(EstimatedMeans):
    """Estimates from a simulation job by job; made by :func:`simulate_jobs`.

    Attributes
    ----------
    system : System
        Of a trace: with its rates and mean sizes.
    policy : str
        Name of the policy.
    sizes : tuple of Law, or None
        Law of the sizes of each class; None for a trace.
    interarrivals : tuple of Law or None, or None
        Law of the times between arrivals of each class, None without arrivals; None for a trace.
    estimates : dict of str to Estimate
        "mean_jobs", "mean_durations", "service_rates" and "mean_slowdowns", each of shape (n_classes,) with
        half-widths and the values of the samples (replications or batches); NaN for classes without arrivals.
    duration_quantiles, slowdown_quantiles : dict of float to Estimate
        Quantiles by level: order statistics of all measured jobs of a sample, averaged over samples.
    little : Estimate
        Time integral of the jobs over the sum of their durations: 1 by Little's law.
    alone_rates : ndarray of shape (n_classes,)
        Most tasks of a job with everything to itself: size over duration of slowdown 1.
    confidence : float
        Level of the intervals.
    samples : int
        Replications or batches behind the intervals.
    jobs : ndarray of shape (n_classes,)
        Jobs measured.
    events : int
        Arrivals and departures in the measured parts.
    time : float
        Their length.
    entropy : int, list of int or str, or None
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does, None for a trace.
    table_shape : tuple of int
        Grid of job counts that the runs needed in the end.
    record : DataFrame or None
        The measured jobs, if asked for: sample, job_class, arrival_time, size, duration.
    warnings : tuple of str
        Why the run is too short for intervals (:mod:`queueing.simulation.soundness`): half-widths are
        infinite then.
    """

    system: System
    policy: str
    sizes: tuple[Law, ...] | None
    interarrivals: tuple[Law | None, ...] | None
    estimates: dict[str, Estimate]
    duration_quantiles: dict[float, Estimate]
    slowdown_quantiles: dict[float, Estimate]
    little: Estimate
    alone_rates: FloatArray
    confidence: float
    samples: int
    jobs: IntArray
    events: int
    time: float
    entropy: Entropy | None
    table_shape: tuple[int, ...]
    record: pd.DataFrame | None
    warnings: tuple[str, ...]

    @property
    def mean_slowdowns(self) -> FloatArray:
        """Mean of the duration over the duration with everything to itself, (n_classes,), >= 1."""
        return self.estimates["mean_slowdowns"].value

    @property
    def precision(self) -> float:
        """Largest relative half-width of a mean duration."""
        durations = self.estimates["mean_durations"]
        return float(np.nanmax(durations.half_width / durations.value))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per class: each estimate and quantile, and the half-width of its interval."""
        named = dict(self.estimates)
        for name, by_level in (("duration", self.duration_quantiles), ("slowdown", self.slowdown_quantiles)):
            named |= {f"{name}_q{level:g}": estimate for level, estimate in by_level.items()}
        return class_table(self.system, **estimate_columns(named))

    def summary(self) -> str:
        """Estimates with their intervals, the check of Little's law, and the effort behind them."""
        names = self.system.problem.job_classes
        lines = [
            f"{self.policy}, job by job: {self.samples} samples, {self.jobs.sum():,} jobs in "
            f"{self.time:.4g} units of time, {self.confidence:.0%} intervals",
            *estimates_lines(self.estimates, names),
        ]
        if self.duration_quantiles:
            lines.append("  quantiles of the durations")
            by_level = {f"{level:g}": estimate for level, estimate in self.duration_quantiles.items()}
            lines += estimates_lines(by_level, names)
        off = np.nanmax(np.abs(self.little.value - 1))
        lines.append(f"  Little's law: jobs / (rate x duration) is off 1 by at most {off:.2g}")
        lines += warning_lines(self.warnings)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()


def simulate_jobs(
    system: System,
    policy: Policy | ClusterPolicy,
    *,
    sizes: Law | Sequence[Law] | None = None,
    arrivals: Arrivals | Sequence[Arrivals] | None = None,
    trace: JobTrace | None = None,
    jobs: int | None = None,
    horizon: float | None = None,
    warmup: float = 0.1,
    replications: int = 10,
    batches: bool = False,
    precision: float | None = None,
    max_replications: int = 200,
    confidence: float = 0.95,
    quantiles: Sequence[float] = (0.5, 0.9, 0.99),
    rng: Seed = None,
    n_jobs: int = 1,
    table: Table | None = None,
    start: ArrayLike | None = None,
    record: bool = False,
) -> JobSimulation:
    """Simulate jobs with their remaining work under a policy; durations, slowdowns, quantiles, intervals.

    Parameters
    ----------
    system : System
        Its trace is served, if it has one.
    policy : callable
        ``policy(problem, counts) -> tasks``, or ``policy(cluster, counts) -> placement``; the tasks of a
        class, wherever they run, are shared equally by its jobs.
    sizes : Law or sequence of Law, one per class, optional
        Shape of the law of the sizes, scaled to the mean sizes of the system. Default: those of the system.
    arrivals : Arrivals or sequence of Arrivals, one per class, optional
        Arrival processes, scaled to the arrival rates of the system. Default: those of the system.
    trace : JobTrace, optional
        Jobs to serve instead of drawn ones. Of the system only the problem is then read, and the
        intervals come from batches.
    jobs : int, optional
        Arrivals per replication, all classes together, warm-up included. Default: 100,000; or the trace.
    horizon : float, time, optional
        Length of a replication, instead of ``jobs``.
    warmup : float
        Part of the jobs (or of the horizon), in [0, 1), left out at the beginning of each replication.
    replications : int
        Independent replications, or batches of one run, >= 2; with ``precision`` those to start with.
    batches : bool
        One long run cut into batches, instead of independent replications.
    precision : float, optional
        Relative half-width wanted for every mean duration, in (0, 1): replications are added until it is
        reached.
    max_replications : int
        Most replications with ``precision``.
    confidence : float
        Level of the intervals.
    quantiles : sequence of float
        Levels in (0, 1) of the quantiles of durations and slowdowns.
    rng : numpy Generator or seed
        Replications draw from generators spawned from this one, each class from its own: with the same seed
        all policies serve the same jobs (common random numbers).
    n_jobs : int
        Replications run at the same time (joblib; threads by default). The result does not depend on it.
    table : Table, optional
        Tasks already computed for the same problem and policy; its size does not change the result.
    start : array_like of shape (n_classes,), jobs, optional
        Jobs present at time 0 in every replication; what is left of their sizes is drawn, as that of jobs met
        at a random time. Default: each replication draws its own from an approximate stationary law
        (:mod:`queueing.simulation.starts`); traces start empty.
    record : bool
        Keep the measured jobs.

    Returns
    -------
    JobSimulation
        If the run is too short for the load, its ``warnings`` say so and its intervals are infinite.

    Raises
    ------
    ModelError
        If an argument is out of range, a class has no measured job in a sample, more than a tenth of the work
        of a class is in jobs so large that the run is unlikely to meet one (or of its time in gaps between
        arrivals so long), or the table outgrows the memory.
    UnstableError
        If a resource is offered more than it can carry (not of a trace), or measured jobs never leave.
    NotConvergedError
        If the precision is not reached, or by intervals that are not sound; ``best`` is the result,
        ``residual`` the precision that it has.

    Examples
    --------
    Processor sharing is insensitive: at load 1/2 a job lasts twice its size on average, whatever the law.

    >>> from fairness import DRF, Problem
    >>> from queueing.model.laws import Deterministic
    >>> system = System(Problem([[1]], [1]), arrival_rates=[0.5])
    >>> result = simulate_jobs(system, DRF(), sizes=Deterministic(), jobs=20_000, rng=1)
    >>> bool(abs(result.mean_durations[0] - 2) < 2 * result.half_widths["mean_durations"][0])
    True
    """
    if not isinstance(system, System):
        raise ModelError(f"system must be a System; got {system!r}")
    if not (trace is None or isinstance(trace, JobTrace)):
        raise ModelError(f"trace must be a JobTrace, such as read_trace(path, problem); got {trace!r}")
    if trace is None and isinstance(system.arrivals, JobTrace):
        trace = system.arrivals
    one_run = batches or trace is not None
    levels = check_levels(quantiles)
    RunLength(1, warmup, replications, confidence)
    count, end = check_length(jobs, horizon, trace)
    warm, phases = run_phases(count, end, warmup, replications if one_run else 1)
    most = replications
    if precision is not None:
        require_number("precision", precision, above=0, below=1, hint=", a relative half-width")
        if not isinstance(max_replications, numbers.Integral) or max_replications < replications:
            raise ModelError(
                f"max_replications must be an integer >= replications={replications}; "
                f"got {max_replications!r}"
            )
        most = replications if one_run else int(max_replications)
    size_laws: tuple[Law, ...] | None = None
    gaps: tuple[Law | None, ...] | None = None
    if trace is not None:
        system = traced_system(system, trace, sizes, arrivals, start)
        streams = Streams((), None)
        begin = given_start(np.zeros(system.n_classes, dtype=np.int64))
        memory = Memory.of(system, *trace.variation)
    else:
        fixed = None if start is None else given_start(check_start(system, start))
        size_laws, gaps = scaled_laws(system, sizes, arrivals)
        length = float(count) if count is not None else float(end or 0) * system.arrival_rates.sum()
        # A sequential run may stop after those it starts with.
        check_tails(system, size_laws, gaps, (1 - warmup) * length * (1 if one_run else replications))
        streams = spawn_streams(rng, 1 if one_run else most)
        begin = fixed or stationary_start(system)
        variation = (np.array([1.0 if law is None else law.scv for law in one]) for one in (size_laws, gaps))
        memory = Memory.of(system, *variation)
    if count is not None:
        require_memory(
            32.0 * count * (1 - warmup) * (replications if record else 1),
            f"measuring {count:,} jobs per replication",
            "give fewer jobs and more replications",
        )
    growing = GrowingTable(system, policy, table)

    def sample(generator: np.random.Generator | None) -> Sample:
        source: JobSource
        present: tuple[FloatArray, ...] = ()
        if trace is not None:
            source = TracedJobs(trace)
        else:
            assert gaps is not None
            assert size_laws is not None
            assert generator is not None
            source = DrawnJobs(gaps, size_laws, generator)
            # Spawned last: the jobs that arrive are the same from wherever the run begins.
            early = generator.spawn(1)[0]
            present = work_left(begin.draw(early), size_laws, early)
        outcome = run(source, growing, warm, phases, present)
        totals, ranked, parts = phase_totals(outcome), phase_quantiles(outcome, levels), phase_parts(outcome)
        return Sample(totals, ranked, parts, outcome if record else _without_log(outcome))

    def result(samples: Sequence[Sample]) -> JobSimulation:
        totals = np.concatenate([s.totals for s in samples])
        ranked = np.concatenate([s.ranked for s in samples])
        outcomes = [s.outcome for s in samples]
        _check_jobs(system, totals[:, :, JOBS])
        alone = system.most_tasks
        totals[:, :, SLOWDOWN] *= alone
        ranked[:, 1] *= alone
        by_name, little = estimates(totals, confidence)
        by_level = [quantile_estimates(ranked[:, k], levels, confidence) for k in range(2)]
        warm_time = sum(outcome.warm_time for outcome in outcomes)
        area: FloatArray = np.sum([outcome.warm_area for outcome in outcomes], axis=0)
        fewest = min(s.parts.shape[1] for s in samples)
        measured = Measured(
            np.concatenate([s.parts[:, :fewest] for s in samples]),
            by_name["mean_jobs"].value,
            area / warm_time if warm_time > 0 else np.full(system.n_classes, np.nan),
            begin.mean_jobs,
            float(np.mean([outcome.time for outcome in outcomes])),
            float(np.mean([outcome.warmup for outcome in outcomes])),
            "more jobs" if end is None else "a longer horizon",
            one_run,
        )
        warnings = run_warnings(memory, measured)
        if warnings:
            by_name, little = withheld(by_name), replace(little, sound=False)
            by_level = [withheld(estimates) for estimates in by_level]
        since = 0.0 if trace is None else float(trace.arrival_times[0])
        return JobSimulation(
            system,
            policy_name(policy),
            size_laws,
            gaps,
            by_name,
            by_level[0],
            by_level[1],
            little,
            alone,
            confidence,
            len(totals),
            totals[:, :, JOBS].sum(axis=0).astype(np.int64),
            sum(outcome.events for outcome in outcomes),
            float(sum(outcome.time.sum() for outcome in outcomes)),
            streams.entropy,
            tuple(int(k) for k in np.max([outcome.grid for outcome in outcomes], axis=0)),
            _recorded(system, outcomes, since) if record else None,
            warnings,
        )

    if trace is not None:
        best = result([sample(None)])
    elif one_run:
        best = result([sample(streams.generators[0])])
    else:
        done: list[Sample] = []
        target = replications
        while True:
            more = Streams(streams.generators[len(done) : target], streams.entropy)
            done += replicate(sample, more, n_jobs)
            best = result(done)
            # More replications of runs that are too short stay too short.
            if precision is None or best.warnings or best.precision <= precision or target == most:
                break
            # Half-widths fall as 1/sqrt(replications); at most doubled, as the first guess is rough.
            wanted = math.ceil(target * min(2.0, (best.precision / precision) ** 2))
            target = min(most, max(target + 1, wanted))
    # A NaN is not a precision reached.
    if precision is not None and not best.precision <= precision:
        remedy = "more jobs or a longer horizon" if one_run else "more jobs, or raise max_replications"
        reached = (
            f"no interval of the mean durations: {best.warnings[0]}"
            if best.warnings
            else f"relative half-width {best.precision:.3g} of the mean durations, more than the precision "
            f"{precision:g} asked for; give {remedy}"
        )
        raise NotConvergedError(
            f"after {best.jobs.sum():,} jobs: {reached}", best=best, residual=best.precision
        )
    return best


def _check_jobs(system: System, jobs: FloatArray) -> None:
    """Refuse samples, (n_samples, n_classes), that lack jobs of a class."""
    for i in np.flatnonzero((system.arrival_rates > 0) & (jobs == 0).any(axis=0)):
        raise ModelError(
            f"no job of class {system.problem.job_classes[i]!r} arrived in {(jobs[:, i] == 0).sum()} of the "
            f"{len(jobs)} replications or batches; give more jobs or a longer horizon"
        )


def _without_log(outcome: Outcome) -> Outcome:
    return replace(outcome, log=outcome.log[:0].copy())


def _recorded(system: System, outcomes: Sequence[Outcome], start: float) -> pd.DataFrame:
    """The measured jobs in the order of arrival, sample by sample."""
    names = np.array(system.problem.job_classes, dtype=object)
    phases = [np.repeat(np.arange(len(o.time)), np.diff(o.edges)) for o in outcomes]
    before = np.cumsum([0] + [len(o.time) for o in outcomes[:-1]])
    log = np.concatenate([outcome.log for outcome in outcomes])
    return pd.DataFrame(
        {
            "sample": np.concatenate([phase + k for phase, k in zip(phases, before, strict=True)]),
            "job_class": names[log[:, 0].astype(np.int64)],
            "arrival_time": log[:, 1] + start,
            "size": log[:, 2],
            "duration": log[:, 3] - log[:, 1],
        }
    )
