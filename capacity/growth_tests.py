r"""Does the number of jobs settle or grow? Stated tests on the random system itself.

*Chain.* The stationary law is solved on a box of side K and on one of side 2K. If the system is stable, the
mean number of jobs settles as the box grows (ratio 1); if not, the box is full and the mean doubles (2).
Ratios up to 1.4 are read as "settles", from 1.6 on as "grows".

*Simulation.* Replications of T and, independently, of 4T events, both from the empty system. The mean number
of jobs settles (ratio 1), or grows in proportion to time (ratio 4); at the critical load it grows like the
square root (ratio 2). With D the difference between the mean of a long run and twice that of a short one, a
Student interval for E[D] below 0 is read as "settles", above 0 as "grows", otherwise the test is "open". For
schedulers of whole tasks, which have no fluid limit, this test decides stability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from fairness.errors import ModelError, UnstableError
from fairness.policies.protocol import Policy
from queueing.chain import stationary
from queueing.replications import Seed
from queueing.simulate import simulate
from queueing.system import System
from queueing.tasklevel import simulate_tasks
from queueing.tasklevel.schedulers import Scheduler

__all__ = ["EVENTS", "GrowthTest", "chain_test", "is_scheduler", "simulation_test"]

SIDES = {1: 256, 2: 64, 3: 12}
"""Side of the smaller box by the number of classes with arrivals."""

EVENTS = 20_000
"""Events of the shorter runs."""

SETTLES, GROWS = 1.4, 1.6


@dataclass(frozen=True)
class GrowthTest:
    """What a test said at one load.

    Attributes
    ----------
    method : {"chain", "simulation", "load"}
    relative_load : float
    says : {"settles", "grows", "open"}
    evidence : str
    """

    method: str
    relative_load: float
    says: str
    evidence: str


def is_scheduler(policy: Any) -> bool:
    """Whether ``policy`` schedules whole tasks."""
    return not callable(policy) and hasattr(policy, "rule")


def chain_test(system: System, policy: Policy) -> GrowthTest:
    """Compare the means of two boxes; one to three classes with arrivals."""
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
    small, large = (
        float(stationary(system, policy, shape=np.where(live, k, 1).tolist()).mean_jobs.sum())
        for k in (side, 2 * side)
    )
    ratio = large / small
    says = "settles" if ratio <= SETTLES else "grows" if ratio >= GROWS else "open"
    text = f"{small:.4g} jobs on a box of side {side}, {large:.4g} on one of side {2 * side}"
    return GrowthTest("chain", load, says, text)


def simulation_test(
    system: System,
    policy: Policy | Scheduler,
    *,
    events: int = EVENTS,
    replications: int = 16,
    confidence: float = 0.99,
    rng: Seed = 0,
    tasks_per_job: float = 10.0,
) -> GrowthTest:
    """Compare the means of runs of ``events`` and of four times as many; jobs or whole tasks.

    Jobs of schedulers have ``tasks_per_job`` tasks on average (geometric law), so that there are fewer jobs
    than events.
    """
    load = float(system.relative_loads.max())
    if load >= 1:
        return _overloaded(load)
    generator = np.random.default_rng(rng)
    totals = []
    for length in (events, 4 * events):
        options: dict[str, Any] = {"events": length, "replications": replications, "rng": generator}
        if callable(policy):
            values = simulate(system, policy, **options).estimates["mean_jobs"].values
        else:
            try:
                run = simulate_tasks(system, policy, tasks_per_job=tasks_per_job, **options)
                values = run.estimates["mean_jobs"].values
            except UnstableError as error:
                return GrowthTest("simulation", load, "grows", str(error))
        totals.append(np.nansum(values, axis=1))
    short, long = totals
    difference = float(long.mean() - 2 * short.mean())
    spread = math.hypot(float(long.std(ddof=1)), 2 * float(short.std(ddof=1))) / math.sqrt(replications)
    half = float(stats.t.isf((1 - confidence) / 2, replications - 1)) * spread
    says = "settles" if difference + half < 0 else "grows" if difference - half > 0 else "open"
    text = (
        f"{short.mean():.4g} jobs in {events} events, {long.mean():.4g} in {4 * events}; long - 2 short = "
        f"{difference:.3g} ± {half:.2g} ({confidence:.0%})"
    )
    return GrowthTest("simulation", load, says, text)


def _overloaded(load: float) -> GrowthTest:
    return GrowthTest("load", load, "grows", f"load {load:.6g} is not below 1 (proof)")
