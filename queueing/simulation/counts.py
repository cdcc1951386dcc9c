r"""Job-level simulation: the Markov chain of job counts, event by event.

With Poisson arrivals, exponential sizes and :math:`\varphi_i(x)` tasks of class :math:`i` running in state
:math:`x`, the jobs present form a Markov chain that leaves :math:`x` at rate

.. math:: q(x) = \sum_i \lambda_i + \sum_i \varphi_i(x)/\sigma_i,

to :math:`x + e_i` with probability :math:`\lambda_i/q(x)` and to :math:`x - e_i` with probability
:math:`\varphi_i(x)/(\sigma_i q(x))`. Only these jumps are drawn, one uniform number each; a visit to
:math:`x` counts with its *expected* holding time :math:`1/q(x)` instead of an exponential draw
(discrete-time conversion [1]_): same limit, never a larger asymptotic variance, and faster. So

.. math:: E[x_i] = \frac{\sum_{\text{visits}} x_i/q(x)}{\sum_{\text{visits}} 1/q(x)}

and Little's law gives the mean durations :math:`E[x_i]/\lambda_i` and the mean service rates
:math:`\rho_i/E[x_i]`. The interval of a service rate comes from the ratio of totals (delta method), so
that the three estimates obey Little's law exactly.

The policy is read from a table on a grid of job counts. When the walk leaves the grid, it stops, the table is
doubled along that axis and the walk goes on from the same state with the same generator: the state space
is never truncated, and the result does not depend on the size of the first table.

References
----------
.. [1] A. Hordijk, D. L. Iglehart and R. Schassberger, "Discrete time methods for simulating continuous time
   Markov chains", Adv. Appl. Probab. 8(4), 1976. DOI 10.2307/1425933.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairness.arguments.validation import Entropy, Seed
from fairness.display.drawing import bars
from fairness.display.result import Result
from fairness.errors import ModelError
from fairness.machine.compiling import stored
from fairness.machine.work import OutOfTime, ProgressOption, Task, stopped, watching
from fairness.model.problem import FloatArray
from fairness.protocol.cluster_policy import ClusterPolicy
from fairness.protocol.policy import Policy, policy_name
from queueing.model.system import System
from queueing.simulation.replications import (
    Estimate,
    EstimatedMeans,
    RunLength,
    estimate_ratio,
    estimates_lines,
    replicate,
    spawn_streams,
    warning_lines,
    withheld,
)
from queueing.simulation.soundness import Measured, Memory, run_warnings
from queueing.simulation.starts import Start, check_start, given_start, stationary_start
from queueing.states.growing_table import GrowingTable, kernel_table
from queueing.states.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Simulation", "simulate"]

Run = tuple[FloatArray, NDArray[np.int64]]
"""What :func:`_replication` gives."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(EstimatedMeans, Result):
    """Estimates from independent replications of the chain of job counts; made by :func:`simulate`.

    Attributes
    ----------
    system : System
    policy : str
        Name of the policy.
    estimates : dict of str to Estimate
        "mean_jobs", "mean_durations" and "service_rates", each of shape (n_classes,) with half-widths and
        the values of the replications; NaN for classes without arrivals.
    confidence : float
        Level of the intervals.
    replications : int
    events : int
        Events measured, all replications together, warm-up left out.
    time : float
        Time simulated in these events (expected holding times).
    entropy : int, list of int or str
        The seed: ``rng=entropy`` repeats the run; "a generator" where no seed does.
    table_shape : tuple of int
        Grid of job counts that the walks needed in the end.
    warnings : tuple of str
        Why the run is too short for intervals (:mod:`queueing.simulation.soundness`): half-widths are
        infinite then.
    """

    system: System
    policy: str
    estimates: dict[str, Estimate]
    confidence: float
    replications: int
    events: int
    time: float
    entropy: Entropy | None
    table_shape: tuple[int, ...]
    warnings: tuple[str, ...]

    def summary(self) -> str:
        """Estimates with their intervals, and the effort behind them."""
        lines = [
            f"{self.policy}, simulated: {self.replications} replications, {self.events:,} events in "
            f"{self.time:.4g} units of time, {self.confidence:.0%} intervals",
            *estimates_lines(self.estimates, self.system.problem.job_classes),
            *warning_lines(self.warnings),
        ]
        return "\n".join(lines)

    @property
    def _tabulated(self) -> int:
        return len(self.summary().splitlines())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars: mean jobs of each class with their intervals."""
        jobs = self.estimates["mean_jobs"]
        title = f"{self.policy}, simulated"
        names, error = self.system.problem.job_classes, jobs.half_width
        return bars(ax, names, jobs.value, error=error, ylabel="mean jobs", title=title)


def simulate(
    system: System,
    policy: Policy | ClusterPolicy,
    *,
    events: int = 1_000_000,
    warmup: float = 0.1,
    replications: int = 10,
    confidence: float = 0.95,
    rng: Seed = None,
    n_jobs: int = 1,
    table: Table | None = None,
    start: ArrayLike | None = None,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Simulation:
    """Simulate the jobs present under a policy, and estimate means with confidence intervals.

    Parameters
    ----------
    system : System
        Sizes are taken as exponential with the given means.
    policy : callable
        ``policy(problem, counts) -> tasks``, for a cluster ``policy(cluster, counts) -> placement``.
    events : int
        Arrivals and departures per replication, warm-up included.
    warmup : float
        Part of the events, in [0, 1), left out at the beginning of each replication.
    replications : int
        Independent replications, >= 2.
    confidence : float
        Level of the intervals (Student's law over the replications).
    rng : numpy Generator or seed
        Each replication draws from its own generator, spawned from this one.
    n_jobs : int
        Replications run at the same time (joblib; threads unless ``joblib.parallel_config`` says otherwise).
        The result does not depend on it.
    table : Table, optional
        Tasks already computed for the same problem and policy. The table grows when needed; its first size
        does not change the result.
    start : array_like of shape (n_classes,), jobs, optional
        State in which every replication starts. Default: each draws its own from an approximate stationary
        law, balanced fairness where that is cheap (:mod:`queueing.simulation.starts`), the same under every
        policy.
    progress : callable or bool, optional
        Called with a :class:`fairness.machine.work.Progress` now and then. Default: a bar for work of more
        than seconds, where standard error is a terminal; False: none.
    time_limit : float, optional
        Seconds after which the simulation stops, at the end of a replication or while its table grows.

    Returns
    -------
    Simulation
        If the run is too short for the load, its ``warnings`` say so and its intervals are infinite.

    Raises
    ------
    ModelError
        If an argument is out of range, no job ever arrives, no job of a class is present while measured, or
        the table outgrows the memory (the policy is then probably unstable at this load: being below capacity
        is enough only for some policies; or there are too many classes for a table).
    NotConvergedError
        If the time is over. ``best`` is the Simulation of the first replications if two or more are finished
        (in processes of their own they are not kept); a KeyboardInterrupt has it, too.
    UnstableError
        If a resource is offered more than it can carry.

    Examples
    --------
    The M/M/1 queue at load 1/2 holds one job on average.

    >>> from fairness import DRF, Problem
    >>> system = System(Problem([[1]], [1]), arrival_rates=[0.5])
    >>> result = simulate(system, DRF(), events=100_000, rng=1)
    >>> bool(abs(result.mean_jobs[0] - 1) < 2 * result.half_widths["mean_jobs"][0])
    True
    """
    length = RunLength(events, warmup, replications, confidence)
    fixed = None if start is None else given_start(check_start(system, start))
    if not system.arrival_rates.any():
        raise ModelError("arrival_rates are all 0: there is nothing to simulate; set one above 0")
    system.require_poisson("the simulation of counts")
    system.require_exponential("the simulation of counts")
    system.require_stable()
    streams = spawn_streams(rng, replications)
    begin = fixed or stationary_start(system)

    def replication(generator: np.random.Generator) -> Run:
        # The start has a stream of its own: the walk is the same from wherever it begins.
        return _replication(system, growing, length, begin.draw(generator.spawn(1)[0]), generator)

    finished: dict[int, Run] = {}

    def keep(number: int, run: Run) -> None:
        finished[number] = run
        work.advance()

    def result(runs: Sequence[Run]) -> Simulation:
        return _estimated(system, policy, length, begin, runs, streams.entropy)

    try:
        with watching(progress, time_limit), Task("the simulation", replications, "replications") as work:
            growing = GrowingTable(system, policy, table, float(events) * replications)
            runs = replicate(replication, streams, n_jobs, keep)
    except (OutOfTime, KeyboardInterrupt) as stop:
        # The first ones in the order of the streams: which finishes next may depend on what it meets.
        first = [finished[k] for k in takewhile(finished.__contains__, range(replications))]
        if len(first) == replications and isinstance(stop, OutOfTime):
            return result(first)
        known, best = f"not all of {replications} replications are finished", None
        if len(first) >= 2:
            with suppress(ModelError):  # some class was never present
                best = result(first)
                known = f"the first {len(first)} of {replications} replications are finished"
        raise stopped(stop, known, best) from None
    return result(runs)


def _estimated(
    system: System,
    policy: Policy | ClusterPolicy,
    length: RunLength,
    begin: Start,
    runs: Sequence[Run],
    entropy: Entropy | None,
) -> Simulation:
    """What finished replications estimate."""
    confidence, replications = length.confidence, len(runs)
    parts = np.stack([run for run, _ in runs])
    totals = parts[:, 2:].sum(axis=1)
    grid = np.max([shape for _, shape in runs], axis=0)
    area, time = totals[:, :-1], totals[:, -1:]
    for i in np.flatnonzero((system.arrival_rates > 0) & ~area.any(axis=0)):
        raise ModelError(
            f"no job of class {system.problem.job_classes[i]!r} was present during the measured events; "
            "give more events"
        )
    live = np.where(system.arrival_rates > 0, 1.0, np.nan)
    rates, loads = system.arrival_rates * live, system.loads * live
    estimates = {
        "mean_jobs": estimate_ratio(area, time, confidence),
        "mean_durations": estimate_ratio(area, rates * time, confidence),
        "service_rates": estimate_ratio(loads * time, area, confidence),
    }
    warm = parts[:, 1].sum(axis=0)
    measured = Measured(
        parts[:, 2:, :-1] / parts[:, 2:, -1:],
        estimates["mean_jobs"].value,
        warm[:-1] / warm[-1] if warm[-1] > 0 else np.full(system.n_classes, np.nan),
        begin.mean_jobs,
        float(time.mean()),
        float(parts[:, :2, -1].sum(axis=1).mean()),
        "more events",
    )
    warnings = run_warnings(Memory.of(system), measured)
    return Simulation(
        system,
        policy_name(policy),
        withheld(estimates) if warnings else estimates,
        confidence,
        replications,
        replications * length.measured_events,
        float(time.sum()),
        entropy,
        tuple(int(k) for k in grid),
        warnings,
    )


def _replication(
    system: System,
    table: GrowingTable,
    length: RunLength,
    start: NDArray[np.int64],
    generator: np.random.Generator,
) -> Run:
    """Integrals of the job counts and the time, and the grid that one replication read.

    The integrals have shape (2 + n_parts, n_classes + 1): halves of the warm-up, then the measured parts.
    """
    counts = start
    totals = np.zeros((2 + length.parts, system.n_classes + 1))
    completion_rates = 1.0 / system.mean_sizes
    for total, budget in zip(totals, length.pieces, strict=True):
        while budget > 0:
            tasks, shape = kernel_table(table.covering(counts))
            budget -= walk(
                tasks, shape, system.arrival_rates, completion_rates, counts, total, generator, budget
            )
    return totals, shape


@stored(nogil=True)
def walk(
    tasks: FloatArray,
    shape: NDArray[np.int64],
    arrival_rates: FloatArray,
    completion_rates: FloatArray,
    counts: NDArray[np.int64],
    totals: FloatArray,
    generator: np.random.Generator,
    events: int,
) -> int:
    """Walk from ``counts`` for at most ``events`` jumps, or until the table is left; jumps made.

    ``tasks`` (n_states, n_classes) is the table in C order; ``counts`` moves along; ``totals``
    (n_classes + 1,) collects x_i/q(x) and 1/q(x).
    """
    n = counts.size
    stride = np.ones(n, dtype=np.int64)
    for i in range(n - 2, -1, -1):
        stride[i] = stride[i + 1] * shape[i + 1]
    state = 0
    arrivals = 0.0
    for i in range(n):
        state += counts[i] * stride[i]
        arrivals += arrival_rates[i]
    # Continue the sum where it stopped: the result must not show where a table was left.
    time = totals[n]
    for event in range(events):
        rate = arrivals
        for i in range(n):
            rate += tasks[state, i] * completion_rates[i]
        holding = 1.0 / rate
        time += holding
        for i in range(n):
            totals[i] += counts[i] * holding
        point = generator.random() * rate
        # Rounding may carry the point past the last interval: the last class with a positive rate gets it.
        chosen = -1
        if point < arrivals:
            for i in range(n):
                if arrival_rates[i] > 0:
                    chosen = i
                    if point < arrival_rates[i]:
                        break
                    point -= arrival_rates[i]
            counts[chosen] += 1
            state += stride[chosen]
            if counts[chosen] == shape[chosen]:
                totals[n] = time
                return event + 1
        else:
            point -= arrivals
            for i in range(n):
                departures = tasks[state, i] * completion_rates[i]
                if departures > 0:
                    chosen = i
                    if point < departures:
                        break
                    point -= departures
            counts[chosen] -= 1
            state -= stride[chosen]
    totals[n] = time
    return events
