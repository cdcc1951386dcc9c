"""Events per second of the simulators, on one core, against drawing as many random numbers with numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from benchmarks.harness import Row, alternating_seconds, best_seconds
from fairness import DRF, Cluster, Problem
from queueing.model.system import System
from queueing.simulation.simulate import simulate
from queueing.simulation.tasks.options import Tasks
from queueing.simulation.tasks.placement import BestFit, OnArrival
from queueing.simulation.tasks.schedulers import BMFScheduler, DRFScheduler, FIFOScheduler, PFScheduler

__all__ = ["rows"]

EVENTS = 2_000_000


def rows() -> list[Row]:
    draws = 2 * EVENTS / best_seconds(lambda: np.random.default_rng(0).random(2 * EVENTS))
    pool = Problem([[10, 1], [1, 10]], [10, 10])
    out = []
    for load in (0.7, 0.95):
        system = System.with_load(pool, [1, 1], load)

        def job_level(system: System = system) -> Any:
            return simulate(system, DRF(), events=EVENTS, replications=2, rng=0)

        out.append(_row(f"simulate, 2 classes, load {load}", job_level, draws, 10e6))
    talk = System.with_load(Problem([[4, 1], [1, 4]], [16, 16]), [1, 1], 0.7)
    for scheduler in (DRFScheduler(), BMFScheduler(), PFScheduler(), FIFOScheduler(blocking=False)):

        def task_level(scheduler: Any = scheduler) -> Any:
            return simulate(talk, scheduler, events=EVENTS, replications=2, rng=0)

        name = f"tasks, {scheduler.name}, (4,1),(1,4) on 16/16, load 0.7"
        out.append(_row(name, task_level, draws, 1e6))
    servers = System.with_load(Cluster([[4, 1], [1, 4]], [[16, 16]] * 10), [1, 1], 0.7)
    for placement in (BestFit(), OnArrival()):

        def on_servers(placement: Any = placement) -> Any:
            tasks = Tasks(placement=placement)
            return simulate(servers, DRFScheduler(), tasks=tasks, events=EVENTS, replications=2, rng=0)

        name = f"tasks, DRF, {placement.name}, the same on 10 servers, load 0.7"
        out.append(_row(name, on_servers, draws, 0.5e6))
    out += [_one_class(), *_many_classes(draws)]
    out.append(_in_python(talk, draws))
    return out


@numba.njit
def _counted(rng: np.random.Generator, up: float, down: float, events: int) -> float:
    """Mean count of M/M/1, as one would write it."""
    count, time, area = 0, 0.0, 0.0
    for _ in range(events):
        rate = up + (down if count > 0 else 0.0)
        stay = -np.log(1.0 - rng.random()) / rate
        area, time = area + count * stay, time + stay
        count += 1 if rng.random() * rate < up else -1
    return area / time


def _one_class() -> Row:
    """Counts of one class on one resource, in turn with ten lines of numba; two replications of ours."""
    system = System.with_load(Problem([[1]], [1]), [1], 0.7)
    rng = np.random.default_rng(1)
    both, theirs = alternating_seconds(
        [
            lambda: simulate(system, DRF(), level="counts", events=EVENTS, replications=2, rng=0),
            lambda: _counted(rng, 0.7, 1.0, EVENTS),
        ]
    )
    mine, plain = both / (2 * EVENTS), theirs / EVENTS
    return Row(
        "simulate, counts of one class, load 0.7; ten lines of numba in turn",
        f"{mine * 1e9:.0f} ns; {plain * 1e9:.0f} ns an event",
        "<= 1.3",
        mine <= 1.3 * plain,
        "floor: besides the same two random numbers an event a batch of the mean and of its square, and the "
        "table of rates that any policy may have",
    )


def _many_classes(draws: float) -> list[Row]:
    """Whole tasks of 64 classes: compared by level, by visited states of a policy, on servers."""
    demands = np.random.default_rng(64).integers(1, 5, (64, 3))
    pool, servers = Problem(demands, [40] * 3), Cluster(demands, [[20] * 3] * 5)
    out = []
    for model, where in ((pool, "a pool"), (servers, "5 servers")):
        system = System.with_load(model, np.ones(64), 0.7)
        for scheduler in (DRFScheduler(), PFScheduler()) if model is pool else (DRFScheduler(),):

            def run(system: System = system, scheduler: Any = scheduler) -> Any:
                return simulate(
                    system, scheduler, tasks=Tasks(per_job=10), events=EVENTS // 10, replications=2, rng=0
                )

            name = f"tasks, {scheduler.name}, 64 classes on {where}, load 0.7"
            out.append(_row(name, run, draws, 0.05e6, EVENTS // 10))
    return out


class _Oldest:
    """In order of arrival, whatever fits."""

    name = "a scheduler in Python"

    def choose(self, state: Any) -> Any:
        return state.fitting[0]


def _in_python(system: System, draws: float) -> Row:
    def run() -> Any:
        return simulate(system, _Oldest(), events=EVENTS // 100, replications=2, rng=0)

    return _row("tasks, a scheduler in Python, (4,1),(1,4) on 16/16", run, draws, 0.003e6, EVENTS // 100)


def _row(name: str, run: Callable[[], Any], draws: float, target: float, events: int = EVENTS) -> Row:
    rate = 2 * events / best_seconds(run)
    return Row(
        name,
        f"{rate / 1e6:.3g} million events/s",
        f">= {target / 1e6:g} million events/s",
        rate >= target,
        f"numpy draws {draws / rate:.0f} uniform numbers in the time of one event",
    )
