"""Long computations on a cluster whose workers die: the same answers, and what two workers gain.

``python -m benchmarks.claims.cluster`` starts a scheduler of Dask and three workers on the loopback, runs
each kind of computation five times, kills one worker at a random moment of each, and compares every number
with those of one process. Then each kind, in parts of about a second, is timed with one worker and with two,
which needs two idle cores. ``--page docs/how-to/dask_ray.md`` writes the table there. The exit code is 1 if a
number differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from capacity import load_curves, policy_stability_boundary, search_instability, sweep
from capacity.studies.instability import RandomSystems
from fairness import DRF, Problem
from fairness.properties import audit
from proofs import check_all
from queueing import ClusterTrace, DRFScheduler, NodeList, System, optimal, replay, simulate, tabulate

POOL = Problem([[1, 0.1], [0.1, 1]], [1, 1])
SYSTEM = System.with_load(POOL, [3, 1], 0.8)
STATEMENTS = ("br-pf-full-resources", "psdsf-greater-cpu-use", "br-drf-stable", "psdsf-time-unique")
BEGIN, END = "<!-- cluster: what the command printed -->", "<!-- cluster: end -->"


@dataclass(frozen=True)
class Slow:
    """DRF in Python that takes its time in each state, so that workers have something to die in."""

    seconds: float
    name: str = "DRF, slow"

    def __call__(self, problem: Problem, counts: Any) -> Any:
        """Tasks."""
        states = np.size(counts) // problem.n_classes
        end = time.process_time() + self.seconds * states
        while time.process_time() < end:
            pass
        return DRF()(problem, counts)


def means(system: System, policy: Any) -> dict[str, Any]:
    """Outputs of a point: a second of work, and a number."""
    Slow(1.0)(system.problem, np.zeros(2))
    return {"jobs": float(simulate(system, DRF(), events=20_000, replications=2, rng=3).mean_jobs.sum())}


def ray(direction: list[float], policy: Any) -> dict[str, Any]:
    """Where one ray leaves the region of stability, the random system asked on both sides for a second."""
    asked = partial(policy_stability_boundary, POOL, policy, direction, confirm="simulation")
    points = [asked(rng=seed) for seed in range(12)]
    tests = sum(len(point.tests) for point in points)
    return {"inner": points[0].inner, "outer": points[0].outer, "tests": float(tests)}


TASKS = 600_000


def recorded(seed: int) -> ClusterTrace:
    """A trace that is drawn: as many tasks as take a second."""
    rng = np.random.default_rng(seed)
    arrivals, users = np.cumsum(rng.exponential(1.0, TASKS)), rng.integers(0, 50, TASKS)
    sizes, kinds = rng.exponential(60.0, TASKS), rng.integers(0, 2, TASKS)
    names = [f"user {k}" for k in range(50)]
    return ClusterTrace(["CPU", "RAM"], ["", ""], arrivals, sizes, [[1, 4], [4, 1]], kinds, names, users)


def replayed(trace: ClusterTrace, _: Any) -> dict[str, Any]:
    """How long tasks wait under DRF on twenty nodes."""
    nodes = NodeList([f"node {k}" for k in range(20)], ["CPU", "RAM"], ["", ""], [[8, 8]] * 20)
    return {"wait": float((replay(trace, nodes, DRFScheduler(), rng=1).starts - trace.arrivals).mean())}


def best(system: System, _: Any) -> dict[str, Any]:
    """What no policy can be below."""
    return {"jobs": float(optimal(system).lower)}


RAYS = np.linspace(0.1, 0.9, 12).tolist()
LOADS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
LIKE = [0.74, 0.75, 0.76, 0.77, 0.78, 0.79]
"""Loads whose simulations take about as long."""
LATE = np.linspace(0.75, 0.76, 8).tolist()
"""Loads at which the best policy takes about a second."""
KINDS: dict[str, Callable[[int], Any]] = {
    "sweep of six points": lambda n: sweep(
        SYSTEM.at_load, [DRF()], {"load": LOADS}, means, n_jobs=n, progress=False
    ),
    "load_curves, simulated": lambda n: load_curves(
        SYSTEM, [Slow(2e-4)], LIKE, max_states=1, events=20_000, n_jobs=n, rng=1, progress=False
    ),
    "replications of simulate": lambda n: simulate(
        SYSTEM, DRF(), level="jobs", jobs=6_000_000, replications=6, quantiles=(), n_jobs=n, rng=1
    ),
    "tabulate, a slow policy": lambda n: tabulate(POOL, Slow(1e-3), (70, 70), n_jobs=n),
    "search_instability": lambda n: search_instability(
        Slow(1e-5), RandomSystems(3, 2, load=(0.8, 0.9)), 6, rng=1, n_jobs=n
    ),
    "audit, slow policies": lambda n: audit(
        [Slow(2e-4, f"DRF, slow, {k}") for k in range(12)], ["EF"], budget=2000, rng=1, n_jobs=n
    ),
    "check_all": lambda n: check_all(STATEMENTS, n_jobs=n),
    "rays, by a sweep": lambda n: sweep(
        lambda part: [part, 1 - part], [DRF()], {"part": RAYS}, ray, n_jobs=n, progress=False
    ),
    "replays, by a sweep": lambda n: sweep(
        recorded, [DRF()], {"seed": [1, 2, 3, 4]}, replayed, n_jobs=n, progress=False
    ),
    "optimal, by a sweep": lambda n: sweep(
        SYSTEM.at_load, [DRF()], {"load": LATE}, best, n_jobs=n, progress=False
    ),
}


BEFORE = {"check_all": lambda n: check_all(("br-feasible", "drf-example", "br-pf-stable"), n_jobs=n)}
"""What loads the kernels of kinds whose answers are kept by the process that found them."""


def told(result: Any) -> str:
    """All numbers that a result has, but the time that it took."""
    if hasattr(result, "tasks"):
        return repr(result.tasks.tobytes())
    frame = result.to_dataframe()
    return repr(frame.drop(columns="seconds", errors="ignore").to_dict())


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A scheduler and workers in processes of their own, for joblib."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as local,
        Client(local),
        joblib.parallel_config(backend="dask"),
    ):
        yield local


def kill_one(local: Any, after: float, over: threading.Event, told_of: list[float]) -> None:
    """Kill a worker that is at work after so many seconds, unless all is over before."""
    if not over.wait(after):
        pids = [worker.pid for worker in local.workers.values() if worker.pid]
        with suppress(ProcessLookupError):
            os.kill(random.choice(pids), signal.SIGKILL)
            told_of.append(after)


def deaths(kind: str, rounds: int) -> tuple[int, int]:
    """How often a worker was killed in the middle, and how often the numbers were those of one process."""
    begin = time.perf_counter()
    alone = told(KINDS[kind](1))
    usual = time.perf_counter() - begin
    killed, same = list[float](), 0
    for _ in range(rounds):
        with cluster(3) as local:
            over = threading.Event()
            when = random.uniform(0.1, 0.5) * usual
            killer = threading.Thread(target=kill_one, args=(local, when, over, killed), daemon=True)
            killer.start()
            same += told(KINDS[kind](3)) == alone
            over.set()
            killer.join()
    return len(killed), same


def gain(kind: str) -> float:
    """How many times as fast two workers are as one, both behind the scheduler."""
    seconds = {}
    for workers in (1, 2):
        with cluster(workers):
            BEFORE.get(kind, KINDS[kind])(2)  # kernels are loaded
            begin = time.perf_counter()
            KINDS[kind](2)
            seconds[workers] = time.perf_counter() - begin
    return seconds[1] / seconds[2]


def main(arguments: list[str]) -> int:
    """Run all kinds; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.claims.cluster", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often a worker is killed (default: 5)")
    parser.add_argument("--page", type=Path, help="page in which the table is written anew")
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], help="default: all")
    asked = parser.parse_args(arguments)
    lines = ["| computation | worker killed | same bits | two workers, times as fast |", "|---|---|---|---|"]
    wrong = False
    for kind in asked.kinds or KINDS:
        killed, same = deaths(kind, asked.rounds)
        wrong |= same < asked.rounds
        lines.append(f"| {kind} | {killed} of {asked.rounds} | {same} of {asked.rounds} | {gain(kind):.2f} |")
        print(lines[-1], flush=True)
    if asked.page:
        text = asked.page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        page = before + "\n".join([BEGIN, "", *lines, "", END]) + rest.split(END)[1]
        asked.page.write_text(page, encoding="utf-8")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
