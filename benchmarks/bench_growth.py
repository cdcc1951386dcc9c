"""How cost grows: exponents of time and memory over a tenfold instance, and the distance from the floor.

The exponent of n is the logarithm of the ratio of two instances over that of their sizes. The floor is to
read the input once and to write the answer once, at the speed at which numpy adds up an array that is larger
than the caches, in the same run. Events of a simulation have no input; their floor is to draw the random
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench_filling import five_demands_each
from benchmarks.bench_fluid import gravity_traffic
from benchmarks.harness import Row, best_seconds, rise_of_peak
from fairness import DRF, AlphaFair, BottleneckMax, Hierarchical, Problem, ProportionalFair, Tree, allocate
from fairqueues.traces import synthetic_gpu_trace
from queueing import (
    DRFScheduler,
    System,
    drift_bound,
    exact_stationary,
    replay,
    simulate,
    stationary,
    tabulate,
)
from queueing.networks.backbones import abilene

__all__ = ["rows"]

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])
THREE = Problem([[1, 0.1, 0.1], [0.1, 1, 0.1], [0.1, 0.1, 1]], [1, 1, 1])
REAL = 8.0
"""Bytes of a number."""


class Work(NamedTuple):
    """One instance: what is measured, its size, and the bytes that it has to read and write."""

    call: Callable[[], Any]
    size: float
    n_bytes: float


class Case(NamedTuple):
    """Two instances, made when their turn comes, and what their size is."""

    name: str
    make: Callable[[int], Work]
    sizes: tuple[int, int]
    unit: str


def rows() -> list[Row]:
    numbers = np.ones(30_000_000)
    per_byte = best_seconds(numbers.sum) / numbers.nbytes
    draws = best_seconds(lambda: np.random.default_rng(0).random(10_000_000)) / 10_000_000 / REAL
    cases = [
        *(
            Case(f"{name}, five demands each, 1,000 resources", _pool(policy), (10_000, 100_000), "classes")
            for name, policy in (
                ("DRF", DRF()),
                ("PF", ProportionalFair()),
                ("alpha = 2", AlphaFair(2)),
                ("BMF", BottleneckMax()),
            )
        ),
        Case("H-DRF, queues of a hundred classes, ten resources", _tree, (10_000, 100_000), "classes"),
        Case("table of DRF, two classes", _table(DRF()), (316, 1000), "states"),
        Case("table of PF, three classes", _table3, (46, 100), "states"),
        Case("law of a chain, two classes, load .95", _chain, (316, 1000), "states"),
        Case("exact law of a chain, two classes", _exact, (10, 31), "states"),
        Case("drift bound under PF, routes of Abilene", _drift, (11, 110), "routes"),
        Case("replay under DRF, whole tasks on servers", _replay, (10_000, 100_000), "tasks"),
    ]  # fmt: skip
    result = [_row(case, per_byte, "reading and writing once") for case in cases]
    events = Case("simulated counts, two classes, load .9", _counts, (200_000, 2_000_000), "events")
    return [*result, _row(events, draws, "drawing its random numbers")]


def _row(case: Case, per_byte: float, floor: str) -> Row:
    seconds, rises, sizes = [], [], []
    for size in case.sizes:
        work = case.make(size)
        seconds.append(best_seconds(work.call, 2))
        rises.append(max(rise_of_peak(work.call)[1], 1.0))
        sizes.append(work.size)
    step = np.log(sizes[1] / sizes[0])
    time, memory = (np.log(values[1] / values[0]) / step for values in (seconds, rises))
    # Below a few pages the allocator had them at hand.
    grown = f", memory n^{memory:.2f}" if rises[0] > 2.0**20 else ""
    return Row(
        f"{case.name}: {sizes[0]:,.0f} and {sizes[1]:,.0f} {case.unit}",
        f"time n^{time:.2f}{grown}",
        "on record",
        None,
        f"{seconds[0]:.3g} s, {seconds[1]:.3g} s and {rises[1] / 2**20:.0f} MiB; "
        f"{seconds[1] / (work.n_bytes * per_byte):,.0f} times {floor}",
    )


def _pool(policy: Any) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        demands = five_demands_each(np.random.default_rng(0), n, 1_000)
        return Work(
            lambda: allocate(Problem(demands, np.ones(1_000)), policy), n, 12.0 * demands.nnz + REAL * n
        )

    return make


def _tree(n: int) -> Work:
    rng = np.random.default_rng(1)
    pool = Problem(rng.uniform(0.1, 1.0, (n, 10)), np.full(10, float(n)))
    queues = n // 100
    tree = Tree(
        ["all", *(f"queue {v}" for v in range(queues))],
        [-1, *([0] * queues)],
        job_classes=pool.job_classes,
        class_nodes=rng.integers(1, queues + 1, n),
    )
    policy = Hierarchical(tree)
    return Work(lambda: policy(pool, np.ones(n)), n, REAL * n * 11)


def _table(policy: Any) -> Callable[[int], Work]:
    return lambda side: Work(lambda: tabulate(POOL, policy, side), side**2, 2 * REAL * side**2)


def _table3(side: int) -> Work:
    return Work(lambda: tabulate(THREE, ProportionalFair(), side), side**3, 3 * REAL * side**3)


def _chain(side: int) -> Work:
    system = System.with_load(POOL, [1, 1], 0.95)
    table = tabulate(POOL, DRF(), side)
    return Work(lambda: stationary(system, DRF(), shape=side, table=table), side**2, 3 * REAL * side**2)


def _exact(side: int) -> Work:
    system = System.with_load(POOL, [1, 1], 0.9)
    return Work(lambda: exact_stationary(system, DRF(), shape=side), side**2, 3 * REAL * side**2)


def _drift(routes: int) -> Work:
    traffic = gravity_traffic(abilene().to_directed(), pairs=routes)
    system = System.with_load(traffic.problem, traffic.loads, 0.7)
    entries = np.count_nonzero(traffic.problem.demands)
    return Work(lambda: drift_bound(system, ProportionalFair()), routes, 2 * REAL * entries)


def _replay(tasks: int) -> Work:
    trace, nodes = synthetic_gpu_trace(tasks, rng=0)
    return Work(lambda: replay(trace, nodes, DRFScheduler(blocking=False), rng=0), tasks, 8 * REAL * tasks)


def _counts(events: int) -> Work:
    system = System.with_load(POOL, [1, 1], 0.9)
    table = tabulate(POOL, DRF(), 200)
    return Work(
        lambda: simulate(system, DRF(), events=events, replications=2, rng=0, table=table),
        2 * events,
        2 * REAL * 2 * events,
    )
