"""Arrivals and ends per second of a replay, on one core, against sorting as many numbers with numpy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Row, best_seconds, rise_of_peak
from fairness import BottleneckMax
from queueing import (
    ClusterTrace,
    DRFScheduler,
    FIFOScheduler,
    NodeList,
    PFScheduler,
    TargetScheduler,
    replay,
)

__all__ = ["rows"]

TASKS, NODES, USERS, TYPES = 100_000, 1_500, 20, 60
MANY = 1_000
"""Users of one more run."""
RESOURCES, UNITS = ("CPU", "memory", "GPU", "network"), ("cores", "GiB", "devices", "Gb/s")


def rows() -> list[Row]:
    events = 2 * TASKS
    sorts = best_seconds(lambda: np.sort(np.random.default_rng(0).random(events)))
    schedulers: tuple[tuple[Any, float], ...] = (
        (FIFOScheduler(blocking=False), 1e5),
        (DRFScheduler(blocking=False), 1e5),
        (DRFScheduler(), 1e5),
        (PFScheduler(blocking=False), 2e4),
        (TargetScheduler(BottleneckMax(), blocking=False), 2e4),
    )
    out = []
    for load, users in ((0.8, USERS), (1.2, USERS), (1.2, MANY)):
        trace, nodes = recorded(load, users=users)
        for scheduler, target in schedulers:

            def run(scheduler: Any = scheduler, trace: Any = trace, nodes: Any = nodes) -> Any:
                return replay(trace, nodes, scheduler, rng=0)

            rate = events / least_cpu(run)
            waits = f"{(run().waits > 0).mean():.0%} wait"
            kind = f"{scheduler.name}{', blocking' * scheduler.blocking}"
            name = f"replay, {kind}, load {load}, {users} users ({waits})"
            figure = f"{rate:,.0f} events/s, 1:{events / rate / sorts:.0f}"
            out.append(Row(name, figure, f">= {target:,.0f} events/s", rate >= target))
    trace, nodes = recorded(1.2, 10 * TASKS)
    record, risen = rise_of_peak(lambda: replay(trace, nodes, DRFScheduler(blocking=False)))
    name = f"memory of {record.trace.n_tasks:,} tasks, ten times as many"
    out.append(Row(name, f"{risen / 2**20:.0f} MiB", "<= 1024 MiB", risen <= 2**30))
    return out


def least_cpu(function: Callable[[], object], repeat: int = 3) -> float:
    """Least seconds of the processor, after one run that compiles."""
    function()
    taken = []
    for _ in range(repeat):
        begin = time.process_time()
        function()
        taken.append(time.process_time() - begin)
    return min(taken)


def recorded(load: float, tasks: int = TASKS, users: int = USERS) -> tuple[ClusterTrace, NodeList]:
    """Tasks of sixty types, one in three with a half device, on two kinds of nodes."""
    rng = np.random.default_rng(0)
    columns = rng.integers(1, 17, TYPES), rng.integers(1, 65, TYPES), rng.integers(0, 3, TYPES)
    types = np.stack([*columns, rng.integers(1, 9, TYPES)], axis=1).astype(float)
    types[::3, 2] = 0.5
    types = np.unique(types, axis=0)
    kinds = NODES * 2 // 3, NODES - NODES * 2 // 3
    capacities = np.repeat([[96.0, 512, 8, 40], [64, 256, 0, 20]], kinds, axis=0)
    type_of, durations = rng.integers(0, len(types), tasks), rng.exponential(1000.0, tasks)
    work = (types[type_of] * durations[:, None]).sum(axis=0)
    span = float((work / capacities.sum(axis=0)).max()) / load
    trace = ClusterTrace(
        RESOURCES, UNITS, np.sort(rng.uniform(0, span, tasks)), durations, types, type_of,
        [f"user {k}" for k in range(users)], rng.integers(0, users, tasks), devices="GPU",
    )  # fmt: skip
    return trace, NodeList([f"node {k}" for k in range(NODES)], RESOURCES, UNITS, capacities)
