r"""Whether intervals from replications are sound: long enough, and free of the state in which they started.

A Student interval over replications claims that their means are independent, nearly normal and free of bias.
Three things break that, all of them near saturation: a replication shorter than the memory of the queues
(its mean is as skewed as the law of the queue itself), a start that has not been forgotten, and queues that
still grow. Rules with and without data look for them; a run that one of them catches gets a warning and an
infinite interval.

*Memory.* Let :math:`W_{ij} = \sigma_i a_{ij}/C_j` be the time for which a job of class i takes all of
resource j, and :math:`\varrho_j = \sum_i \lambda_i W_{ij}` its load. The work at resource j that is always
busy is the workload of a single queue: near saturation a Brownian motion with drift
:math:`-(1 - \varrho_j)` and variance :math:`s_j^2 = \sum_i \lambda_i W_{ij}^2 (c_i^2 + d_i^2)` per unit of
time (scv of sizes and of times between arrivals), reflected at 0. Its relaxation time is
:math:`2 s_j^2/(1 - \varrho_j)^2`, and that of the M/M/1 queue exactly [1]_

.. math:: \tau_j = \frac{s_j^2}{2 \varrho_j} \frac{1}{(1 - \sqrt{\varrho_j})^2},

which needs no data. A policy that leaves resources idle is slower than its loads say, and shows it by the
jobs that it keeps: the Brownian motion reaches a mean :math:`m_j` in stationarity only if its relaxation time
is :math:`8 m_j^2/s_j^2`, the time that it takes to diffuse that far. :math:`m_j` is estimated by
:math:`\sum_i (E[x_i] - \ell_i) W_{ij}`, with :math:`\ell_i` the jobs present if each were alone. The
*relaxation time* of a run, :math:`\tau`, is the largest of these and of the times that jobs take alone.

*Rules*, for R replications that measure T units of time each, after a warm-up of w:

1. **length**: :math:`T \ge` ``LENGTH`` times the relaxation time of the loads, ``SEEN`` times that of the
   jobs seen; batches of one run, whose neighbours are correlated, ``BATCH`` times both;
2. **start**: the bias left by the start, over the standard error,
   :math:`\delta\,\sqrt{R \tau/T}\, e^{-w/\tau}`, is at most ``BIAS``; :math:`\delta` is what the start is off
   the mean, at least ``APPROXIMATE``, and time is allowed to drain what is too much;
3. **trend**: the second halves of the replications do not differ from the first ones (paired Student test of
   level ``ALARM``);
4. **correlation**: the replications vary as little as parts of each of them allow: if a replication were
   worth fewer than ``WORTH`` independent parts, the part means would vary hardly more than the replications
   do (chi-square test of level ``ALARM``).

The jobs seen are those of the second half of the *warm-up* where the start was near the mean: a rule that
looks at the estimate itself lets short runs pass just when their estimate is too low, so that the intervals
that are shown cover less often than all of them. Where the start was far (empty, say), the larger of the
two counts; and in every case T is at least ``LEAST`` relaxation times of the jobs measured.

Rules 1 and 2 say no on principle, 3 and 4 only on evidence that an honest run shows once in a thousand times:
they find what the formulas cannot know, such as policies that are unstable below load 1. The coverage that is
left has been measured; ``python -m benchmarks.claims.intervals`` prints it.

References
----------
.. [1] J. W. Cohen, "The Single Server Queue", North-Holland, 1982, section III.
.. [2] W. Whitt, "Planning queueing simulations", Management Science 35(11), 1989.
   DOI 10.1287/mnsc.35.11.1341.
.. [3] L. W. Schruben, "Detecting initialization bias in simulation output", Operations Research 30(3), 1982.
   DOI 10.1287/opre.30.3.569.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from fairness.model.problem import FloatArray
from queueing.balanced.tail_bound import binding_resources
from queueing.model.system import System
from queueing.simulation.replications import student

__all__ = ["Measured", "Memory", "relaxations", "run_warnings"]

LENGTH = 20.0
"""Relaxation times by the loads that a replication must measure."""

SEEN = 10.0
"""Relaxation times by the jobs seen that a replication must measure."""

LEAST = 7.0
"""Relaxation times by the jobs measured, which may be too few, that a replication must measure."""

BATCH = 50.0
"""Relaxation times, of either kind, that a batch of one run must measure."""

BIAS = 0.3
"""Largest bias of the start over the standard error: an interval of 95 % then covers 94 %."""

APPROXIMATE = 0.5
"""Bias of a start from an approximate stationary law, over the mean, at least."""

CLOSE = 0.6
"""Distance of a start from the mean, over the mean, up to which the warm-up shows the jobs of the policy."""

WORTH = 4.0
"""Independent parts that a replication must be worth."""

ALARM = 1e-3
"""Probability that a sound run fails the tests of trend and correlation, each."""


@dataclass(frozen=True, eq=False)
class Memory:
    """How long the queues of a system remember.

    Attributes
    ----------
    work : ndarray of shape (n_classes, n_rows), time
        W: the time for which a job takes all of a resource; on a cluster one row for all servers.
    variance : ndarray of shape (n_rows,)
        Variance of the work that arrives per unit of time.
    loads : ndarray of shape (n_rows,)
    alone : ndarray of shape (n_classes,), jobs
        Mean jobs present if each were alone.
    shortest : float, time
        Relaxation time that the loads demand, whatever the policy; infinite from load 1 on.
    """

    work: FloatArray
    variance: FloatArray
    loads: FloatArray
    alone: FloatArray
    shortest: float

    @classmethod
    def of(
        cls,
        system: System,
        sizes: FloatArray | None = None,
        gaps: FloatArray | None = None,
        alone_times: FloatArray | None = None,
    ) -> Memory:
        """Memory of a system.

        Parameters
        ----------
        system : System
        sizes, gaps : ndarray of shape (n_classes,), optional
            Squared coefficients of variation of sizes and of independent times between arrivals, or the index
            of dispersion of the arrivals; 1 unless given.
        alone_times : ndarray of shape (n_classes,), time, optional
            Mean durations of jobs that are alone; from limits and capacities unless given.
        """
        problem, n, most = system.problem, system.n_classes, system.most_tasks
        own = np.ones(n) if sizes is None else sizes
        between = np.ones(n) if gaps is None else gaps
        if system.is_cluster:
            shares = np.maximum(system.load_evidence.prices, 1.0 / most)[:, None]
            loads = system.relative_loads
        else:
            shares = problem.task_shares[:, binding_resources(system.loads[:, None] * problem.task_shares)]
            # A class that can never run has no arrivals.
            shares = np.where(np.isfinite(shares), shares, 0.0)
            loads = system.loads @ shares
        work = system.mean_sizes[:, None] * shares
        variance = system.arrival_rates @ (work**2 * (own + between)[:, None])
        live = system.arrival_rates > 0
        if alone_times is None:
            alone = np.divide(system.mean_sizes, most, out=np.zeros(n), where=most > 0)
        else:
            alone = alone_times
        durations = (alone * np.maximum(1.0, (1.0 + own) / 2))[live]
        with np.errstate(divide="ignore", invalid="ignore"):
            queues = variance / (2 * loads) / (1 - np.sqrt(np.minimum(loads, 1.0))) ** 2
        queues = np.where(loads < 1, queues, np.inf)
        shortest = max(durations.max(initial=0.0), queues.max(initial=0.0))
        return cls(work, variance, loads, system.arrival_rates * alone, float(shortest))

    def diffusion(self, mean_jobs: FloatArray) -> float:
        """Relaxation time that mean jobs, (n_classes,), betray."""
        waiting = np.maximum(np.nan_to_num(mean_jobs) - self.alone, 0.0) @ self.work
        times = np.divide(8 * waiting**2, self.variance, out=np.zeros_like(waiting), where=self.variance > 0)
        return float(times.max(initial=0.0))

    def off(self, start: FloatArray, mean_jobs: FloatArray) -> tuple[float, float]:
        """How far a start is off the mean, over the mean, and the time that draining its excess takes."""
        there, mean = start @ self.work, np.nan_to_num(mean_jobs) @ self.work
        used = mean > 0
        apart = (np.abs(there - mean)[used] / mean[used]).max(initial=0.0)
        with np.errstate(divide="ignore"):
            drain = (np.maximum(there - mean, 0.0) / np.maximum(1 - self.loads, 0.0))[used]
        return float(apart), float(drain.max(initial=0.0)) if apart > 1 else 0.0


@dataclass(frozen=True, eq=False)
class Measured:
    """What the rules look at.

    Attributes
    ----------
    parts : ndarray of shape (replications, parts, n_classes)
        Means of the parts of each replication or batch.
    mean_jobs : ndarray of shape (n_classes,)
        Of the measured time.
    warm_jobs : ndarray of shape (n_classes,)
        Mean jobs in the second half of the warm-up; NaN without one.
    start : ndarray of shape (n_classes,)
        Mean jobs present at time 0, of the law from which the starts are drawn.
    time : float
        Mean length of a replication or batch.
    warmup : float
        Time left out before it.
    length : str
        What makes the run longer, such as "more jobs", for the remedy.
    batches : bool
        Whether the samples are consecutive parts of one run.
    """

    parts: FloatArray
    mean_jobs: FloatArray
    warm_jobs: FloatArray
    start: FloatArray
    time: float
    warmup: float
    length: str = "more events"
    batches: bool = False

    @classmethod
    def of_runs(cls, parts: FloatArray, mean_jobs: FloatArray, start: FloatArray) -> Measured:
        """From time integrals of jobs and time, (replications, 2 + parts, n_classes + 1).

        The first two parts are the halves of the warm-up.
        """
        warm = parts[:, 1].sum(axis=0)
        return cls(
            parts[:, 2:, :-1] / parts[:, 2:, -1:],
            mean_jobs,
            warm[:-1] / warm[-1] if warm[-1] > 0 else np.full(len(mean_jobs), np.nan),
            start,
            float(parts[:, 2:, -1].sum(axis=1).mean()),
            float(parts[:, :2, -1].sum(axis=1).mean()),
        )


def relaxations(memory: Memory, run: Measured) -> float:
    """Relaxation times that all samples measure together: as many values are worth independent ones."""
    if math.isinf(memory.shortest):
        return 0.0
    return len(run.parts) * run.time / max(memory.shortest, _seen(memory, run))


def _seen(memory: Memory, run: Measured) -> float:
    """Relaxation time by the jobs seen."""
    apart, _ = memory.off(run.start, run.mean_jobs)
    seen = memory.diffusion(run.warm_jobs)
    if run.batches or apart > CLOSE or np.isnan(run.warm_jobs).all():
        return max(seen, memory.diffusion(run.mean_jobs))
    return seen


def run_warnings(memory: Memory, run: Measured) -> tuple[str, ...]:
    """Why the intervals of a run are not to be trusted; empty if no rule is broken."""
    if math.isinf(memory.shortest):
        return (
            "the load is 1 or more: the jobs have no stationary law, and there is no interval for its mean",
        )
    found = []
    apart, drain = memory.off(run.start, run.mean_jobs)
    measured, seen = memory.diffusion(run.mean_jobs), _seen(memory, run)
    by_load, by_jobs = (BATCH, BATCH) if run.batches else (LENGTH, SEEN)
    need = max(by_load * memory.shortest, by_jobs * seen, LEAST * measured)
    if run.time < need:
        what = "batch" if run.batches else "replication"
        found.append(
            f"too short: a {what} measures {run.time:.3g} units of time, but at this load the jobs present "
            f"forget so slowly that an interval takes about {need:.3g}; give {run.length}, "
            f"{math.ceil(1.1 * need / run.time)} times as much"
        )
    relaxation = max(memory.shortest, seen)
    count = len(run.parts)
    independent, total = (1, count * run.time) if run.batches else (count, run.time)
    left = max(apart, APPROXIMATE) * math.sqrt(independent * relaxation / total)
    bias = left * math.exp(-max(run.warmup - drain, 0.0) / relaxation)
    if bias > BIAS and not found:
        wait = drain + relaxation * math.log(left / BIAS)
        found.append(
            f"the start is not forgotten: after a warm-up of {run.warmup:.3g} units of time it leaves a bias "
            f"of about {bias:.2g} standard errors, and {wait:.3g} are needed; raise warmup, or give "
            f"{run.length}"
        )
    return (*found, *_tested(run.parts, run.batches, run.length))


def _tested(parts: FloatArray, batches: bool, length: str) -> list[str]:
    """Rules 3 and 4."""
    values = parts[..., np.isfinite(parts).reshape(-1, parts.shape[-1]).all(axis=0)]
    values = values[..., np.ptp(values.reshape(-1, values.shape[-1]), axis=0) > 0]
    count, pieces, n = values.shape
    if not n or pieces < 2:
        return []
    found = []
    level = ALARM / n
    if batches:
        half = count // 2
        samples = values.mean(axis=1)
        early, late = samples[:half], samples[-half:]
        degrees = 2 * half - 2
        spread = np.sqrt((early.var(axis=0, ddof=1) + late.var(axis=0, ddof=1)) / half) if degrees else 0.0
        apart = late.mean(axis=0) - early.mean(axis=0)
    else:
        half = pieces // 2
        change = values[:, half:].mean(axis=1) - values[:, :half].mean(axis=1)
        degrees = count - 1
        spread = change.std(axis=0, ddof=1) / math.sqrt(count)
        apart = change.mean(axis=0)
    if degrees and (np.abs(apart) > student(level, degrees) * spread).any():
        found.append(
            "the jobs present still change from the first to the second half, so the start is not forgotten "
            f"or the policy is unstable at this load; give {length}"
        )
    single = values.reshape(-1, n).var(axis=0, ddof=1)
    whole = values.mean(axis=1).var(axis=0, ddof=1)
    worth = np.divide(single, whole, out=np.full(n, np.inf), where=whole > 0)
    excess = special.chdtri(count - 1, level) / (count - 1)
    if (worth * excess < WORTH).any():
        found.append(
            f"the parts of a {'batch' if batches else 'replication'} are correlated: it is worth "
            f"{worth.min():.2g} independent values only; give {length}"
        )
    return found
