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
no fluid limit, this test decides stability, once or twice per step of a bisection: evidence, not proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from fairness.arguments.validation import Entropy, Seed, entropy_of, generator
from fairness.display.wording import percent
from fairness.errors import ModelError, UnstableError
from fairness.protocol.policy import Policy
from queueing.enclosures.stationary import stationary
from queueing.model.system import System
from queueing.simulation.tasks.rules.options import Tasks
from queueing.simulation.tasks.rules.schedulers import Scheduler, is_scheduler
from queueing.simulation.verb import simulate

__all__ = ["EVENTS", "GrowthTest", "chain_test", "simulation_test"]

SIDES = {1: 256, 2: 64, 3: 12}
"""Side of the smaller box by the number of classes with arrivals."""

EVENTS = 20_000
"""Events of the shorter runs."""

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


def chain_test(system: System, policy: Policy) -> GrowthTest:
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
    boxes = [np.where(live, k, 1).tolist() for k in (side, 2 * side)]
    laws = [stationary(system, policy, shape=shape, distribution=False) for shape in boxes]
    small, large = (float(parts @ [law[-1] for law in box.marginals]) for box in laws)
    says = "settles" if large <= SETTLES * small else "grows" if large >= GROWS * small else "open"
    text = f"boxes of side {side} and {2 * side} turn away {small:.3g} and {large:.3g} of the jobs"
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
    load, stream = float(system.relative_loads.max()), generator(rng)
    if load >= 1:
        return _overloaded(load)
    entropy = entropy_of(stream)
    totals = []
    for length in (events, 4 * events):
        options: dict[str, Any] = {"events": length, "replications": replications, "rng": stream}
        if is_scheduler(policy):
            options["tasks"] = Tasks(per_job=tasks_per_job)
        else:
            options["start"] = np.zeros(system.n_classes)
        try:
            values = simulate(system, policy, **options).estimates["mean_jobs"].values
        except UnstableError as error:
            return GrowthTest("simulation", load, "grows", str(error), entropy)
        totals.append(np.nansum(values, axis=1))
    short, long = totals
    difference = float(long.mean() - 2 * short.mean())
    spread = math.hypot(float(long.std(ddof=1)), 2 * float(short.std(ddof=1))) / math.sqrt(replications)
    half = float(stats.t.isf((1 - confidence) / 2, replications - 1)) * spread
    says = "settles" if difference + half < 0 else "grows" if difference - half > 0 else "open"
    text = (
        f"{short.mean():.4g} jobs in {events} events, {long.mean():.4g} in {4 * events}; long - 2 short = "
        f"{difference:.3g} ± {half:.2g} ({percent(confidence)})"
    )
    return GrowthTest("simulation", load, says, text, entropy)


def _overloaded(load: float) -> GrowthTest:
    return GrowthTest("load", load, "grows", f"load {load:.6g} is not below 1 (proof)")
