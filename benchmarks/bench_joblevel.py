"""Job events per second of the simulation with remaining work, against the chain of counts."""

from __future__ import annotations

from typing import Any

from joblib import parallel_config

from benchmarks.harness import Row, best_seconds
from fairness import DRF, Problem
from queueing.model.laws import Deterministic, Exponential, Law, Lognormal
from queueing.model.system import System
from queueing.simulation.simulate import simulate
from queueing.states.table import Table, tabulate

__all__ = ["rows"]

JOBS = 500_000
REPLICATIONS = 4
EVENTS = 2 * JOBS * REPLICATIONS  # an arrival and a departure each
TARGET = 2e6

DEMANDS = [[1, 2, 0], [0, 1, 2], [2, 0, 1], [1, 1, 1]]
# Load and table per number of classes: large enough that no time goes into tables.
CASES = {2: (0.9, 512), 3: (0.8, 96), 4: (0.7, 40)}


def rows() -> list[Row]:
    out = []
    for n, (load, side) in CASES.items():
        pool = Problem(DEMANDS[:n], [1, 1, 1])
        system = System.with_load(pool, [1] * n, load)
        table = tabulate(pool, DRF(), side)
        chain = EVENTS / best_seconds(lambda s=system, t=table: _walk(s, t), 2)
        for law in (Exponential(), Deterministic(), Lognormal(4)):
            rate = EVENTS / best_seconds(lambda s=system, t=table, law=law: _jobs(s, t, law), 2)
            name = f"jobs, {n} classes, load {load}, {type(law).__name__}, one core"
            out.append(_row(name, rate, chain))
    system, table = System.with_load(pool, [1] * n, load), tabulate(pool, DRF(), side)
    one = best_seconds(lambda: _jobs(system, table, Exponential()), 2)
    two = best_seconds(lambda: _jobs(system, table, Exponential(), n_jobs=2), 3)
    with parallel_config(backend="loky"):
        apart = best_seconds(lambda: _jobs(system, table, Exponential(), n_jobs=2), 3)
    out.append(
        Row(
            "jobs, two threads",
            f"{one / two:.2f} times as fast as one",
            ">= 1.8",
            one / two >= 1.8,
            f"needs two idle cores; two processes, which share only the machine: {one / apart:.2f} times, "
            "which is the floor: what two threads lose beyond it is Python between the runs",
        )
    )
    quick = EVENTS / best_seconds(lambda: _jobs(system, table, Exponential(), quantiles=(0.5, 0.9, 0.99)), 2)
    out.append(_row("jobs, with six quantiles", quick, chain))
    return out


def _walk(system: System, table: Table) -> Any:
    return simulate(
        system, DRF(), events=EVENTS // REPLICATIONS, replications=REPLICATIONS, rng=0, table=table
    )


def _jobs(system: System, table: Table, law: Law, n_jobs: int = 1, quantiles: tuple[float, ...] = ()) -> Any:
    return simulate(
        System(system.problem, system.arrival_rates, sizes=law),
        DRF(),
        jobs=JOBS,
        replications=REPLICATIONS,
        rng=0,
        n_jobs=n_jobs,
        quantiles=quantiles,
        table=table,
    )


def _row(name: str, rate: float, chain: float) -> Row:
    return Row(
        name,
        f"{rate / 1e6:.3g} million job events/s",
        f">= {TARGET / 1e6:g} million job events/s",
        rate >= TARGET,
        f"simulate, without jobs, makes {chain / rate:.1f} events in the time of one",
    )
