r"""Simulation of a system under a policy: of the counts of jobs, of the jobs, or of their tasks.

Three levels tell more and cost more, in this order:

* **counts** (:mod:`queueing.simulation.counts`): the Markov chain of the jobs present, for Poisson arrivals
  and exponential sizes; means only, durations by Little's law;
* **jobs** (:mod:`queueing.simulation.jobs`): every job with its remaining work, any law of sizes and
  arrivals, or recorded jobs; durations and slowdowns with quantiles;
* **tasks** (:mod:`queueing.simulation.tasks`): whole tasks that a scheduler starts one by one, on a pool or
  on servers.

All start near stationarity but the tasks and recorded jobs, which start empty; all tell by the same rules
(:mod:`queueing.simulation.run_length_checks`) whether a run is long enough for its intervals.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from numpy.typing import ArrayLike

from fairness.arguments.validation import Seed, require_choice
from fairness.errors import ModelError
from fairness.machine.work import ProgressOption
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.fluid.stability import require_stable
from queueing.model.job_trace import JobTrace
from queueing.model.system import System
from queueing.simulation.counts import CountLevel
from queueing.simulation.jobs.sampling import JobLevel
from queueing.simulation.jobs.shortest_first import SRPT
from queueing.simulation.replications import RunLength
from queueing.simulation.results import Simulation
from queueing.simulation.sampling import Effort, Level, estimated
from queueing.simulation.tasks.options import Tasks
from queueing.simulation.tasks.sampling import TaskLevel
from queueing.simulation.tasks.schedulers import Scheduler, is_scheduler, order_scheduler
from queueing.states.table import Table
from queueing.waiting.saturation import require_carried
from queueing.waiting.whole_jobs import Order, waits

__all__ = ["simulate"]

_log = logging.getLogger(__name__)

LEVELS: dict[str, Any] = {level.kind: level for level in (CountLevel, JobLevel, TaskLevel)}
"""What makes a system ready: of (system, policy, length, options of the level)."""

KNOWN: dict[str, tuple[str, ...]] = {}
for _name, _level in LEVELS.items():
    for _option in fields(_level.options):
        KNOWN[_option.name] = (*KNOWN.get(_option.name, ()), _name)
"""Levels that know an option; those not named here are known to all."""


def simulate(
    system: System,
    policy: AnyPolicy | Scheduler | Order | SRPT,
    *,
    level: str | None = None,
    events: int | None = None,
    jobs: int | None = None,
    horizon: float | None = None,
    warmup: float = 0.1,
    replications: int = 10,
    batches: bool = False,
    precision: float | None = None,
    max_replications: int = 200,
    confidence: float = 0.95,
    quantiles: Sequence[float] | None = None,
    rng: Seed = None,
    n_jobs: int = 1,
    start: ArrayLike | None = None,
    table: Table | None = None,
    tasks: Tasks | None = None,
    record: bool = False,
    order: str | Sequence[str] | None = None,
    progress: ProgressOption = None,
    time_limit: float | None = None,
) -> Simulation:
    """Simulate a system under a policy, and estimate means with confidence intervals.

    Parameters
    ----------
    system : System
        Of laws, or of recorded jobs (``System.from_trace``): these are served as they are, from an empty
        system, and the intervals come from batches.
    policy : callable or Scheduler
        ``policy(problem, counts) -> tasks``, for a cluster ``policy(cluster, counts) -> placement``, whose
        tasks of a class are shared equally by its jobs; or ``DRFScheduler()``, ``BMFScheduler()``,
        ``PFScheduler()``, ``FIFOScheduler()``, ``TargetScheduler(policy)`` or an :class:`OwnScheduler`
        written in Python, which start whole tasks; or an order of whole
        jobs that run to their end, such as ``FCFS()``, ``EASY(estimates)``, ``Priorities(preemptive=False)``
        or an :class:`queueing.Order` of your own, under which a job is one such task; or ``SRPT()``, an order
        of all jobs by what is left of them.
    level : {"counts", "jobs", "tasks"}, optional
        What is simulated. Default: tasks under a scheduler; jobs if sizes are not exponential, arrivals not
        Poisson, or an option is given that only this level knows; else counts.
    events : int, optional
        Of counts and tasks: arrivals, departures and completions of tasks per replication, warm-up included.
        Default: 1,000,000.
    jobs : int, optional
        Of jobs: arrivals per replication, all classes together, warm-up included. Default: 100,000; or those
        recorded.
    horizon : float, time, optional
        Of jobs: length of a replication, instead of ``jobs``.
    warmup : float
        Part of the events, jobs or horizon, in [0, 1), left out at the beginning of each replication.
    replications : int
        Independent replications, or batches of one run, >= 2; with ``precision`` those to start with.
    batches : bool
        Of jobs: one long run cut into batches, instead of independent replications.
    precision : float, optional
        Relative half-width wanted for every mean duration, in (0, 1): replications are added until it is
        reached (:mod:`queueing.simulation.sampling`).
    max_replications : int
        Most replications with ``precision``.
    confidence : float
        Level of the intervals (:mod:`queueing.simulation.replications`).
    quantiles : sequence of float, optional
        Of jobs: levels in (0, 1) of the quantiles of durations and slowdowns. Default: 0.5, 0.9, 0.99.
    rng : numpy Generator or seed
        Each replication has its own streams, spawned from this one. The same seed gives all policies the same
        jobs, all schedulers the same jobs and tasks (common random numbers).
    n_jobs : int
        Replications run at the same time (joblib; threads unless ``joblib.parallel_config`` says otherwise).
        The result does not depend on it.
    start : array_like of shape (n_classes,), jobs, optional
        Of counts and jobs: the state in which every replication starts; what is left of the sizes of its jobs
        is drawn, as that of jobs met at a random time. Default: each draws its own from an approximate
        stationary law, balanced fairness where that is cheap (:mod:`queueing.simulation.starts`), the same
        under every policy.
    table : Table, optional
        Of counts and jobs: tasks already computed for the same problem and policy. The table grows when
        needed; its first size does not change the result. Default: a small table that grows, or, where it
        would become large, none: the policy is then asked about each state that a run visits, so the number
        of classes is not limited.
    tasks : Tasks, optional
        Of tasks: their number per job and their times, where they run. Default: ``Tasks()``.
    record : bool
        Of jobs: keep the measured jobs.
    order : {"ps", "fcfs", "sjf", "psjf", "srpt", "las"} or one of them per class, optional
        Of jobs: in which order the jobs of a class are served, of what the policy gives the class
        (:mod:`queueing.simulation.jobs.queues`): equally, first come first served, smallest size first
        without and with preemption, least left first, least attained first. Default: "ps", equally; "fcfs"
        under ``MaxWeight()`` and ``Priorities()``, whose jobs run whole, one task each.
    progress : callable or bool, optional
        Called with a :class:`fairness.machine.work.Progress` now and then. Default: a bar for work of more
        than seconds, where standard error is a terminal; False: none.
    time_limit : float, optional
        Seconds after which the simulation stops, at the end of a replication or while its table grows.

    Returns
    -------
    Simulation
        Of jobs a JobSimulation, of tasks a TaskSimulation. If the run is too short for the load, its
        ``warnings`` say so and its intervals are infinite; ``gaps`` name single estimates that have none.

    Raises
    ------
    ModelError
        If an argument is out of range or unknown to the level; no job of a class is met while measured; the
        table outgrows the memory (the policy is then probably unstable at this load: being below capacity is
        enough only for some policies); of jobs, if more than a tenth of the work of a class is in jobs so
        large that the run is unlikely to meet one (or of its time in gaps between arrivals so long); of
        tasks, if a task never fits, or the scheduler is not defined for servers or task types (BMF; targets
        for several types or bound jobs).
    NotConvergedError
        If the time is over, or the precision is not reached, or by intervals that are not sound; ``best`` is
        the result so far if the first two or more replications are finished, ``residual`` the precision that
        it has. A KeyboardInterrupt has ``best``, too, and so has the BackendError, a NotConvergedError, that
        comes if workers die.
    UnstableError
        If a resource is offered more than it can carry (not of a trace), jobs grow for ever under the policy
        (:mod:`queueing.fluid.stability`), measured jobs never leave, or more than ``Tasks.max_jobs`` jobs
        pile up.

    Examples
    --------
    The M/M/1 queue at load 1/2 holds one job on average.

    >>> from fairness import DRF, Problem
    >>> one = Problem([[1]], [1])
    >>> result = simulate(System(one, [0.5]), DRF(), events=100_000, rng=1)
    >>> bool(abs(result.mean_jobs[0] - 1) < 2 * result.half_widths["mean_jobs"][0])
    True

    Processor sharing is insensitive: at load 1/2 a job lasts twice its size on average, whatever the law.

    >>> from queueing.model.laws import Deterministic
    >>> result = simulate(System(one, [0.5], sizes=Deterministic()), DRF(), jobs=20_000, rng=1)
    >>> bool(abs(result.mean_durations[0] - 2) < 2 * result.half_widths["mean_durations"][0])
    True

    Whole tasks of 4 cores and 1 GB, or 1 core and 4 GB: on one pool, and on two servers of half its size,
    where fewer combinations fit.

    >>> from fairness import Cluster
    >>> from queueing import DRFScheduler, WorstFit
    >>> pool = Problem([[4, 1], [1, 4]], [16, 16], resources=["cores", "GB"])
    >>> system = System.with_load(pool, mix=[1, 1], load=0.5)
    >>> result = simulate(system, DRFScheduler(), events=100_000, rng=1)
    >>> result.utilization.round(1)
    array([0.5, 0.5])
    >>> halves = Cluster([[4, 1], [1, 4]], [[8, 8], [8, 8]], resources=["cores", "GB"])
    >>> system = System.with_load(halves, mix=[1, 1], load=0.5)
    >>> split = simulate(system, DRFScheduler(), tasks=Tasks(placement=WorstFit()), events=100_000, rng=1)
    >>> split.servers.utilization.value.round(1)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> bool(split.mean_durations[0] > result.mean_durations[0])
    True
    """
    if not isinstance(system, System):
        raise ModelError.of("system", f"must be a System; got {system!r}")
    if isinstance(policy, Order) and waits(system, policy):
        if tasks is not None:
            raise ModelError.of("tasks", "is not for whole jobs in order: a job is one task; leave it out")
        if level not in (None, "tasks"):
            raise ModelError.of(
                "level", f"of whole jobs in order is 'tasks'; got {level!r:.80}; leave it out"
            )
        policy, tasks = order_scheduler(policy, system.problem), Tasks(per_job=1)
    if isinstance(policy, SRPT):
        for name, unfit in (("order", order), ("table", table)):
            if unfit is not None:
                raise ModelError.of(name, "is not for an order of all jobs: leave it out")
        if level not in (None, "jobs"):
            raise ModelError.of(
                "level", f"of an order of all jobs is 'jobs'; got {level!r:.80}; leave it out"
            )
        level = "jobs"
    options = {
        "events": events,
        "jobs": jobs,
        "horizon": horizon,
        "batches": batches or None,
        "quantiles": quantiles,
        "record": record or None,
        "start": start,
        "table": table,
        "order": order,
        "tasks": tasks,
    }
    given = {name: value for name, value in options.items() if value is not None}
    chosen, why = _chosen(system, policy, level, given)
    _log.info("simulation of %s, %s", chosen, why)
    for name in given:
        if chosen not in KNOWN[name]:
            raise ModelError(
                f"{name} is for a simulation of {' or '.join(KNOWN[name])}; this one is of {chosen}, {why}: "
                f"leave {name} out{_otherwise(name)}"
            )
    own = LEVELS[chosen].options(**given)
    length = RunLength(getattr(own, "events", 1), warmup, replications, confidence)
    effort = Effort(replications, precision, max_replications, rng, n_jobs, progress, time_limit)

    def make() -> Level[Any]:
        rule: Any = policy  # each level refuses what is none of its own
        if chosen != "tasks" and not isinstance(system.arrivals, JobTrace) and not isinstance(policy, SRPT):
            require_carried(system, rule)
            require_stable(system, rule)
        made: Level[Any] = LEVELS[chosen](system, rule, length, own)
        return made

    return estimated(make, effort)


def _chosen(system: System, policy: object, level: str | None, given: Iterable[str]) -> tuple[str, str]:
    """The level, and why it is this one."""
    if level is not None:
        require_choice("level", level, LEVELS)
        return level, "by its level"
    if is_scheduler(policy):
        return "tasks", "because the policy is a scheduler"
    if isinstance(system.arrivals, JobTrace):
        return "jobs", "because they are recorded"
    if not system.is_memoryless(present=float("start" in given)):
        return "jobs", "because sizes are not exponential"
    if not system.is_poisson:
        return "jobs", "because arrivals are not Poisson"
    for name in given:
        if KNOWN[name] == ("jobs",):
            return "jobs", f"because {name} is given"
    return "counts", "for which sizes and arrivals allow"


def _otherwise(name: str) -> str:
    """What else than leaving an option out."""
    if KNOWN[name] == ("tasks",):
        return ", or take a scheduler such as TargetScheduler(policy)"
    if name == "events":
        return ", or give jobs or horizon"
    return ""
