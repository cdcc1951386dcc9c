"""How many classes each function takes: ``python -m benchmarks.reach`` writes docs/reach.md.

Every function meets the same kind of pool with 2, 4, ..., 128 classes, each time in a process of its own
after a call with two classes, which compiles. A cell is the time and the memory of the call; or that it was
refused; or that the time was over. A refusal that takes more than :data:`LATE` seconds is marked: who is
refused late has waited for nothing.
"""

from __future__ import annotations

import argparse
import gc
import math
import multiprocessing
import os
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from benchmarks.harness import rise_of_peak
from capacity import (
    heavy_traffic,
    is_stable,
    packing_region,
    policy_stability_boundary,
    provision,
    region_section,
    region_volume,
    service_boundary,
    stability_region,
)
from fairness import (
    DRF,
    TSF,
    BottleneckMax,
    Cluster,
    FairqueuesError,
    MaxMin,
    Problem,
    ProportionalFair,
    allocate,
)
from fairqueues.files import write_all
from queueing import (
    DRFScheduler,
    System,
    Tasks,
    admission,
    balanced_fairness,
    balanced_plan,
    duration_bound,
    fluid_verdict,
    simulate,
    stationary,
    tagged_duration,
    trajectory,
)

__all__ = ["FUNCTIONS", "main"]

CLASSES = (2, 4, 8, 16, 32, 64, 128)
LIMIT = 30.0
"""Seconds of a call before it is stopped."""
LATE = 5.0
LOAD = 0.7
EVENTS = 20_000
SERVERS = 10


def pool_of(n: int) -> System:
    """A pool of eight resources; every class demands three, and all have the same part of the load."""
    rng = np.random.default_rng(n)
    demands = np.zeros((n, 8))
    for row in demands:
        row[rng.choice(8, 3, replace=False)] = rng.uniform(0.5, 1.5, 3)
    return System.with_load(Problem(demands, np.ones(8)), np.ones(n), LOAD)


def cluster_of(n: int) -> System:
    """Ten servers of two resources, of three kinds; every class runs on half of them at least."""
    rng = np.random.default_rng(n)
    demands = rng.uniform(0.5, 1.5, (n, 2))
    capacities = np.array([[4.0, 4.0], [8.0, 4.0], [4.0, 8.0]])[np.arange(SERVERS) % 3]
    eligible = rng.random((n, SERVERS)) < 0.7
    eligible[:, 0] = True
    return System.with_load(Cluster(demands, capacities, eligible=eligible), np.ones(n), LOAD)


Call = Callable[[int], Any]


def on_pool(work: Callable[[System], Any]) -> Call:
    """Call with the pool of so many classes."""
    return lambda n: work(pool_of(n))


def on_cluster(work: Callable[[System], Any]) -> Call:
    """Call with the cluster of so many classes."""
    return lambda n: work(cluster_of(n))


def _loads(n: int) -> tuple[Problem, np.ndarray]:
    system = pool_of(n)
    return system.require_pool("this"), system.loads


def _slow(n: int) -> Any:
    """Half of the rate of a job that is alone, along the mix."""
    problem, loads = _loads(n)
    return service_boundary(problem, "balanced", 0.3 / problem.task_shares.max(axis=1), loads)


def _section(n: int) -> Any:
    problem, loads = _loads(n)
    return region_section(stability_region(problem), [0, 1], 0.5 * loads).vertices


def _volume(n: int) -> Any:
    return region_volume(stability_region(_loads(n)[0]), precision=0.1, rng=0)


def _priced(n: int, method: str) -> Any:
    problem, loads = _loads(n)
    return provision(
        problem, loads, np.ones(8), method=method, maximum_duration=8.0 * problem.task_shares.max(axis=1)
    )


FUNCTIONS: dict[str, Call] = {
    "allocate, PF, with certificate": on_pool(lambda s: allocate(s.problem, ProportionalFair())),
    "allocate, BMF, with certificate": on_pool(lambda s: allocate(s.problem, BottleneckMax())),
    "allocate, TSF on ten servers": on_cluster(lambda s: allocate(s.problem, TSF())),
    "simulate counts, DRF": on_pool(lambda s: _events(s, DRF())),
    "simulate counts, PF": on_pool(lambda s: _events(s, ProportionalFair())),
    "simulate counts, BMF": on_pool(lambda s: _events(s, BottleneckMax())),
    "simulate jobs, PF": on_pool(lambda s: _jobs(s, ProportionalFair())),
    "simulate jobs, TSF on ten servers": on_cluster(lambda s: _jobs(s, TSF())),
    "simulate whole tasks, DRF": lambda n: _whole(n),
    "stationary, DRF, tail 1e-6": on_pool(lambda s: stationary(s, DRF(), tail=1e-6)),
    "tagged_duration, DRF": on_pool(lambda s: tagged_duration(s, DRF(), 0, tail=1e-6)),
    "admission, DRF, four jobs in all": on_pool(lambda s: admission(s, DRF(), max_total=4)),
    "balanced_fairness, tail 1e-6": on_pool(lambda s: balanced_fairness(s, tail=1e-6)),
    "balanced_plan": on_pool(balanced_plan),
    "duration_bound": on_pool(duration_bound),
    "trajectory, PF": on_pool(lambda s: trajectory(s, ProportionalFair(), np.ones(s.n_classes))),
    "trajectory, max-min": on_pool(lambda s: trajectory(s, MaxMin(), np.ones(s.n_classes))),
    "fluid_verdict, DRF": on_pool(lambda s: fluid_verdict(s, DRF())),
    "is_stable": on_pool(is_stable),
    "stability_region: facets": lambda n: stability_region(_loads(n)[0]).facets,
    "stability_region: vertices": lambda n: stability_region(_loads(n)[0]).vertices,
    "region_section, two classes": _section,
    "region_volume, precision 0.1": lambda n: region_volume(
        stability_region(_loads(n)[0]), precision=0.1, rng=0
    ),
    "packing_region": lambda n: packing_region(_whole_pool(n)),
    "policy_stability_boundary, DRF": lambda n: policy_stability_boundary(_loads(n)[0], DRF(), _loads(n)[1]),
    "service_boundary, balanced fairness": _slow,
    "provision, by the bound": lambda n: _priced(n, "bound"),
    "provision, balanced fairness": lambda n: _priced(n, "balanced"),
    "heavy_traffic, PF": lambda n: heavy_traffic(_loads(n)[0], _loads(n)[1], [ProportionalFair()]),
}
"""Questions by name, as functions of the number of classes."""


def _events(system: System, policy: Any) -> Any:
    return simulate(system, policy, events=EVENTS, replications=2, rng=0)


def _jobs(system: System, policy: Any) -> Any:
    return simulate(system, policy, jobs=EVENTS // 2, replications=2, rng=0)


def _whole_pool(n: int) -> Problem:
    rng = np.random.default_rng(n)
    return Problem(rng.integers(1, 4, (n, 2)), [16, 16])


def _whole(n: int) -> Any:
    system = System.with_load(_whole_pool(n), np.ones(n), 0.5)
    return simulate(system, DRFScheduler(), tasks=Tasks(per_job=5), events=EVENTS, replications=2, rng=0)


def cell(name: str, n: int) -> dict[str, Any]:
    """Time and memory of a call, or why there is none."""
    seconds = math.nan

    def work() -> None:
        nonlocal seconds
        begin = time.perf_counter()
        try:
            FUNCTIONS[name](n)
        finally:
            seconds = time.perf_counter() - begin

    gc.freeze()  # what was there before need not be searched
    try:
        _, n_bytes = rise_of_peak(work)
    except FairqueuesError as error:
        return {"seconds": seconds, "refused": str(error)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    return {"seconds": seconds, "bytes": n_bytes}


def measured(name: str, n: int, limit: float) -> dict[str, Any]:
    """A cell, in a process of its own, which finds everything imported and compiled."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: theirs.send(cell(name, n)), daemon=True)
    process.start()
    theirs.close()
    try:
        found: dict[str, Any] = ours.recv() if ours.poll(limit) else {"stopped": limit}
    except EOFError:
        found = {"failed": "the process died"}
    process.kill()
    process.join()
    return found


def words(found: dict[str, Any]) -> str:
    """A cell in the table."""
    if "bytes" in found:
        return f"{_seconds(found['seconds'])}, {_bytes(found['bytes'])}"
    if "refused" in found:
        late = found["seconds"] > LATE
        return f"**refused after {_seconds(found['seconds'])}**" if late else "no"
    return f"over {found['stopped']:g} s" if "stopped" in found else f"**failed: {found['failed']}**"


def _seconds(seconds: float) -> str:
    if seconds < 0.001:
        return "< 1 ms"
    return f"{1000 * seconds:.0f} ms" if seconds < 0.95 else f"{seconds:.2g} s"


def _bytes(n_bytes: float) -> str:
    mega = n_bytes / 2**20
    return "< 1 MB" if mega < 1 else f"{mega:.0f} MB" if mega < 950 else f"{mega / 1024:.1f} GB"


def page(table: dict[str, dict[int, dict[str, Any]]], limit: float) -> str:
    """The page of the documentation."""
    head = ["function", *(f"{n} classes" for n in CLASSES)]
    late = any("**" in words(found) for cells in table.values() for found in cells.values())
    about = (
        "Time and memory (the rise of the peak) of one call, by the number of classes: a pool of eight "
        "resources of which each class demands three, all classes with the same part of a load of "
        f"{LOAD:g}; ten servers of two resources where it says so; whole tasks of 1 to 3 units of 16 at "
        f'load .5. Simulations make {2 * EVENTS:,} events. "No" is a refusal at once, with what it would '
        f'take and what to do instead (below); "over {limit:g} s" was stopped. A refusal after more than '
        f"{LATE:g} s stands in bold{': there is none' if not late else ''}."
    )
    made = (
        f"Made by `python -m benchmarks.reach` on {datetime.now(UTC):%Y-%m-%d}, on a machine with "
        f"{os.cpu_count()} cores ({platform.machine()}), one thread; compilation is not counted."
    )
    found = "```{index} ! many classes, ! number of classes, ! largest system\n```"
    lines = ["# How many classes", "", found, "", about, "", made, ""]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, cells in table.items():
        lines.append("| " + " | ".join([name, *(words(cells[n]) for n in CLASSES)]) + " |")
    lines += ["", "## What the refusals say", ""]
    for name, cells in table.items():
        first = next((n for n in CLASSES if "refused" in cells[n]), None)
        if first is not None:
            lines.append(f"- {name}, {first} classes: `{cells[first]['refused']}`")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all cells and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reach", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="name", help="functions (default: all)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds per call (default: %(default)g)")
    parser.add_argument("--out", type=Path, default=Path("docs/reach.md"))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(FUNCTIONS)
    if unknown:
        parser.error(f"unknown function {sorted(unknown)[0]!r}; choose from {', '.join(FUNCTIONS)}")
    table: dict[str, dict[int, dict[str, Any]]] = {}
    for name in tqdm(arguments.names or FUNCTIONS, desc="functions"):
        FUNCTIONS[name](2)
        table[name] = {}
        for n in CLASSES:
            table[name][n] = measured(name, n, arguments.limit)
    text = page(table, arguments.limit)
    if arguments.names:
        print(text)
    else:
        write_all({arguments.out: lambda path: path.write_text(text)})


if __name__ == "__main__":
    main()
