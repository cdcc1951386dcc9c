r"""Does the number of jobs settle or grow? Stated tests on the random system itself.

*Chain.* The stationary law is solved on a box of side K and on one of side 2K, and the parts of the jobs that
the two turn away are compared. If the system is stable, that part falls exponentially with the side (ratio
0); if not, it tends to a constant (ratio 1); at the critical load it is of order 1/K (ratio 1/2: for one
queue, about (K + 1)/(2K + 1)). Ratios up to 0.4 are read as "settles", from 0.6 on as "grows", others as
"open". No chance is involved, but the limits hold for large K: for one queue and K = 64 the test is open at
loads from 0.994 to 1.006 of the boundary, for K = 12 from 0.965 to 1.04.

*Simulation.* Replications of T and, independently, of 4T events, both from the empty system. The mean number
of jobs settles (ratio 1), or grows in proportion to time (ratio 4); at the critical load it grows like the
square root (ratio 2). With D the difference between the mean of a long run and twice that of a short one, a
Student interval for E[D] below 0 is read as "settles", above 0 as "grows", otherwise the test is "open".
Where E[D] < 0 it says "grows" with probability at most (1 - confidence)/2, where E[D] > 0 "settles"; that
E[D] changes its sign at the critical load holds for long runs only. For schedulers of whole tasks, which have
no fluid limit, this test decides stability, up to three times per step of a bisection: evidence, not proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairness.arguments.validation import Entropy, Seed, entropy_of, generator
from fairness.display.wording import percent
from fairness.errors import ModelError, UnstableError
from fairness.protocol.cluster_policy import AnyPolicy
from queueing.chain.boxes import CountBoxes
from queueing.chain.solvers.choose_solver import Automatic
from queueing.model.system import System
from queueing.simulation.counts import CountLevel, CountOptions
from queueing.simulation.replications import RunLength, student
from queueing.simulation.sampling import Effort, estimated
from queueing.simulation.simulate import simulate
from queueing.simulation.tasks.options import Tasks
from queueing.simulation.tasks.schedulers import Scheduler, is_scheduler

__all__ = ["TASKS", "GrowthTest", "chain_test", "simulation_test"]

SIDES = {1: 256, 2: 64, 3: 12}
"""Side of the smaller box by the number of classes with arrivals."""

EVENTS = 20_000
"""Events of the shorter runs under a policy."""

JOBS, GENERATIONS = 2000, 10
"""Jobs of the shorter runs of a scheduler: so many, and times those present if tasks run one by one."""

TASKS = Tasks(per_job=10)
"""How jobs of a scheduler are cut unless told otherwise: finely, and so that there are many jobs."""

WARMUP = 0.1
"""Part of a run that is not measured."""

SETTLES, GROWS = 0.4, 0.6
"""Ratios of the parts that two boxes turn away."""


@dataclass(frozen=True)
class GrowthTest:
    """What a test said at one load.

    Attributes
    ----------
    method : {"chain", "simulation", "load"}
    relative_load : float
    says : {"settles", "grows", "open"}
    evidence : str
    entropy : int, list of int or str, or None
        The seed: ``rng=entropy`` repeats the test; "a generator" where no seed does, None where no run was
        needed.
    """

    method: str
    relative_load: float
    says: str
    evidence: str
    entropy: Entropy | None = None


def chain_test(system: System, policy: AnyPolicy) -> GrowthTest:
    """Compare what two boxes turn away; one to three classes with arrivals."""
    load = float(system.relative_loads.max())
    if load >= 1:
        return _overloaded(load)
    live = system.arrival_rates > 0
    if live.sum() not in SIDES:
        raise ModelError(
            f"confirm='chain' needs at most {max(SIDES)} classes with arrivals, but {live.sum()} have some; "
            "take confirm='simulation'"
        )
    side = SIDES[int(live.sum())]
    parts = system.arrival_rates / system.arrival_rates.sum()
    boxes = [tuple(np.where(live, k, 1).tolist()) for k in (side, 2 * side)]
    chain = CountBoxes(system, policy, Automatic(), None)
    laws = [chain.law(shape) for shape in boxes]
    small, large = (float(parts @ [law[-1] for law in box.marginals]) for box in laws)
    says = "settles" if large <= SETTLES * small else "grows" if large >= GROWS * small else "open"
    text = f"boxes of side {side} and {2 * side} turn away {small:.3g} and {large:.3g} of the jobs"
    return GrowthTest("chain", load, says, text)


def simulation_test(
    system: System,
    policy: AnyPolicy | Scheduler,
    *,
    events: int | None = None,
    replications: int = 16,
    confidence: float = 0.99,
    rng: Seed = 0,
    tasks: Tasks = TASKS,
    times: int = 1,
) -> GrowthTest:
    """Compare the means of runs of ``events`` and of four times as many; jobs or whole tasks.

    Parameters
    ----------
    events : int, optional
        Of the shorter runs. Default: 20,000, or those of 2,000 jobs of a scheduler, and of ten generations of
        the jobs that are there at this load if they run one task after the other.
    tasks : Tasks
        Under a scheduler: how jobs are cut into tasks, as in :func:`queueing.simulate`.
    times : int
        By which the runs are longer.
    """
    load, stream = float(system.relative_loads.max()), generator(rng)
    if load >= 1:
        return _overloaded(load)
    entropy = entropy_of(stream)
    rule: Any = policy
    whole = is_scheduler(policy)
    cut = f"; tasks of a job: {tasks.law}" if whole else ""
    shorter = times * (_events(system, tasks if whole else None) if events is None else events)
    totals = []
    for length in (shorter, 4 * shorter):
        try:
            if whole:
                options: dict[str, Any] = {"replications": replications, "rng": stream}
                run = simulate(system, policy, events=length, tasks=tasks, **options)
            else:
                # Not by the verb, which asks the fluid limit first: the random system itself is asked here.
                runs = RunLength(length, WARMUP, replications, confidence)
                empty = CountOptions(start=np.zeros(system.n_classes))
                level = partial(CountLevel, system, rule, runs, empty)
                run = estimated(level, Effort(replications, None, replications, stream, 1, None, None))
            values = run.estimates["mean_jobs"].values
        except UnstableError as error:
            return GrowthTest("simulation", load, "grows", f"{error}{cut}", entropy)
        totals.append(np.nansum(values, axis=1))
    short, long = totals
    difference = float(long.mean() - 2 * short.mean())
    spread = math.hypot(float(long.std(ddof=1)), 2 * float(short.std(ddof=1))) / math.sqrt(replications)
    half = student(1 - confidence, replications - 1) * spread
    says = "settles" if difference + half < 0 else "grows" if difference - half > 0 else "open"
    text = (
        f"{short.mean():.4g} jobs in {shorter:,} events, {long.mean():.4g} in {4 * shorter:,}; long - 2 "
        f"short = {difference:.3g} ± {half:.2g} ({percent(confidence)}){cut}"
    )
    return GrowthTest("simulation", load, says, text, entropy)


def _events(system: System, tasks: Tasks | None) -> int:
    """Events of the shorter runs: under a policy, or if jobs are cut into tasks."""
    if tasks is None:
        return EVENTS
    rates = system.arrival_rates
    each = 2.0 + float(rates @ tasks.law.means(system.n_classes) / rates.sum())
    return math.ceil(each * (JOBS + GENERATIONS * float(system.loads.sum())))


def _overloaded(load: float) -> GrowthTest:
    return GrowthTest("load", load, "grows", f"load {load:.6g} is not below 1 (proof)")
